"""Labels of words to spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.encoders.text.windows import windows
from entlink.mentions.labels import Scheme, Tagged

TEXT = "Ada Lovelace met Charles in New York"
WORDS = [(0, 3), (4, 12), (13, 16), (17, 24), (25, 27), (28, 31), (32, 36)]


def spans(labels: str, known: str | None = None, text: str = TEXT):
    tagged = [Tagged(start, end, label, 0.5) for (start, end), label in zip(WORDS, labels.split(), strict=True)]
    found = Scheme((known or labels).split()).mentions(text, tagged)
    for mention in found:
        assert text[mention.span.start : mention.span.end] == mention.text
    return [(mention.text, mention.type) for mention in found]


EXPECTED = [("Ada Lovelace", "PER"), ("Charles", "PER"), ("New York", "LOC")]


@pytest.mark.parametrize(
    "labels",
    [
        "B-PER I-PER O B-PER O B-LOC I-LOC",
        "B-PER L-PER O U-PER O B-LOC L-LOC",
        "B-PER E-PER O S-PER O B-LOC E-LOC",
        "I-PER I-PER O I-PER O I-LOC I-LOC",
        "B_PER I_PER O B_PER O B_LOC I_LOC",
        "PER PER O PER O LOC LOC",
        "PER PER o PER O LOC LOC",
    ],
)
def test_every_scheme_gives_the_same_spans(labels):
    assert spans(labels) == EXPECTED


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ("B-PER B-PER O O O O O", [("Ada", "PER"), ("Lovelace", "PER")]),
        ("I-PER I-LOC O O O O O", [("Ada", "PER"), ("Lovelace", "LOC")]),
        ("U-PER I-PER O O O L-LOC I-LOC", [("Ada", "PER"), ("Lovelace", "PER"), ("New", "LOC"), ("York", "LOC")]),
        ("O O O O O O B-LOC", [("York", "LOC")]),
        ("O O O O O O O", []),
    ],
)
def test_spans_begin_and_end_where_the_labels_say(labels, found):
    assert spans(labels, "B-PER I-PER L-PER U-PER B-LOC I-LOC L-LOC O") == found


def test_a_type_that_looks_like_a_prefix_is_a_type_among_types():
    assert Scheme(["E-mail", "PER", "O"]).types == ["E-mail", "PER"]
    assert Scheme(["B-PER", "I-PER", "O"]).types == ["PER"]


def test_no_span_runs_across_a_blank_line():
    text = "Ada Lovelace met Charles in New\n \nYork"
    tagged = [Tagged(28, 31, "LOC", 1.0), Tagged(34, 38, "LOC", 0.5)]
    found = Scheme(["LOC", "O"]).mentions(text, tagged)
    assert [(mention.text, mention.score) for mention in found] == [("New", 1.0), ("York", 0.5)]
    together = Scheme(["LOC", "O"]).mentions(text.replace("\n \n", "\n  "), tagged)
    assert [(mention.text, mention.score) for mention in together] == [("New\n  York", 0.75)]


def test_white_space_is_no_part_of_a_mention():
    tagged = [Tagged(0, 4, "LOC", 1.0), Tagged(5, 6, "LOC", 1.0)]
    assert [one.text for one in Scheme(["LOC", "O"]).mentions(" Ada  ", tagged)] == ["Ada"]
    assert Scheme(["LOC", "O"]).mentions("      ", tagged) == []


@given(size=st.integers(1, 300), room=st.integers(1, 40), share=st.integers(1, 8))
def test_windows_decide_on_everything_once(size, room, share):
    overlap = room // (share + 1)
    found = windows(size, room, overlap)
    assert [place for one in found for place in range(one.from_, one.to)] == list(range(size))
    for one in found:
        assert one.first <= one.from_ < one.to <= one.last <= size
        assert one.last - one.first <= room
        assert one.first == 0 or one.from_ - one.first == overlap // 2
        assert one.last == size or one.last - one.to == overlap - overlap // 2
