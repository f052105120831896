"""Short ways to write documents with gold and with answers, for worked examples."""

from __future__ import annotations

from entlink.documents import Candidate, Document, GoldLink, Link, Mention, Span, Turn
from entlink.evaluation import Convention, EvaluationOptions, Matching, NilRule, evaluate
from entlink.evaluation.results import Evaluation

TEXT = "Paris met Berlin near Vulcan and the river Spree, then New York City slept."


def span(surface: str, text: str = TEXT, nth: int = 0) -> Span:
    start = -1
    for _ in range(nth + 1):
        start = text.index(surface, start + 1)
    return Span(start, start + len(surface))


def gold(surface: str, *entities: str, text: str = TEXT, nth: int = 0, **fields) -> GoldLink:
    return GoldLink(span(surface, text, nth), entities, **fields)


def link(surface: str, entity: str | None, *candidates: str, text: str = TEXT, nth: int = 0, **fields) -> Link:
    mention = Mention(span(surface, text, nth), surface)
    found = tuple(Candidate(one, 1.0 / rank) for rank, one in enumerate(candidates, 1))
    return Link(mention, entity, fields.pop("score", 1.0), candidates=found, **fields)


def scored(wanted: list[GoldLink], given: list[Link], *, text: str = TEXT, **options) -> Evaluation:
    """One document, without intervals."""
    return evaluate(
        [Document("d", text, gold=tuple(wanted))],
        [Document("d", text, links=tuple(given))],
        EvaluationOptions(rounds=0, **options),
    )


def counts(found: Evaluation, task: str) -> tuple[int, int, int]:
    micro = found.task(task).micro
    return micro.correct, micro.predicted, micro.gold


__all__ = ["TEXT", "Convention", "Matching", "NilRule", "Turn", "counts", "gold", "link", "scored", "span"]
