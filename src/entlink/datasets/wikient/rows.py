"""A WikiEnt set as it is on disk: contexts that name entities, and what the page of each entity says first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from entlink.errors import DamagedError, NotFoundError

_Row = TypeVar("_Row", bound=msgspec.Struct)
CONTEXTS, DESCRIPTIONS = "contexts.jsonl", "descriptions.jsonl"


class Context(msgspec.Struct, frozen=True):
    """A sentence of `page` whose characters `[start, end)` the author linked to `entity`."""

    text: str
    start: int
    end: int
    entity: str
    page: str


class Description(msgspec.Struct, frozen=True):
    """The first words of an entity's page."""

    entity: str
    title: str
    text: str


def read_contexts(folder: Path | str) -> Iterator[Context]:
    """The contexts of a set, streamed."""
    path = Path(folder) / CONTEXTS
    for number, one in enumerate(_read(path, Context), 1):
        if not 0 <= one.start < one.end <= len(one.text):
            raise DamagedError(
                f"{path}, line {number}: the span [{one.start}, {one.end}) is not within its text of "
                f"{len(one.text)} characters. Build the set again"
            )
        yield one


def read_descriptions(folder: Path | str) -> Iterator[Description]:
    """The descriptions of a set, streamed; each entity has one."""
    return _read(Path(folder) / DESCRIPTIONS, Description)


def _read(path: Path, kind: type[_Row]) -> Iterator[_Row]:
    if not path.is_file():
        raise NotFoundError(
            f"{path}: no such file, so {path.parent} is no WikiEnt set. "
            "Make one with `entlink datasets build wikient`"
        )
    decoder = msgspec.json.Decoder(kind)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield decoder.decode(line)
            except msgspec.MsgspecError as problem:
                raise DamagedError(
                    f"{path}, line {number}: this is no row of a WikiEnt set ({problem}). Build the set again"
                ) from problem
