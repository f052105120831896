"""Plain, Markdown and HTML files as documents, and the way from what a reader sees back to the original."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.errors import InputError
from entlink.formats.markup.reading import Aligned, Markup, guess_markup, read_markup
from entlink.io.inputs import Input, input_name, input_text

Spanned = TypeVar("Spanned", Mention, GoldLink)


def read_text(source: Input, markup: Markup | None = None) -> Document:
    """A file as one document: its text with the markup in it, its path as id, its markup in `meta`.

    Link `visible(document)`, then `restore` the result. Without `markup`, the file's name tells it.
    """
    name = input_name(source)
    markup = markup or guess_markup(name)
    meta = {} if markup == "plain" else {"markup": markup}
    return Document(name or "text", input_text(source), meta=meta)


def visible(document: Document, markup: Markup | None = None) -> tuple[Document, Aligned]:
    """The document as a reader sees it, and how that stands in the original; `meta` tells the markup if
    the argument does not."""
    markup = markup or document.meta.get("markup", "plain")
    aligned = read_markup(document.text, markup)
    if markup == "plain":
        return document, aligned
    if document.turns or document.mentions or document.gold or document.links:
        raise InputError(
            f"document {document.id!r} has {markup} markup and also turns, mentions, gold or links, whose "
            "offsets would not fit what a reader sees. Take the markup out first."
        )
    return msgspec.structs.replace(document, text=aligned.text), aligned


def restore(document: Document, original: str, aligned: Aligned) -> Document:
    """The linked document with `original` as its text: spans are of the original, `Mention.text` stays
    what the reader sees."""
    if document.turns or document.text != aligned.text:
        raise InputError(
            f"document {document.id!r} is not the one that was aligned. Pass the linked form of the "
            "document that visible() gave."
        )
    place = aligned.original
    mentions = document.mentions
    return msgspec.structs.replace(
        document,
        text=original,
        mentions=None if mentions is None else _moved(mentions, place),
        gold=_moved(document.gold, place),
        links=tuple(_moved_link(link, place) for link in document.links),
    )


def _moved(records: Iterable[Spanned], place: Callable[[Span], Span]) -> tuple[Spanned, ...]:
    return tuple(msgspec.structs.replace(record, span=place(record.span)) for record in records)


def _moved_link(link: Link, place: Callable[[Span], Span]) -> Link:
    mention = msgspec.structs.replace(link.mention, span=place(link.mention.span))
    return msgspec.structs.replace(link, mention=mention)
