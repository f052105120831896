"""The gold of an utterance: what its author linked to a wiki, where it shows in the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Literal, NamedTuple

from entlink.datasets.conversations.domains import Domain
from entlink.datasets.conversations.options import ConversationOptions
from entlink.datasets.wiki_titles import Entry, WikiTitles
from entlink.datasets.wiki_urls import WikiPage, WikiUrls, find_urls
from entlink.documents import Span
from entlink.formats.markup.aligned import Aligned
from entlink.formats.markup.markdown import read_markdown
from entlink.formats.markup.markdown_inline import FoundLink

By = Literal["link", "url", "augmented"]
# Reddit's rendering ends an address at the first bracket that is not escaped, CommonMark's at the one that closes.
_TARGET = re.compile(r"\]\(((?:[^\s()\\]|\\.|\()++)")
_OPEN = re.compile(r"(?<!\\)\(")
_QUALIFIER = re.compile(r"\s*\([^()]*\)\Z")
_NOT_A_WORD = re.compile(r"[\W_]+")
_ANNOTATED, _CLOSED = 1, 2


class Annotation(NamedTuple):
    """A mention with its entity; `by` says whether its author linked it, set an address beside it, or neither."""

    span: Span
    entity: Entry
    by: By


class Marked(NamedTuple):
    """An utterance as readers see it: its gold, links that are none (`refused`), and addresses in sight."""

    text: str
    annotations: tuple[Annotation, ...]
    refused: tuple[Span, ...]
    urls: tuple[Span, ...]


class Marker:
    """Marks one utterance after the other, and counts what becomes of links."""

    def __init__(self, titles: WikiTitles, options: ConversationOptions) -> None:
        self.counts: Counter[str] = Counter()
        self.addresses = WikiUrls(options.patterns)
        self._titles, self._options = titles, options
        self._nonsense = {_words(mention) for mention in options.nonsense}

    def mark(self, raw: str, domain: Domain | None) -> Marked:
        """The text that a raw one shows, with its links; those in code are not shown, and do not count."""
        text = as_markdown(raw)
        links: list[FoundLink] = []
        aligned = read_markdown(text, links)
        urls = _shown_urls(text, aligned)
        found = _Found(aligned.text)
        for link in links:
            self._take_link(link, aligned, domain, found)
        if self._options.bare_urls == "name":
            for span in urls:
                self._take_url(text, aligned, span, domain, found)
        spans = tuple(aligned.visible(span) for span in urls)
        annotations = tuple(sorted(found.annotations, key=lambda one: one.span.start))
        return Marked(aligned.text, annotations, tuple(found.refused), spans)

    def _take_link(self, link: FoundLink, aligned: Aligned, domain: Domain | None, found: _Found) -> None:
        page = self.addresses.page(link.target)
        span = _trimmed(aligned.text, aligned.visible(Span(link.start, link.end)))
        label = aligned.text[span.start : span.end]
        if page is None:
            if label and not _is_url(label):
                found.refuse(span)  # its author says that it means something else
            return
        if not label or _is_url(label):
            # An address as a label is met again among those in sight.
            if self._options.bare_urls == "name" and self.addresses.page(label) is None:
                self._name(page, span.start, domain, found)
            return
        self.counts["labelled"] += 1
        if _words(label) in self._nonsense or not _words(label):
            self.counts["nonsense"] += 1
            found.refuse(span)
        elif (entity := self._entity(page, domain)) is None:
            found.refuse(span)
        elif not found.add(Annotation(span, entity, "link")):
            self.counts["overlapping"] += 1

    def _take_url(self, text: str, aligned: Aligned, span: Span, domain: Domain | None, found: _Found) -> None:
        page = self.addresses.page(text[span.start : span.end])
        if page is not None:
            self._name(page, aligned.visible(span).start, domain, found)

    def _name(self, page: WikiPage, at: int, domain: Domain | None, found: _Found) -> None:
        """Mark the name of a page whose address stands at `at`: nearest before it, else nearest after it."""
        self.counts["bare"] += 1
        entity = self._entity(page, domain)
        if entity is None:
            return
        chosen = found.nearest(_names(page.title, entity.title), at)
        if chosen is None or not found.add(Annotation(chosen, entity, "url")):
            self.counts["nameless"] += 1

    def _entity(self, page: WikiPage, domain: Domain | None) -> Entry | None:
        if domain is not None and not domain.has(page.wiki):
            self.counts["other wiki"] += 1
            return None
        if page.language is not None and page.language not in self._options.languages:
            self.counts["other language"] += 1
            return None
        entity = self._titles.find(page.title, None if domain is None else domain.type)
        if entity is None:
            self.counts["unresolved"] += 1
        return entity


class _Found:
    """Annotations of one text, none over another. A byte a character says what is taken, so that asking is quick."""

    def __init__(self, text: str) -> None:
        self.annotations: list[Annotation] = []
        self.refused: list[Span] = []
        self._text = text
        self._taken = bytearray(len(text))
        self._places: dict[str, list[Span]] = {}
        for start, end in find_urls(text):
            self._take(Span(start, end), _CLOSED)

    def add(self, new: Annotation) -> bool:
        if self._taken.find(_ANNOTATED, new.span.start, new.span.end) >= 0:
            return False
        self._take(new.span, _ANNOTATED)
        self.annotations.append(new)
        return True

    def refuse(self, span: Span) -> None:
        """A link that is no gold: no name is looked for in it."""
        self._take(span, _CLOSED)
        self.refused.append(span)

    def nearest(self, names: list[str], at: int) -> Span | None:
        """Where one of the names stands by itself: last before `at`, else first after it; of two the longer."""
        before, after = [], []
        for name in names:
            places = self._places_of(name)
            middle = bisect_right(places, at, key=lambda place: place.end)
            before += self._first_free(reversed(places[:middle]))
            after += self._first_free(places[middle:])
        if before:
            return max(before, key=lambda place: (place.end, -place.start))
        return min(after, key=lambda place: (place.start, -place.end), default=None)

    def _places_of(self, name: str) -> list[Span]:
        if name not in self._places:
            matches = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", self._text, re.IGNORECASE)
            self._places[name] = [Span(*match.span()) for match in matches]
        return self._places[name]

    def _first_free(self, places: Iterable[Span]) -> list[Span]:
        free = (place for place in places if not any(self._taken[place.start : place.end]))
        return list(islice(free, 1))

    def _take(self, span: Span, mark: int) -> None:
        self._taken[span.start : span.end] = bytes([mark]) * (span.end - span.start)


def as_markdown(raw: str) -> str:
    """What the user typed: Reddit gives it out with three characters escaped, and reads brackets in its own way."""
    text = raw.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return _TARGET.sub(_balanced, text)


def _balanced(match: re.Match[str]) -> str:
    """A target in which brackets were escaped when they close: then they are to be when they open, too."""
    return "](" + _OPEN.sub(r"\\(", match[1]) if "\\)" in match[1] else match[0]


def _shown_urls(text: str, aligned: Aligned) -> list[Span]:
    """Addresses that readers see: not those in code, nor the targets of links."""
    spans = (Span(*place) for place in find_urls(text))
    return [span for span in spans if (shown := aligned.visible(span)).start < shown.end]


def _names(*titles: str) -> list[str]:
    """Titles, and what they are without a closing bracket that tells them from others; the longest first."""
    forms = {form for title in titles for form in (title, _QUALIFIER.sub("", title)) if form}
    return sorted(forms, key=lambda form: (-len(form), form))


def _is_url(label: str) -> bool:
    return any(start == 0 and end >= len(label) - 1 for start, end in find_urls(label))


def _words(label: str) -> str:
    return " ".join(_NOT_A_WORD.sub(" ", label.casefold().replace("'", "").replace("’", "")).split())


def _trimmed(text: str, span: Span) -> Span:
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
