"""Personal phrases that annotators found, and what they say they mean."""

from __future__ import annotations

from collections.abc import Iterator

from entlink.documents import Document, GoldLink, Record, Span
from entlink.errors import InputError

PERSONAL = "personal"  # the field of a gold link's meta, and the type of a mention


def is_name(gold: GoldLink) -> bool:
    """Whether gold is of a name or a concept. What a speaker calls "my dog" is found by other means."""
    return not gold.meta.get(PERSONAL)


class GoldPhrase(Record, frozen=True):
    """A phrase with its place in the text of its turn; `entities` are all that it means, none if nothing was said."""

    turn: int
    span: Span
    entities: tuple[str, ...] = ()
    is_told: bool = True  # whether the annotator was asked what it means


def gold_phrases(document: Document) -> Iterator[GoldPhrase]:
    """The personal phrases of a conversation, each once, in the order of their turns.

    Gold links with `personal` in their meta are phrases; those without an entity do not tell what they mean. Phrases
    of which nothing was said stand in the document's meta as `personal_without_entity`.
    """
    found: dict[tuple[int, int, int], GoldPhrase] = {}
    turns = document.turn_spans
    for gold in document.gold:
        if gold.meta.get(PERSONAL) and (place := _place(gold, turns)) is not None:
            turn, span = place
            key = turn, span.start, span.end
            before = found[key].entities if key in found else ()
            found[key] = GoldPhrase(turn, span, (*before, *gold.entities), bool(before or gold.entities))
    for alone in document.meta.get("personal_without_entity", ()):
        turn, span = _alone(document, alone)
        found.setdefault((turn, span.start, span.end), GoldPhrase(turn, span))
    yield from (found[key] for key in sorted(found))


def _place(gold: GoldLink, turns: tuple[Span, ...]) -> tuple[int, Span] | None:
    for number, turn in enumerate(turns):
        if turn.start <= gold.span.start and gold.span.end <= turn.end:
            return number, Span(gold.span.start - turn.start, gold.span.end - turn.start)
    return None


def _alone(document: Document, alone: object) -> tuple[int, Span]:
    try:
        turn, start, end = (int(alone[field]) for field in ("turn", "start", "end"))  # type: ignore[index]
    except (KeyError, TypeError, ValueError) as problem:
        raise InputError(
            f"document {document.id!r}: {alone!r} in its meta's personal_without_entity is no phrase. "
            "Give turn, start and end"
        ) from problem
    if not (0 <= turn < len(document.turns) and 0 <= start < end <= len(document.turns[turn].text)):
        raise InputError(
            f"document {document.id!r}: personal_without_entity speaks of turn {turn}, {start} to {end}, "
            "which is not there"
        )
    return turn, Span(start, end)
