"""Making the index over the vectors of a knowledge base, and making it anew when the alias index is.

Encoding takes long: it goes by blocks of entities, each a file of its own that is there whole or not at all, so that
an interrupted run goes on with the first block that is missing. The blocks lie beside the index until it is finished.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.encoders.dual import load_recipe
from entlink.errors import ConfigError, InputError, MissingExtraError
from entlink.kb.indexes.derived import begin, ensure_derived, finish, is_complete, read_complete
from entlink.kb.indexes.search_rows import SearchRow, mapped, row_arrays, rows_of, write_rows
from entlink.kb.indexes.vectors.index import LIST_FILE, VECTOR_FILE, index_name, load_faiss, samples
from entlink.kb.indexes.vectors.store import ContentVectors, encoded, rounded
from entlink.kb.store.store import Store

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("retrieval by vectors", "retrieval") from problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.documents import Entity
    from entlink.interfaces import DualEncoder, Vectors
    from entlink.io.progress import Progress
    from entlink.kb.indexes.derived import DerivedCard

    Encode = Callable[[Sequence[Entity]], Vectors]

FLAT = 50_000  # rows: with more, lists are made
_BLOCK = 1_024  # keys a block: what an interrupted run may have to encode again
_BATCH = 512  # entities encoded at once, of about the same length
_ROWS_AT_ONCE = 65_536  # while files are put together
_MANY = 1_000_000  # rows: with more, more lists are made
_LISTS, _MORE_LISTS = 1_024, 4_096
_TRAINED_ON = 64  # vectors a list, drawn to find the centres
_SEED = 17
_MAKER = "vectors"
_UNFINISHED = "unfinished-"
_FIELDS = ("keys", "since", "until", "current")
_ENCODING, _SORTING = "encoding entities", "sorting vectors"


class Block(NamedTuple):
    """Entities that are encoded together: the name of their file, how many they are at most, and their rows."""

    name: str
    keys: int
    rows: Iterable[SearchRow]


def build_vectors(folder: Path, dual: DualEncoder, progress: Progress) -> DerivedCard:
    """The index of a dual encoder over the knowledge base in `folder`, made if it is not there."""
    if not os.access(folder, os.W_OK):
        raise InputError(
            f"{folder}: cannot be written, and an index over vectors takes too long to make for one process alone. "
            "Make it where the folder can be written, or link without it: then candidates are encoded as they come"
        )

    def make(store: Store, target: Path) -> None:
        write_vectors(store, target, dual, progress)

    made = ensure_derived(folder, index_name(dual), make)
    shutil.rmtree(_unfinished(made), ignore_errors=True)  # of a run that was killed as it ended
    return read_complete(made)


def has_vectors(folder: Path, dual: DualEncoder) -> bool:
    """Whether the index of a dual encoder is there, finished."""
    store = Store(folder)
    try:
        return is_complete(folder / store.meta("index") / index_name(dual))
    finally:
        store.close()


def write_vectors(store: Store, target: Path, dual: DualEncoder, progress: Progress) -> None:
    """Encode every version of every entity, and make an index in the folder `target`."""
    last = store.last_key()
    blocks = [
        Block(f"{first:012}.npy", min(_BLOCK, last - first + 1), _rows_between(store, first, first + _BLOCK - 1))
        for first in range(1, last + 1, _BLOCK)
    ]

    def encode(entities: Sequence[Entity]) -> Vectors:
        return rounded(encoded(dual, entities), dual)

    files = _encode_blocks(blocks, _unfinished(target), dual, encode, progress)
    assembled(begin(target), files, dual.dimension, progress)
    _finish(target, dual.entity_identity, dual.dimension, dual.name, dual.recipe())


def renew(store: Store, old: Path, new: Path, progress: Progress) -> None:
    """The index in the folder `old` as it would be made now: only what was edited since is encoded."""
    settings = read_complete(old).settings
    changed = sorted({edit.entity for edit in store.edits()})
    parts = [_kept(old, changed)]
    if any(store.head(key) for key in changed):
        dual = _made_by(old, settings)
        groups = [changed[start : start + _BLOCK] for start in range(0, len(changed), _BLOCK)]
        blocks = [
            Block(f"{number:012}.npy", len(keys), _rows_with(store, keys)) for number, keys in enumerate(groups)
        ]
        # Most of it was encoded for searching, and is kept; what is encoded now is kept too, should this be cut off.
        encode = ContentVectors(store.folder, dual).of
        parts += map(_of_block, _encode_blocks(blocks, _unfinished(new), dual, encode, progress))
    _put_together(begin(new), parts, settings["dimension"], progress)
    _finish(new, settings["identity"], settings["dimension"], settings["encoder"], settings["recipe"])


def _made_by(folder: Path, settings: dict[str, Any]) -> DualEncoder:
    dual = load_recipe(settings["recipe"])
    now = dual.entity_identity
    if now != settings["identity"]:
        raise ConfigError(
            f"{folder}: made with the encoder {settings['identity']}, but {settings['encoder']!r} is {now} now. "
            f"Run `entlink kb index --vectors {settings['encoder']}` to encode everything with that"
        )
    return dual


def _finish(target: Path, identity: str, dimension: int, name: str, recipe: dict[str, Any]) -> None:
    settings = {
        "encoder": name,
        "identity": identity,
        "dimension": dimension,
        "recipe": recipe,
        "samples": samples(target),
    }
    finish(target, _MAKER, len(mapped(target / "keys.npy")), settings)
    shutil.rmtree(_unfinished(target), ignore_errors=True)


def _unfinished(target: Path) -> Path:
    return target.with_name(_UNFINISHED + target.name)


# Encoding


def _rows_between(store: Store, first: int, last: int) -> Iterator[SearchRow]:
    yield from rows_of(store, first, last)


def _rows_with(store: Store, keys: Sequence[int]) -> Iterator[SearchRow]:
    for key in keys:
        for number, version in enumerate(store.versions(key)):
            yield SearchRow(key, version, number == 0)


def _encode_blocks(
    blocks: Sequence[Block], folder: Path, dual: DualEncoder, encode: Encode, progress: Progress
) -> list[Path]:
    """A file for each block, in their order; those that are there are not made again."""
    folder.mkdir(parents=True, exist_ok=True)
    total, done = sum(block.keys for block in blocks), 0
    for block in blocks:
        path = folder / block.name
        progress(_ENCODING, done, total)
        if not path.exists():
            rows = list(block.rows)
            vectors = numpy.zeros((len(rows), dual.dimension), numpy.float16)
            for ended, (places, found) in enumerate(_batches(rows, dual, encode), 1):
                vectors[places] = found
                progress(_ENCODING, done + block.keys * min(1, ended * _BATCH / len(rows)), total)
            # What has no vector, such as an entity without a picture, has no row.
            told = numpy.flatnonzero(vectors.any(axis=1))
            save_whole(path, as_table([rows[place] for place in told], vectors[told]))
        done += block.keys
    progress(_ENCODING, total, total)
    return [folder / block.name for block in blocks]


def _batches(rows: Sequence[SearchRow], dual: DualEncoder, encode: Encode) -> Iterator[tuple[list[int], Vectors]]:
    """Some rows at a time, by the length of what is read of them, with their vectors."""
    by_length = sorted(range(len(rows)), key=lambda row: (len(dual.entity_content(rows[row].entity)), row))
    for start in range(0, len(rows), _BATCH):
        places = by_length[start : start + _BATCH]
        yield places, encode([rows[row].entity for row in places])


def as_table(rows: Sequence[SearchRow], vectors: NDArray[numpy.float16]) -> NDArray[Any]:
    """Rows and their vectors as one array, so that they are one file."""
    fields = row_arrays(rows)
    kinds = [(name, fields[name].dtype) for name in _FIELDS]
    table = numpy.zeros(len(rows), [*kinds, ("vectors", numpy.float16, (vectors.shape[1],))])
    for name in _FIELDS:
        table[name] = fields[name]
    table["vectors"] = vectors
    return table


def save_whole(path: Path, table: NDArray[Any]) -> None:
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("wb") as file:
        numpy.save(file, table)
    partial.replace(path)


# Putting together


class _Part(NamedTuple):
    """Rows of a mapped array: a field of the table of a block, or what is kept of an old index."""

    arrays: dict[str, NDArray[Any]]
    vectors: NDArray[Any]
    rows: NDArray[numpy.int64] | None = None  # those of `vectors`; all, if not said

    def some_vectors(self, start: int, end: int) -> NDArray[Any]:
        found: NDArray[Any] = self.vectors[start:end] if self.rows is None else self.vectors[self.rows[start:end]]
        return found


def _kept(folder: Path, changed: Sequence[int]) -> _Part:
    """The rows of an old index that hold on: those of entities that were not edited."""
    arrays = {name: mapped(folder / f"{name}.npy") for name in _FIELDS}
    rows = numpy.flatnonzero(~numpy.isin(arrays["keys"], numpy.array(changed, numpy.int64)))
    return _Part({name: array[rows] for name, array in arrays.items()}, mapped(folder / VECTOR_FILE), rows)


def _of_block(path: Path) -> _Part:
    table = mapped(path)
    return _Part({name: numpy.array(table[name]) for name in _FIELDS}, table["vectors"])


def assembled(target: Path, blocks: Sequence[Path], dimension: int, progress: Progress) -> None:
    """The rows in the files of blocks, as the files of an index."""
    _put_together(target, [_of_block(path) for path in blocks], dimension, progress)


def _put_together(target: Path, parts: Sequence[_Part], dimension: int, progress: Progress) -> None:
    """The rows of all parts in the order of their keys, as the files of an index."""
    keys = numpy.concatenate([numpy.zeros(0, numpy.int64), *(part.arrays["keys"] for part in parts)])
    order = numpy.argsort(keys, kind="stable")  # an entity's rows are all of one part, and stay as they are
    if parts:
        joined = {name: numpy.concatenate([part.arrays[name] for part in parts])[order] for name in _FIELDS}
        write_rows(target, [joined])
    else:
        write_rows(target, [])
    places = numpy.empty_like(order)
    places[order] = numpy.arange(len(order))
    vectors = numpy.lib.format.open_memmap(
        target / VECTOR_FILE, mode="w+", dtype=numpy.float16, shape=(len(keys), dimension)
    )
    before = 0
    for part in parts:
        size = len(part.arrays["keys"])
        for start in range(0, size, _ROWS_AT_ONCE):
            end = min(size, start + _ROWS_AT_ONCE)
            vectors[places[before + start : before + end]] = part.some_vectors(start, end)
        before += size
    vectors.flush()
    (target / LIST_FILE).unlink(missing_ok=True)
    if len(keys) > FLAT:
        _write_lists(vectors, target / LIST_FILE, progress)


def _write_lists(vectors: NDArray[numpy.float16], path: Path, progress: Progress) -> None:
    """Lists of rows around centres, which are found among vectors drawn with a fixed seed."""
    faiss = load_faiss()
    total, dimension = vectors.shape
    lists = min(_LISTS if total <= _MANY else _MORE_LISTS, total)
    progress(_SORTING, 0, total)
    index = faiss.index_factory(dimension, f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    drawn = numpy.random.default_rng(_SEED).choice(total, min(total, _TRAINED_ON * lists), replace=False)
    index.train(vectors[numpy.sort(drawn)].astype(numpy.float32))
    for start in range(0, total, _ROWS_AT_ONCE):
        index.add(vectors[start : start + _ROWS_AT_ONCE].astype(numpy.float32))
        progress(_SORTING, min(total, start + _ROWS_AT_ONCE), total)
    faiss.write_index(index, str(path))
