"""Word vectors as a folder of mapped files: rows come as a stream, and are put in the order of the words' trie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import marisa_trie
import msgspec
import numpy
from numpy.typing import NDArray

from entlink.encoders.models.card import ModelCard, file_cards, write_card
from entlink.encoders.static.encoder import SETTINGS, VECTORS, WEIGHTS, WORDS, StaticSettings
from entlink.version import __version__

_ROWS = 8192  # moved at a time
_LARGEST = float(numpy.finfo(numpy.float16).max)


def write_vectors(
    folder: Path,
    rows: Iterable[tuple[str, NDArray[Any]]],
    dimension: int,
    weights: NDArray[numpy.float32] | None,
    settings: StaticSettings,
) -> int:
    """Write words with their vectors and return how many; a word that comes again keeps its first vector.

    `weights` are in the order of the words; without them, that order is taken for the order by frequency.
    """
    from entlink.encoders.static.encoder import smooth_inverse, zipf_shares

    words: dict[str, None] = {}
    raw = folder / "rows.raw"
    with raw.open("wb") as file:
        for part in _parts(rows, words):
            file.write(numpy.clip(numpy.stack(part), -_LARGEST, _LARGEST).astype(numpy.float16).tobytes())
    trie = marisa_trie.Trie(words)
    places = numpy.fromiter((trie[word] for word in words), numpy.int64, len(words))
    trie.save(str(folder / WORDS))
    if weights is None:
        weights = smooth_inverse(zipf_shares(len(words)))
    ordered = numpy.empty(len(words), numpy.float32)
    ordered[places] = weights
    numpy.save(folder / WEIGHTS, ordered)
    _put_in_order(raw, folder / VECTORS, places, dimension)
    raw.unlink()
    (folder / SETTINGS).write_bytes(msgspec.json.encode(settings))
    return len(words)


def write_static_card(folder: Path, name: str, source: str, dimension: int, command: str = "") -> ModelCard:
    """The card of a folder whose files are written."""
    card = ModelCard(
        name=name,
        kind="static",
        source=source,
        dimension=dimension,
        files=file_cards(folder),
        precision="fp16",
        pooling="mean",
        entlink=__version__,
        command=command,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_card(folder, card)
    return card


def _parts(rows: Iterable[tuple[str, NDArray[Any]]], words: dict[str, None]) -> Iterator[list[NDArray[Any]]]:
    """Vectors of words not seen before, some thousands at a time; the words are put into `words`."""
    part: list[NDArray[Any]] = []
    for word, vector in rows:
        if word not in words:
            words[word] = None
            part.append(vector)
        if len(part) >= _ROWS:
            yield part
            part = []
    if part:
        yield part


def _put_in_order(raw: Path, path: Path, places: NDArray[numpy.int64], dimension: int) -> None:
    shape = (len(places), dimension)
    ordered = numpy.lib.format.open_memmap(path, mode="w+", dtype=numpy.float16, shape=shape)
    read = numpy.memmap(raw, numpy.float16, mode="r", shape=shape) if len(places) else ordered
    for start in range(0, len(places), _ROWS):
        ordered[places[start : start + _ROWS]] = read[start : start + _ROWS]
    ordered.flush()
