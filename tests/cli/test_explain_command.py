"""`entlink explain` end to end."""

from __future__ import annotations

TEXT = "The Sun, the sun and Merkury."


def test_all_names(run, toy):
    told = run("explain", toy, TEXT, "--json").json["spans"]
    assert ("Sun", "linked") in [(span["text"], span["outcome"]) for span in told]


def test_a_surface_wherever_it_stands(run, toy):
    told = run("explain", toy, "Sun and Sun", "--surface", "Sun", "--json").json["spans"]
    assert [(span["start"], span["end"], span["entity"]) for span in told] == [(0, 3, "sun"), (8, 11, "sun")]


def test_a_span_that_is_no_name(run, toy):
    done = run("explain", toy, TEXT, "--span", "21:28")
    assert done.code == 0
    assert "'Merkury' at 21:28: not in the dictionary" in done.out
    assert "nearest by spelling: Mercury (element), Mercury (planet)" in done.out


def test_a_blocked_name(run, own):
    assert run("kb", "block", own, "Sun").code == 0
    told = run("explain", own, TEXT, "--surface", "Sun", "--json").json["spans"]
    assert [(span["outcome"], span["reason"]) for span in told] == [("rejected", "blocked by a rule")]


def test_nothing_to_explain(run, toy):
    assert run("explain", toy, "nothing here").out == "no name of the knowledge base stands in it\n"


def test_text_from_stdin(run, toy):
    assert run("explain", toy, "-", "--json", stdin="的 Sun".encode()).json["spans"][0]["start"] == 2


def test_what_does_not_fit_the_text(run, toy):
    far = run("explain", toy, TEXT, "--span", "20:99")
    assert far.code == 3
    assert "--span 20:99 does not fit the text of 29 characters" in far.err
    assert run("explain", toy, TEXT, "--span", "5:5").code == 3
    absent = run("explain", toy, TEXT, "--surface", "Moon")
    assert (absent.code, "'Moon' does not stand in the text" in absent.err) == (3, True)
