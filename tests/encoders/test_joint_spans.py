"""Spans of tokens against what two loops find."""

from __future__ import annotations

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, Span, Turn
from entlink.encoders.joint.spans import apart, chances, mention_scores, span_means, spans_between
from entlink.encoders.joint.tokens import Piece, piece_at, pieces
from entlink.encoders.text.windows import windows


def by_loops(begins, ends, longest, from_=0, to=None):
    size = len(begins)
    return [
        [first, last]
        for first in range(from_, size if to is None else to)
        for last in range(first + 1, min(size, first + longest) + 1)
        if begins[first] and ends[last - 1]
    ]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20), st.integers(1, 6), st.data())
def test_spans_are_those_of_two_loops(flags, longest, data):
    begins, ends = (numpy.array([one[at] for one in flags], bool) for at in (0, 1))
    from_ = data.draw(st.integers(0, len(flags)))
    to = data.draw(st.none() | st.integers(from_, len(flags)))
    found = spans_between(begins, ends, longest, from_, to)
    assert found.tolist() == by_loops(begins, ends, longest, from_, to)
    assert found.shape == (len(found), 2)


@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 20), st.data())
def test_every_span_of_a_long_text_is_found_in_one_window(size, longest, more, data):
    room = 4 * longest + more
    words = sorted({0, *data.draw(st.lists(st.integers(0, size - 1), max_size=size))})
    begins = numpy.isin(numpy.arange(size), words)
    ends = numpy.array([*begins[1:], True])
    found = []
    for first, last, from_, to in windows(size, room, 2 * longest):
        own = spans_between(begins[first:last], ends[first:last], longest, from_ - first, to - first)
        found += (own + first).tolist()
    assert sorted(found) == by_loops(begins, ends, longest)


@given(st.integers(1, 12), st.integers(0, 1000))
def test_scores_and_means_by_hand(size, seed):
    chance = numpy.random.default_rng(seed)
    edges, hidden = chance.normal(size=(size, 3)).astype(numpy.float32), chance.normal(size=(size, 5))
    spans = numpy.array(by_loops([True] * size, [True] * size, 4))
    scores, means = mention_scores(edges, spans), span_means(hidden, spans)
    for (first, last), score, mean in zip(spans.tolist(), scores, means, strict=True):
        wanted = edges[first, 0] + edges[last - 1, 1] + sum(edges[at, 2] for at in range(first, last))
        assert score == pytest.approx(wanted, abs=1e-5)
        assert mean == pytest.approx(hidden[first:last].mean(0), abs=1e-5)


spans = st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda one: (one[0], one[0] + one[1]))


@given(st.lists(st.tuples(spans, st.integers(0, 4)), max_size=14, unique_by=lambda one: one[0]))
def test_the_best_of_what_overlaps_stays(scored):
    places, scores = [one for one, _ in scored], [score for _, score in scored]
    order = sorted(range(len(places)), key=lambda at: (-scores[at], places[at][0] - places[at][1], places[at][0]))
    kept = []
    for at in order:
        if not any(Span(*places[at]).overlaps(Span(*places[other])) for other in kept):
            kept.append(at)
    found = apart(places, scores)
    assert [at for at, _ in found] == order
    assert [at for at, winner in found if winner is None] == kept
    for at, winner in found:
        if winner is not None:
            assert Span(*places[at]).overlaps(Span(*places[winner]))
            assert scores[winner] >= scores[at]


def test_scores_become_chances():
    assert chances(numpy.array([0.0, 2.0, -1e9]), 0.5, 1.0).tolist() == pytest.approx(
        [1 / (1 + math.exp(-1)), 1 / (1 + math.exp(-2)), 0.0], abs=1e-12
    )


def test_a_conversation_is_read_by_turns_and_what_is_none_as_a_whole():
    talk = Document.of_turns("d", [Turn("one two"), Turn(""), Turn("three")])
    assert pieces(talk) == [Piece(talk.text, 0, 7), Piece(talk.text, 9, 9), Piece(talk.text, 11, 16)]
    assert piece_at(pieces(talk), Span(4, 7)).start == 0
    assert piece_at(pieces(talk), Span(11, 16)).start == 11
    altered = Document("d", talk.text.upper(), turns=talk.turns)
    assert pieces(altered) == [Piece(altered.text, 0, 16)]
    assert pieces(Document("e", "")) == [Piece("", 0, 0)]
