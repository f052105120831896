"""Which linker is used where none is named."""

import pytest

import entlink
from entlink.encoders.models.pulling import Said, pull
from entlink.kb.indexes.vectors.choice import dual_for
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking import default
from entlink.linking.config import of_given_spans, read_config, with_encoder
from entlink.linking.default import default_linker
from entlink.linking.saved import save_linker, starting_config
from tiny_bert import make_folder


@pytest.fixture
def pulled(tmp_path, monkeypatch):
    """Puts tiny models into a store of their own, each with what it reads."""
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "models"))

    def pulled(**languages):
        folder = make_folder(tmp_path / "tiny") if not (tmp_path / "tiny").exists() else tmp_path / "tiny"
        for name, read in languages.items():
            pull(name, folder, said=Said(languages=read))

    return pulled


@pytest.fixture
def chinese(tmp_path):
    rows = ["id,title,description"] + [
        f"{number},城市{number},这是中国的一个城市，人口很多，历史悠久。" for number in range(9)
    ]
    (tmp_path / "zh.csv").write_text("\n".join(rows), encoding="utf8")
    entlink.build([tmp_path / "zh.csv"], tmp_path / "zh.kb")
    return tmp_path / "zh.kb"


def test_without_the_model_it_links_by_names_and_words_and_says_how_to_get_it(own_world, pulled):
    pulled(german="de")
    config, told = default_linker(own_world)
    assert config == read_config("everyday")
    assert "entlink models pull minilm" in told


def test_with_the_model_it_links_with_the_encoder_and_searches_for_given_spans(own_world, pulled):
    pulled(english="en", chinese="zh", many="de,en", all="multilingual")
    config = default_linker(own_world).config
    assert config == with_encoder(read_config("everyday-encoder"), "english")
    assert [stage["encoder"] for stage in config.evidence if "encoder" in stage] == ["english"]
    assert default_linker(own_world, spans_given=True).config == with_encoder(read_config("zero-shot"), "english")


def test_an_encoder_of_another_language_is_never_chosen(chinese, pulled, monkeypatch):
    pulled(english="en", unknown="")
    config, told = default_linker(chinese)
    assert config == read_config("everyday")
    assert default_linker(chinese, spans_given=True).config == read_config("characters")
    assert "Better with an encoder that reads Chinese: entlink models pull hf:BAAI/bge-small-zh-v1.5" in told
    pulled(zhongwen="zh")
    monkeypatch.setattr(default, "can_simplify", lambda: True)
    assert default_linker(chinese).told == "the encoder zhongwen"
    given = default_linker(chinese, spans_given=True).config
    assert given == with_encoder(read_config("characters-encoder"), "zhongwen")
    monkeypatch.setattr(default, "can_simplify", lambda: False)
    assert default_linker(chinese).told.endswith(f"pip install 'entlink[zh]' && entlink kb index {chinese}")
    assert entlink.load(chinese, config="zero-shot").retrievers[-1].dual.name == "zhongwen"


def test_an_encoder_of_another_language_that_is_named_is_warned_of_once(chinese, pulled, caplog):
    pulled(english="en")
    with KnowledgeBase.open(chinese) as kb:
        for _ in range(2):
            dual_for(kb, "english")
    assert [one.message for one in caplog.records if "reads en" in one.message] == [
        f"{chinese} is written in Chinese, and the encoder english reads en: its vectors mean little here. Name "
        'another, or encoder = "auto" for the one that fits'
    ]


def test_what_is_fitted_is_saved_with_the_encoder_it_was_fitted_with(own_world, pulled):
    pulled(english="en")
    assert starting_config(None, own_world).retriever[-1]["encoder"] == "english"


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
