"""Documents of several dates in one batch: each is linked by a linker of the knowledge base as of its own date."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.documents import Document
from entlink.errors import InputError
from entlink.io.inputs import OnProblem, failing
from entlink.io.ledger import OnError
from entlink.kb.snapshots.folders import date_of, folder_as_of
from entlink.text.dates import in_utc

if TYPE_CHECKING:
    from entlink.linking.explain import Explanation
    from entlink.linking.linker import Linker

_TOGETHER = 256  # documents that are sorted by date
_OPEN = 16  # linkers at a time
_DATES = 4_096  # whose snapshots are remembered


class DatedLinker:
    """Links each document as of its own date: `entlink.load(kb, as_of="document")` makes one.

    `make` gives a linker as of a date. Documents that mean one snapshot are linked together, and come out in the
    order in which they came in.
    """

    def __init__(self, kb: str | Path, make: Callable[[str], Linker], *, spans_of_gold: bool = False) -> None:
        self.folder, self._make, self.spans_of_gold = Path(kb), make, spans_of_gold
        self._linkers: OrderedDict[str, Linker] = OrderedDict()
        self._asked = lru_cache(_DATES)(self._date_to_ask)

    def close(self) -> None:
        """Let go of every knowledge base that is open."""
        for linker in self._linkers.values():
            linker.kb.close()
        self._linkers.clear()

    def __enter__(self) -> DatedLinker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def link(self, document: Document) -> Document:
        """Link one document."""
        return self.linker_of(document).link(document)

    def link_all(
        self, documents: Iterable[Document], *, on_error: OnError = "stop", on_problem: OnProblem | None = None
    ) -> Iterator[Document]:
        """Link a stream of documents, so many at a time.

        One without a date, or with one before the first snapshot, is an error; with `on_error="skip"` it is left out,
        and `on_problem` is told.
        """
        stream = iter(documents)
        while batch := list(islice(stream, _TOGETHER)):
            yield from self._link_batch(batch, on_error, on_problem)

    def explain_all(
        self, documents: Iterable[Document], *, on_error: OnError = "stop", on_problem: OnProblem | None = None
    ) -> Iterator[Explanation]:
        """The same, with why each name was or was not linked."""
        for document in documents:
            for date, _ in self._dated([document], on_error, on_problem):
                yield self._linker(date).explain(document)

    def linker_of(self, document: Document) -> Linker:
        """The linker of a document's date; an InputError where it has none, or there is no snapshot before it."""
        return self._linker(self._date_of(document))

    def _link_batch(
        self, documents: Sequence[Document], on_error: OnError, on_problem: OnProblem | None
    ) -> Iterator[Document]:
        groups: dict[str, list[int]] = {}
        for date, number in self._dated(documents, on_error, on_problem):
            groups.setdefault(date, []).append(number)
        linked: dict[int, Document] = {}
        for date in sorted(groups, key=lambda date: date not in self._linkers):  # those that are open first
            found = self._linker(date).link_all(documents[number] for number in groups[date])
            linked.update(zip(groups[date], found, strict=True))
        return (linked[number] for number in sorted(linked))

    def _dated(
        self, documents: Sequence[Document], on_error: OnError, on_problem: OnProblem | None
    ) -> Iterator[tuple[str, int]]:
        """The date to ask for and the place of each document that can be linked."""
        fail = failing(on_error, on_problem)
        for number, document in enumerate(documents):
            try:
                yield self._date_of(document), number
            except InputError as problem:
                fail(problem)

    def _date_of(self, document: Document) -> str:
        if document.date is None:
            raise InputError(
                f"the document {document.id!r} has no date, and each is to be linked as of its own. Give it a "
                "`date`, or choose one date for all"
            )
        try:
            return self._asked(document.date)
        except InputError as problem:
            raise InputError(f"the document {document.id!r}: {problem}") from problem

    def _date_to_ask(self, date: str) -> str:
        """The date of the snapshot that a date means, so that all that mean it go together; else the date itself."""
        folder, asked = folder_as_of(self.folder, date)
        return date_of(folder) if asked is None else in_utc(asked)

    def _linker(self, date: str) -> Linker:
        linker = self._linkers.pop(date, None)
        if linker is None:
            if len(self._linkers) >= _OPEN:
                self._linkers.popitem(last=False)[1].kb.close()
            linker = self._make(date)
        self._linkers[date] = linker
        return linker
