"""What was learnt of words that several entities share, and the folder that keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.errors import DamagedError, MissingModelError
from entlink.kb.checksums import checksum
from entlink.kb.writing import whole_folder

if TYPE_CHECKING:
    from entlink.interfaces import Vectors

CARD = "senses.json"
WEIGHTS = "senses.npz"
FORMAT = 1


class SenseCard(msgspec.Struct, frozen=True, kw_only=True):
    """`senses.json`: which entities share which words, in the order of the rows of `senses.npz`.

    `encoder` gives the vectors of words, and `identity` says which it was. `reliability` is how well the meanings of
    a word could be told apart where nothing had been learnt from: 0 as by chance, 1 always.
    """

    format: int = FORMAT
    encoder: str
    identity: str
    senses: dict[str, list[str]]
    reliability: dict[str, float]
    examples: int = 0
    entlink: str = ""
    sha256: str = ""


class SenseModel(NamedTuple):
    """For each meaning of each word, how the vector of the word is there, as against its mean everywhere."""

    card: SenseCard
    mean: Vectors  # [d]
    rows: Vectors  # [meanings, d]
    first: Mapping[str, int]  # by word: the row of its first meaning

    def scores(self, word: str, vector: Vectors) -> dict[str, float]:
        """How much each meaning of the word is like this use of it."""
        start = self.first[word]
        entities = self.card.senses[word]
        found = self.rows[start : start + len(entities)] @ (vector - self.mean)
        return dict(zip(entities, found.tolist(), strict=True))


def sense_model(card: SenseCard, mean: Vectors, rows: Vectors) -> SenseModel:
    """The model of a card and its arrays."""
    first, start = {}, 0
    for word, entities in card.senses.items():
        first[word] = start
        start += len(entities)
    return SenseModel(card, mean, rows, first)


def read_senses(folder: Path) -> SenseModel:
    """The model in a folder; one that is missing, damaged or of another version is told."""
    import numpy

    path = folder / CARD
    if not path.is_file():
        raise MissingModelError(f"{folder}: no senses of words are there. `entlink adapt` makes them")
    try:
        card = msgspec.json.decode(path.read_bytes(), type=SenseCard)
    except msgspec.MsgspecError as problem:
        raise DamagedError(f"{path}: cannot be read ({problem}). Adapt the linker anew") from problem
    if card.format != FORMAT:
        raise DamagedError(f"{folder}: these senses were made by another version of entlink. Adapt the linker anew")
    weights = folder / WEIGHTS
    if not weights.is_file() or checksum(weights) != card.sha256:
        raise DamagedError(f"{weights}: this file is missing or altered. Adapt the linker anew")
    with numpy.load(weights) as arrays:
        return sense_model(card, arrays["mean"], arrays["rows"].astype(numpy.float32))


def write_senses(folder: Path, model: SenseModel) -> None:
    """Write a model; its folder is there whole or not at all."""
    import numpy

    with whole_folder(folder) as partial:
        numpy.savez(partial / WEIGHTS, mean=model.mean, rows=model.rows.astype(numpy.float16))
        card = msgspec.structs.replace(model.card, sha256=checksum(partial / WEIGHTS))
        (partial / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(card)) + b"\n")
