"""Making the indexes of a knowledge base: that of names, and those for searching beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.engine.protocol import DEFAULT_MEMORY
from entlink.errors import DamagedError, InputError
from entlink.io.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from entlink.interfaces import DualEncoder


class VectorsMade(NamedTuple):
    """An index over vectors: its encoder, how many vectors it has, and whether it was there before."""

    encoder: str
    rows: int
    was_there: bool


class IndexReport(msgspec.Struct, frozen=True):
    """How many names were indexed, None if their index was up to date; and the indexes over vectors asked for."""

    names: int | None
    vectors: tuple[VectorsMade, ...] = ()


def make_indexes(
    folder: Path,
    *,
    words: bool = False,
    cooccurrence: bool = False,
    short: bool = False,
    fine_types: int | None = None,
    entity_vectors: bool = False,
    vectors: Sequence[str | DualEncoder] = (),
    memory: str = DEFAULT_MEMORY,
    processes: int | None = None,
    progress: Progress = ignore_progress,
) -> IndexReport:
    """Fold edits into a new index of names, and make what is asked for beside it.

    The index of names is left as it is if it is up to date and another one is asked for.
    """
    from entlink.kb.indexes.names import reindex

    if (words or cooccurrence or short or fine_types or entity_vectors) and not os.access(folder, os.W_OK):
        raise InputError(f"{folder}: cannot be written, so no index is kept there. Make it where the folder can be")
    encoders = load_encoders(vectors)
    names = None
    if not ((words or cooccurrence or short or fine_types or entity_vectors or encoders) and _is_up_to_date(folder)):
        names = reindex(folder, memory=memory, processes=processes, progress=progress).keys
    made = make_search_indexes(
        folder,
        words=words,
        cooccurrence=cooccurrence,
        short=short,
        fine_types=fine_types,
        entity_vectors=entity_vectors,
        vectors=encoders,
        processes=processes,
        progress=progress,
    )
    return IndexReport(names, made)


def make_search_indexes(
    folder: Path,
    *,
    words: bool = False,
    cooccurrence: bool = False,
    short: bool = False,
    fine_types: int | None = None,
    entity_vectors: bool = False,
    vectors: Sequence[str | DualEncoder] = (),
    processes: int | None = None,
    progress: Progress = ignore_progress,
) -> tuple[VectorsMade, ...]:
    """Make those of the indexes that are asked for and not there; that of names stays as it is."""
    if words:
        from entlink.kb.indexes.words.writing import ensure_words

        ensure_words(folder, processes=processes, progress=progress)
    if cooccurrence:
        from entlink.kb.indexes.cooccurrence.writing import ensure_company

        ensure_company(folder, processes=processes, progress=progress)
    if short:
        from entlink.kb.indexes.short_names import ensure_short

        ensure_short(folder, progress)
    if fine_types:
        from entlink.kb.types.top_snaks import ensure_top_snaks

        ensure_top_snaks(folder, fine_types, progress)
    if entity_vectors:
        from entlink.encoders.extras import require_retrieval

        require_retrieval("training vectors of words and entities")
        from entlink.kb.indexes.entity_vectors.training import ensure_entity_vectors

        ensure_entity_vectors(folder, progress)
    return tuple(_make_vectors(folder, dual, progress) for dual in load_encoders(vectors))


def load_encoders(given: Sequence[str | DualEncoder]) -> list[DualEncoder]:
    """The encoders of these names; done first, so that a name that is wrong is told before anything is made."""
    if not given:
        return []
    from entlink.encoders.dual import load_dual

    return [load_dual(one) if isinstance(one, str) else one for one in given]


def _make_vectors(folder: Path, dual: DualEncoder, progress: Progress) -> VectorsMade:
    from entlink.kb.indexes.vectors.writing import build_vectors, has_vectors

    was_there = has_vectors(folder, dual)
    return VectorsMade(dual.name, build_vectors(folder, dual, progress).rows, was_there)


def _is_up_to_date(folder: Path) -> bool:
    """Whether the index of names is there and has all edits: then only what is asked for beside it is to be made."""
    from entlink.kb.knowledge_base import KnowledgeBase

    try:
        with KnowledgeBase.open(folder) as kb:
            return not kb.pending_edits
    except DamagedError:
        return False
