"""At which place the right entity comes among all entities of a snapshot, mention by mention; 0 is nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy

from entlink.encoders.dual import as_compared
from entlink.interfaces import Question, Shortlist
from entlink.kb.indexes.vectors.store import ContentVectors, rounded

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.interfaces import DualEncoder, Vectors
    from entlink.io.progress import Progress
    from entlink.linking.linker import Linker
    from entlink.studies.time.asked import Asked

NOWHERE = 0
_ENCODED_AT_ONCE, _ASKED_AT_ONCE = 1_024, 256
_COMPARED_AT_ONCE = 65_536  # entities
_AS_GOOD = 1e-6  # what rounding makes of two equal vectors
Item = TypeVar("Item")


class Pool(NamedTuple):
    """The entities of a snapshot as vectors, on disk: there may be millions."""

    rows: dict[str, int]
    vectors: Vectors


def encoded_pool(
    entities: Iterable[Entity], count: int, kept: ContentVectors, progress: Progress, stage: str
) -> Pool:
    """The vectors of all entities; of those that read the same, and of those kept from before, one is made."""
    dual, rows = kept.dual, dict[str, int]()
    with TemporaryFile() as file:
        vectors = numpy.memmap(file, numpy.float32, "w+", shape=(max(1, count), dual.dimension))
    for part in _parts(entities, _ENCODED_AT_ONCE):
        progress(stage, len(rows), count)
        vectors[len(rows) : len(rows) + len(part)] = rounded(kept.of(part), dual)
        rows |= {entity.id: len(rows) + number for number, entity in enumerate(part)}
    return Pool(rows, vectors[: len(rows)])


def ranks_by_vectors(
    dual: DualEncoder, pool: Pool, asked: Sequence[Asked], progress: Progress, stage: str
) -> list[int]:
    """The place of each mention's target by the similarity to all entities; a tie counts against it."""
    ranks: list[int] = []
    for part in _parts(asked, _ASKED_AT_ONCE):
        progress(stage, len(ranks), len(asked))
        mentions = as_compared(dual.encode_mentions([(one.document, one.mention) for one in part]), dual)
        targets = numpy.array([pool.rows.get(one.target, -1) for one in part])
        ranks += numpy.where(targets < 0, NOWHERE, _places(mentions, targets, pool.vectors)).tolist()
    return ranks


def _places(mentions: Vectors, targets: Any, vectors: Vectors) -> Any:
    own = numpy.einsum("md,md->m", mentions, vectors[targets])  # [m]
    floor = own - _AS_GOOD * numpy.maximum(1.0, abs(own))
    better = numpy.zeros(len(mentions), numpy.int64)
    for start in range(0, len(vectors), _COMPARED_AT_ONCE):
        block = vectors[start : start + _COMPARED_AT_ONCE]
        better += (mentions @ block.T >= floor[:, None]).sum(1)
    return numpy.maximum(better, 1)  # the target itself is as good as it is


def ranks_by_linker(linker: Linker, asked: Sequence[Asked], depth: int, progress: Progress, stage: str) -> list[int]:
    """The place of each mention's target among the first candidates of a linker, ranked."""
    ranks: list[int] = []
    for part in _parts(asked, linker.batch_size):
        progress(stage, len(ranks), len(asked))
        questions = [Question(one.document, [one.mention]) for one in part]
        lists = linker.retrieve(questions)
        ranked = linker.rank(
            [Shortlist(one.document, one.mention, own) for one, (own,) in zip(part, lists, strict=True)]
        )
        for one, candidates in zip(part, ranked, strict=True):
            ids = [candidate.entity for candidate in candidates[:depth]]
            ranks.append(ids.index(one.target) + 1 if one.target in ids else NOWHERE)
    return ranks


def _parts(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    each = iter(items)
    while part := list(islice(each, size)):
        yield part
