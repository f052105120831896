"""A page of many revisions, of which only those asked for are kept and what the others tell of dates and titles."""

from __future__ import annotations

import re
from html import unescape

from msgspec import structs

from entlink.documents import Leaf
from entlink.sources.mediawiki.dumps.moves import may_tell_of_move, move_told
from entlink.sources.mediawiki.dumps.raw_page import Move
from entlink.sources.mediawiki.dumps.standing import (
    LostTextError,
    StableRevision,
    StandingRevisions,
    Windows,
    is_stamp,
)

PAGE_END = b"</page>"
_PAGE = b"<page"
_REVISION, _REVISION_END = b"<revision", b"</revision>"
_TEXT, _TEXT_END = b"<text", b"</text>"
_REVISION_TOP = re.compile(
    rb"<revision>\s*+<id>(\d++)</id>\s*+(?:<parentid>\d*+</parentid>\s*+)?<timestamp>\s*([^<\s]*+)\s*</timestamp>"
)
_BYTES = re.compile(rb"""\sbytes\s*=\s*["']\s*(\d*)\s*["']""")
_REDIRECT = re.compile(rb"<redirect\b[^>]*+>(?:\s*+</redirect>)?")
_MOST_DIGITS = 19
_HELD = 4  # times as much as a page may take: all its stable versions together
MAX_HEAD = 1 << 16  # far above any honest head of a page
_AFTER_PAGE = frozenset(b"> \t\r\n")


class PageSlice(Leaf, frozen=True):
    """The XML of one page, cut out but not read; of several revisions the latest only.

    `created` is the time of the earliest revision. With a `problem` the data are only its beginning. Where stable
    versions are asked for, they are the `revisions`, and the data are what is around them.
    """

    position: int
    data: bytes
    has_history: bool = False
    created: str | None = None
    moves: tuple[Move, ...] = ()
    problem: str = ""
    is_over_limit: bool = False
    revisions: tuple[StableRevision, ...] | None = None
    snapshots: tuple[int, ...] = ()

    def versions(self) -> tuple[PageSlice, ...]:
        """The page at each of its stable versions; itself where none were asked for."""
        if self.revisions is None:
            return (self,)
        head = self.data.removesuffix(PAGE_END)
        then = _REDIRECT.sub(b"", head)  # whether it is a redirect tells of its latest revision
        return tuple(
            structs.replace(
                self,
                data=b"".join((head if each.is_latest else then, each.data, PAGE_END)),
                revisions=None,
                snapshots=each.snapshots,
            )
            for each in self.revisions
        )


class _RevisionTop(Leaf, frozen=True):
    """What stands before the text of a revision, as it is packed, and where the element of the text begins."""

    id: int
    parent: bytes
    time: bytes
    comment: bytes
    text: int


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

    _large = "the text of one of its revisions is"

    def __init__(self, position: int) -> None:
        self.position = position
        self.head: bytes | None = None
        self._latest, self._latest_time = b"", b""
        self._earliest_time = b""
        self._earliest_has_parent = False
        self._revisions = self._largest = 0
        self._stray_end = b""  # of a revision that has no beginning: kept for the parser to find it
        self._moves: dict[Move, int] = {}  # with the revision that tells of it

    def fold(self, piece: bytes) -> None:
        """Take in the whole revisions of the piece that follows what has been read."""
        at = 0
        while (end := piece.find(_REVISION_END, at)) >= 0:
            end += len(_REVISION_END)
            start = piece.find(_REVISION, at, end)
            if self.head is None:
                self.head = piece[at : start if start >= 0 else end]
            if start >= 0:
                self._add(piece, start, end)
            else:
                self._stray_end = _REVISION_END
            at = end

    def close(self, piece: bytes, max_page: int) -> PageSlice:
        """The page, whose last piece this is."""
        if self.head is None and not has_many_revisions(piece):
            return self._close_whole(piece, max_page)
        self.fold(piece)
        if len(self.head or b"") + self._largest > max_page:
            return self.too_large(max_page)
        data = b"".join((self.head or b"", self._stray_end, self._latest, PAGE_END))
        return PageSlice(self.position, data, self._revisions > 1, self._created(), self._sorted_moves())

    def _close_whole(self, piece: bytes, max_page: int) -> PageSlice:
        """The page, all of which is this piece of one revision."""
        if piece.rfind(_REVISION_END) + len(_REVISION_END) > max_page:
            return self.too_large(max_page, piece)
        return PageSlice(self.position, piece)

    def too_large(self, max_page: int, piece: bytes = b"") -> PageSlice:
        """The page without its text, for what would have to be held of it is over the limit."""
        problem = f"{self._large} over the limit of {max_page:,} bytes"
        return structs.replace(self.broken(problem, piece), is_over_limit=True)

    def broken(self, problem: str, piece: bytes = b"") -> PageSlice:
        """The page that cannot be read, with as much of its head as tells which one it is."""
        head = piece[: head_end(piece)] if self.head is None else self.head
        return PageSlice(self.position, head[:MAX_HEAD], problem=problem)

    def _created(self) -> str | None:
        return None if self._earliest_has_parent else _decoded(self._earliest_time) or None

    def _sorted_moves(self) -> tuple[Move, ...]:
        return tuple(sorted(self._moves, key=lambda move: (move.time, self._moves[move])))

    def _add(self, piece: bytes, start: int, end: int) -> None:
        """Take in the revision that stands in a piece."""
        top = _revision_top(piece, start, end)
        if not self._earliest_time or top.time < self._earliest_time:
            self._earliest_time, self._earliest_has_parent = top.time, has_parent(top.parent)
        if may_tell_of_move(top.comment):
            move = move_told(unescape(_decoded(top.comment)), _decoded(top.time))
            if move is not None:
                self._moves.setdefault(move, top.id)
        self._keep(top, piece, start, end)

    def _keep(self, top: _RevisionTop, piece: bytes, start: int, end: int) -> None:
        self._revisions += 1
        self._largest = max(self._largest, end - start)
        if not self._latest or top.time >= self._latest_time:
            self._latest, self._latest_time = piece[start:end], top.time


class OpenHistory(OpenPage):
    """A page that is still being read, of which the versions are wanted that were stable before some dates."""

    _large = "the text of one of its revisions, or a quarter of all that are needed, is"

    def __init__(self, position: int, windows: Windows, max_page: int) -> None:
        super().__init__(position)
        self._standing, self._windows = StandingRevisions(windows), windows
        self._most, self._max_held = max_page, _HELD * max_page
        self._has_text = self._has_stub = self._is_over_limit = False
        self._problem = ""

    def close(self, piece: bytes, max_page: int) -> PageSlice:
        self.fold(piece)
        head = self.head if self.head is not None else piece.removesuffix(PAGE_END)
        if self.head is None and _REVISION in piece:
            self._problem = "its XML is broken: a revision has no end"
        if self._has_stub and not self._has_text:
            self._problem = "the dump holds none of its texts. It takes pages-meta-history, the dump with all of them"
        if self._problem:
            return self.broken(self._problem, piece)
        try:
            revisions = self._standing.stable()
        except LostTextError:
            return self.too_large(max_page)
        if self._is_over_limit or any(len(head) + len(each.data) > max_page for each in revisions):
            return self.too_large(max_page)
        data = b"".join((head, self._stray_end, PAGE_END))
        moves = self._sorted_moves()
        return PageSlice(self.position, data, True, self._created(), moves, revisions=revisions)

    def _keep(self, top: _RevisionTop, piece: bytes, start: int, end: int) -> None:
        if not is_stamp(top.time):
            self._problem = f"one of its revisions has {_decoded(top.time)[:40]!r} for a time"
            return
        has_text = _has_text(piece, top.text, end)
        self._has_text |= has_text is True
        self._has_stub |= has_text is None
        if not self._is_over_limit:
            self._standing.add(top.time, top.id, piece[start:end] if has_text else None)
            if self._standing.held > self._most:
                self._let_go()

    def _let_go(self) -> None:
        self._standing.let_go()
        # Twice as much before the next time, so that it is not tried with every revision.
        self._most = min(max(self._most, 2 * self._standing.held), self._max_held)
        if self._standing.held > self._max_held:
            self._is_over_limit, self._standing = True, StandingRevisions(self._windows)


def _revision_top(piece: bytes, start: int, end: int) -> _RevisionTop:
    text = piece.find(_TEXT, start, end)
    top = piece[start : text if text >= 0 else end]
    usual = _REVISION_TOP.match(top)
    id, time = usual.groups() if usual else (field(top, b"id"), field(top, b"timestamp"))
    number = int(id) if id.isdigit() and len(id) < _MOST_DIGITS else 0
    return _RevisionTop(number, field(top, b"parentid"), time, field(top, b"comment"), text)


def _has_text(piece: bytes, text: int, end: int) -> bool | None:
    """Whether a revision has a text, be it empty; None for one whose text is elsewhere. Not if it was deleted."""
    close = piece.find(b">", text, end) if text >= 0 else -1
    if close < 0:
        return False
    attributes = piece[text + len(_TEXT) : close]
    if b"deleted" in attributes:
        return False
    if not attributes.endswith(b"/") and not piece.startswith(_TEXT_END, close + 1):
        return True
    if size := _BYTES.search(attributes):
        return True if size[1].strip(b"0") == b"" else None
    return None if b" id=" in attributes else True


def _decoded(data: bytes) -> str:
    return data.decode(errors="replace")


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
