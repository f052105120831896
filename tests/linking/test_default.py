"""Which linker is used where none is named."""

import pytest

import entlink
from entlink.linking import default
from entlink.linking.config import of_given_spans, read_config
from entlink.linking.default import default_linker
from entlink.linking.saved import save_linker


@pytest.fixture
def encoder_is_there(monkeypatch):
    monkeypatch.setattr(default, "_missing", lambda: "")


def test_without_the_model_it_links_by_names_and_words_and_says_how_to_get_it(own_world):
    config, told = default_linker(own_world)
    assert config == read_config("everyday")
    assert "entlink models pull minilm" in told


@pytest.mark.usefixtures("encoder_is_there")
def test_with_the_model_it_links_with_the_encoder_and_searches_for_given_spans(own_world):
    assert default_linker(own_world).config == read_config("everyday-encoder")
    assert default_linker(own_world, spans_given=True).config == read_config("zero-shot")


@pytest.mark.usefixtures("encoder_is_there")
def test_an_encoder_that_cannot_read_the_language_is_never_used(tmp_path):
    rows = ["id,title,description"] + [
        f"{number},城市{number},这是中国的一个城市，人口很多，历史悠久。" for number in range(9)
    ]
    (tmp_path / "zh.csv").write_text("\n".join(rows), encoding="utf8")
    entlink.build([tmp_path / "zh.csv"], tmp_path / "zh.kb")
    config, told = default_linker(tmp_path / "zh.kb")
    assert config == read_config("everyday")
    assert "does not read" in told


@pytest.mark.usefixtures("encoder_is_there")
def test_the_linker_saved_beside_it_comes_first(own_world):
    beside = own_world.with_suffix(".linker")
    save_linker(beside, read_config("lexical"), {"command": "one"}, own_world.name)
    config, told = default_linker(own_world)
    assert config == read_config("lexical")
    assert str(beside) in told


def test_a_linker_fitted_to_given_spans_is_for_those(own_world):
    fitted = of_given_spans(read_config("zero-shot"))
    save_linker(own_world.with_suffix(".linker"), fitted, {"command": "one"}, own_world.name)
    assert default_linker(own_world, spans_given=True).config == fitted
    assert default_linker(own_world).config == read_config("everyday")
