"""A linker that is found beside a knowledge base keeps to its own folder, unless it is trusted or named."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files

import pytest

import entlink
from entlink.errors import ConfigError
from entlink.linking.config import (
    LINKER_FILE,
    ConversationConfig,
    LinkerConfig,
    found_beside,
    linker_beside,
    read_config,
)
from entlink.linking.saved import save_linker, starting_config


@pytest.fixture
def found(own_world):
    """Writes the configuration of the linker beside a knowledge base; gives the knowledge base."""

    def found(toml: str):
        folder = linker_beside(own_world)
        folder.mkdir(exist_ok=True)
        (folder / LINKER_FILE).write_text(toml, encoding="utf8")
        return own_world

    return found


def _dense(encoder: str) -> str:
    return f'[[retriever]]\nname = "dense"\nencoder = "{encoder}"\n'


def test_what_is_inside_its_folder_in_the_box_or_in_the_store_is_loaded(found):
    kb = found('[nil]\nname = "keep"\n' + _dense("minilm") + '[conversation]\npersonal = "./weights.json"\n')
    weights = linker_beside(kb) / "weights.json"
    weights.write_bytes(b"{}")
    assert found_beside(kb).conversation.personal == str(weights.resolve())


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        (_dense("/models/theirs"), r"\[retriever\] dense, encoder = '/models/theirs'"),
        (_dense("./../theirs"), r"encoder = '.*theirs'"),
        (_dense("models/theirs"), "encoder = 'models/theirs'"),
        (_dense("here"), "encoder = 'here'"),  # a folder of this name is in the working folder
        ('[[evidence]]\nname = "senses"\nmodel = "/senses"', r"\[evidence\] senses, model = '/senses'"),
        ('[conversation]\npersonal = "/weights.json"', r"\[conversation\] personal = '/weights.json'"),
        ('[nil]\nname = "theirs"', "the nil 'theirs' of another package"),
        (_dense("./link"), "encoder = '.*link'"),  # leads out
        (_dense("./inside"), "encoder = '/of/its/card'"),
    ],
)
def test_what_leads_out_of_its_folder_is_told_unless_it_is_trusted(found, tmp_path, monkeypatch, toml, told):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    kb = found(toml)
    linker_beside(kb).joinpath("link").symlink_to(tmp_path)
    inside = linker_beside(kb) / "inside"
    inside.mkdir()
    (inside / "model.json").write_text(json.dumps({"settings": {"entities": "/of/its/card"}}), encoding="utf8")
    with pytest.raises(ConfigError, match=rf"own\.linker: this linker was found .*{told}.*--config .*--trust"):
        found_beside(kb)
    with pytest.raises(ConfigError, match="--config"):
        starting_config(None, kb)
    named = read_config(linker_beside(kb))
    assert found_beside(kb, trust=True) == starting_config(linker_beside(kb), kb) == named


def test_load_takes_one_that_is_trusted_or_named(own_world, tmp_path):
    weights = shutil.copy(files("entlink.linking.conversation.personal") / "conel2.json", tmp_path / "weights.json")
    folder = linker_beside(own_world)
    save_linker(folder, LinkerConfig(conversation=ConversationConfig(personal=str(weights))), {})
    with pytest.raises(ConfigError, match=r"weights\.json"):
        entlink.load(own_world)
    for settings in ({"trust": True}, {"config": folder}):
        linker = entlink.load(own_world, **settings)
        linker.kb.close()
