"""The card of a model in the store: where it came from, what it is, and the checksum of every file of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from entlink.errors import DamagedError
from entlink.io.checksums import checksum

CARD = "model.json"
_SMALL = (".json", ".txt", ".md")
Kind = Literal[
    "transformer", "static", "picture", "recurrent", "dual", "cross", "joint", "map", "multimodal"
]  # those after the first four were trained on mentions and entities


class FileCard(msgspec.Struct, frozen=True):
    """One file of a model."""

    bytes: int
    sha256: str


class ModelCard(msgspec.Struct, frozen=True):
    """What is known of a model; `files` are by their path in its folder, `settings` those of its kind."""

    name: str
    kind: Kind
    source: str
    dimension: int
    files: dict[str, FileCard]
    version: str = ""
    precision: str = ""
    pooling: str = ""
    max_length: int = 0
    licence: str = ""
    languages: str = ""
    weights: str = ""
    entlink: str = ""
    command: str = ""
    made: str = ""
    settings: dict[str, Any] = {}
    fetched: dict[str, str] = {}  # the sha256 of the files that it was made of

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files.values())


def file_cards(folder: Path) -> dict[str, FileCard]:
    """The cards of all files of a folder but the model's own card."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != CARD)
    return {path.relative_to(folder).as_posix(): FileCard(path.stat().st_size, checksum(path)) for path in found}


def write_card(folder: Path, card: ModelCard) -> None:
    (folder / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(card)) + b"\n")


def read_card(folder: Path) -> ModelCard:
    """The card in a folder; one that is damaged is told."""
    path = folder / CARD
    try:
        return msgspec.json.decode(path.read_bytes(), type=ModelCard)
    except msgspec.MsgspecError as problem:
        raise DamagedError(
            f"{path}: this card of a model cannot be read ({problem}). {_remedy(folder.name)}"
        ) from problem


def check_files(folder: Path, card: ModelCard) -> None:
    """Raise if a file of the model is missing, cut off or altered."""
    for name, file in card.files.items():
        path = folder / name
        if not path.is_file():
            raise DamagedError(f"{path}: this file of the model {card.name!r} is missing. {_remedy(card.name)}")
        if path.stat().st_size != file.bytes:
            raise DamagedError(
                f"{path}: this file of the model {card.name!r} has {path.stat().st_size:,} bytes, "
                f"and its card says {file.bytes:,}. {_remedy(card.name)}"
            )
        if checksum(path) != file.sha256:
            raise DamagedError(f"{path}: this file of the model {card.name!r} was altered. {_remedy(card.name)}")


def check_weights(fetched: Mapping[str, str], sha256: str, name: str, place: Path, remedy: str) -> None:
    """Raise if a file of weights, of those that a model was made of, has none of the wanted checksums."""
    weights = {file: found for file, found in fetched.items() if not file.endswith(_SMALL)}
    wanted = sha256.split(",") if sha256 else []
    for file, found in (weights or {"model.safetensors": "not known"}).items():
        if wanted and found not in wanted:
            raise DamagedError(
                f"{place / file}: the sha256 of {name!r} is {sha256}, and here it is {found}; {remedy}"
            )


def _remedy(name: str) -> str:
    return (
        f"Make it anew: `entlink models pull {name} --force`, or `entlink models rm {name}` and load its source again"
    )
