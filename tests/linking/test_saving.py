from __future__ import annotations

import tomllib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import entlink
from entlink.errors import ConfigError
from entlink.linking.config import LinkerConfig, found_beside, linker_beside, read_config
from entlink.linking.default import default_linker
from entlink.linking.saved import config_text, read_card, save_linker

words = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12)
values = st.recursive(
    st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
stages = st.dictionaries(words, values, max_size=4).map(lambda settings: {"name": "x", **settings})


@given(stages, st.lists(stages, min_size=1, max_size=3), st.none() | stages, st.lists(words, max_size=3))
def test_a_configuration_comes_back_as_it_was(nil, retriever, fusion, types):
    config = LinkerConfig(nil=nil, retriever=retriever, fusion=fusion, types=tuple(types), min_score=0.25, pool=7)
    text = config_text(config)
    tomllib.loads(text)
    assert msgspec.toml.decode(text.encode(), type=LinkerConfig) == config


def test_a_saved_linker_is_loaded_by_its_folder_and_found_beside_its_knowledge_base(own_world):
    folder = linker_beside(own_world)
    assert folder == own_world.with_name("own.linker")
    save_linker(folder, LinkerConfig(min_score=0.99), {"command": "one"}, "own.kb")
    save_linker(folder, LinkerConfig(min_score=0.75), {"command": "two"})
    assert read_config(folder).min_score == found_beside(own_world).min_score == 0.75
    assert entlink.load(own_world).min_score == 0.75
    assert entlink.load(own_world, config="lexical").min_score == 0.0
    card = read_card(folder)
    assert [step["command"] for step in card.steps] == ["one", "two"]
    assert card.kb == "own.kb"


def test_without_one_beside_it_is_the_one_without_a_model(own_world):
    assert default_linker(own_world).config == read_config("everyday")


@pytest.mark.parametrize("name", ["lexical", "zero-shot"])
def test_those_in_the_box_can_be_read(name):
    assert read_config(name).retriever[0] == {"name": "alias"}


def test_lexical_is_the_default():
    assert read_config("lexical") == LinkerConfig()


def test_a_name_that_is_nearly_one_in_the_box():
    with pytest.raises(ConfigError, match="did you mean 'zero-shot'"):
        read_config("zero-shoot")


def test_a_card_that_is_broken_is_told(tmp_path):
    (tmp_path / "card.json").write_text('{"kb": 3}', encoding="utf8")
    with pytest.raises(ConfigError, match=r"card\.json: cannot be read .*remove it"):
        read_card(tmp_path)


def test_a_linker_made_for_another_knowledge_base_is_told(own_world, caplog):
    save_linker(linker_beside(own_world), LinkerConfig(min_score=0.5), {"command": "one"}, "other.kb")
    assert found_beside(own_world).min_score == 0.5
    (record,) = caplog.records
    assert "was made for other.kb" in record.getMessage()
