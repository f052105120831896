"""What speakers have named lately: only that can be meant by what they call their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from entlink.documents import Link

SAID_BEFORE = "said turns before"  # the name of the evidence
_SPEAKERS = 4  # entities of so many speakers who each name as many as one may are kept


class Said(NamedTuple):
    """A link and the number of the turn in which it was said."""

    link: Link
    turn: int


class SaidEntities:
    """The last `size` entities that each speaker named. However many turns and speakers there are, it stays small."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: dict[tuple[str, str], Said] = {}  # those named longest ago come first

    def __len__(self) -> int:
        return len(self._kept)

    def forget(self) -> None:
        self._kept.clear()

    def take_in(self, speaker: str | None, links: Sequence[Link], turn: int) -> None:
        """Remember what a turn was linked to; of a turn without a speaker nobody knows whose it is."""
        if not speaker:
            return
        for link in links:
            if link.entity is not None:
                self._kept.pop((speaker, link.entity), None)
                self._kept[speaker, link.entity] = Said(link, turn)
        while len(self._kept) > _SPEAKERS * self._size:
            del self._kept[next(iter(self._kept))]

    def of(self, speaker: str | None) -> list[Said]:
        """What a speaker named, the last first."""
        if not speaker or not self._size:
            return []
        own = [said for (who, _), said in self._kept.items() if who == speaker]
        return own[: -self._size - 1 : -1]
