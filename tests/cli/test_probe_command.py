"""`entlink probe`, the report on what it wrote, and `entlink train entities`, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
WORDS, TASKS = SAMPLES / "probes" / "words.txt", SAMPLES / "probes"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ENTLINK_MODELS", raising=False)


def test_two_encoders_on_all_tasks_and_a_page_on_them(run, tmp_path):
    out = tmp_path / "out"
    words = ["probe", f"words={WORDS}", f"again={WORDS}", "--tasks", TASKS, "--rounds", 20, "--names", "-o", out]
    done = run(*words)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "Families of tasks: the mean of their main scores"
    assert any(line.split()[:3] == ["kinds", "accuracy", "1.000"] for line in lines)
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.json"))[:2] == [
        "again/kinds.json",
        "again/likeness.json",
    ]
    assert list((tmp_path / "cache" / "entlink" / "probes").glob("vectors-*.sqlite"))
    page = tmp_path / "page.html"
    told = run("report", out, "-o", page)
    assert told.out.startswith(f"{page}: 8 results of probes")
    assert "What stands for an entity" in page.read_text() and (tmp_path / "page.csv").is_file()


def test_results_as_json(run):
    done = run("probe", WORDS, "--tasks", TASKS / "types", "--seeds", 1, "--rounds", 5, "--json", "--no-cache")
    (result,) = json.loads(done.out)
    assert result["kind"] == "entlink-probe" and result["options"]["layers"] == "mix"
    assert result["runs"][0]["seeds"] == [result["runs"][0]["score"]]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((WORDS, "--tasks", SAMPLES / "wiki"), 3, "no task.toml is here"),
        ((WORDS, "--tasks", TASKS / "kinds", TASKS / "kinds"), 3, "two of the tasks are called 'kinds'"),
        ((WORDS, WORDS, "--tasks", TASKS), 3, "two encoders are called 'words.txt'"),
        ((WORDS, "--tasks", TASKS, "--layers", "deep"), 2, "neither mix, all, last nor numbers"),
        ((WORDS, "--tasks", TASKS, "--layers", "1"), 3, "there is no layer 1"),
        (("nothing", "--tasks", TASKS), 6, "there is no model 'nothing'"),
    ],
)
def test_what_cannot_be_probed(run, words, code, message):
    done = run("probe", *words)
    assert (done.code, message in done.err) == (code, True), done.err


def test_coverage_is_said_before_any_score(run, tmp_path):
    folder = tmp_path / "likeness"
    folder.mkdir()
    card = (TASKS / "likeness" / "task.toml").read_text()
    (folder / "task.toml").write_text(card.replace("[sizes]", "covered = 28\nof = 40\n[sizes]"))
    for name in ("test.jsonl", "entities.jsonl"):
        (folder / name).write_text((TASKS / "likeness" / name).read_text())
    done = run("probe", WORDS, "--tasks", folder, "--rounds", 5)
    assert "likeness: 28 of the 40 rows of the source are covered" in done.err.splitlines()[0]


def test_vectors_of_entities_from_links(run, tmp_path, write_lines):
    def row(number, entities):
        text = " ".join(entities)
        starts = [text.index(one) for one in entities]
        gold = [{"start": at, "end": at + len(one), "entity": one} for at, one in zip(starts, entities, strict=True)]
        return {"id": str(number), "text": text, "gold": gold}

    groups = (["heron", "owl", "duck"], ["wren", "owl", "heron"], ["severn", "wye"], ["tamar", "teign", "wye"])
    gold = write_lines(tmp_path / "gold.jsonl", [row(number, one) for number, one in enumerate(groups)])
    out = tmp_path / "entities.txt"
    assert run("train", "entities", gold, "-o", out, "--dimension", 3).out == f"{out}: vectors of 8 entities\n"
    done = run("probe", WORDS, "--tasks", TASKS / "which", "--entity-vectors", out, "--rounds", 5)
    assert "the file of entity vectors has 8 of 8 candidates" in done.out
