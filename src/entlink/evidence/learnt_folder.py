"""A folder with what `entlink adapt` learnt: a card in JSON, and arrays that the card has the checksum of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from entlink.errors import DamagedError, MissingModelError
from entlink.io.atomic import whole_folder
from entlink.io.checksums import checksum

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 1


class LearntCard(msgspec.Struct, frozen=True, kw_only=True):
    """What all such cards say."""

    format: int = FORMAT
    entlink: str = ""
    sha256: str = ""


Card = TypeVar("Card", bound=LearntCard)


def read_learnt(folder: Path, name: str, what: str, kind: type[Card]) -> tuple[Card, dict[str, NDArray[Any]]]:
    """The card and the arrays in the files called `name`; ones missing, damaged or of another version are told."""
    import numpy

    path, kept = folder / f"{name}.json", folder / f"{name}.npz"
    if not path.is_file():
        raise MissingModelError(f"{folder}: no {what} are there. `entlink adapt` makes them")
    try:
        card = msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.MsgspecError as problem:
        raise DamagedError(f"{path}: cannot be read ({problem}). Adapt the linker anew") from problem
    if card.format != FORMAT:
        raise DamagedError(f"{folder}: these {name} were made by another version of entlink. Adapt the linker anew")
    if not kept.is_file() or checksum(kept) != card.sha256:
        raise DamagedError(f"{kept}: this file is missing or altered. Adapt the linker anew")
    with numpy.load(kept) as arrays:
        return card, dict(arrays)


def write_learnt(folder: Path, name: str, card: LearntCard, **arrays: Any) -> None:
    """Write a card and arrays; the folder is there whole or not at all."""
    import numpy

    with whole_folder(folder) as partial:
        kept = partial / f"{name}.npz"
        numpy.savez(kept, **arrays)
        card = msgspec.structs.replace(card, sha256=checksum(kept))
        (partial / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(card)) + b"\n")
