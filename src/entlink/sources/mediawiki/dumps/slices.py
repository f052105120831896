"""Cuts the bytes of a dump into pages without reading their XML, so that one bad page leaves the others whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from entlink.errors import SourceError
from entlink.sources.mediawiki.dumps.history import (
    MAX_HEAD,
    PAGE_END,
    OpenHistory,
    OpenPage,
    PageSlice,
    end_of_revisions,
    field,
    page_start,
)
from entlink.sources.mediawiki.dumps.standing import Windows
from entlink.sources.mediawiki.dumps.window import Window

_KEPT = len(b"</revision>") - 1  # the longest beginning of a tag that a chunk may end with
_BEGUN_PAGE = re.compile(rb"<(?:p(?:a(?:ge?)?)?)?\Z")
FETCH_AGAIN = "Fetch the file again; with --on-error skip all that could be read is kept"
NO_END = "it has no end, another page begins inside it"


def page_slices(window: Window, max_page: int, windows: Windows | None = None) -> Iterator[PageSlice | SourceError]:
    """The pages that begin in the window's own bytes; an error where data are damaged, then the pages after it.

    Of each page its latest revision, or those that were stable in the `windows` of time.
    """
    cutter = _Cutter(window, max_page, windows)
    while True:
        try:
            if not cutter.find_page():
                return
            item: PageSlice | SourceError = cutter.read_page()
        except SourceError as damage:
            window.drop()
            item = damage
        yield item


class _Cutter:
    """Finds the pages of a window one after the other."""

    def __init__(self, window: Window, max_page: int, windows: Windows | None) -> None:
        self._window, self._max_page, self._windows = window, max_page, windows
        self._end = self._searched = -1

    def find_page(self) -> bool:
        """Move to where the next page begins; False if none does in the window's own bytes."""
        window = self._window
        while (start := page_start(window.data, window.cursor)) < 0:
            window.drop(_KEPT)
            if not window.grow_own():
                return self._is_page_begun()
        window.cursor = start
        return window.is_own

    def _is_page_begun(self) -> bool:
        """Whether the window's own last bytes begin the tag that the bytes after them complete."""
        window = self._window
        if not window.is_own or not _BEGUN_PAGE.search(window.data, window.cursor) or not window.grow():
            return False
        start = page_start(window.data, window.cursor)
        window.cursor = start if start >= 0 else len(window.data)
        return window.is_own

    def read_page(self) -> PageSlice:
        """The page at the cursor, which moves behind it."""
        window, page = self._window, self._open_page()
        searched = 1  # behind the beginning of its own tag
        try:
            while True:
                end = self._end_of_page()
                inner = page_start(window.data, window.cursor + searched, end if end >= 0 else None)
                if inner >= 0:
                    return self._without_end(page, inner)
                if end >= 0:
                    return self._close(page, end + len(PAGE_END))
                self._fold(page, window.cursor + searched)
                if window.unread > self._max_page:
                    return self._pass_over(page)
                searched = max(0 if page.head else 1, window.unread - _KEPT)
                self._grow()
        except SourceError as damage:
            raise _with_page(damage, page, window) from damage

    def _open_page(self) -> OpenPage:
        position = self._window.position
        return OpenPage(position) if self._windows is None else OpenHistory(position, self._windows, self._max_page)

    def _end_of_page(self) -> int:
        """Where the next page ends, -1 if it does not yet. No byte is searched twice, whatever stands in the dump."""
        window = self._window
        if self._end < window.position:
            start = max(window.position, self._searched) - window.offset
            found = window.data.find(PAGE_END, start)
            if found < 0:
                self._searched = window.offset + max(start, len(window.data) - len(PAGE_END) + 1)
                return -1
            self._end = window.offset + found
        return self._end - window.offset

    def _without_end(self, page: OpenPage, inner: int) -> PageSlice:
        """The page in which another one begins: that one is next."""
        beginning = self._window.take(min(inner, self._window.cursor + MAX_HEAD))
        self._window.cursor = inner
        return page.broken(NO_END, beginning)

    def _fold(self, page: OpenPage, searched: int) -> None:
        """Take what is there of the page's revisions out of the window."""
        end = end_of_revisions(self._window.data, searched)
        if end >= 0:
            page.fold(self._window.take(end))
            self._window.cursor = end

    def _close(self, page: OpenPage, end: int) -> PageSlice:
        piece = self._window.take(end)
        self._window.cursor = end
        return page.close(piece, self._max_page)

    def _grow(self) -> None:
        window = self._window
        if not window.grow():
            problem = "the data end in the middle of a page"
            raise SourceError(
                problem, window.place.file, window.place.at(window.position + window.unread), FETCH_AGAIN
            )

    def _pass_over(self, page: OpenPage) -> PageSlice:
        """Read on behind a page that is too large to be held."""
        window = self._window
        too_large = page.too_large(self._max_page, window.take(window.cursor + MAX_HEAD))
        window.cursor += 1
        while (end := window.data.find(PAGE_END, window.cursor)) < 0 and page_start(window.data, window.cursor) < 0:
            window.drop(_KEPT)
            self._grow()
        inner = page_start(window.data, window.cursor, end if end >= 0 else None)
        window.cursor = inner if inner >= 0 else end + len(PAGE_END)
        return too_large


def title_in(head: bytes) -> str:
    """The title in the beginning of a page, however broken the page is; empty if there is none."""
    return unescape(field(head, b"title").decode(errors="replace"))


def _with_page(damage: SourceError, page: OpenPage, window: Window) -> SourceError:
    """The error of damaged data, with the page that is lost by it."""
    title = title_in(page.head if page.head is not None else window.take(window.cursor + MAX_HEAD))
    lost = f"the page {title!r} is lost" if title else "a page is lost"
    return SourceError(f"{damage.problem}; {lost} with it", damage.file, damage.position, damage.hint)
