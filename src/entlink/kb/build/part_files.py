"""The first step of a build: each part of a source, read by itself, becomes a folder of files.

- `pages.bin`: the entities, in order
- `texts.bin`: what each page's text says outside of its links, for the count of names
- `links.jsonl`: how often a page links a surface to a target
- `hyperlinks.bin`: where the links stand, if the whole text of a page is kept
- `titles.jsonl`, `redirects.jsonl`, `meanings.jsonl`, `identifiers.jsonl`: of a wiki only, joined before the
  entities go into the store
- `items.jsonl`, `instances.jsonl`, `type_names.jsonl`, `type_parents.jsonl`, `moved.jsonl`: of Wikidata only
- `card.json`: how many there are, and what was left out

A part's folder depends on the part alone, whoever makes it and when.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from entlink.documents import Entity
from entlink.io.record_files import RecordWriter
from entlink.kb.build.source_parts import Omissions
from entlink.kb.names.counting import BARRIER, outside_links
from entlink.kb.names.index_rows import JsonLines
from entlink.kb.names.own_names import LONGEST_NAME
from entlink.kb.store.hyperlinks import description_checksum
from entlink.sources import (
    BETWEEN_PARAGRAPHS,
    Item,
    Ledger,
    Meanings,
    OnError,
    Page,
    Paragraph,
    Part,
    Redirect,
    TypeNode,
    whole_text,
)
from entlink.text.titles import tidy

PAGES, TEXTS, LINKS, CARD = "pages.bin", "texts.bin", "links.jsonl", "card.json"
HYPERLINKS = "hyperlinks.bin"
TITLES, REDIRECTS, MEANINGS, IDENTIFIERS = "titles.jsonl", "redirects.jsonl", "meanings.jsonl", "identifiers.jsonl"
ITEMS, INSTANCES, MOVED = "items.jsonl", "instances.jsonl", "moved.jsonl"
TYPE_NAMES, TYPE_PARENTS = "type_names.jsonl", "type_parents.jsonl"
PAGE_SCHEME = "page"  # of the number a wiki gives its page
_PAGES_A_BATCH = 1_000
_CHARACTERS_A_PAGE = 2_000  # a page described at greater length counts as several
_CHARACTERS_A_BATCH = 2_000_000
_LINKS_A_BATCH = 50_000


class StagedPage(msgspec.Struct, array_like=True):
    """A page less its text, of which only the number of paragraphs is told."""

    entity: Entity
    valid_from: str | None
    valid_to: str | None
    texts: int


class StagedText(msgspec.Struct, array_like=True):
    """What the page numbered `record` in its part says outside of its links."""

    record: int
    text: str


class StagedLink(msgspec.Struct):
    """How often page `r` of part `p` links a surface to a target: a title of the wiki `w`, anything if it is null."""

    p: int
    r: int
    f: str
    t: str
    n: int
    w: str | None


class StagedHyperlinks(msgspec.Struct, array_like=True):
    """Where the links of page `record` stand in the description with this checksum, and what they name."""

    record: int
    description: int
    links: list[tuple[int, int, str]]


class StagedTitle(msgspec.Struct):
    """The title that page `r` of part `p`, or the page it is a past version of, has now; its number in its wiki."""

    p: int
    r: int
    t: str
    w: str
    i: int


class StagedRedirect(msgspec.Struct):
    """A redirect of the wiki `w`."""

    w: str
    title: str
    target: str


class StagedMeaning(msgspec.Struct):
    """What a disambiguation page of the wiki `w` lists at a place, from 0; null on a page that lists nothing."""

    w: str
    title: str
    name: str
    place: int
    target: str | None


class StagedItem(msgspec.Struct):
    """The item `i` of Wikidata is page `r` of part `p`; its page in a Wikipedia has the title `t`."""

    p: int
    r: int
    i: str
    t: str | None


class StagedInstance(msgspec.Struct):
    """Page `r` of part `p` is an instance of the type `t`."""

    p: int
    r: int
    t: str


class StagedTypeName(msgspec.Struct):
    """What the type `t` is called."""

    t: str
    n: str


class StagedTypeParent(msgspec.Struct):
    """The type `t` is a kind of its parent."""

    t: str
    parent: str


class StagedMove(msgspec.Struct):
    """The id of an item that was joined with another one."""

    title: str
    target: str


class PartCard(Omissions):
    """What a part held: pages, of which `current` are no past versions, and what was left out."""

    pages: int = 0
    current: int = 0


class StagingPlan(msgspec.Struct, frozen=True):
    """How the parts of one source are to be staged; `wiki` is its name, None where it is no wiki.

    With `items` its pages are items of Wikidata.
    """

    on_error: OnError
    texts: bool
    wiki: str | None = None
    pack: bool = False  # whether to save disk rather than time
    items: bool = False
    full: bool = False  # whether a page's whole text describes its entity


def stage_part(part: Part, number: int, plan: StagingPlan, path: Path) -> None:
    """Read a part and write its folder."""
    shutil.rmtree(path, ignore_errors=True)  # a killed run may have left half of it
    path.mkdir()
    ledger = Ledger(plan.on_error)
    with _Stager(path, number, plan) as stager:
        for item in part.items(ledger):
            stager.take(item)
        card = stager.card
    card.add(ledger)
    (path / CARD).write_bytes(msgspec.json.encode(card))


class _Stager:
    """Puts the items of one part into their files."""

    def __init__(self, folder: Path, number: int, plan: StagingPlan) -> None:
        self.card = PartCard()
        self._folder, self._number, self._plan = folder, number, plan
        self._current_title = ""
        self._pages: RecordWriter[StagedPage] = RecordWriter(folder / PAGES, _PAGES_A_BATCH)
        self._texts: RecordWriter[StagedText] = RecordWriter(folder / TEXTS, _CHARACTERS_A_BATCH, pack=plan.pack)
        self._hyperlinks: RecordWriter[StagedHyperlinks] = RecordWriter(folder / HYPERLINKS, _LINKS_A_BATCH)
        self._lines: dict[str, JsonLines] = {LINKS: JsonLines(folder / LINKS)}

    def __enter__(self) -> _Stager:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pages.close()
        self._texts.close()
        self._hyperlinks.close()
        for lines in self._lines.values():
            lines.close()

    def take(self, item: Item) -> None:
        if isinstance(item, Page):
            self._take_page(item)
        elif isinstance(item, TypeNode):
            self._add(TYPE_NAMES, StagedTypeName(item.type, item.name))
            for parent in item.parents:
                self._add(TYPE_PARENTS, StagedTypeParent(item.type, parent))
        elif isinstance(item, Redirect) and self._plan.items:
            self._add(MOVED, StagedMove(item.title, item.target))
        elif isinstance(item, Redirect):
            self._add(REDIRECTS, StagedRedirect(self._plan.wiki or "", item.title, item.target))
        elif isinstance(item, Meanings):
            for place, target in enumerate(item.targets or (None,)):
                self._add(MEANINGS, StagedMeaning(self._plan.wiki or "", item.title, item.name, place, target))
        else:
            self._add(IDENTIFIERS, item)

    def _add(self, name: str, record: object) -> None:
        if name not in self._lines:
            self._lines[name] = JsonLines(self._folder / name)
        self._lines[name].add(record)

    def _take_page(self, page: Page) -> None:
        record, plan = self.card.pages, self._plan
        self.card.pages += 1
        self.card.current += page.valid_to is None
        texts = self._take_text(record, page) if plan.texts else 0
        entity = self._described_in_full(record, page) if plan.full else page.entity
        weight = 1 + len(entity.description) // _CHARACTERS_A_PAGE
        self._pages.add(StagedPage(entity, page.valid_from, page.valid_to, texts), weight)
        if plan.wiki is not None:
            number = int(page.entity.external.get(PAGE_SCHEME, "0"))
            if page.valid_to is None:
                self._current_title = page.entity.title  # the past versions of a page follow the current one
            self._add(TITLES, StagedTitle(self._number, record, self._current_title, plan.wiki, number))
        if plan.items:
            self._add_item(record, page.entity)
        links = self._lines[LINKS]
        for (surface, target), count in _links(page).items():
            links.add(StagedLink(self._number, record, surface, target, count, plan.wiki))

    def _add_item(self, record: int, entity: Entity) -> None:
        self._add(ITEMS, StagedItem(self._number, record, entity.id, entity.external.get("wikipedia")))
        for type in entity.types:
            self._add(INSTANCES, StagedInstance(self._number, record, type))

    def _described_in_full(self, record: int, page: Page) -> Entity:
        """The entity with all that its page says; where that is nothing, with the description it came with."""
        text = whole_text(page)
        links = _hyperlinks([paragraph for paragraph in page.paragraphs if paragraph.text.strip()])
        if links:
            self._hyperlinks.add(StagedHyperlinks(record, description_checksum(text), links), len(links))
        return msgspec.structs.replace(page.entity, description=text)

    def _take_text(self, record: int, page: Page) -> int:
        if not page.paragraphs:
            texts = [page.entity.description] if page.entity.description else []
        else:
            texts = [
                outside_links(paragraph.text, sorted((link.start, link.end) for link in paragraph.links))
                if paragraph.links
                else paragraph.text
                for paragraph in page.paragraphs
            ]
        if texts:
            text = BARRIER.join(texts)
            self._texts.add(StagedText(record, text), len(text))
        return len(texts)


def _hyperlinks(paragraphs: Sequence[Paragraph]) -> list[tuple[int, int, str]]:
    """The links that count, with their places in the text that these paragraphs make together."""
    links: list[tuple[int, int, str]] = []
    before = 0
    for paragraph in paragraphs:
        for start, end, target in map(msgspec.structs.astuple, paragraph.links):
            if _is_name(tidy(paragraph.text[start:end])):
                links.append((before + start, before + end, target))
        before += len(paragraph.text) + len(BETWEEN_PARAGRAPHS)
    return links


def _is_name(tidied: str) -> bool:
    return 0 < len(tidied) <= LONGEST_NAME


def _links(page: Page) -> Counter[tuple[str, str]]:
    """How often each surface links to each target; surfaces of nothing, or longer than any name, do not count."""
    counted = Counter(page.counted)
    for paragraph in page.paragraphs:
        for anchor in paragraph.links:
            counted[paragraph.text[anchor.start : anchor.end], anchor.target] += 1
    tidied: Counter[tuple[str, str]] = Counter()
    for (surface, target), count in counted.items():
        surface = tidy(surface)
        if _is_name(surface):
            tidied[surface, target] += count
    return tidied


def read_card(folder: Path) -> PartCard:
    return msgspec.json.decode((folder / CARD).read_bytes(), type=PartCard)
