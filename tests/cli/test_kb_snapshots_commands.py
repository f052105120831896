"""`entlink kb build --snapshots`, `kb snapshots`, `kb diff`, `kb export --as-of` and `--as-of` of other commands."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from entlink_cli import main
from larkham import DATES, HISTORY, larkham


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("larkham") / "larkham.kb"
    larkham(target)
    return target


def run(capsys, *words, code=0):
    try:
        returned = main([str(word) for word in words])
    except SystemExit as left:
        returned = left.code
    out, err = capsys.readouterr()
    assert returned == code, err
    return out, err


def test_building_and_adding(tmp_path, capsys):
    kb = tmp_path / "larkham.kb"
    build = ("kb", "build", HISTORY, "-o", kb, "--processes", "1")
    out, _ = run(capsys, *build, "--snapshots", "2013-01-01,2018-01-01", "--stable-interval", "86400")
    assert "2013-01-01  3 entities" in out and "2018-01-01  6 entities" in out and "--as-of 2013-01-01" in out
    out, _ = run(capsys, *build, "--add-snapshots", "2018/2020/yearly", "--stable-interval", "86400")
    assert "2019-01-01" in out and "there before: 2018-01-01" in out
    out, _ = run(capsys, *build, "--snapshots", "2018,1999", "--replace", "--json")
    told = json.loads(out)
    assert list(told["snapshots"]) == ["2018-01-01T00:00:00Z"] and told["empty"] == ["1999-01-01T00:00:00Z"]
    assert "entlink kb build" in told["snapshots"]["2018-01-01T00:00:00Z"]["command"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--snapshots", "2018", "--add-snapshots", "2019"), 2, "do not go together"),
        (("--stable-interval", "60"), 2, "--stable-interval goes with --snapshots"),
        (("--add-snapshots", "2019", "--replace"), 2, "--replace does not go with it"),
        (("--add-snapshots", "2019"), 4, "no knowledge base with snapshots is there"),
        (("--snapshots", "soon"), 3, "soon"),
        (("--snapshots", "2018/2019/hourly"), 3, "hourly"),
    ],
)
def test_wrong_usage(tmp_path, capsys, words, code, told):
    _, err = run(capsys, "kb", "build", HISTORY, "-o", tmp_path / "a.kb", *words, code=code)
    assert told in err


def test_listing(made, tmp_path, capsys):
    out, _ = run(capsys, "kb", "snapshots", made)
    assert [line.split()[0] for line in out.splitlines()] == ["date", *DATES]
    out, _ = run(capsys, "kb", "snapshots", made, "--json")
    assert [(row["date"][:10], row["entities"]) for row in json.loads(out)] == list(
        zip(DATES, (3, 6, 6), strict=True)
    )
    with_none = tmp_path / "plain.kb"
    run(capsys, "kb", "build", HISTORY, "-o", with_none, "--quiet")
    assert "has no snapshots" in run(capsys, "kb", "snapshots", with_none)[0]


def test_diffs(made, tmp_path, capsys):
    out, _ = run(capsys, "kb", "diff", made, "2018", "2020")
    assert "renamed    1" in out and "Old Bridge  →  Anna Bright Bridge" in out
    assert "Heron  17% moved  Heron (ferry) 0.50 → Heron (café) 0.67" in out
    out, _ = run(capsys, "kb", "diff", made, "2018", "2020", "--json", "--limit", "1")
    told = json.loads(out)
    assert told["counts"]["changed"] == 4 and len(told["changed"]) == 1
    other = shutil.copytree(made, tmp_path / "other.kb")
    run(capsys, "kb", "remove", other, "Mira Solano")
    out, _ = run(capsys, "kb", "diff", made, other)
    assert "gone       1" in out and "Mira Solano" in out
    for words, told in (
        ((made, "2018"), "two dates"),
        ((made, "2018", "2019", "2020"), "two dates"),
        ((made, "2018", "soon"), "'soon' is not an ISO date"),
    ):
        assert told in run(capsys, "kb", "diff", *words, code=2)[1]
    assert "before its first snapshot" in run(capsys, "kb", "diff", made, "2000", "2018", code=3)[1]


def test_looking_as_of_a_date(made, capsys):
    assert "Old Bridge" in run(capsys, "kb", "show", made, "page:3", "--as-of", "2018")[0].splitlines()[0]
    assert "nothing in" in run(capsys, "kb", "search", made, "mira", "--as-of", "2013")[0]
    assert "Mira Solano" in run(capsys, "kb", "search", made, "mira")[0]
    assert "1.000" in run(capsys, "kb", "aliases", made, "Heron", "--as-of", "2014-02")[0]
    assert "snapshots        2013-01-01, 2018-01-01, 2020-01-01" in run(capsys, "kb", "info", made, "--verify")[0]
    assert "before its first snapshot" in run(capsys, "kb", "show", made, "page:3", "--as-of", "1999", code=3)[1]


def test_exporting_as_of_a_date(made, tmp_path, capsys):
    out = tmp_path / "then.jsonl"
    run(capsys, "kb", "export", made, "-o", out, "--as-of", "2018-06-01")
    rows = {row["page"]: row for row in map(json.loads, out.read_text(encoding="utf8").splitlines())}
    assert (rows[3]["title"], rows[3]["revision"], rows[5]["redirects"]) == ("Old Bridge", 300, ["Lantern Night"])


def test_linking_explaining_and_chatting_as_of_a_date(made, tmp_path, capsys, monkeypatch):
    text = "She took the Heron to the Old Bridge."
    documents = tmp_path / "in.jsonl"
    rows = [{"id": date, "text": text, "date": date} for date in ("2020-02-02", "2013-02-02")]
    documents.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"id": "none", "text": text}]))
    words = ("link", made, documents, "--config", "everyday", "--as-of", "document")
    assert "the document 'none' has no date" in run(capsys, *words, code=3)[1]
    out, err = run(capsys, *words, "--on-error", "skip", "--json")
    linked = [[link["entity"] for link in json.loads(line)["links"]] for line in out.splitlines()]
    assert linked == [["Heron (café)", "Anna Bright Bridge"], ["Heron (ferry)", "Old Bridge"]]
    assert err.count("skipped:") == 1
    out, _ = run(capsys, *words, "--on-error", "skip", "--explain")
    assert "document 2020-02-02" in out and "Heron (ferry)" in out
    out, _ = run(capsys, "explain", made, text, "--surface", "Old Bridge", "--as-of", "2021", "--config", "everyday")
    assert "Anna Bright Bridge" in out
    plain = tmp_path / "text.txt"
    plain.write_text(text)
    assert "documents with a date" in run(capsys, "link", made, plain, "--as-of", "document", code=2)[1]
    assert "Old Bridge" in run(capsys, "link", made, plain, "--as-of", "2013", "--config", "everyday", "--json")[0]
    assert "not an ISO date" in run(capsys, "explain", made, text, "--as-of", "document", code=2)[1]
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    out, _ = run(capsys, "chat", made, "--as-of", "2013", "--config", "everyday")
    assert "Heron (ferry)" in out
