"""Features of spans, counted by hand and by brute force; and that long texts cost no more than their length."""

from __future__ import annotations

from math import log, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import block
from entlink.mentions.proposals import Proposal, proposals, words_of
from entlink.mentions.span_features import FEATURES, NEVER_SEEN, Seen, SpanFeatures, TextFeatures, nesting
from knowledge_bases import article, make_kb

# Four texts. "Paris" is linked twice, and stands once more so and once in lower case.
ROWS = [
    article("paris", "Paris", "[[paris|Paris]] is big. Paris was small.", "I like [[paris|Paris]]."),
    article("town", "Paris (Texas)", "A town."),
    article("fair", "World Fair", "The [[fair|World Fair]] in paris."),
    article("beijing", "北京", language="zh"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("features"), ROWS)


@pytest.fixture
def kb(folder):
    with KnowledgeBase.open(folder) as opened:
        yield opened


def features(kb, text, seen=lambda key: NEVER_SEEN):
    """The features of each span by its text."""
    words = words_of(text)
    spans = proposals(text, words, kb.scanner().matches(text))
    rows = TextFeatures(SpanFeatures(kb), text, words, spans, seen).rows(spans)
    return {
        text[one.start : one.end]: dict(zip(FEATURES, row, strict=True)) for one, row in zip(spans, rows, strict=True)
    }


def told(found):
    """Those that are not 0."""
    return {name: value for name, value in found.items() if value}


def test_a_name_counted_by_hand(kb):
    found = features(kb, "The Paris World Fair, in 1900.", lambda key: Seen(2, 4) if key == "paris" else NEVER_SEEN)
    assert told(found["Paris"]) == pytest.approx(
        {
            "is a name": 1,
            "bearers": log(1 + 2),
            "bearers of any form": log(1 + 2),
            "is a title": 1,
            "times in texts": log(1 + 2),  # without a link: once "Paris", once "paris"
            "share of texts": log(2.5 / 4),
            "share in lower case": 1 / 3,
            "times linked": log(1 + (2 + 3) + 1),  # links and title; what is left of "Paris (Texas)"
            "P(link)": 2 / 3,  # written so
            "is found": 1,
            "words": 1,
            "characters": 5,
            "begins with a capital": 1,
            "all words have capitals": 1,
            "after an article": 1,
            "after a small word": 1,
            "ends in s": 1,
            "rarest word": log(2.5 / 4),
            "commonest word": log(2.5 / 4),
            "was a mention": 3 / 7,
            "was seen": log(5),
        }
    )


def test_a_run_that_is_no_name_counted_by_hand(kb):
    found = features(kb, "is it my paris fairs? yes")["paris fairs"]
    assert told(found) == pytest.approx(
        {
            "how exactly": 9,
            "share of texts": log(0.5 / 4),
            "has a shorter name": 1,
            "words": 2,
            "characters": 11,
            "after an owner": 1,
            "after a small word": 1,
            "before a small word": 1,
            "before a sign": 1,
            "ends in s": 1,
            "rarest word": log(0.5 / 4),
            "commonest word": log(2.5 / 4),
            "text without capitals": 1,
            "was a mention": 1 / 3,
        }
    )


@pytest.mark.parametrize(
    ("text", "surface", "feature", "value"),
    [
        ("We saw World Fair", "World", "inside a longer name", 1),
        ("We saw World Fair", "Fair", "inside a longer name", 1),
        ("We saw World Fair", "World Fair", "inside a longer name", 0),
        ("We saw World Fair", "World Fair", "ends the text", 1),
        ("Paris. Fair", "Fair", "begins a sentence", 1),
        ("Paris Fair", "Fair", "begins a sentence", 0),
        ("Paris Fair", "Paris", "begins a sentence", 1),
        ("Paris is of PARIS", "of PARIS", "share of small words", 0.5),
        ("Paris is of PARIS", "PARIS", "after a preposition", 1),
        ("Paris is of PARIS", "PARIS", "is in capitals", 1),
        ("Paris is of PARIS", "Paris", "before a copula", 1),
        ("Expo 1900 ended", "Expo 1900", "has a digit", 1),
        ("Expo 1900 ended", "ended", "ends in ed", 1),
        ("a sign, Fair", "Fair", "after a sign", 1),
    ],
)
def test_where_a_span_stands(kb, text, surface, feature, value):
    assert features(kb, text)[surface][feature] == value


def test_what_was_found_of_a_surface_is_forgotten_with_an_edit(tmp_path):
    folder = make_kb(tmp_path, ROWS)
    with KnowledgeBase.open(folder) as kb:
        known = SpanFeatures(kb)
        assert known.of_surface("Paris")[0] == 1
        block(folder, "Paris")
        kb.refresh()
        assert known.of_surface("Paris")[0] == 1
        known.knowledge_base_changed()
        assert known.of_surface("Paris")[0] == 0


PLACES = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda one: (one[0], sum(one)))


@given(st.dictionaries(PLACES, st.booleans(), max_size=25))
def test_nesting_by_brute_force(spans):
    given_spans = [Proposal(start, end, 0, 0, spans[start, end]) for start, end in sorted(spans)]
    names = [span for span, is_name in spans.items() if is_name]
    inside, outside = nesting(given_spans)
    for start, end in spans:
        others = [one for one in names if one != (start, end)]
        assert ((start, end) in inside) == any(one[0] <= start and end <= one[1] for one in others)
        assert ((start, end) in outside) == any(start <= one[0] and one[1] <= end for one in others)


class Watched(str):
    """A text that counts the characters that are taken from it."""

    taken = 0

    def __getitem__(self, place):
        found = super().__getitem__(place)
        Watched.taken += len(found)
        return found


@pytest.mark.parametrize("piece", ["我在北京", "Paris World Fair, ", "a", "Paris. "])
def test_twice_the_text_is_twice_the_work(kb, piece):
    def work(times):
        Watched.taken = 0
        text = Watched(piece * times)
        words = words_of(text)
        spans = proposals(text, words, kb.scanner().matches(text))
        made = TextFeatures(SpanFeatures(kb), text, words, spans, lambda key: NEVER_SEEN)
        assert len(made.rows(spans)) == len(spans) >= min(times, len(words))
        return Watched.taken + len(spans)

    assert work(600) <= 2.5 * work(300)


def test_the_features_of_seen_names_are_drawn_to_a_third(kb):
    (found,) = features(kb, "x", lambda key: Seen(0.0, 0.0)).values()
    assert (found["was a mention"], found["was seen"]) == (1 / 3, 0)
    (found,) = features(kb, "x", lambda key: Seen(27.0, 27.0)).values()
    assert (found["was a mention"], found["was seen"]) == (28 / 30, log1p(27))
