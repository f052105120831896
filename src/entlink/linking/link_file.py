"""A file of documents linked into a file of documents: what `entlink link` does."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from entlink.documents import Document, Span
from entlink.errors import InputError, SourceError
from entlink.formats.documents.inputs import Holds, OpenDocuments, open_documents
from entlink.formats.documents.lines import encode_document
from entlink.formats.documents.texts import read_text, restore, visible
from entlink.formats.markup.aligned import Aligned
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.io.outputs import Output, open_output
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.dated import DatedLinker
from entlink.linking.linker import Linker, load

if TYPE_CHECKING:
    from entlink.linking.explain import Explanation, SpanExplanation

Result = TypeVar("Result")


class LinkedFile(NamedTuple):
    """How many documents a file had, and how many links to entities and to NIL they got."""

    documents: int
    links: int
    nils: int


def link_file(
    linker: Linker | DatedLinker | KnowledgeBase | str | Path,
    source: Input | OpenDocuments,
    output: Output | None = None,
    *,
    input: Holds = "auto",
    candidates: bool = False,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
    on_document: Callable[[Document], object] | None = None,
    progress: Progress = ignore_progress,
) -> LinkedFile:
    """Link a file and write its documents as JSON lines; spans are of the original, with its markup if it has any.

    The linker may be given by its knowledge base, or the path of that. The source is a path or a binary stream: a
    text, Markdown or HTML, or documents and conversations as JSON lines; `input` says which, where the name and a
    first { do not. The output is a path, at which the file appears when it is complete, compressed if its name says
    so; or a binary stream. `candidates` writes those of each link, too. `on_document` gets each linked document.

    `on_error="skip"` leaves out documents that cannot be read, and `on_problem` is told of each.
    """
    documents = links = nils = 0
    with ExitStack() as stack:
        if not isinstance(linker, Linker | DatedLinker):
            linker = _loaded(linker)
            stack.callback(linker.kb.close)
        stack.enter_context(_seldom_collecting_garbage())
        if not isinstance(source, OpenDocuments):
            holds: Holds = "gold" if linker.spans_of_gold and input == "auto" else input
            source = stack.enter_context(open_documents(source, holds))
        write = stack.enter_context(open_output(output)) if output is not None else None
        for document in linked_documents(linker, source, on_error=on_error, on_problem=on_problem):
            if write:
                write(encode_document(document, candidates=candidates) + b"\n")
            if on_document:
                on_document(document)
            nil = sum(link.is_nil for link in document.links)
            documents, links, nils = documents + 1, links + len(document.links) - nil, nils + nil
            if source.size:
                progress("linking", source.position(), source.size)
    return LinkedFile(documents, links, nils)


def linked_documents(
    linker: Linker | DatedLinker,
    source: OpenDocuments,
    *,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
) -> Iterator[Document]:
    """The documents of an open input, linked one after the other."""
    if source.markup is not None:
        linker = _of_one_date(linker)
        document = read_text(source.file, source.markup)
        seen, aligned = visible(document)
        yield restore(linker.link(seen), document.text, aligned)
        return
    documents = source.documents(on_error, on_problem)
    if isinstance(linker, DatedLinker):
        linked = linker.link_all(documents, on_error=on_error, on_problem=on_problem)
    else:
        linked = linker.link_all(documents)
    yield from _hinting_at_input(linked, source)


def explained_documents(
    linker: Linker | DatedLinker,
    source: OpenDocuments,
    *,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
) -> Iterator[Explanation]:
    """The same, with why each name was or was not linked."""
    if source.markup is not None:
        linker = _of_one_date(linker)
        document = read_text(source.file, source.markup)
        seen, aligned = visible(document)
        yield _restored(linker.explain(seen), document.text, aligned)
        return
    documents = source.documents(on_error, on_problem)
    if isinstance(linker, DatedLinker):
        explained = linker.explain_all(documents, on_error=on_error, on_problem=on_problem)
    else:
        explained = map(linker.explain, documents)
    yield from _hinting_at_input(explained, source)


def _of_one_date(linker: Linker | DatedLinker) -> Linker:
    if isinstance(linker, DatedLinker):
        raise InputError("a text has no date of its own: choose a date to link it as of, or give a document with one")
    return linker


def _loaded(kb: KnowledgeBase | str | Path) -> Linker:
    return load(kb.folder, as_of=kb.date) if isinstance(kb, KnowledgeBase) else load(kb)


@contextmanager
def _seldom_collecting_garbage() -> Iterator[None]:
    """Linking makes many records and no cycles: looking for those at the usual pace takes a sixth of the time."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _hinting_at_input(results: Iterator[Result], source: OpenDocuments) -> Iterator[Result]:
    """A text may begin with { too: an error in the first line says how to have it read as one."""
    try:
        yield from results
    except SourceError as error:
        if not source.is_guessed or error.position != "line 1":
            raise
        hint = f"{error.hint}. " if error.hint else ""
        hint += "If this is a text and not JSON lines: --input text"
        raise SourceError(error.problem, error.file, error.position, hint) from error


def _restored(explanation: Explanation, original: str, aligned: Aligned) -> Explanation:
    """The explanation of what a reader sees, with spans of the original with its markup."""
    document = restore(explanation.document, original, aligned)
    spans = tuple(_moved(one, aligned.original) for one in explanation.spans)
    return msgspec.structs.replace(explanation, document=document, spans=spans)


def _moved(one: SpanExplanation, place: Callable[[Span], Span]) -> SpanExplanation:
    lost_to = None if one.lost_to is None else place(one.lost_to)
    return msgspec.structs.replace(one, span=place(one.span), lost_to=lost_to)
