"""ConEL's two conventions, with personal entities and without, counted by hand."""

from __future__ import annotations

import pytest

from entlink import Document, GoldLink, Link, Mention, Span, Turn
from entlink.errors import ConfigError
from entlink.evaluation import EvaluationOptions, evaluate

TEXT = "My favourite band is ABBA. My dog is a poodle."
BAND, ABBA, DOG, POODLE = Span(0, 17), Span(21, 25), Span(27, 33), Span(39, 45)
GOLD = Document.of_turns(
    "d",
    [Turn(TEXT, "USER")],
    gold=(
        GoldLink(BAND, ("abba",), meta={"personal": True}),
        GoldLink(ABBA, ("abba",)),
        GoldLink(DOG, ("poodle",), meta={"personal": True}),
        GoldLink(POODLE, ("poodle",)),
    ),
)


def link(span: Span, entity: str, type: str | None = None) -> Link:
    return Link(Mention(span, TEXT[span.start : span.end], type), entity, 0.9)


def said(*links: Link) -> Document:
    return Document.of_turns("d", [Turn(TEXT, "USER")], links=links)


def counts(predicted: Document, *without: str) -> tuple[int, int, int]:
    """Right, predicted and gold of EL."""
    found = evaluate([GOLD], [predicted], EvaluationOptions(without=without, rounds=0)).el.micro
    return found.correct, found.predicted, found.gold


# One personal link is right, one is not; of the two others only ABBA was found.
MARKED = said(link(BAND, "abba", "personal"), link(ABBA, "abba"), link(DOG, "abba", "personal"))


def test_with_personal_entities_they_count_on_both_sides():
    assert counts(MARKED) == (2, 3, 4)


def test_without_them_neither_gold_nor_what_is_marked_counts():
    assert counts(MARKED, "personal") == (1, 1, 2)


def test_without_them_a_run_that_does_not_mark_its_own_is_wrong():
    unmarked = said(link(BAND, "abba"), link(ABBA, "abba"), link(DOG, "abba"))
    assert counts(unmarked, "personal") == (1, 3, 2)
    assert counts(unmarked) == counts(MARKED)


def test_a_field_that_no_gold_has_is_still_an_error():
    plain = Document.of_turns("d", [Turn(TEXT, "USER")], gold=GOLD.gold[1:2])
    with pytest.raises(ConfigError, match="'personal'"):
        evaluate([plain], [MARKED], EvaluationOptions(without=("personal",), rounds=0))
