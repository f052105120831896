"""EntEval's own files, each layout by a row or two written by hand."""

from __future__ import annotations

import io

import pytest

from entlink.errors import SourceError
from entlink.formats.probes import ProbeEntity
from entlink.formats.probes.enteval import LAYOUTS, read_examples

ROWS = {
    "cap": "A heron stood .\t0\t2\nThe bird flew .\t0\t2\n1\n\nA heron stood .\t0\t2\nA pike swam .\t0\t2\n0\n\n",
    "cerp": "1\t0\t2\t4\t6\ta heron is not a fish\n",
    "efp": "SUPPORTS\tThe heron is a bird .\t1\t2\n",
    "et": "A heron stood .\t0\t2\tbird\tanimal\n",
    "ert": "eats\tgrey_heron\tpike\ta bird .\ta fish .\n",
    "kore": "@@\theron\ta bird .\n1\tkingfisher\talso a bird .\n2\tpike\ta fish .\n"
    "@@\tmast\ta spar .\n1\tsail\tcloth .\n",
    "wikisrs": "97.6\tFerrari\tLamborghini\tcars .\tmore cars .\n",
    "rare": "a first sentence .\tat dawn **blank** stood still .\nGrey heron\ta bird .\npike\ta fish .\n"
    "mast\ta spar .\noak\ta tree .\n0\n\n",
    "conll": "1\t2\tthe heron .\tdoc\t0.7|||Heron|||a bird .\t0.3|||Heron_(boat)|||a ferry .\n",
}


def read(layout: str, text: str = "") -> list:
    return list(read_examples(layout, io.BytesIO((text or ROWS[layout]).encode())))


def described(title: str, description: str) -> ProbeEntity:
    return ProbeEntity(title=title, description=description)


def test_there_is_a_sample_of_every_layout():
    assert set(ROWS) == set(LAYOUTS)
    assert all(read(layout) for layout in LAYOUTS)


def test_spans_of_tokens_end_before_their_end():
    first, second = read("cap")
    assert [one.mention for one in first.entities] == ["A heron", "The bird"]
    assert (first.labels, second.labels) == (("1",), ("0",))
    (row,) = read("cerp")
    assert [one.mention for one in row.entities] == ["a heron", "a fish"]
    assert read("efp")[0].entities[0].mention == "heron"
    assert read("et")[0].labels == ("bird", "animal")


def test_descriptions_and_scores():
    (row,) = read("ert")
    assert row.entities == (described("grey heron", "a bird ."), described("pike", "a fish ."))
    assert [(row.head, row.score) for row in read("kore")] == [("heron", 20.0), ("heron", 19.0), ("mast", 20.0)]
    assert read("wikisrs")[0].score == 97.6


def test_candidates_fill_the_blank():
    (row,) = read("rare")
    assert row.entities[0].mention == "**blank**"
    assert [one.mention for one in row.candidates] == ["Grey heron", "pike", "mast", "oak"]
    assert row.candidates[0].sentence == "at dawn Grey heron stood still ."
    assert (row.gold, row.candidates[3].description) == (0, "a tree .")


def test_of_the_candidates_of_a_mention_the_first_is_right():
    (row,) = read("conll")
    assert (row.entities[0].mention, row.gold, row.priors) == ("heron", 0, (0.7, 0.3))
    assert [one.title for one in row.candidates] == ["Heron", "Heron (boat)"]


def test_only_the_words_around_a_blank_are_read():
    far = "word " * 300
    (row,) = read("rare", ROWS["rare"].replace("at dawn **blank** stood", f"{far}**blank** {far}stood"))
    before, _, after = row.entities[0].sentence.partition("**blank**")
    assert (len(before.split()), len(after.split())) == (150, 149)  # as EntEval cuts them


@pytest.mark.parametrize(
    ("layout", "text", "message"),
    [
        ("cap", "A heron .\t0\t2\n1\n\n", "line 1: a row of 2 lines"),
        ("cap", "A heron .\t0\nA pike .\t0\t1\n1\n\n", "line 1: the line has 2 columns"),
        ("cap", "A heron .\t0\t2\nA pike .\t0\t1\n1\t2\n\n", "line 3: the label's line has 2 columns"),
        ("cerp", "1\t0\t2\ta heron\n", "line 1: the line has 4 columns between tabs, not 6"),
        ("efp", "SUPPORTS\tThe heron .\t1\t9\n", "line 1: the tokens 1 to 9 are not in a sentence of 3"),
        ("efp", "SUPPORTS\tThe heron .\tone\t2\n", "line 1: the start is 'one'"),
        ("et", "A heron .\t0\t2\n", "and no label"),
        ("ert", "eats\theron\n", "line 1: the line has 2 columns"),
        ("kore", "1\theron\ta bird .\n", "before the first seed"),
        ("wikisrs", "much\ta\tb\tc\td\n", "the score is 'much'"),
        ("rare", ROWS["rare"].replace("**blank**", "it"), r"line 1: the context has no \*\*blank\*\*"),
        ("rare", ROWS["rare"].replace("\n0\n", "\n4\n"), "line 6: the number of the right candidate is 4"),
        ("conll", "1\t2\tthe heron .\n", "3 columns"),
        ("conll", "1\t2\tthe heron .\t_\t0.7|||Heron\n", "has 2 parts"),
    ],
)
def test_a_wrong_line_is_named(layout, text, message):
    with pytest.raises(SourceError, match=message):
        read(layout, text)


def test_reading_goes_on_behind_a_bad_row():
    problems = []
    text = "A heron .\t0\t9\nA pike .\t0\t1\n1\n\n" + ROWS["cap"]
    rows = read_examples("cap", io.BytesIO(text.encode()), on_error="skip", on_problem=problems.append)
    assert (len(list(rows)), len(problems)) == (2, 1)
