"""SQL tables of a MediaWiki, read beside its XML export: Wikidata ids, titles in other languages, redirects.

Without an export the table `page` alone makes a knowledge base of titles.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from entlink.documents import Entity, Record
from entlink.io.ledger import Ledger
from entlink.sources.columns import ColumnMapping
from entlink.sources.mediawiki.export import namespace_numbers
from entlink.sources.mediawiki.options import WikiOptions
from entlink.sources.mediawiki.sql_dumps import identifiers, read_pages, read_redirects, table_of
from entlink.sources.page import Identifier, Item, Page
from entlink.sources.reading import Reading
from entlink.sources.wikitext.site import ARTICLE, CANONICAL, Site


def wiki_name(path: Path) -> str:
    """The name of the wiki's database, such as enwiki."""
    return table_of(path)[1]


def split(reading: Reading) -> Iterator[TablePart]:
    """A table is one part: its rows are few bytes each, and read fast."""
    before = 0
    for path in reading.files:
        before += path.stat().st_size
        yield TablePart(str(path), reading.wiki, reading.language, before)


class TablePart(Record, frozen=True):
    """A table, with all that is needed to read it elsewhere."""

    path: str
    options: WikiOptions
    language: str | None
    end: int

    def items(self, ledger: Ledger) -> Iterator[Item]:
        """What the table says of pages by their numbers; of the table `page`, pages where there is no export."""
        reading = Reading((Path(self.path),), ColumnMapping(), ledger.on_error, self.language)
        try:
            yield from self._items(reading)
        finally:
            ledger.absorb(reading)

    def _items(self, reading: Reading) -> Iterator[Item]:
        path = Path(self.path)
        table, wiki = table_of(path)
        if not self.options.titles_only:
            yield from identifiers(path, reading)  # of articles; redirects of other namespaces are in the export
        elif table == "page":
            yield from self._pages(wiki, reading)
        elif table == "redirect":
            for redirect in read_redirects(path, reading, self._namespaces):
                yield Identifier(wiki, redirect.id, "redirect", _full(redirect.namespace, redirect.title))
        else:
            yield from identifiers(path, reading)

    @property
    def _namespaces(self) -> frozenset[int]:
        return namespace_numbers(self.options.namespaces, Site())

    def _pages(self, wiki: str, reading: Reading) -> Iterator[Item]:
        for row in read_pages(Path(self.path), reading, self._namespaces):
            title = _full(row.namespace, row.title)
            if row.is_redirect:
                yield Identifier(wiki, row.id, "title", title)
                continue
            id = str(row.id) if self.options.ids == "page" else title
            yield Page(Entity(id, title, language=self.language, external={"page": str(row.id)}))


def _full(namespace: int, title: str) -> str:
    """The title with its namespace before it: a table tells only the number, so that it is the canonical name."""
    return title if namespace == ARTICLE else f"{CANONICAL.get(namespace, (str(namespace),))[0]}:{title}"
