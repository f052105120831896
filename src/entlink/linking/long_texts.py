"""Very long texts linked in pieces: what is known of all their names at once would not fit into memory."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from entlink.documents import Document, Link, Span
from entlink.text.passages import pieces

LONGEST = 100_000  # characters linked at once: a book is a few pieces


def is_long(document: Document) -> bool:
    """Whether a document is linked in pieces: not one whose mentions are given, nor a conversation."""
    return len(document.text) > LONGEST and document.mentions is None and not document.turns


def link_in_pieces(document: Document, link: Callable[[Document], Document]) -> Document:
    """The document with the links of its pieces."""
    links: list[Link] = []
    for start, end in pieces(document.text, LONGEST):
        piece = msgspec.structs.replace(document, text=document.text[start:end], gold=())
        links += [_moved(one, start) for one in link(piece).links]
    return msgspec.structs.replace(document, links=tuple(links))


def _moved(link: Link, by: int) -> Link:
    span = link.mention.span
    mention = msgspec.structs.replace(link.mention, span=Span(span.start + by, span.end + by))
    return msgspec.structs.replace(link, mention=mention)
