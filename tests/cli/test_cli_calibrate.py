"""`entlink calibrate` end to end."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from made_region import region_kb

LEXICAL = ("--config", "lexical", "--mentions", "300")


@pytest.fixture(scope="module")
def region(tmp_path_factory) -> Path:
    return region_kb(tmp_path_factory.mktemp("region"))


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_linker_is_saved_with_its_plot_and_its_reasons(run, region, tmp_path):
    folder = tmp_path / "own.linker"
    done = run("calibrate", region, *LEXICAL, "-o", folder, "--plot", tmp_path / "plot.svg")
    assert done.code == 0, done.err
    assert "expected calibration error" in done.out
    assert "threshold: 0." in done.out
    assert f"saved as {folder}" in done.err
    assert files(folder) == ["card.json", "linker.toml", "reliability.svg"]
    assert (tmp_path / "plot.svg").read_bytes() == (folder / "reliability.svg").read_bytes()
    nil = tomllib.loads((folder / "linker.toml").read_text(encoding="utf8"))["nil"]
    card = json.loads((folder / "card.json").read_bytes())
    assert card["kb"] == "region.kb"
    (step,) = card["steps"]
    assert step["command"].startswith("entlink calibrate ")
    assert step["options"]["seed"] == 0
    assert step["found"]["threshold"] == nil["threshold"]
    assert step["found"]["weights"] == nil["weights"]


def test_what_it_saves_links_with_probabilities(run, region, tmp_path):
    folder = tmp_path / "own.linker"
    assert run("calibrate", region, *LEXICAL, "-o", folder, "--quiet").code == 0
    text = tmp_path / "text.txt"
    text.write_text("Elsa Varga went to Karlford.", encoding="utf8")
    out = tmp_path / "out.jsonl"
    assert run("link", region, text, "--config", folder, "-o", out).code == 0
    links = json.loads(out.read_text(encoding="utf8"))["links"]
    assert [link["calibrated"] for link in links] == [True, True]


def test_by_default_it_is_saved_beside_the_knowledge_base(run, tmp_path):
    kb = region_kb(tmp_path)
    found = run("calibrate", kb, *LEXICAL, "--json").json
    assert found["mentions"] >= 100
    assert set(found["kinds"]) == {"known", "taken out", "never seen"}
    assert found["after"]["ece"] <= 1
    assert (tmp_path / "region.linker" / "linker.toml").exists()
    again = run("calibrate", kb, "--mentions", "300", "--seed", "1", "--json")
    assert again.code == 0
    assert len(json.loads((tmp_path / "region.linker" / "card.json").read_bytes())["steps"]) == 2


def test_a_small_knowledge_base_changes_nothing(run, toy, tmp_path):
    folder = tmp_path / "own.linker"
    done = run("calibrate", toy, *LEXICAL, "-o", folder)
    assert done.code == 3
    assert "entities are too few to calibrate on; 50 are needed" in done.err
    assert not folder.exists()


def test_a_precision_out_of_reach_changes_nothing(run, region, tmp_path):
    folder = tmp_path / "own.linker"
    done = run("calibrate", region, "--config", never_sure(tmp_path), "-o", folder, "--precision", "0.9999")
    assert done.code == 3
    assert "no threshold makes 0.9999 of the links right" in done.err
    assert not folder.exists()


def never_sure(folder: Path) -> Path:
    """A linker that likes best what is written least alike."""
    path = folder / "wild.toml"
    retrievers = (
        '[[retriever]]\nname = "alias"\n[[retriever]]\nname = "edit-distance"\nsimilarity = 0.1\ndistance = 9\n'
    )
    fusion = '[fusion]\nname = "weights"\nweights = { alias = 1.0, edit-distance = 1.0 }\n'
    ranker = '[ranker]\nname = "combination"\nweights = { alias = -9.0, spelling = -99.0, coherence = 0.0 }\n'
    path.write_text(retrievers + fusion + ranker, encoding="utf8")
    return path


def test_interrupted_it_leaves_nothing(run, region, tmp_path, monkeypatch):
    from entlink.learning.fit import calibration

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(calibration, "ranked", stop)
    folder = tmp_path / "own.linker"
    done = run("calibrate", region, *LEXICAL, "-o", folder)
    assert (done.code, folder.exists()) == (130, False)


def test_a_linker_of_another_knowledge_base_is_told(run, region, tmp_path):
    folder = tmp_path / "other.linker"
    folder.mkdir()
    (folder / "card.json").write_text('{"entlink": "0", "kb": "other.kb"}', encoding="utf8")
    (folder / "linker.toml").write_text("", encoding="utf8")
    done = run("calibrate", region, "--config", folder, "--mentions", "300", "-o", tmp_path / "own.linker")
    assert done.code == 0
    assert f"warning: {folder} was made for other.kb, not for region.kb" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--mentions", "20"), "20 mentions are too few: give 100 or more"),
        (("--nil-share", "1"), "'1' is not a number between 0 and 1"),
        (("--precision", "high"), "'high' is not a number from 0 to 1"),
    ],
)
def test_wrong_usage(run, region, words, message):
    done = run("calibrate", region, *words)
    assert (done.code, message in done.err) == (2, True)


def test_no_such_knowledge_base(run, tmp_path):
    done = run("calibrate", tmp_path / "none.kb", *LEXICAL)
    assert done.code == 4
    assert files(tmp_path) == []


def test_explain_tells_the_probability(run, region, tmp_path):
    folder = tmp_path / "own.linker"
    assert run("calibrate", region, *LEXICAL, "-o", folder, "--quiet").code == 0
    done = run("explain", region, "Elsa Varga", "--config", folder)
    assert "the only candidate, right with probability" in done.out
    done = run("explain", region, "Elsa Varga", "--config", folder, "--nil-threshold", "1")
    assert "too little for a link: the threshold is 1.000" in done.out
