"""Pages cut out of a dump made into raw pages, or into an error where one cannot be read."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

from entlink.errors import FieldError, SourceError
from entlink.io.ledger import Ledger
from entlink.sources.mediawiki.dumps.history import PageSlice, has_parent, head_end
from entlink.sources.mediawiki.dumps.moves import move_told
from entlink.sources.mediawiki.dumps.page_xml import parsed_fields
from entlink.sources.mediawiki.dumps.raw_page import WIKITEXT, Move, PageFields, RawPage
from entlink.sources.mediawiki.dumps.redirects import page_of, redirect_in
from entlink.sources.mediawiki.dumps.slices import title_in
from entlink.sources.mediawiki.dumps.usual_page import usual_fields
from entlink.sources.mediawiki.dumps.window import Place
from entlink.sources.wikitext.site import Site

_NAMESPACE = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
NOT_THERE = "not there at any of the snapshots"
_SKIP = "Mend the page, or leave it out with --on-error skip"
_LEFT_OUT = "It was left out"
_MOST_DIGITS = 19  # so that it fits in 64 bits
_TAKE_ARTICLES = "Take the dump with texts, such as pages-articles"


class TooLargeError(SourceError):
    """A page that is over its limit: no damage, and nothing to stop for."""


class PageReader:
    """Reads pages of one wiki. `wanted` are the namespaces to read, None for all of them; the ledger counts others.

    `has_parents` says that the dump names the parent of each revision, so that one without is the first.
    """

    def __init__(
        self, site: Site, wanted: Container[int] | None, has_parents: bool, place: Place, ledger: Ledger | None = None
    ) -> None:
        self._site, self._wanted, self._has_parents, self._place = site, wanted, has_parents, place
        self._ledger = ledger if ledger is not None else Ledger()

    def read(self, slices: Iterable[PageSlice | SourceError]) -> Iterator[RawPage | SourceError]:
        """The wanted pages, each bad one as the error that says what is wrong with it."""
        for item in slices:
            if isinstance(item, SourceError):
                yield item
            elif self._is_wanted(item):
                if item.revisions == () and not item.problem:
                    self._ledger.leave_out(NOT_THERE)
                yield from map(self._read, item.versions())

    def _read(self, item: PageSlice) -> RawPage | SourceError:
        try:
            return self._page(item)
        except FieldError as error:
            kind = TooLargeError if item.is_over_limit else SourceError
            return kind(error.problem, self._place.file, self._position(item), error.hint)

    def _position(self, item: PageSlice) -> str:
        title, where = title_in(item.data), self._place.at(item.position)
        return f"page {title!r} at {where}" if title else f"the page at {where}"

    def _is_wanted(self, item: PageSlice) -> bool:
        if self._wanted is None or (number := self._namespace(item.data)) in self._wanted:
            return True
        if item.revisions and any(self._site.namespace_of(move.source) in self._wanted for move in item.moves):
            return True  # it has been in one of them
        self._ledger.leave_out(f"of the namespace {self._site.namespaces.get(number) or number}")
        return False

    def _namespace(self, data: bytes) -> int:
        """From the head of the page only, so that those not wanted cost next to nothing."""
        head = data[: head_end(data)]
        found = _NAMESPACE.search(head)
        return int(found[1]) if found and len(found[1]) < _MOST_DIGITS else self._site.namespace_of(title_in(head))

    def _page(self, item: PageSlice) -> RawPage:
        if item.problem:
            raise FieldError(item.problem, _LEFT_OUT if item.is_over_limit else _SKIP)
        fields = usual_fields(item.data) or parsed_fields(item.data)
        text = _text(fields)
        return RawPage(
            title=_title(fields),
            namespace=self._namespace(item.data),
            id=_id(fields),
            text=text,
            # Exports before 0.6 only mark that there is a redirect, 0.3 not even that: so the text tells.
            redirect=page_of(fields.redirect) if fields.redirect else redirect_in(text),
            model=fields.model.strip() or WIKITEXT,
            created=item.created if item.has_history else self._created(fields),
            moves=item.moves or _moves(fields),
            position=item.position,
            revision=fields.revision,
            revised=fields.time.strip(),
            snapshots=item.snapshots,
        )

    def _created(self, fields: PageFields) -> str | None:
        """The time of the only revision, if it is the page's first."""
        is_first = self._has_parents and fields.has_contributor and not has_parent(fields.parent)
        return fields.time.strip() or None if is_first else None


def _title(fields: PageFields) -> str:
    title = fields.title.strip()
    if not title:
        raise FieldError("it has no title", _SKIP)
    if bad := _CONTROL.search(title):
        raise FieldError(f"its title holds the control character U+{ord(bad[0]):04X}", _SKIP)
    return title


def _id(fields: PageFields) -> int:
    if not fields.id:
        raise FieldError("it has no id", _SKIP)
    if not (fields.id.isascii() and fields.id.isdecimal() and len(fields.id) < _MOST_DIGITS):
        raise FieldError(f"its id {fields.id[:40]!r} is no number", _SKIP)
    return int(fields.id)


def _text(fields: PageFields) -> str:
    if fields.text is None:
        raise FieldError("it has no revision with a text", _TAKE_ARTICLES)
    if fields.is_stub:
        raise FieldError("the dump holds no texts, only what is known of them", _TAKE_ARTICLES)
    return fields.text


def _moves(fields: PageFields) -> tuple[Move, ...]:
    move = move_told(fields.comment, fields.time.strip())
    return (move,) if move else ()
