"""XML exports of a MediaWiki: articles as pages with links, redirects and disambiguation pages as names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec

from entlink.documents import Entity
from entlink.errors import FieldError, InputError, SourceError
from entlink.io.files import compression_of
from entlink.io.ledger import Ledger
from entlink.sources.mediawiki.disambiguation import is_disambiguation, meanings
from entlink.sources.mediawiki.dumps import Part as RawPart
from entlink.sources.mediawiki.dumps import RawPage, TooLargeError, parts, read_site
from entlink.sources.mediawiki.dumps.moves import title_as_of
from entlink.sources.mediawiki.dumps.parts import BZIP2_PART, PLAIN_PART
from entlink.sources.mediawiki.history import DatedItem, HistoryOptions
from entlink.sources.mediawiki.limits import MemoryLimit, OverLimitError, time_limit
from entlink.sources.mediawiki.listed_pages import ListedPages, listed_pages
from entlink.sources.mediawiki.options import WikiOptions
from entlink.sources.page import Item, Meanings, Page, Redirect
from entlink.sources.reading import Reading
from entlink.sources.wikitext import Wikitext, normalise_title, parse
from entlink.sources.wikitext.link_scan import scan_links
from entlink.sources.wikitext.site import ARTICLE, Site
from entlink.sources.wikitext.templates.expansion import Expansion, load_rules
from entlink.text.dates import moment
from entlink.text.field_limits import check_texts

MOST_IMAGES = 10
_WIKITEXT = "wikitext"
_LEAST_READ = 500  # characters at a time in search of a page's first text, but for its first paragraph
_MOST_PARTS, _LARGEST = 500, 8  # how many parts before they get larger, and how much larger at most
_Read = TypeVar("_Read")


def wiki_name(path: Path) -> str:
    """The name of the wiki's database, such as enwiki; empty where the dump does not tell, or cannot."""
    try:
        return _site(path).name
    except SourceError:
        return ""


def _site(path: Path) -> Site:
    status = path.stat()
    return _site_of(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _site_of(path: Path, size: int, changed: int) -> Site:
    """Asked for several times a build; a file that was mended since is another."""
    return read_site(path)


def split(reading: Reading) -> Iterator[DumpPart]:
    """The parts of a dump, in order."""
    load_rules(reading.wiki.rules)  # a bad rule is told before anything is read
    for path in reading.files:
        try:
            site = _site(path)
        except SourceError as error:
            reading.fail(error)  # where it is no dump at all, its parts will say so once more
            site = Site()
        namespaces = namespace_numbers(reading.wiki.namespaces, site)
        windows = reading.history.windows() if reading.history is not None else None
        for part in parts(path, _part_size(path), windows=windows):
            yield DumpPart(part, str(path), site, namespaces, reading.wiki, reading.language, reading.history)


def _part_size(path: Path) -> int | None:
    """Larger parts of a large file: a few hundred folders are easier to handle than ten thousand."""
    size, usual = path.stat().st_size, BZIP2_PART if compression_of(path) else PLAIN_PART
    if compression_of(path) in (None, "bzip2") and size > _MOST_PARTS * usual:
        return min(size // _MOST_PARTS, _LARGEST * usual)
    return None


def namespace_numbers(names: tuple[str, ...], site: Site) -> frozenset[int]:
    """The numbers of namespaces given by number or name; of articles where none is given."""
    return frozenset(_namespace_number(name, site) for name in names) or frozenset({ARTICLE})


def _namespace_number(name: str, site: Site) -> int:
    if name.isascii() and name.removeprefix("-").isdecimal():
        return int(name)
    number = site.numbers.get(name.replace("_", " ").strip().lower())
    if number is None:
        known = ", ".join(sorted(filter(None, site.namespaces.values())))
        raise InputError(
            f"this wiki has no namespace {name!r}. "
            + (f"Its namespaces are {known}" if known else "It does not tell how it calls them: give its number")
        )
    return number


class DumpPart(msgspec.Struct, frozen=True, dict=True):
    """A part of a dump, with all that is needed to read it elsewhere."""

    raw: RawPart
    path: str
    site: Site
    namespaces: frozenset[int]
    options: WikiOptions
    language: str | None
    history: HistoryOptions | None = None

    @property
    def end(self) -> int:
        return self.raw.end

    @cached_property
    def _expand(self) -> Expansion:
        return load_rules(self.options.rules, self.site.language)

    def items(self, ledger: Ledger) -> Iterator[Item]:
        """Pages, redirects and disambiguation pages; a page over its limits is left out and listed."""
        return self._read_all(self._read, ledger)

    def dated_items(self, ledger: Ledger) -> Iterator[DatedItem]:
        """The same of each version that is stable at a snapshot, if this is the part of a history."""
        return self._read_all(self._read_dated, ledger)

    def _read_all(self, read: Callable[[RawPage, Ledger], list[_Read]], ledger: Ledger) -> Iterator[_Read]:
        memory = MemoryLimit(self.options.page_megabytes)
        for raw in self.raw.pages(self.namespaces, self.site, ledger):
            if isinstance(raw, TooLargeError):
                ledger.skip(raw)
            elif isinstance(raw, SourceError):
                ledger.fail(raw)
            else:
                yield from self._within_limits(read, raw, memory, ledger)

    def _within_limits(
        self, read: Callable[[RawPage, Ledger], list[_Read]], raw: RawPage, memory: MemoryLimit, ledger: Ledger
    ) -> list[_Read]:
        try:
            with memory, time_limit(self.options.page_seconds):
                return read(raw, ledger)
        except (OverLimitError, MemoryError) as problem:
            ledger.skip(self._over_limit(raw, problem))
        except FieldError as error:
            ledger.fail(error.at(self.path, f"page {raw.title[:80]!r}"))
        return []

    def _over_limit(self, raw: RawPage, problem: Exception) -> SourceError:
        reason = str(problem) or f"it took more than {self.options.page_megabytes} MB"
        hint = "It was left out; --page-seconds and --page-megabytes set the limits"
        return SourceError(f"{reason} to read the page", self.path, f"page {raw.title[:80]!r}", hint)

    def _read(self, raw: RawPage, ledger: Ledger) -> list[Item]:
        if raw.redirect is not None:
            target = self._target(raw.redirect, ledger)
            return [Redirect(raw.title, target)] if target else []
        if not self._is_wikitext(raw, ledger):
            return []
        check_texts({"title": raw.title})
        links = scan_links(raw.text, self.site) if self.options.links_only else None
        page = self._parse(raw.text) if links is None else self._beginning(raw.text)
        if is_disambiguation(raw.title, page) or raw.id in self._listed:
            return [meanings(raw.title, page if links is None else self._parse(raw.text))]
        return list(self._versions(raw, page, links))

    def _read_dated(self, raw: RawPage, ledger: Ledger) -> list[DatedItem]:
        """What one revision says, once for each title that the page had while it was the stable one."""
        if not (titles := self._titles(raw)):
            return []
        if raw.redirect is not None:
            target = self._target(raw.redirect, ledger)
            return [DatedItem(at, Redirect(title, target)) for title, at in titles.items()] if target else []
        if not self._is_wikitext(raw, ledger):
            return []
        check_texts({"title": tuple(titles)})
        page = self._parse(raw.text)
        return [DatedItem(at, self._dated_item(raw, title, page)) for title, at in titles.items()]

    def _titles(self, raw: RawPage) -> dict[str, list[int]]:
        """The snapshots of a revision by the title that the page had at them, if that was in a wanted namespace."""
        assert self.history is not None
        titles: dict[str, list[int]] = {}
        for snapshot in raw.snapshots:
            title = title_as_of(raw.title, raw.moves, self.history.dates[snapshot])
            namespace = raw.namespace if title == raw.title else self.site.namespace_of(title)
            if namespace in self.namespaces:
                titles.setdefault(title, []).append(snapshot)
        return titles

    def _dated_item(self, raw: RawPage, title: str, page: Wikitext) -> Page | Meanings:
        if is_disambiguation(title, page) or raw.id in self._listed:
            return meanings(title, page)
        entity = self._entity(raw, title, page)
        external = {**entity.external, "revision": raw.revision}
        return Page(msgspec.structs.replace(entity, revised=raw.revised, external=external), page.paragraphs)

    def _target(self, redirect: str, ledger: Ledger) -> str | None:
        target = normalise_title(redirect, self.site)
        if not target:
            ledger.leave_out("redirecting to no page of this wiki")
        return target

    def _is_wikitext(self, raw: RawPage, ledger: Ledger) -> bool:
        if raw.model != _WIKITEXT:
            ledger.leave_out(f"of the content model {raw.model}")
        return raw.model == _WIKITEXT

    def _parse(self, text: str) -> Wikitext:
        return parse(text, self.site, self._expand)

    def _beginning(self, text: str) -> Wikitext:
        """The first paragraph of running text, of a page that has no markup from one paragraph to another."""
        start = least = 0
        while start < len(text):
            end = text.find("\n\n", start + least)
            end = len(text) if end < 0 else end
            texts = (each for each in self._parse(text[start:end]).paragraphs if each.kind == "text")
            first = next(texts, None)
            if first is not None:
                return Wikitext((first,))
            # Ever more at a time, so that a page of many paragraphs that are no text is not read one by one.
            start, least = end + 2, 2 * (end - start) + _LEAST_READ
        return Wikitext()

    @cached_property
    def _listed(self) -> ListedPages | frozenset[int]:
        folder = self.options.disambiguations
        return frozenset() if folder is None else listed_pages(folder, self.site.name)

    def _versions(self, raw: RawPage, page: Wikitext, links: list[tuple[str, str]] | None) -> Iterator[Page]:
        """The page as it is now, and as it was called before it was moved."""
        entity = self._entity(raw, raw.title, page)
        begins, earlier = _history(raw)
        if links is None:
            yield Page(entity, page.paragraphs, begins)
        else:
            yield Page(entity, (), begins, counted=tuple(links))
        for title, valid_from, valid_to in earlier:
            # What the page said then is not known, and what it says now may tell of what came later.
            yield Page(msgspec.structs.replace(entity, title=title, description=""), (), valid_from, valid_to)

    def _entity(self, raw: RawPage, title: str, page: Wikitext) -> Entity:
        number = str(raw.id)
        external = {"page": number} | {f"wikipedia:{code}": title for code, title in page.languages.items()}
        texts = (paragraph.text for paragraph in page.paragraphs if paragraph.kind == "text")
        return Entity(
            number if self.options.ids == "page" else title,
            title,
            next(texts, ""),
            types=page.categories,
            images=page.images[:MOST_IMAGES],
            language=self.language or self.site.language,
            created=raw.created,
            external=external,
        )


def _is_before(time: str, later: list[tuple[str, str | None, str]]) -> bool:
    """Whether a move has a time, and one before the moves that came later."""
    try:
        return moment(time) < moment(later[-1][2]) if later else moment(time) is not None
    except FieldError:
        return False


def _history(raw: RawPage) -> tuple[str | None, list[tuple[str, str | None, str]]]:
    """Since when the title holds, and the titles before it as (title, from, to), the last first."""
    begins: str | None = None
    earlier: list[tuple[str, str | None, str]] = []
    title = raw.title
    for move in reversed(raw.moves):
        if move.target != title or move.source == title or not _is_before(move.time, earlier):
            continue
        if begins is None:
            begins = move.time
        if earlier:
            earlier[-1] = (earlier[-1][0], move.time, earlier[-1][2])
        earlier.append((move.source, None, move.time))
        title = move.source
    return begins, earlier
