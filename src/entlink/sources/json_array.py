"""The objects of a file that is one JSON array, or one object, one after the other: it need not fit into memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from entlink.errors import SourceError
from entlink.io.files import broken_stream_errors
from entlink.io.lines import MAX_LINE, cut_off

_CHUNK = 1 << 18
_MARK = re.compile(rb'["{}\[\]]')
_STRING_REST = re.compile(rb'(?:[^"\\]|\\.)*+"', re.DOTALL)
_BETWEEN = re.compile(rb"[ \t\r\n,]*+")
_COLON = re.compile(rb"[ \t\r\n:]*+")


def array_items(file: BufferedReader, path: Path) -> Iterator[tuple[int, bytes]]:
    """Each object's number from 0 and its bytes, undecoded. A file that is no array, or ends early, is an error."""
    return _Scanner(file, path).items()


def object_members(file: BufferedReader, path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Each name and its object, undecoded, of a file that is one object of objects."""
    return _Scanner(file, path).members()


class _Scanner:
    """Looks for brackets outside of strings; holds what was read since the last whole object."""

    def __init__(self, file: BufferedReader, path: Path) -> None:
        self._file, self._path = file, path
        self._held = b""
        self._at = self._number = 0

    def items(self) -> Iterator[tuple[int, bytes]]:
        self._open(b"[", "array", "A corpus of the older layout is one array of objects")
        while (first := self._next_byte()) != b"]":
            if first != b"{":
                raise self._error("this is not an object", "Each item of the array must be an object")
            end = self._end_of_object()
            yield self._number, self._held[self._at : end]
            self._at = end
            self._number += 1

    def members(self) -> Iterator[tuple[bytes, bytes]]:
        self._open(b"{", "object", "It must map names to objects")
        while (first := self._next_byte()) != b"}":
            if first != b'"':
                raise self._error("this is not a name", "It must map names to objects")
            end = self._end_of_name()
            name, self._at = self._held[self._at : end], end
            if self._next_byte(_COLON) != b"{":
                raise self._error(f"{name.decode(errors='replace')} is not an object", "It must map names to objects")
            end = self._end_of_object()
            yield name, self._held[self._at : end]
            self._at = end
            self._number += 1

    def _end_of_name(self) -> int:
        while (string := _STRING_REST.match(self._held, self._at + 1)) is None:
            self._need_more()
        return string.end()

    def _open(self, bracket: bytes, kind: str, hint: str) -> None:
        while not self._held.strip() and self._read():
            self._held = self._held.removeprefix(codecs.BOM_UTF8)
        if not self._held.lstrip().startswith(bracket):
            raise self._error(f"the file is not a JSON {kind}", hint)
        self._at = self._held.index(bracket) + 1

    def _next_byte(self, skipped: re.Pattern[bytes] = _BETWEEN) -> bytes:
        """The first byte after the commas and white space between two objects; what is before is forgotten."""
        while True:
            between = skipped.match(self._held, self._at)
            assert between is not None
            self._at = between.end()
            if self._at > _CHUNK:
                self._held, self._at = self._held[self._at :], 0
            if self._at < len(self._held):
                return self._held[self._at : self._at + 1]
            self._need_more()

    def _end_of_object(self) -> int:
        depth, at = 0, self._at
        while True:
            mark = _MARK.search(self._held, at)
            string = _STRING_REST.match(self._held, mark.end()) if mark and mark.group() == b'"' else None
            if mark is None or (mark.group() == b'"' and string is None):
                at = mark.start() if mark else len(self._held)
                self._need_more()
            elif string is not None:
                at = string.end()
            else:
                depth += 1 if mark.group() in (b"{", b"[") else -1
                at = mark.end()
                if depth == 0:
                    return at

    def _need_more(self) -> None:
        if len(self._held) - self._at > MAX_LINE:
            raise self._error(f"the object is longer than {MAX_LINE:,} bytes", "Is this an array of records?")
        if not self._read():
            raise self._error(f"the file is cut off; {self._number} objects were read before", "Fetch it again")

    def _read(self) -> bool:
        try:
            chunk = self._file.read(_CHUNK)
        except broken_stream_errors() as error:
            raise cut_off(self._path, error, f"item {self._number}", f"{self._number} objects were read") from error
        self._held += chunk
        return bool(chunk)

    def _error(self, problem: str, hint: str) -> SourceError:
        return SourceError(problem, str(self._path), f"item {self._number}", hint)
