"""Making the index of the company that names keep: which paragraphs hold a word, and which the name of an entity.

Blocks of entities are read side by side, each into sorted runs of postings, which are then merged: memory does not
grow with the knowledge base.
"""

from __future__ import annotations

import shutil
from array import array
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entlink.engine.local import LocalEngine
from entlink.engine.protocol import Task
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.indexes.cooccurrence.paragraphs import (
    ParagraphReader,
    Together,
    entity_term,
    paragraphs_of,
    word_term,
)
from entlink.kb.indexes.cooccurrence.postings import FORMAT, PARAGRAPHS, need_numpy
from entlink.kb.indexes.derived import COMPANY, DerivedCard, begin, ensure_derived, finish
from entlink.kb.indexes.posting_runs import POSTINGS_A_RUN, POSTINGS_A_SLICE, merge_runs, write_run
from entlink.kb.names.alias_index import COMPLETE, AliasIndex
from entlink.kb.store.store import Store
from entlink.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCKS = 32  # at least, so that processes share the work evenly, but for
_FEWEST, _MOST = 200, 20_000  # how many entities a block has
_LEAST_PARAGRAPHS = 2  # that hold a word: what is said once tells nothing of a company
_KNOWN_WORDS = 200_000
_WORTH_A_POOL = 2  # blocks: with so few, starting processes takes longer than the work
_COUNT = "count"


def ensure_company(folder: Path, *, processes: int | None = None, progress: Progress = ignore_progress) -> Path:
    """The folder of the index of company of a knowledge base, made now if there is none."""
    need_numpy()

    def make(store: Store, target: Path) -> None:
        write_company(store, target, processes=processes, progress=progress)

    return ensure_derived(folder, COMPANY, make)


def renew(
    store: Store, old: Path, new: Path, progress: Progress = ignore_progress, *, processes: int | None = None
) -> DerivedCard:
    """The index of company of a new alias index; nothing of the old one is used."""
    return write_company(store, new, processes=processes, progress=progress)


def write_company(
    store: Store, folder: Path, *, processes: int | None = None, progress: Progress = ignore_progress
) -> DerivedCard:
    """Make the index of a store in a folder, going on from the blocks that an interrupted run left there.

    Names are those of the alias index that the folder is in; where it is in none, of the store's.
    """
    need_numpy()
    import numpy

    begin(folder)
    last = store.last_key()
    size = max(_FEWEST, min(_MOST, last // _BLOCKS + 1))
    blocks = folder / f"blocks-{FORMAT}-{__version__}-{size}"
    for leftover in folder.iterdir():
        if leftover != blocks:
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    names = folder.parent if (folder.parent / COMPLETE).is_file() else store.folder / store.meta("index")
    tasks = [
        Task(f"block-{first:012}", (store.folder, names, first, first + size - 1))
        for first in range(1, last + 1, size)
    ]
    try:
        made = LocalEngine(processes=processes, progress=progress).map_to_files(
            write_block,
            tasks,
            blocks,
            stage="reading paragraphs",
            at_most=None if len(tasks) > _WORTH_A_POOL else 1,
        )
    finally:
        _reader.cache_clear()
    counted = [(block, int((block / _COUNT).read_text())) for block in made]
    merge_runs(
        counted,
        folder,
        {PARAGRAPHS: numpy.uint32},
        lambda done, total: progress("merging company", done, total),
        at_once=POSTINGS_A_SLICE,
        keep=_worth_keeping,
    )
    shutil.rmtree(blocks)
    count = sum(paragraphs for _, paragraphs in counted)
    return finish(folder, "entlink.kb.indexes.cooccurrence.writing", count, {"format": FORMAT, "last key": last})


def _worth_keeping(terms: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    """All entities, and the words of more than one paragraph."""
    import numpy

    kept: NDArray[Any] = (counts >= _LEAST_PARAGRAPHS) | (terms & numpy.uint64(1)).astype(numpy.bool_)
    return kept


@lru_cache(maxsize=1)
def _reader(names: Path) -> ParagraphReader:
    """The reader of this process: what it has learnt of the names serves all blocks."""
    from entlink.kb.indexes.names import read_card

    return ParagraphReader(AliasIndex(names, read_card(names).shards))


def write_block(folder: Path, names: Path, first: int, last: int, path: Path) -> None:
    """The paragraphs of the entities with keys in `[first, last]`, as a folder of runs."""
    shutil.rmtree(path, ignore_errors=True)  # a killed run may have left half of it
    path.mkdir()
    reader, block = _reader(names), _Block(path)
    with closing(Store(folder)) as store:
        for key, _, version in store.entities(first - 1, last):
            for paragraph in paragraphs_of(version.entity.description or ""):
                together = reader.read(paragraph)
                together.entities.discard(key)
                block.add(together)
    block.close()


class _WordTerms(dict[str, int]):
    """The terms of words, each made when it is first asked for."""

    def __missing__(self, word: str) -> int:
        term = self[word] = word_term(word)
        return term


class _Block:
    """Gathers the postings of paragraphs, and writes a run whenever there are many."""

    def __init__(self, path: Path) -> None:
        self._path, self._runs, self._count = path, 0, 0
        self._terms, self._rows = array("Q"), array("I")
        self._words = _WordTerms()

    def add(self, together: Together) -> None:
        if len(self._words) >= _KNOWN_WORDS:
            self._words.clear()
        self._terms.extend(map(self._words.__getitem__, together.words))
        self._terms.extend(map(entity_term, together.entities))
        self._rows.extend([self._count] * (len(together.words) + len(together.entities)))
        self._count += 1
        if len(self._terms) >= POSTINGS_A_RUN:
            self._flush()

    def _flush(self) -> None:
        import numpy

        terms, rows = numpy.array(self._terms, numpy.uint64), numpy.array(self._rows, numpy.uint32)
        write_run(self._path / f"run-{self._runs:04}", terms, {PARAGRAPHS: rows})
        self._runs += 1
        self._terms, self._rows = array("Q"), array("I")

    def close(self) -> None:
        if self._terms:
            self._flush()
        (self._path / _COUNT).write_text(str(self._count))
