"""`entlink kb index --vectors`."""

from __future__ import annotations

import pytest

from entlink.kb.indexes.derived import derived_indexes
from tiny_encoders import LetterEncoder


@pytest.fixture(autouse=True)
def named_encoders(monkeypatch):
    """Any name is one of an encoder."""
    monkeypatch.setattr("entlink.encoders.loading.load_encoder", lambda spec: LetterEncoder(name=spec))


def vectors_in(index):
    """How many vectors each index over them has."""
    return [one.card.rows for one in derived_indexes(index) if one.name.startswith("vectors")]


def test_vectors_are_indexed_once(run, own):
    done = run("kb", "index", own, "--vectors", "letters")
    assert (done.code, done.out) == (0, f"{own}: 7 vectors of letters indexed\n")
    assert "the same command goes on" in done.err
    again = run("kb", "index", own, "--vectors", "letters")
    assert (again.out, again.err) == (f"{own}: 7 vectors of letters are up to date\n", "")
    assert vectors_in(own / "index-1") == [7]


def test_several_encoders_and_words_at_once(run, own):
    done = run("kb", "index", own, "--vectors", "letters", "--vectors", "others", "--words", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert [one.name.partition("-")[0] for one in derived_indexes(own / "index-1")][1:] == [
        "vectors",
        "vectors",
        "words",
    ]


def test_edits_are_folded_in_before_and_later(run, own):
    for number in (2, 3):
        run("kb", "add", own, "--id", f"new-{number}", "--title", "New")
        done = run("kb", "index", own, "--vectors", "letters")
        assert done.code == 0
        assert " names indexed\n" in done.out
        assert vectors_in(own / f"index-{number}") == [6 + number]


def test_an_interrupted_run_says_that_it_goes_on(run, own, monkeypatch):
    def interrupted(self, texts):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LetterEncoder, "encode", interrupted)
        done = run("kb", "index", own, "--vectors", "letters")
    assert done.code == 130
    assert "the same command goes on from there" in done.err
    assert run("kb", "index", own, "--vectors", "letters").code == 0


def test_an_unknown_encoder_is_told_before_anything_is_made(run, own, monkeypatch):
    monkeypatch.undo()
    run("kb", "add", own, "--id", "new", "--title", "New")
    done = run("kb", "index", own, "--vectors", "no-such-model")
    assert done.code != 0
    assert "no-such-model" in done.err
    assert not (own / "index-2").exists()
