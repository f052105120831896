"""`entlink report` end to end."""

from __future__ import annotations

import csv
import re
import sys

import pytest


def gold_rows():
    """Documents with gold, and room for links."""
    texts = {
        "d1": ("Mercury is near the Sun.", [(0, 7, "mercury-planet"), (20, 23, "sun")]),
        "d2": ("NASA likes Mercury & <Sun>.", [(0, 4, "nasa"), (11, 18, "mercury-planet"), (22, 25, "sun")]),
        "d3": ("Nobody knows Vulcan.", [(13, 19, None)]),
    }
    for id, (text, gold) in texts.items():
        links = [{"start": start, "end": end, "entity": entity} for start, end, entity in gold]
        yield {"id": id, "text": text, "gold": links}


@pytest.fixture
def gold(tmp_path, write_lines):
    return write_lines(tmp_path / "gold.jsonl", list(gold_rows()))


@pytest.fixture
def linked(run, toy, gold, tmp_path):
    """Predictions in a file of their own, which has the gold too."""
    out = tmp_path / "linked.jsonl"
    assert run("link", toy, gold, "-o", out, "--candidates").code == 0
    return out


@pytest.fixture
def saved(run, toy, gold, linked, tmp_path):
    out = tmp_path / "run.json"
    assert run("evaluate", gold, linked, "--kb", toy, "--rounds", 50, "-o", out, "--quiet").code == 0
    return out


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_it_tells_what_it_wrote(run, saved, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    done = run("report", saved, "-o", out / "report.html")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(rf"{out}/report.html: 1 run, \d+ kB\n", done.out.splitlines(keepends=True)[0])
    beside = "report.csv, report-slices.csv, report-blame.csv, report-differences.csv, report.tex"
    assert done.out.endswith(f"  beside it {beside}\n")
    assert names(out) == sorted(["report.html", *beside.split(", ")])
    page = (out / "report.html").read_text(encoding="utf8")
    assert "<title>linked on gold.jsonl</title>" in page
    assert f"entlink report {saved} -o {out}/report.html" in page


@pytest.mark.parametrize("with_gold", [True, False])
def test_predictions_are_scored_now(run, toy, gold, linked, tmp_path, with_gold):
    words = ["--gold", gold] if with_gold else []
    done = run("report", linked, *words, "--kb", toy, "-o", tmp_path / "r.html", "--rounds", 0, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    with (tmp_path / "r.csv").open(encoding="utf8", newline="") as file:
        rows = {(row["task"], row["average"], row["measure"]): row for row in csv.DictReader(file)}
    assert rows["el", "micro", "recall"]["gold"] == "5"
    assert rows["el_covered", "micro", "recall"]["gold"] == "5"
    assert rows["el", "micro", "recall"]["low"] == ""


def test_several_runs_are_compared(run, toy, gold, linked, saved, tmp_path):
    fewer = tmp_path / "fewer.jsonl"
    assert run("link", toy, gold, "-o", fewer, "--candidates", "--min-score", "0.99").code == 0
    title = "Ours & <theirs>"
    words = ["--gold", gold, "--kb", toy, "--all-nil-rules", "--title", title, "-o", tmp_path / "r.html"]
    assert run("report", saved, fewer, *words).out.startswith(f"{tmp_path}/r.html: 2 runs, ")
    page = (tmp_path / "r.html").read_text(encoding="utf8")
    assert "<h1>Ours &amp; &lt;theirs&gt;</h1>" in page
    assert "Differences from linked" in page
    with (tmp_path / "r-differences.csv").open(encoding="utf8", newline="") as file:
        assert {(row["a"], row["b"]) for row in csv.DictReader(file)} == {("linked", "fewer")}


def test_saved_evaluations_are_not_scored_again(run, saved, gold, tmp_path):
    done = run("report", saved, "--gold", gold, "-o", tmp_path / "r.html")
    assert done.code == 0
    assert "all runs are saved evaluations: they were not scored again" in done.err


def test_the_next_report_takes_the_place_of_the_last_but_not_of_other_files(run, saved, tmp_path):
    out = tmp_path / "r.html"
    assert run("report", saved, "-o", out).code == 0
    assert run("report", saved, "-o", out).code == 0
    (tmp_path / "s.tex").write_text("mine")
    refused = run("report", saved, "-o", tmp_path / "s.html")
    assert (refused.code, "s.tex is there already" in refused.err) == (4, True)
    assert (tmp_path / "s.tex").read_text() == "mine"
    assert run("report", saved, "-o", tmp_path / "s.html", "--replace").code == 0


def test_an_input_is_never_written_over(run, saved, gold, tmp_path):
    page = tmp_path / "run.html"
    saved.rename(page)
    done = run("report", page, "-o", page, "--replace")
    assert (done.code, "would be written over a file it is made of" in done.err) == (3, True)
    assert page.read_bytes().startswith(b'{\n"kind"')


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("none/r.html", "there is no folder"),
        ("r.pdf", "Name a file that ends in .html"),
        ("-", "Name a file that ends in .html"),
    ],
)
def test_where_no_report_can_go(run, saved, tmp_path, output, told):
    before = names(tmp_path)
    done = run("report", saved, "-o", tmp_path / output)
    assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)
    assert told in done.err
    assert names(tmp_path) == before


def damaged(content: bytes, how: str) -> bytes:
    return {
        "cut": content[: len(content) // 2],
        "of another version": content.replace(b"evaluation, version 1", b"evaluation, version 99"),
        "empty": b"",
        "no run": b"Dear diary,\n",
        "wrong": content.replace(b'"documents": 3', b'"documents": "three"'),
    }[how]


@pytest.mark.parametrize("how", ["cut", "of another version", "empty", "no run", "wrong"])
def test_a_damaged_run_is_told_and_nothing_written(run, saved, tmp_path, how):
    bad = tmp_path / "bad.json"
    bad.write_bytes(damaged(saved.read_bytes(), how))
    before = names(tmp_path)
    done = run("report", saved, bad, "-o", tmp_path / "r.html")
    assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)
    assert done.err.startswith(f"entlink: error: {bad}: ")
    assert names(tmp_path) == before


def test_what_is_not_there_is_told(run, saved, tmp_path):
    assert run("report", tmp_path / "none.json", "-o", tmp_path / "r.html").code == 3
    assert run("report", saved, "--kb", tmp_path / "none.kb", "-o", tmp_path / "r.html").code == 4
    assert names(tmp_path) == ["gold.jsonl", "linked.jsonl", "run.json"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "r.html"], "required: RUN"),
        (["run.json"], "required: -o/--output"),
    ],
)
def test_wrong_usage_is_one_line(run, words, told):
    done = run("report", *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert told in done.err


def test_without_matplotlib_it_says_what_to_install(run, saved, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("report", saved, "-o", tmp_path / "r.html")
    assert (done.code, "pip install 'entlink[eval]'" in done.err) == (6, True)
