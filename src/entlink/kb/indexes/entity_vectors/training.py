"""Training the vectors of words and entities: words by the words near them, entities by those near their links.

Words and the entities that are linked most are trained together, as rows of one matrix of counts. The row of any
other entity is then turned into the vector that it would have had: memory does not grow with the knowledge base.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy

from entlink.encoders.static.cooccurrence import folding, left_vectors
from entlink.encoders.static.training import CONTEXTS as MOST_CONTEXTS
from entlink.encoders.static.training import count_pairs, count_words, frequent, unit_rows, write_words
from entlink.errors import InputError
from entlink.io.checksums import checksum
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.indexes.derived import ENTITIES, DerivedCard, begin, ensure_derived, finish, read_complete
from entlink.kb.indexes.entity_vectors.dual import CONTEXTS, FOLDING, SHARES, WORDS, WordSpace
from entlink.kb.indexes.entity_vectors.texts import ENTITY, OWNER, Links, described, links_of, tokens_of
from entlink.kb.indexes.search_rows import rows_of
from entlink.kb.indexes.vectors.index import samples
from entlink.kb.indexes.vectors.writing import as_table, assembled, save_whole
from entlink.kb.names.alias_index import COMPLETE, AliasIndex
from entlink.kb.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[numpy.int64]

DIMENSION = 128
_WINDOW = 5  # words that are near each other
_REACH = 10  # words on each side of a link that are contexts of its entity
_FEWEST, _MOST_WORDS = 2, 50_000
_PARTS = 64  # files that contexts of links are sorted into
_LEAST = 1_024  # keys a part
_KEPT = 1_000_000  # pairs in memory before they go to files
_SEED = 13
_MAKER = "entlink.kb.indexes.entity_vectors.training"
_STAGES = "reading descriptions", "counting neighbours", "making vectors", "contexts of links", "vectors of entities"


def ensure_entity_vectors(folder: Path, progress: Progress = ignore_progress) -> DerivedCard:
    """The vectors of words and entities of the knowledge base in `folder`, trained if they are not there."""

    def make(store: Store, target: Path) -> None:
        write_entity_vectors(store, target, progress)

    return read_complete(ensure_derived(folder, ENTITIES, make))


def renew(store: Store, old: Path, new: Path, progress: Progress = ignore_progress) -> DerivedCard:
    """The vectors of a new alias index, trained again; nothing of the old ones is used."""
    return write_entity_vectors(store, new, progress)


def write_entity_vectors(store: Store, target: Path, progress: Progress = ignore_progress) -> DerivedCard:
    """Train the vectors of a store in a folder; the same for the same store."""
    shutil.rmtree(target, ignore_errors=True)  # of a run that was cut off
    begin(target)
    links = links_of(store, _names(store, target))
    with tempfile.TemporaryFile() as spool, tempfile.TemporaryDirectory() as parts:
        words = _train_words(store, links, spool, target, progress)
        space = WordSpace(target)
        contexts = _Contexts(Path(parts), store.last_key(), len(space.contexts))
        progress(_STAGES[3], 0, 0)
        _read_links(spool, words, space, contexts)
        tables = list(_tables(store, links, space, contexts, Path(parts), progress))
        assembled(target, tables, space.dimension, progress)
    settings = {
        "encoder": ENTITIES,
        "identity": f"{ENTITIES}-{checksum(target / FOLDING)[:16]}",
        "dimension": space.dimension,
        "recipe": {},
        "samples": samples(target),
    }
    rows = len(numpy.load(target / "keys.npy", mmap_mode="r"))
    return finish(target, _MAKER, rows, settings)


def _names(store: Store, target: Path) -> AliasIndex:
    """The alias index that the folder is in; where it is in none, the store's."""
    from entlink.kb.indexes.names import read_card

    folder = target.parent if (target.parent / COMPLETE).is_file() else store.folder / store.meta("index")
    return AliasIndex(folder, read_card(folder).shards)


def _train_words(store: Store, links: Links, spool: BinaryIO, target: Path, progress: Progress) -> dict[str, int]:
    """Train words, and write them and what turns contexts into vectors; returns the number of each."""
    counts = count_words(_texts(store, links, progress), spool)
    for token in [token for token in counts if token.startswith(OWNER)]:
        del counts[token]
    words = frequent(counts, _FEWEST, _MOST_WORDS)
    progress(_STAGES[1], 0, 0)
    numbers = {word: number for number, word in enumerate(words)}
    pairs = count_pairs(spool, numbers, _WINDOW)
    progress(_STAGES[2], 0, 0)
    matrix = pairs.information()
    if not len(matrix.values):
        raise InputError(
            f"{store.folder}: no two words of its descriptions are near each other more than by chance: there is "
            "too little text to train vectors on. Give the entities descriptions"
        )
    left = left_vectors(matrix, min(DIMENSION, len(words)), _SEED)
    numpy.save(target / FOLDING, folding(matrix, left))
    numpy.save(target / SHARES, pairs.context_shares())
    (target / CONTEXTS).write_bytes(msgspec.json.encode(words[:MOST_CONTEXTS]))
    _write_words(target / WORDS, words, unit_rows(left), counts)
    return numbers


def _write_words(folder: Path, words: list[str], vectors: NDArray[numpy.float32], counts: Counter[str]) -> None:
    folder.mkdir()
    plain = [number for number, word in enumerate(words) if not word.startswith(ENTITY)]
    kept = [words[number] for number in plain]
    shares = numpy.array([counts[word] for word in kept], numpy.float64)
    write_words(folder, kept, vectors[plain], shares, name=ENTITIES, source="texts and links of a knowledge base")


def _texts(store: Store, links: Links, progress: Progress) -> Iterator[Iterator[str]]:
    """The tokens of each description, the first of which says whose it is."""
    total = store.count()
    for done, (key, _, version) in enumerate(store.entities()):
        progress(_STAGES[0], done, total)
        description = version.entity.description or ""
        yield _owned(key, tokens_of(description, links(key, description)))


def _owned(key: int, tokens: Iterator[str]) -> Iterator[str]:
    yield f"{OWNER}{key}"
    yield from tokens


class _Contexts:
    """The contexts of links by the key of their entity, sorted into files by ranges of keys."""

    def __init__(self, folder: Path, last: int, contexts: int) -> None:
        self._folder, self.last, self._contexts = folder, last, max(1, contexts)
        self.size = max(_LEAST, last // _PARTS + 1)
        self._pairs: list[Numbers] = []
        self._count = 0

    def add(self, key: int, contexts: Numbers) -> None:
        self._pairs.append(contexts + key * self._contexts)
        self._count += len(contexts)
        if self._count >= _KEPT:
            self.flush()

    def flush(self) -> None:
        pairs = numpy.concatenate([numpy.zeros(0, numpy.int64), *self._pairs])
        parts = pairs // self._contexts // self.size
        for part in numpy.unique(parts).tolist():
            with (self._folder / str(part)).open("ab") as file:
                file.write(pairs[parts == part].tobytes())
        self._pairs, self._count = [], 0

    def of(self, part: int) -> dict[int, Numbers]:
        """The contexts of each entity of a part that has any."""
        path = self._folder / str(part)
        pairs = numpy.fromfile(path, numpy.int64) if path.exists() else numpy.zeros(0, numpy.int64)
        pairs.sort()
        keys, starts = numpy.unique(pairs // self._contexts, return_index=True)
        split = numpy.split(pairs % self._contexts, starts[1:])
        return dict(zip(keys.tolist(), split, strict=False))


def _read_links(spool: BinaryIO, words: dict[str, int], space: WordSpace, contexts: _Contexts) -> None:
    """The words around the links of all descriptions, as contexts of the entities that they lead to."""
    spool.seek(0)
    limit = len(space.contexts)
    for line in spool:
        tokens = line.decode("utf8").split()[1:]
        numbers = numpy.array([words.get(token, limit) for token in tokens], numpy.int64)
        for place, token in enumerate(tokens):
            if token.startswith(ENTITY):
                near = numpy.concatenate(
                    [numbers[max(0, place - _REACH) : place], numbers[place + 1 : place + 1 + _REACH]]
                )
                contexts.add(int(token[1:]), near[near < limit])
    contexts.flush()


def _tables(
    store: Store, links: Links, space: WordSpace, contexts: _Contexts, folder: Path, progress: Progress
) -> Iterator[Path]:
    """A file of rows and vectors for each part of the entities."""
    for part in range(contexts.last // contexts.size + 1):
        first = part * contexts.size
        progress(_STAGES[4], first, contexts.last)
        linked = contexts.of(part)
        rows = list(rows_of(store, max(1, first), first + contexts.size - 1))
        bags = [_bag(row.key, row.entity, links, space, linked) for row in rows]
        vectors = space.vectors(bags).astype(numpy.float16)
        told = numpy.flatnonzero(vectors.any(axis=1))
        path = folder / f"{part}.npy"
        save_whole(path, as_table([rows[place] for place in told], vectors[told]))
        yield path


def _bag(key: int, entity: Any, links: Links, space: WordSpace, linked: dict[int, Numbers]) -> Numbers:
    """The contexts of an entity: the words of its description, and those around its links."""
    description = entity.description or ""
    own = space.numbers(described(entity.title, description, links(key, description)))
    return numpy.concatenate([own, linked.get(key, own[:0])])
