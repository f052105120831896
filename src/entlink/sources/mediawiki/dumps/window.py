"""The bytes of a dump as they arrive: those not read yet are held, and it is known whose they are."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from entlink.errors import SourceError

Chunks = Iterable[bytes | SourceError]


class Place(msgspec.Struct, frozen=True):
    """How to tell a reader of messages where something is."""

    file: str
    unit: str = "byte {}"

    def at(self, position: int) -> str:
        return self.unit.format(position)


class Window:
    """The unread bytes of a part: its `own` chunks, then those of the `rest` of the file.

    A chunk that is an error stands for data that cannot be read; it is raised when its turn comes.
    """

    def __init__(self, own: Chunks, rest: Chunks, place: Place, start: int = 0) -> None:
        self.data = bytearray()
        self.cursor = 0
        self.place = place
        self.offset = start  # where the first byte held stands
        self.own_end: int | None = None
        self._own, self._rest = iter(own), iter(rest)

    @property
    def position(self) -> int:
        """Where the cursor stands, counted from where the dump or the part begins."""
        return self.offset + self.cursor

    @property
    def unread(self) -> int:
        return len(self.data) - self.cursor

    @property
    def is_own(self) -> bool:
        """Whether the cursor stands in the part's own bytes."""
        return self.own_end is None or self.position < self.own_end

    def take(self, end: int) -> bytes:
        """A copy of what lies between the cursor and `end`."""
        with memoryview(self.data) as view:
            return bytes(view[self.cursor : end])

    def drop(self, keep: int = 0) -> None:
        """Pass over all that is held but its last bytes."""
        self.cursor = max(self.cursor, len(self.data) - keep)

    def grow_own(self) -> bool:
        """Add a chunk of the part itself; False when there are no more."""
        if self.own_end is not None:
            return False
        if (chunk := next(self._own, None)) is not None:
            self._add(chunk)
            return True
        self.own_end = self.offset + len(self.data)
        return False

    def grow(self) -> bool:
        """Add a chunk of the part or of what follows it; False at the end of the file."""
        if self.grow_own():
            return True
        if (chunk := next(self._rest, None)) is None:
            return False
        self._add(chunk)
        return True

    def _add(self, chunk: bytes | SourceError) -> None:
        if isinstance(chunk, SourceError):
            raise chunk
        del self.data[: self.cursor]
        self.offset += self.cursor
        self.cursor = 0
        self.data += chunk
