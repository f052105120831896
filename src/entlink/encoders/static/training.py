"""Word vectors from the texts of a knowledge base: what stands near what, made dense. No torch, no downloads.

For a language no model is at hand for, and for words that no model has seen. Words of a script without spaces are
pairs of characters; a word that was not seen is made of its parts.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy
from numpy.typing import NDArray

from entlink.encoders.models.card import ModelCard
from entlink.encoders.static.cooccurrence import Pairs, Sparse, left_vectors
from entlink.encoders.static.encoder import (
    BUCKETS,
    StaticEncoder,
    StaticSettings,
    bigram_units,
    gram_ids,
    smooth_inverse,
)
from entlink.encoders.static.writing import write_static_card, write_vectors
from entlink.errors import ExistsError, InputError
from entlink.io.progress import Progress, ignore_progress

CONTEXTS = 20_000  # words that others are near to
_MOST_COUNTED = 2_000_000  # words counted at a time; beyond, the rarest are forgotten
_BLOCK = 500_000  # words whose neighbours are counted at a time
_GRAMS = (3, 5)
_BUCKETS = 1 << 16
_FEWEST = 3  # words, for anything to be near anything
_STAGES = 4


def train_static(
    texts: Iterable[str],
    folder: Path | str,
    *,
    name: str | None = None,
    dimension: int = 128,
    window: int = 5,
    seed: int = 0,
    min_count: int = 2,
    most_words: int = 50_000,
    command: str = "",
    progress: Progress = ignore_progress,
) -> StaticEncoder:
    """Train vectors of the words of `texts` into a folder, and return their encoder; the same for the same seed.

    `window` is how many words apart two may be, `min_count` how often a word must occur; the `most_words` most
    frequent get vectors. Memory is bounded whatever the texts; they are read once, and spooled to a temporary file.
    """
    folder = Path(folder)
    for setting, value in (("dimension", dimension), ("window", window), ("min_count", min_count)):
        if value < 1:
            raise InputError(f"{setting} = {value} does not fit: give 1 or more")
    if folder.exists() and any(folder.iterdir()):
        raise ExistsError(f"{folder}: something is there already. Give another folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile() as spool:
        progress("reading the texts", 0, _STAGES)
        counts = count_words(map(bigram_units, texts), spool)
        words = frequent(counts, min_count, most_words)
        progress("counting neighbours", 1, _STAGES)
        pairs = count_pairs(spool, {word: number for number, word in enumerate(words)}, window)
    progress("making vectors", 2, _STAGES)
    matrix = pairs.information()
    _check_information(matrix)
    vectors = unit_rows(left_vectors(matrix, min(dimension, len(words)), seed))
    progress("writing", 3, _STAGES)
    shares = numpy.array([counts[word] for word in words], numpy.float64)
    card = write_words(
        folder, words, vectors, shares, name=name or folder.name, source="texts of a knowledge base", command=command
    )
    progress("writing", _STAGES, _STAGES)
    return StaticEncoder(folder, card)


def count_words(texts: Iterable[Iterable[str]], spool: BinaryIO) -> Counter[str]:
    """Count the words of texts, and keep those of each text on a line of the spool."""
    counts: Counter[str] = Counter()
    for text in texts:
        words = list(text)
        counts.update(words)
        spool.write(" ".join(words).encode("utf8", "replace") + b"\n")
        if len(counts) > _MOST_COUNTED:
            counts = Counter(dict(counts.most_common(_MOST_COUNTED // 2)))
    return counts


def frequent(counts: Counter[str], min_count: int, most: int) -> list[str]:
    """The frequent words, most frequent first, and among equals by name: the order is the same each time."""
    known = sorted((word for word, count in counts.items() if count >= min_count), key=lambda w: (-counts[w], w))
    if len(known) < _FEWEST:
        raise InputError(
            f"only {len(known)} words occur {min_count} times or more in the texts: too few to learn from. "
            "Give more text, or a lower min_count"
        )
    return known[:most]


def count_pairs(spool: BinaryIO, numbers: dict[str, int], window: int) -> Pairs:
    """Which words are near which, in the texts of a spool; contexts are the most frequent words."""
    pairs = Pairs(len(numbers), min(len(numbers), CONTEXTS), window)
    for ids, texts in _blocks(spool, numbers):
        pairs.add(ids, texts)
    return pairs


def _blocks(spool: BinaryIO, numbers: dict[str, int]) -> Iterator[tuple[NDArray[numpy.int64], NDArray[numpy.int64]]]:
    """The numbers of known words, and the text each is of."""
    spool.seek(0)
    ids: list[int] = []
    texts: list[int] = []
    for number, line in enumerate(spool):
        known = [numbers[word] for word in line.decode("utf8").split() if word in numbers]
        ids += known
        texts += [number] * len(known)
        if len(ids) >= _BLOCK:
            yield numpy.array(ids, numpy.int64), numpy.array(texts, numpy.int64)
            ids, texts = [], []
    if ids:
        yield numpy.array(ids, numpy.int64), numpy.array(texts, numpy.int64)


def _check_information(matrix: Sparse) -> None:
    if not len(matrix.values):
        raise InputError("no two words of the texts stand near each other more than by chance. Give more text")


def unit_rows(vectors: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """The rows at length 1; rows of zeros stay."""
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[numpy.float32] = (vectors / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
    return scaled


def write_words(
    folder: Path,
    words: list[str],
    vectors: NDArray[numpy.float32],
    counts: NDArray[numpy.float64],
    *,
    name: str,
    source: str,
    command: str = "",
) -> ModelCard:
    """A folder with the vectors of words, most frequent first, and of the parts of words that are not known."""
    weights = smooth_inverse(counts / counts.sum())
    settings = StaticSettings("bigrams", *_GRAMS)
    write_vectors(folder, zip(words, vectors, strict=True), vectors.shape[1], weights, settings)
    numpy.save(folder / BUCKETS, _buckets(words, vectors))
    return write_static_card(folder, name, source, vectors.shape[1], command)


def _buckets(words: list[str], vectors: NDArray[numpy.float32]) -> NDArray[Any]:
    """The parts of words: each the mean of the words it is in."""
    sums = numpy.zeros((_BUCKETS, vectors.shape[1]), numpy.float32)
    counts = numpy.zeros(_BUCKETS, numpy.float32)
    for word, vector in zip(words, vectors, strict=True):
        ids = sorted(set(gram_ids(word, *_GRAMS, _BUCKETS, True)))
        sums[ids] += vector
        counts[ids] += 1
    means: NDArray[Any] = (sums / numpy.maximum(counts, 1)[:, None]).astype(numpy.float16)
    return means
