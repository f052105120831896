"""A vector for each entity, of its own and not of its text: from a file, or learnt from what is linked together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from entlink.encoders.static.cooccurrence import Pairs, left_vectors
from entlink.encoders.static.files import open_vectors
from entlink.errors import InputError
from entlink.io.atomic import write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PREFIXES = ("ENTITY/", "entity/", "en:")  # of files whose words and entities are in one list
_MOST_CONTEXTS = 20_000


def read_entity_vectors(path: Path | str, wanted: Collection[str]) -> dict[str, NDArray[Any]]:
    """The vectors of those entities that a file has; it names them by id or title, with `_` for each space."""
    names = {_file_name(one): one for one in wanted}
    found: dict[str, NDArray[Any]] = {}
    for name, vector in open_vectors(Path(path)).rows:
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        if (entity := names.get(name)) is not None:
            found.setdefault(entity, numpy.array(vector, numpy.float32))
    return found


def write_entity_vectors(
    linked: Iterable[Sequence[str]],
    path: Path | str,
    *,
    dimension: int = 100,
    window: int = 10,
    min_count: int = 1,
    seed: int = 0,
) -> int:
    """Learn vectors from the entities of each document, in their order, and return of how many there are some.

    Entities are near that are linked within `window` links of the same entities. The file is word2vec text; the same
    links and the same seed give the same file.
    """
    texts = [list(one) for one in linked]
    counts = Counter(entity for text in texts for entity in text)
    kept = sorted((one for one, count in counts.items() if count >= min_count), key=lambda one: (-counts[one], one))
    numbers = {entity: number for number, entity in enumerate(kept)}
    pairs = Pairs(len(kept), min(len(kept), _MOST_CONTEXTS), window)
    ids = [[numbers[one] for one in text if one in numbers] for text in texts]
    of_text = numpy.repeat(numpy.arange(len(ids)), [len(one) for one in ids])
    pairs.add(numpy.array([one for text in ids for one in text], numpy.int64), of_text)
    matrix = pairs.information()
    if not len(matrix.values):
        raise InputError("no two entities are linked near each other more than by chance. Give more documents")
    vectors = left_vectors(matrix, min(dimension, len(kept)), seed)
    lines = [f"{len(kept)} {vectors.shape[1]}"]
    lines += [
        f"{_file_name(one)} {' '.join(f'{x:.5g}' for x in row)}" for one, row in zip(kept, vectors, strict=True)
    ]
    write_whole(Path(path), ("\n".join(lines) + "\n").encode())
    return len(kept)


def _file_name(entity: str) -> str:
    return entity.replace(" ", "_")
