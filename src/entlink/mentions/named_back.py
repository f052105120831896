"""How many of the texts that name an entity are named in its own: without links, what tells a topic from a word.

"Volcano" is named in the texts of islands, and names them; "time" is named in every text, and names few of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from entlink.errors import DamagedError, MissingModelError
from entlink.io.atomic import write_whole

FORMAT = 1
_BACK_AT_FIRST, _NAMED_AT_FIRST = 1, 4  # added to the counts: few texts do not tell much
Counts = tuple[int, int]  # texts of others that name an entity, and those of them that its own text names


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    format: int = FORMAT
    entities: dict[str, Counts]


class NamedBack:
    """The counts by entity."""

    def __init__(self, counts: Mapping[str, Counts]) -> None:
        self._counts = counts

    def share(self, entity: str) -> float | None:
        """The share of the texts naming an entity that its own text names; None where nothing is known of it."""
        counts = self._counts.get(entity)
        return None if counts is None else (counts[1] + _BACK_AT_FIRST) / (counts[0] + _NAMED_AT_FIRST)


def write_named_back(path: Path, counts: Mapping[str, Counts]) -> None:
    """Keep counts in a file, which is there whole or not at all."""
    kept = _Kept(entities=dict(sorted(counts.items())))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(kept), indent=0))


def read_named_back(path: Path) -> NamedBack:
    """The counts in a file; one that is missing, damaged or of another version is told."""
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
    except FileNotFoundError as problem:
        raise MissingModelError(f"{path}: no counts are there. `entlink adapt` makes them") from problem
    except (OSError, msgspec.MsgspecError) as problem:
        raise DamagedError(f"{path}: cannot be read ({problem}). Adapt the linker anew") from problem
    if kept.format != FORMAT:
        raise DamagedError(f"{path}: these counts were made by another version of entlink. Adapt the linker anew")
    return NamedBack(kept.entities)
