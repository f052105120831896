"""`entlink kb build --descriptions` and `entlink kb index --words`."""

from __future__ import annotations

import pytest

from entlink.kb.indexes.derived import derived_indexes


def test_words_are_indexed_ahead(run, own):
    done = run("kb", "index", own, "--words")
    assert (done.code, done.out) == (0, f"{own}: the words of names and descriptions indexed\n")
    assert [one.name for one in derived_indexes(own / "index-1")] == ["short", "words"]  # names needed no new index


def test_edits_are_folded_in_before(run, own):
    run("kb", "add", own, "--id", "new", "--title", "New")
    done = run("kb", "index", own, "--words")
    assert done.code == 0
    assert done.out.endswith(" names and the words of names and descriptions indexed\n")
    assert [one.name for one in derived_indexes(own / "index-2")] == ["short", "words"]


def test_no_index_is_said_to_be_made_where_none_can_be_kept(run, own, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)  # as root nothing is read-only
    done = run("kb", "index", own, "--words")
    assert (done.code, done.out) == (3, "")
    assert "cannot be written" in done.err
    assert [one.name for one in derived_indexes(own / "index-1")] == ["short"]


def test_a_lost_index_is_made_too(run, own):
    (own / "index-1" / "index.json").unlink()
    assert run("kb", "index", own, "--words").code == 0
    assert [one.name for one in derived_indexes(own / "index-2")] == ["short", "words"]


def test_a_plain_index_makes_words_anew_where_they_are(run, own):
    run("kb", "index", own, "--words", "--quiet")
    assert run("kb", "index", own).out.endswith(" names indexed\n")
    assert [one.name for one in derived_indexes(own / "index-2")] == ["short", "words"]


def test_whole_texts_as_descriptions(run, tmp_path, write_lines):
    rows = [{"id": "a", "title": "A", "paragraphs": [{"text": "One."}, {"text": "Two."}]}]
    source = write_lines(tmp_path / "a.jsonl", rows)
    for choice, text in (("opening", "One."), ("full", "One.\n\nTwo.")):
        target = tmp_path / f"{choice}.kb"
        assert run("kb", "build", source, "-o", target, "--descriptions", choice, "--quiet").code == 0
        assert run("kb", "show", target, "a", "--json").json["entity"]["description"] == text


@pytest.mark.parametrize("choice", ["some", ""])
def test_an_unknown_choice_is_told(run, tmp_path, choice):
    done = run("kb", "build", "x.jsonl", "-o", tmp_path / "x.kb", "--descriptions", choice)
    assert done.code == 2
    assert "opening" in done.err


def test_info_tells_of_the_index(run, own):
    assert list(run("kb", "info", own, "--json").json["search_indexes"]) == ["short"]
    run("kb", "index", own, "--words")
    about = run("kb", "info", own, "--json").json
    assert 0 < about["search_indexes"]["words"] < about["index_bytes"]
    assert "  search indexes  short " in run("kb", "info", own, "--verify").out
