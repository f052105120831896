"""What is left of a conversation on covered gold gives the EL that the evaluation counts there, by another way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.documents import Document, Entity, GoldLink, Link, Mention, Span, Turn
from entlink.evaluation import Convention, Matching
from entlink.evaluation.aligning import Pair
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.covering import CoverageCounter
from entlink.evaluation.scoring.items import distinct_gold, gold_items, predicted_items
from entlink.evaluation.scoring.matching import place_of
from entlink.evaluation.scoring.metrics import link_counts, mention_counts
from entlink.kb.knowledge_base import NameOf
from entlink.studies.conversations.scoring import on_covered_gold

WORDS = ("boom", "line", "boom", "crew", "line", "boom")
TURNS = tuple(Turn(" ".join(WORDS[at : at + 3])) for at in (0, 3))
BARE = Document.of_turns("d", TURNS)
KNOWN, UNKNOWN = ("a", "b"), ("x", "y")


class Few:
    """A knowledge base that has two entities."""

    def resolve(self, identifier: str, *, titles: bool = True) -> Entity | None:
        return Entity(identifier, identifier) if identifier in KNOWN else None

    def aliases(self, surface: str) -> list[NameOf]:
        return []


def spans() -> list[Span]:
    found, at = [], 0
    for word in BARE.text.split():
        start = BARE.text.index(word, at)
        at = start + len(word)
        found.append(Span(start, at))
    return found


def linked(choices):
    return st.lists(st.tuples(st.sampled_from(spans()), choices), max_size=6, unique_by=lambda one: one[0])


def pair_of(gold, said) -> Pair:
    links = tuple(Link(Mention(span, BARE.text[span.start : span.end]), entity, 1.0) for span, entity in said)
    wanted = tuple(GoldLink(span, (entity,) if entity else ()) for span, entity in gold)
    return Pair(
        Document.of_turns("d", TURNS, gold=tuple(sorted(wanted, key=lambda one: one.span.start))),
        Document.of_turns("d", TURNS, links=links),
    )


@pytest.mark.parametrize("matching", [Matching.STRICT, Matching.STRING])
@settings(max_examples=300, deadline=None)
@given(gold=linked(st.sampled_from((*KNOWN, *UNKNOWN))), said=linked(st.sampled_from((*KNOWN, *UNKNOWN, None))))
def test_el_is_that_of_nil_gold_dropped(matching, gold, said):
    pair, identities = pair_of(gold, said), Identities(Few())
    ours = on_covered_gold(pair, identities, matching)
    items = gold_items(ours.gold), predicted_items(ours.predicted, ours.gold)
    wanted = distinct_gold(pair.gold, place_of(matching)) if matching.is_of_strings else pair.gold
    assert link_counts(*items, Convention(matching)) == CoverageCounter(identities, matching).add(
        wanted, pair.predicted
    )
    assert all(link.entities[0] in KNOWN for link in ours.gold.gold)


@given(gold=linked(st.sampled_from(KNOWN)), said=linked(st.sampled_from((*KNOWN, None))))
def test_where_all_is_covered_nothing_changes(gold, said):
    pair = pair_of(gold, said)
    assert on_covered_gold(pair, Identities(Few()), Matching.STRICT) == pair


def test_an_answer_that_meets_both_kinds_of_gold_stays():
    """The same string twice in a turn, once of an entity that is known: by strings there is one answer to both."""
    first, _, third = spans()[:3]
    pair = pair_of([(first, "a"), (third, "x")], [(first, "a"), (third, "b")])
    by_strings = on_covered_gold(pair, Identities(Few()), Matching.STRING)
    assert len(by_strings.predicted.links) == 2
    by_places = on_covered_gold(pair, Identities(Few()), Matching.STRICT)
    assert [link.entity for link in by_places.predicted.links] == ["a"]
    counted = mention_counts(
        gold_items(by_places.gold), predicted_items(by_places.predicted, by_places.gold), Matching.STRICT
    )
    assert counted == (1, 1, 1)
