"""Linkers tuned into a folder; what the commands say of it is tested with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entlink.errors import InputError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.learning.fit.saving import calibrate_on_kb, tune_on_files
from entlink.learning.fit.tune import TuneOptions
from entlink.linking.config import LinkerConfig, linker_beside, read_config, with_encoder
from entlink.linking.saved import save_linker, starting_config

GOLD = Path(__file__).parents[3] / "samples" / "worlds.gold.jsonl"
CONFIG = """
[[retriever]]
name = "alias"

[[retriever]]
name = "bm25"

[fusion]
name = "weights"
weights = { alias = 1.0 }

[ranker]
name = "combination"
weights = { coherence = 0.0, dense = 0.0 }
"""


@pytest.fixture
def worlds(tmp_path):
    (tmp_path / "start.toml").write_text(CONFIG, encoding="utf8")
    build([GOLD.with_name("worlds.jsonl")], tmp_path / "worlds.kb", BuildOptions(processes=1))
    return tmp_path / "worlds.kb"


def test_a_tuned_linker_is_beside_the_knowledge_base(worlds):
    options = TuneOptions(keep=5)
    folder, found = tune_on_files(worlds, [GOLD], options, config=worlds.parent / "start.toml", command="a test")
    assert folder == linker_beside(worlds)
    assert read_config(folder).fusion["weights"] == found.fusion
    card = json.loads((folder / "card.json").read_bytes())
    (step,) = card["steps"]
    assert (card["kb"], step["command"], step["options"]["keep"]) == ("worlds.kb", "a test", 5)
    assert [file["name"] for file in step["data"]] == [GOLD.name]
    assert starting_config(None, worlds) == read_config(folder)  # the next one goes on from it


def test_what_a_linker_starts_from(tmp_path):
    kb = tmp_path / "a.kb"
    build([GOLD.with_name("worlds.jsonl")], kb, BuildOptions(processes=1))
    assert starting_config(None, kb) == with_encoder(read_config("zero-shot"), "minilm")
    save_linker(linker_beside(kb), LinkerConfig(min_score=0.5), {})
    assert starting_config(None, kb).min_score == 0.5
    assert starting_config("lexical", kb) == read_config("lexical")


def test_a_plot_that_cannot_be_written_is_told_first(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        calibrate_on_kb(tmp_path / "none.kb", plot=tmp_path / "none" / "plot.svg")
