"""`entlink adapt` end to end, without models: those are trained in tests/learning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny_world
from knowledge_bases import make_kb

START = """
[[retriever]]
name = "alias"
[[retriever]]
name = "bm25"
[fusion]
name = "weights"
weights = { alias = 0.5, bm25 = 0.5 }
[ranker]
name = "combination"
weights = { coherence = 0.0 }
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    return make_kb(tmp_path_factory.mktemp("world"), tiny_world.rows(), "world", descriptions="full")


@pytest.fixture
def start(tmp_path) -> Path:
    path = tmp_path / "start.toml"
    path.write_text(START, encoding="utf8")
    return path


def test_a_linker_is_saved_and_told_of(run, world, start, tmp_path):
    folder = tmp_path / "own.linker"
    done = run("adapt", world, "--config", start, "--no-train", "-o", folder)
    assert done.code == 0, done.err
    assert f"saved as {folder}" in done.err
    for stage in ("indexes", "examples", "start", "evidence", "bi-encoder", "NIL"):
        assert f"\n{stage}" in done.out
    assert "no models were to be trained" in done.out
    assert "held back" in done.out
    (step,) = json.loads((folder / "card.json").read_bytes())["steps"]
    assert step["command"].startswith("entlink adapt ")
    said = "They sailed along River Arno to Alder Bay."
    span = {"start": 18, "end": 28}
    given = tmp_path / "given.jsonl"
    given.write_text(json.dumps({"id": "d", "text": said, "mentions": [span]}), encoding="utf8")
    linked = run("link", world, given, "--config", folder)
    assert linked.code == 0, linked.err
    assert "river-arno" in linked.out
    in_text = run("link", world, "--config", folder, stdin=said.encode())  # the detector is the start's own
    assert "river-arno" in in_text.out


def test_json_and_quiet(run, world, start, tmp_path):
    done = run("adapt", world, "--config", start, "--no-train", "-o", tmp_path / "a.linker", "--json", "--quiet")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["held_back"] > 0
    assert [one["name"] for one in report["stages"]][:3] == ["indexes", "examples", "start"]
    assert "saved as" not in done.err


def test_a_linker_that_cannot_be_adapted(run, world, tmp_path):
    done = run("adapt", world, "--config", "lexical", "--no-train", "-o", tmp_path / "a.linker")
    assert done.code == 3
    assert "only a linker with a [fusion]" in done.err
    assert not list(tmp_path.iterdir())


def test_minutes_are_a_number_above_nothing(run, world):
    assert run("adapt", world, "--minutes", "0").code == 2
