"""What the writers of exchange formats share: whether gold or links are written, and texts that are not there."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Literal

import msgspec

from entlink.documents import Document
from entlink.errors import InputError
from entlink.formats.gold_meta import check_gold
from entlink.formats.roles import links_as_gold
from entlink.text.spans import OFFSETS, Place, span_problem

Role = Literal["gold", "links"]
_IN_MEMORY = 1 << 24


def with_role(documents: Iterable[Document]) -> Iterator[tuple[Document, Role]]:
    """Each document with what of it is to be written: gold if any document has gold, or else links.

    Until one with gold comes, documents wait on disk, so that memory does not grow with them. Gold whose `meta`
    cannot be written is an error.
    """
    for document, role in _with_role(documents):
        if role == "gold":
            check_gold(document)
        yield document, role


def _with_role(documents: Iterable[Document]) -> Iterator[tuple[Document, Role]]:
    coming = iter(documents)
    with SpooledTemporaryFile(_IN_MEMORY) as spool:
        for document in coming:
            if document.gold:
                yield from ((waiting, "gold") for waiting in _taken_back(spool))
                yield document, "gold"
                yield from ((rest, "gold") for rest in coming)
                return
            pickle.dump(document, spool)
        yield from ((waiting, "links") for waiting in _taken_back(spool))


def as_gold(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents with what is to be written as their gold: without what is optional, links with their scores."""
    for document, role in with_role(documents):
        if role == "links":
            gold = links_as_gold(document).gold
        else:
            gold = tuple(gold for gold in document.gold if not gold.optional)
        yield msgspec.structs.replace(document, gold=gold)


def text_of(document: Document, format: str) -> str:
    """The document's text, for a format that cannot do without; all gold must lie in it."""
    if document.meta.get("lacks") == "text":
        raise InputError(
            f"document {document.id!r} has no text, and {format} needs one. "
            "It comes from a file that holds offsets only: use the texts they belong to."
        )
    for gold in document.gold:
        if not 0 <= gold.span.start < gold.span.end <= len(document.text):
            problem = f"{span_problem(gold.span.start, gold.span.end)}; the text has {len(document.text)} characters"
            raise Place().span_error(document.id, problem, OFFSETS)
    return document.text


def unwritable(document: Document, format: str, problem: str, hint: str) -> InputError:
    """The error of a document that the format cannot hold."""
    return InputError(f"document {document.id!r} cannot be written as {format}: {problem}. {hint}.")


def encoded(parts: Iterable[str], document: Document, format: str) -> bytes:
    """The parts of what is written of a document, as UTF-8."""
    try:
        return "".join(parts).encode()
    except UnicodeEncodeError as error:
        problem, hint = "it holds half of a surrogate pair", "Read its source with the right encoding"
        raise unwritable(document, format, problem, hint) from error


def _taken_back(spool: IO[bytes]) -> Iterator[Document]:
    spool.seek(0)
    while True:
        try:
            yield pickle.load(spool)
        except EOFError:
            return
