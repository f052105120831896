"""Documents by the names in them, for worked examples of slices."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.evaluation import Evaluation


def written(*names: str) -> str:
    return " saw ".join(names) + "."


def document(golds: Sequence[tuple], id: str = "d", language: str | None = None, **meta) -> Document:
    """A document of gold links, each the name and then its entities; a dict behind them are further fields."""
    text, start, found = written(*(one[0] for one in golds)), 0, []
    for name, *rest in golds:
        fields = rest.pop() if rest and isinstance(rest[-1], dict) else {}
        start = text.index(name, start)
        found.append(GoldLink(Span(start, start + len(name)), tuple(rest), **fields))
        start += len(name)
    return Document(id, text, gold=tuple(found), language=language, meta=meta)


def answers(wanted: Document, *entities: str | None) -> Document:
    """An answer at each gold link: an entity, None for NIL, or "-" for no answer."""
    links = tuple(
        Link(Mention(one.span, wanted.text[one.span.start : one.span.end]), entity, 1.0)
        for one, entity in zip(wanted.gold, entities, strict=True)
        if entity != "-"
    )
    return Document(wanted.id, wanted.text, links=links)


def table(found: Evaluation, name: str) -> dict[str, tuple[int, float, float]]:
    """Gold, and how much of it was found and was linked right, by value."""
    return {one.value: (one.gold, one.md_recall, one.el_recall) for one in found.slices if one.slice == name}
