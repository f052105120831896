"""Which types a bi-encoder with types knows: a file beside its weights, in the order of what its layers give."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from entlink.errors import DamagedError

TYPES = "types.json"
TypeKind = Literal["coarse", "fine"]


class TypeNames(msgspec.Struct, frozen=True):
    """The names of the types of each kind: an entity has one coarse type, and any number of fine ones."""

    coarse: tuple[str, ...]
    fine: tuple[str, ...]


def read_type_names(folder: Path) -> TypeNames | None:
    """The types that the model of a folder knows; None of a model without types."""
    path = folder / TYPES
    try:
        return msgspec.json.decode(path.read_bytes(), type=TypeNames)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as problem:
        raise DamagedError(f"{path}: cannot be read ({problem}). Export the model again") from problem


def write_type_names(folder: Path, names: TypeNames) -> None:
    """Write them into the folder of a model."""
    (folder / TYPES).write_bytes(msgspec.json.encode(names) + b"\n")
