"""SQL tables of a MediaWiki, read beside its XML export: Wikidata ids, titles in other languages, redirects.

Without an export the table `page` alone makes a knowledge base of titles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from entlink.documents import Entity, Record
from entlink.sources.columns import ColumnMapping
from entlink.sources.ledger import Ledger
from entlink.sources.page import Identifier, Item, Page
from entlink.sources.reading import Reading
from entlink.sources.sql_dumps import identifiers, read_pages, table_of
from entlink.sources.wiki_options import WikiOptions
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
        path, namespaces = Path(self.path), _numbers(self.options.namespaces)
        table, wiki = table_of(path)
        if table != "page" or not self.options.titles_only:
            yield from identifiers(path, reading, namespaces)
            return
        for row in read_pages(path, reading, namespaces):
            title = row.title if row.namespace == ARTICLE else f"{_prefix(row.namespace)}:{row.title}"
            if row.is_redirect:
                yield Identifier(wiki, row.id, "title", title)
                continue
            id = str(row.id) if self.options.ids == "page" else title
            yield Page(Entity(id, title, language=self.language, external={"page": str(row.id)}))


def _prefix(namespace: int) -> str:
    return CANONICAL.get(namespace, (str(namespace),))[0]


def _numbers(names: tuple[str, ...]) -> Collection[int]:
    """A table does not tell what its wiki calls its namespaces: only numbers and canonical names count here."""
    known = Site().numbers
    numbers = {int(name) if name.lstrip("-").isdigit() else known.get(name.lower()) for name in names}
    return {number for number in numbers if number is not None} or {ARTICLE}
