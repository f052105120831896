"""What the study asks: the mentions of a snapshot with their targets, and the entities they may mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from entlink.datasets.temporal import PoolEntity, TemporalDataset, TemporalRow
from entlink.documents import Document, Entity, Mention, Span

if TYPE_CHECKING:
    from entlink.datasets.temporal.rows import Subset

_REACH = 1_000  # characters on each side of a mention: more than any encoder here reads


class Mark(NamedTuple):
    """What a mention counts for: its target, whether that is continual or new, and of which category."""

    target: str
    entities: str
    category: str


class Asked(NamedTuple):
    """A mention in its text, the id of the entity it means, that one's title, and `continual` or `new`."""

    document: Document
    mention: Mention
    target: str
    title: str
    category: str


def asked_of(data: TemporalDataset, date: str, subset: Subset) -> Iterator[Asked]:
    """The mentions of a subset."""
    for number, row in enumerate(data.rows(date, subset), 1):
        yield _asked(row, f"{subset}-{number}", date)


def pool_of(data: TemporalDataset, date: str) -> Iterator[Entity]:
    """The entities of a snapshot."""
    return map(_entity, data.pool(date))


def _asked(row: TemporalRow, id: str, date: str) -> Asked:
    left, right = row.context_left[-_REACH:], row.context_right[:_REACH]
    before = left + " " * _touches(left, row.mention)
    after = " " * _touches(row.mention, right) + right
    span = Span(len(before), len(before) + len(row.mention))
    document = Document(id, before + row.mention + after, date=date)
    return Asked(document, Mention(span, row.mention), str(row.target_page_id), _title(row), row.category)


def _touches(left: str, right: str) -> bool:
    """Whether two words would run into one: a context may come without the space beside the mention."""
    return left[-1:].isalnum() and right[:1].isalnum()


def _entity(one: PoolEntity) -> Entity:
    return Entity(str(one.target_page_id), _title(one), one.target)


def _title(one: PoolEntity | TemporalRow) -> str:
    return one.target_title.replace("_", " ")
