"""`entlink tune` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

GOLD = Path(__file__).parents[2] / "samples" / "worlds.gold.jsonl"
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
    from entlink.kb.build.from_sources import BuildOptions, build

    (tmp_path / "start.toml").write_text(CONFIG, encoding="utf8")
    build([GOLD.with_name("worlds.jsonl")], tmp_path / "worlds.kb", BuildOptions(processes=1))
    return tmp_path / "worlds.kb"


def test_the_linker_is_saved_beside_and_found_there(run, worlds):
    ran = run("tune", worlds, GOLD, "--config", worlds.parent / "start.toml")
    assert ran.code == 0
    assert "21 mentions; all retrievers together reach 1.000" in ran.out
    folder = worlds.with_suffix(".linker")
    assert ran.err == f"entlink: saved as {folder}\n"
    (step,) = json.loads((folder / "card.json").read_text(encoding="utf8"))["steps"]
    assert step["found"]["mentions"] == 21
    told = run("explain", worlds, "The skipper called.", "--surface", "skipper").out
    assert "bm25" in told, "the linker beside is the one that explains"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--format", "jsonll"], 3, "jsonl"),
        (["--format", "aida"], 3, "worlds.gold.jsonl"),
        (["--config", "lexical"], 3, "only a linker with a [fusion] can be tuned"),
        (["--keep", "0"], 2, "--keep"),
    ],
)
def test_wrong_usage_is_told_and_nothing_saved(run, worlds, words, code, told):
    ran = run("tune", worlds, GOLD, "--config", worlds.parent / "start.toml", *words)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err
    assert not worlds.with_suffix(".linker").exists()


def test_nil_by_what_the_linker_finds_itself(run, worlds):
    rows = [json.loads(line) for line in GOLD.read_text(encoding="utf8").splitlines()]
    for row in rows:
        row["mentions"] = row["mentions"][::2]  # so that some of what is found is wrong
    many = worlds.with_name("many.jsonl")
    copies = [{**row, "id": f"{row['id']}-{copy}"} for copy in range(9) for row in rows]
    many.write_text("".join(json.dumps(row) + "\n" for row in copies), encoding="utf8")
    start = worlds.parent / "start.toml"
    ran = run("tune", worlds, many, "--config", start, "--only", "nil", "-o", worlds.with_name("nil.linker"))
    assert ran.code == 0, ran.err
    assert "links, on parts held out" in ran.out
    assert 'name = "judged"' in (worlds.with_name("nil.linker") / "linker.toml").read_text(encoding="utf8")
    told = run("link", worlds, many, "--config", worlds.with_name("nil.linker"), "-o", worlds.with_name("out.jsonl"))
    assert told.code == 0, told.err
    few = run("tune", worlds, GOLD, "--config", start, "--only", "nil", "-o", worlds.with_name("few.linker"))
    assert few.code == 3
    assert "too few" in few.err
    assert not worlds.with_name("few.linker").exists()
