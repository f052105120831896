"""RDF/XML on its way to its parser, watched for entities that stand for more text than there is memory.

The parser puts in what an entity stands for before anybody can measure it: ten entities, each ten times the one
before, make gigabytes of a kilobyte.
"""

from __future__ import annotations

from io import BufferedReader
from pathlib import Path

from entlink.errors import SourceError
from entlink.text import field_limits

_DECLARATION = b"!ENTITY"
_LONGEST_ENTITY = 1_000  # bytes: entities are short names of addresses


class WatchedXml:
    """A binary file that ends in an error as soon as what its entities stand for could be too long.

    What is measured are the pieces between one `<` and the next: a declaration, or a text or tag that uses entities.
    Each `&` counts as the longest entity so far, so that no name has to be understood as the parser would.
    """

    def __init__(self, file: BufferedReader, path: Path) -> None:
        self._file, self._path = file, path
        self._longest = 0
        self._tail = b""  # of what was read before any declaration, which may begin in it
        self._head, self._length, self._uses = b"", 0, 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        unmeasured = self._tail + data
        if self._longest or _DECLARATION in unmeasured:
            self._tail = b""
            self._measure_all(unmeasured.split(b"<"))
        else:
            self._tail = unmeasured[-len(_DECLARATION) :]
        return data

    def _measure_all(self, pieces: list[bytes]) -> None:
        self._measure(pieces[0])  # the first goes on with what was read before
        for piece in pieces[1:]:
            self._head, self._length, self._uses = b"", 0, 0
            self._measure(piece)

    def _measure(self, piece: bytes) -> None:
        """Add to the piece that is read, which is a declaration if it begins like one."""
        self._head = (self._head + piece[: len(_DECLARATION)])[: len(_DECLARATION)]
        self._length += len(piece)
        self._uses += piece.count(b"&")
        if self._head == _DECLARATION:
            length = self._length + self._uses * self._longest
            if length > _LONGEST_ENTITY:
                raise self._error("an entity", _LONGEST_ENTITY)
            self._longest = max(self._longest, length)
        elif self._uses * self._longest > field_limits.MAX_FIELD:
            raise self._error("a text with entities", field_limits.MAX_FIELD)

    def _error(self, what: str, most: int) -> SourceError:
        return SourceError(
            f"{what} may stand for more than {most:,} bytes, which could fill the memory",
            str(self._path),
            hint="Write out what its entities (<!ENTITY …>) stand for",
        )
