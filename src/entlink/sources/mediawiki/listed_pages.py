"""The numbers of pages that a table of a wiki lists, on disk and eight bytes each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from functools import lru_cache
from hashlib import md5
from pathlib import Path


def numbers_file(wiki: str) -> str:
    """The name of the file for a wiki: what a wiki calls itself may be no name for a file."""
    return f"{md5(wiki.encode(), usedforsecurity=False).hexdigest()}.numbers"


class ListedPages:
    """The numbers in a file, sorted; none where there is no file."""

    def __init__(self, path: Path) -> None:
        self._numbers = array("q", path.read_bytes() if path.exists() else b"")

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self._numbers, number)
        return place < len(self._numbers) and self._numbers[place] == number


def listed_pages(folder: str, wiki: str) -> ListedPages:
    """The disambiguation pages of a wiki that the tables read before its export have listed."""
    path = Path(folder) / numbers_file(wiki)
    status = path.stat() if path.exists() else None
    return _read(path, status.st_ino if status else 0, status.st_mtime_ns if status else 0)


@lru_cache(maxsize=4)
def _read(path: Path, inode: int, changed: int) -> ListedPages:
    """Asked for with every page, read once; the next build has another file under the same name."""
    return ListedPages(path)
