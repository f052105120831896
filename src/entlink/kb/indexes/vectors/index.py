"""An index over the vectors of a knowledge base: which rows are nearest to a query.

Its folder holds the rows (`search_rows`), their vectors in half precision (`vectors.npy`), and, where the rows are
too many to compare a query with each, lists of them around centres (`lists.faiss`). All files are mapped. What the
lists find is compared again with the vectors themselves, so a score is the same cosine (or product) in every index.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entlink.encoders.dual import as_compared, safe_name
from entlink.errors import ConfigError, DamagedError, MissingExtraError
from entlink.kb.indexes.derived import VECTORS, derived_folder, derived_indexes, is_complete, read_complete
from entlink.kb.indexes.search_rows import SearchRows, mapped

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("retrieval by vectors", "retrieval") from problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.interfaces import DualEncoder, Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

    Rows = NDArray[numpy.int64]

VECTOR_FILE, LIST_FILE = "vectors.npy", "lists.faiss"
# Lists that are searched for a query. Short texts hardly gather around centres: of the 64 nearest of 196,052 titles,
# 64 of 1,024 lists hold 82 %, 256 hold 92 % and 640 hold 98.5 %, in one, four and nine milliseconds of a core.
PROBED = 640
_FEW = 20_000  # rows that may be found: so many are compared one by one
_TOGETHER = 64  # queries that are compared at once
_SLACK = 2  # times the rows asked for are taken from the lists, and compared again
_SAMPLES, _SAMPLE = 16, 4096  # places of a file, and bytes at each, that tell whether it was altered


class VectorIndex:
    """The finished index of a dual encoder, opened."""

    def __init__(self, folder: Path, dual: DualEncoder) -> None:
        card = read_complete(folder)
        _check_is_of(folder, card.settings, dual)
        check_samples(folder, card.settings.get("samples", {}))
        self.folder, self._dual = folder, dual
        self.rows = SearchRows(folder)
        self._raw = mapped(folder / VECTOR_FILE)
        self._lists: Any = None
        self._matrix: tuple[object, Vectors] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def vectors(self, rows: Rows) -> Vectors:
        """The vectors of rows, by their numbers."""
        return as_compared(self._raw[rows].astype(numpy.float32), self._dual)

    def search(
        self,
        kb: KnowledgeBase,
        queries: Vectors,
        limit: int,
        types: frozenset[str] = frozenset(),
        *,
        probed: int = PROBED,
    ) -> Iterator[tuple[Rows, Vectors]]:
        """For each query the rows nearest to it, best first, and their cosines."""
        mask = self.rows.findable(kb, types)
        count = int(numpy.count_nonzero(mask))
        if not count:
            yield from (_nothing() for _ in range(len(queries)))
            return
        few = count <= _FEW or not (self.folder / LIST_FILE).exists()
        for start in range(0, len(queries), _TOGETHER):
            some = queries[start : start + _TOGETHER]
            if few:
                rows = self._compared(some, min(limit + _TOGETHER, count), mask, (kb.revision, kb.date, types))
            else:
                rows = self._listed(some, min(_SLACK * limit, count), mask, probed)
            yield from self._ordered(some, rows, limit)

    def _compared(self, queries: Vectors, limit: int, mask: NDArray[numpy.bool_], state: object) -> Rows:
        """The nearest of the rows in the mask, of which there are few enough to look at all."""
        found = numpy.flatnonzero(mask)
        if self._matrix is None or self._matrix[0] != state:
            self._matrix = (state, self.vectors(found))
        return found[nearest(queries, self._matrix[1], limit)]

    def _listed(self, queries: Vectors, limit: int, mask: NDArray[numpy.bool_], probed: int) -> Rows:
        """The nearest of the rows in the mask, as the lists tell; -1 where they tell of no further one."""
        faiss = load_faiss()
        if self._lists is None:
            self._lists = _open_lists(self.folder / LIST_FILE)
        parameters = faiss.SearchParametersIVF(nprobe=probed)
        if not mask.all():
            selector = faiss.IDSelectorBitmap(numpy.packbits(mask, bitorder="little"))
            parameters = faiss.SearchParametersIVF(nprobe=probed, sel=selector)
        _, rows = self._lists.search(numpy.ascontiguousarray(queries), limit, params=parameters)
        found: Rows = rows
        return found

    def _ordered(self, queries: Vectors, rows: Rows, limit: int) -> Iterator[tuple[Rows, Vectors]]:
        """The rows of each query by their cosines, and of equal ones by the keys of their entities."""
        scores = cosines(queries, self.vectors(rows.ravel()).reshape(*rows.shape, -1))
        scores[rows < 0] = -numpy.inf
        for own, numbers in zip(scores, rows, strict=True):
            best = numpy.lexsort((numbers, -own))[:limit]
            best = best[numbers[best] >= 0]
            yield numbers[best], own[best]


def nearest(queries: Vectors, matrix: Vectors, limit: int) -> Rows:
    """The rows of a matrix with the largest products, for each query, in no order."""
    products = queries @ matrix.T
    if limit >= len(matrix):
        return numpy.broadcast_to(numpy.arange(len(matrix)), products.shape)
    return numpy.argpartition(products, len(matrix) - limit, axis=1)[:, -limit:]


def cosines(queries: Vectors, vectors: Vectors) -> Vectors:
    """The products of each query with vectors of its own, the same whatever else is asked at once."""
    products: Vectors = numpy.einsum("qrd,qd->qr", vectors, queries)
    return products


def _nothing() -> tuple[Rows, Vectors]:
    return numpy.zeros(0, numpy.int64), numpy.zeros(0, numpy.float32)


def index_name(dual: DualEncoder) -> str:
    """The name of the index of a dual encoder, among those derived from a store."""
    own: str | None = getattr(dual, "index_name", None)
    return own or f"{VECTORS}{safe_name(dual.entity_identity)}"


def open_vectors(kb: KnowledgeBase, dual: DualEncoder) -> VectorIndex | None:
    """The index of a dual encoder over the knowledge base, if it was made."""
    folder = derived_folder(kb, index_name(dual))
    return VectorIndex(folder, dual) if is_complete(folder) else None


def missing_index(kb: KnowledgeBase, dual: DualEncoder) -> ConfigError:
    """The error that says there is no index for the encoder, which ones there are, and how to make one."""
    others = [_as_made(one) for one in _made(kb)]
    there = f"; there is one of {', '.join(others)}" if others else ""
    return ConfigError(
        f"{kb.folder}: no index over vectors of {_described(dual)}{there}. "
        f"Run `entlink kb index {kb.folder} {_option(dual)} {_loadable(dual)}` to make it"
    )


def tell_of_other_index(kb: KnowledgeBase, dual: DualEncoder) -> None:
    """Warn where there is an index of the same encoder, but with other settings: it cannot be searched."""
    others = [one for one in _made(kb) if one.get("encoder") == dual.name]
    if not others:
        return
    import logging

    logging.getLogger(__name__).warning(
        "%s: its index over vectors is of %s, and the encoder now is %s, so it is not searched. Use the settings it "
        "was made with; `entlink kb index %s --vectors %s` makes one with those by default",
        kb.folder,
        ", ".join(map(_as_made, others)),
        _described(dual),
        kb.folder,
        _loadable(dual),
    )


def _made(kb: KnowledgeBase) -> list[Mapping[str, Any]]:
    """The settings of the indexes over vectors that there are."""
    return [one.card.settings for one in derived_indexes(kb.index_folder) if one.name.startswith(VECTORS)]


def _as_made(settings: Mapping[str, Any]) -> str:
    return f"{settings.get('encoder')!r} ({settings.get('dimension')} numbers, {settings.get('identity')})"


def _described(dual: DualEncoder) -> str:
    return f"{dual.name!r} ({dual.dimension} numbers, {dual.entity_identity})"


def _option(dual: DualEncoder) -> str:
    """The option of `entlink kb index` that makes its index."""
    return "--pictures" if "pictures" in dual.recipe() else "--vectors"


def _loadable(dual: DualEncoder) -> str:
    """What to write to load it."""
    return str(dual.recipe().get("load") or dual.name)


def _check_is_of(folder: Path, settings: Mapping[str, Any], dual: DualEncoder) -> None:
    made = (settings.get("identity"), settings.get("dimension"))
    if made != (dual.entity_identity, dual.dimension):
        raise ConfigError(
            f"{folder}: made with the encoder {settings.get('encoder')!r} ({made[1]} numbers, {made[0]}), but the "
            f"encoder now is {_described(dual)}. Use the one it was made with, or "
            f"remove the folder and run `entlink kb index {_option(dual)} {_loadable(dual)}`"
        )


def samples(folder: Path) -> dict[str, str]:
    """What the large files of an index look like at some places: cheap to compare whenever it is opened."""
    return {name: _sampled(folder / name) for name in (VECTOR_FILE, LIST_FILE) if (folder / name).exists()}


def check_samples(folder: Path, expected: Mapping[str, str]) -> None:
    """An error if a file is missing, cut off, or altered where it was sampled."""
    for name, sample in expected.items():
        path = folder / name
        if not path.is_file() or _sampled(path) != sample:
            what = "was altered or cut off" if path.is_file() else "is missing"
            raise DamagedError(
                f"{path}: {what} since the index was made. Remove {folder} and run `entlink kb index --vectors` again"
            )


def _sampled(path: Path) -> str:
    size = path.stat().st_size
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for number in range(_SAMPLES):
            file.seek(max(0, size - _SAMPLE) * number // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE))
    return f"{size} {digest.hexdigest()}"


def load_faiss() -> Any:
    """The library of the lists."""
    try:
        import faiss
    except ImportError as problem:
        raise MissingExtraError("an index over many vectors", "retrieval") from problem
    return faiss


def _open_lists(path: Path) -> Any:
    faiss = load_faiss()
    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    except RuntimeError as problem:
        reason = str(problem).splitlines()[-1]
        raise DamagedError(
            f"{path}: cannot be read ({reason}). Remove {path.parent} and run `entlink kb index --vectors` again"
        ) from problem
