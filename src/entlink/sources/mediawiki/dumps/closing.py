"""Whether an export ends as it should: one that is cut off between two pages looks whole otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from entlink.errors import SourceError
from entlink.sources.mediawiki.dumps.slices import FETCH_AGAIN
from entlink.sources.mediawiki.dumps.window import Chunks

TAIL = 1 << 12
_ROOT_END, _PAGE, _PAGE_END = b"</mediawiki", b"<page", b"</page>"


class Tail:
    """The last bytes of data that pass by."""

    def __init__(self) -> None:
        self.data = b""
        self.is_whole = True

    def watch(self, chunks: Chunks) -> Iterator[bytes | SourceError]:
        for chunk in chunks:
            if isinstance(chunk, SourceError):
                self.is_whole = False
            else:
                self.data = chunk[-TAIL:] if len(chunk) >= TAIL else (self.data + chunk)[-TAIL:]
            yield chunk


def missing_end(tail: bytes, file: str, position: str) -> SourceError | None:
    """The error of an export whose last bytes these are, if they do not end it.

    None also where a page is left open, since whoever reads that page tells of it.
    """
    is_page_open = tail.rfind(_PAGE_END) < tail.rfind(_PAGE) or (_PAGE_END not in tail and len(tail) >= TAIL)
    if _ROOT_END in tail or is_page_open:
        return None
    return SourceError("the file ends without </mediawiki>: it is cut off", file, position, FETCH_AGAIN)
