"""Vectors of words without a model: a text is the mean of its words, the frequent ones counting less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import marisa_trie
import msgspec
import numpy
from numpy.typing import NDArray

from entlink.encoders.identities import identity_of
from entlink.encoders.models.card import ModelCard
from entlink.errors import InputError
from entlink.text.folding import fold, is_spaceless

if TYPE_CHECKING:
    from entlink.interfaces import Vectors

WORDS, VECTORS, WEIGHTS, BUCKETS, SETTINGS = (
    "words.marisa",
    "vectors.npy",
    "weights.npy",
    "buckets.npy",
    "static.json",
)
Spaceless = Literal["longest", "bigrams"]
_LONGEST_WORD = 16  # characters of a word in a script without spaces
_SMOOTHING = 1e-3  # what smooth inverse frequency calls a


class StaticSettings(msgspec.Struct, frozen=True):
    """How words are found: runs of a script without spaces, and parts of words that are not known."""

    spaceless: Spaceless = "longest"
    shortest_gram: int = 0
    longest_gram: int = 0


class StaticEncoder:
    """Word vectors in a folder, mapped into memory and not read."""

    def __init__(self, folder: Path, card: ModelCard) -> None:
        self.name, self.dimension = card.name, card.dimension
        checksums = " ".join(f"{name} {file.sha256}" for name, file in sorted(card.files.items()))
        self.identity = identity_of(card.name, checksums, "static", card.dimension)
        self.settings = msgspec.json.decode((folder / SETTINGS).read_bytes(), type=StaticSettings)
        self._words: Any = marisa_trie.Trie().mmap(str(folder / WORDS))
        self._vectors: NDArray[numpy.float16] = numpy.load(folder / VECTORS, mmap_mode="r")
        self._weights: NDArray[numpy.float32] = numpy.load(folder / WEIGHTS, mmap_mode="r")
        path = folder / BUCKETS
        self._buckets: NDArray[numpy.float16] | None = numpy.load(path, mmap_mode="r") if path.is_file() else None

    def __len__(self) -> int:
        """How many words it knows."""
        return len(self._vectors)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row a text, of unit length; one without a known word is a row of zeros."""
        found = numpy.zeros((len(texts), self.dimension), numpy.float32)
        known: dict[str, int] = {}
        for row, text in enumerate(texts):
            first = known.setdefault(text, row)
            found[row] = self._vector(text) if first == row else found[first]
        return found

    def average(self, texts: Sequence[str]) -> Vectors:
        """The plain mean of each text's known words, of any length; zeros for a text without one."""
        found = numpy.zeros((len(texts), self.dimension), numpy.float32)
        for row, text in enumerate(texts):
            places = [place for unit in self._units(text) if (place := self._words.get(unit)) is not None]
            if places:
                found[row] = self._vectors[places].astype(numpy.float32).mean(axis=0)
        return found

    def _vector(self, text: str) -> Vectors:
        total = numpy.zeros(self.dimension, numpy.float32)
        ids: list[int] = []
        for unit in self._units(text):
            place = self._words.get(unit)
            if place is not None:
                ids.append(place)
            elif (part := self._from_grams(unit)) is not None:
                total += part
        if ids:
            rows = self._vectors[ids].astype(numpy.float32)
            total += (rows * self._weights[ids][:, None]).sum(axis=0)
        length = float(numpy.linalg.norm(total))
        if not numpy.isfinite(length):
            raise InputError(
                f"the encoder {self.identity!r} gave a vector with NaN or infinity for the text {text[:80]!r}. "
                "Its file of vectors is broken: fetch it again"
            )
        return total / length if length > 0 else total

    def _units(self, text: str) -> Iterator[str]:
        if self.settings.spaceless == "bigrams":
            return bigram_units(text)
        return self._longest_units(text)

    def _longest_units(self, text: str) -> Iterator[str]:
        """Words; in a run of a script without spaces, the longest words that are known."""
        for run, spaced in runs(text):
            at = 0
            while not spaced and at < len(run):
                known: list[str] = self._words.prefixes(run[at : at + _LONGEST_WORD])
                unit = max(known, key=len, default=run[at])
                yield unit
                at += len(unit)
            if spaced:
                yield run

    def _from_grams(self, unit: str) -> Vectors | None:
        """The vector of an unknown word from its parts; None without any."""
        if self._buckets is None:
            return None
        shortest, longest = self.settings.shortest_gram, self.settings.longest_gram
        ids = gram_ids(unit, shortest, longest, len(self._buckets), self.settings.spaceless == "bigrams")
        if not ids:
            return None
        vector: Vectors = self._buckets[ids].astype(numpy.float32).mean(axis=0)
        return vector


def runs(text: str) -> Iterator[tuple[str, bool]]:
    """The folded words of a text, each with True; runs of a script without spaces as one, with False."""
    run = ""
    folded = fold(text)
    for token, start, end in zip(folded.tokens, folded.at, folded.to, strict=True):
        if is_spaceless(token[0]):
            run += folded.key[start:end]
            continue
        if run:
            yield run, False
            run = ""
        yield token, True
    if run:
        yield run, False


def bigram_units(text: str) -> Iterator[str]:
    """Words, and in place of runs without spaces every two characters that follow each other."""
    for run, spaced in runs(text):
        if spaced or len(run) < 2:
            yield run
        else:
            yield from (run[at : at + 2] for at in range(len(run) - 1))


def gram_ids(word: str, shortest: int, longest: int, buckets: int, characters: bool = False) -> list[int]:
    """The buckets of the parts of a word, as fastText hashes them.

    With `characters`, the parts of a word in a script without spaces are its characters.
    """
    if characters and is_spaceless(word[0]):
        return [_hashed(character) % buckets for character in word]
    marked = f"<{word}>"
    found = []
    for start in range(len(marked)):
        for size in range(shortest, longest + 1):
            end = start + size
            if end > len(marked):
                break
            if size == 1 and (start == 0 or end == len(marked)):
                continue  # the marks alone tell nothing
            found.append(_hashed(marked[start:end]) % buckets)
    return found


def _hashed(gram: str) -> int:
    """FNV-1a over signed bytes, a slip of fastText that its files depend on."""
    value = 2166136261
    for byte in gram.encode("utf8", "replace"):
        value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return value


def smooth_inverse(shares: NDArray[numpy.float64]) -> NDArray[numpy.float32]:
    """The weights of words with these shares of a text."""
    return (_SMOOTHING / (_SMOOTHING + shares)).astype(numpy.float32)


def zipf_shares(count: int) -> NDArray[numpy.float64]:
    """The shares of words of which only the order by frequency is known."""
    shares = 1.0 / numpy.arange(1, count + 1)
    return shares / shares.sum() if count else shares
