"""A page of many revisions, of which only the latest is kept and what the others tell of dates and titles."""

from __future__ import annotations

from html import unescape

from msgspec import structs

from entlink.documents import Leaf
from entlink.sources.mediawiki.dumps.moves import may_tell_of_move, move_told
from entlink.sources.mediawiki.dumps.raw_page import Move

PAGE_END = b"</page>"
_PAGE = b"<page"
_REVISION, _REVISION_END = b"<revision", b"</revision>"
MAX_HEAD = 1 << 16  # far above any honest head of a page
_AFTER_PAGE = frozenset(b"> \t\r\n")


class PageSlice(Leaf, frozen=True):
    """The XML of one page, cut out but not read; of several revisions the latest only.

    `created` is the time of the earliest revision. With a `problem` the data are only its beginning.
    """

    position: int
    data: bytes
    has_history: bool = False
    created: str | None = None
    moves: tuple[Move, ...] = ()
    problem: str = ""
    is_over_limit: bool = False


def page_start(data: bytes | bytearray, start: int, end: int | None = None) -> int:
    """Where the next page begins, -1 if none does. In texts "<" is always escaped, so that it can only be markup."""
    while (found := data.find(_PAGE, start, end)) >= 0:
        if len(data) > found + len(_PAGE) and data[found + len(_PAGE)] in _AFTER_PAGE:
            return found
        start = found + len(_PAGE)
    return -1


def head_end(data: bytes) -> int:
    """Where the first revision of a page begins, its end if it has none."""
    found = data.find(_REVISION)
    return found if found >= 0 else len(data)


def has_many_revisions(data: bytes) -> bool:
    """Whether more than one revision begins in a page."""
    return data.find(_REVISION, head_end(data) + 1) >= 0


def end_of_revisions(data: bytearray, start: int) -> int:
    """Where the last whole revision ends, -1 if none does."""
    found = data.rfind(_REVISION_END, start)
    return found + len(_REVISION_END) if found >= 0 else -1


class OpenPage:
    """A page that is still being read, a few revisions at a time."""

    def __init__(self, position: int) -> None:
        self.position = position
        self.head: bytes | None = None
        self._latest, self._latest_time = b"", ""
        self._earliest_time = ""
        self._earliest_has_parent = False
        self._revisions = self._largest = 0
        self._stray_end = b""  # of a revision that has no beginning: kept for the parser to find it
        self._moves: dict[Move, None] = {}

    def fold(self, piece: bytes) -> None:
        """Take in the whole revisions of the piece that follows what has been read."""
        at = 0
        while (end := piece.find(_REVISION_END, at)) >= 0:
            end += len(_REVISION_END)
            start = piece.find(_REVISION, at, end)
            if self.head is None:
                self.head = piece[at : start if start >= 0 else end]
            if start >= 0:
                self._add(piece[start:end])
            else:
                self._stray_end = _REVISION_END
            at = end

    def close(self, piece: bytes, max_page: int) -> PageSlice:
        """The page, whose last piece this is."""
        self.fold(piece)
        if len(self.head or b"") + self._largest > max_page:
            return self.too_large(max_page)
        created = None if self._earliest_has_parent else self._earliest_time or None
        moves = tuple(sorted(self._moves, key=lambda move: move.time))
        data = b"".join((self.head or b"", self._stray_end, self._latest, PAGE_END))
        return PageSlice(self.position, data, self._revisions > 1, created, moves)

    def close_whole(self, piece: bytes, max_page: int) -> PageSlice:
        """The page, all of which is this piece of one revision."""
        if piece.rfind(_REVISION_END) + len(_REVISION_END) > max_page:
            return self.too_large(max_page, piece)
        return PageSlice(self.position, piece)

    def too_large(self, max_page: int, piece: bytes = b"") -> PageSlice:
        """The page without its text, for what would have to be held of it is over the limit."""
        problem = f"the text of one of its revisions is over the limit of {max_page:,} bytes"
        return structs.replace(self.broken(problem, piece), is_over_limit=True)

    def broken(self, problem: str, piece: bytes = b"") -> PageSlice:
        """The page that cannot be read, with as much of its head as tells which one it is."""
        head = piece[: head_end(piece)] if self.head is None else self.head
        return PageSlice(self.position, head[:MAX_HEAD], problem=problem)

    def _add(self, revision: bytes) -> None:
        top = revision[: max(revision.find(b"<text"), 0)] or revision
        time = field(top, b"timestamp").decode(errors="replace")
        self._revisions += 1
        self._largest = max(self._largest, len(revision))
        if not self._latest or time >= self._latest_time:
            self._latest, self._latest_time = revision, time
        if not self._earliest_time or time < self._earliest_time:
            self._earliest_time, self._earliest_has_parent = time, has_parent(field(top, b"parentid"))
        self._add_move(field(top, b"comment"), time)

    def _add_move(self, comment: bytes, time: str) -> None:
        if may_tell_of_move(comment) and (move := move_told(unescape(comment.decode(errors="replace")), time)):
            self._moves[move] = None


def field(data: bytes, name: bytes) -> bytes:
    """The content of the first element of a name, still packed as XML; empty where there is none."""
    start = data.find(b"<%b>" % name)
    if start < 0:
        return b""
    start += len(name) + 2
    return data[start : max(start, data.find(b"</%b>" % name, start))].strip()


def has_parent(parent: bytes | str | None) -> bool:
    """Whether the content of a `parentid` names a revision."""
    return bool(parent) and parent not in (b"0", "0")
