"""Staged pages into the store, a transaction a part, so that a build that was killed goes on after the last one."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.documents import Entity
from entlink.errors import FieldError
from entlink.io.progress import Progress
from entlink.io.record_files import read_batches
from entlink.kb.build.part_files import PAGE_SCHEME, PAGES, StagedPage
from entlink.kb.build.read_sources import StagedSource
from entlink.kb.build.source_parts import PROBLEMS_KEPT, PartedSource
from entlink.kb.build.wiki_names import ALIAS, DISAMBIGUATION, IMAGE, INTERNAL, Extra
from entlink.kb.build.wikidata_items import WIKIDATA
from entlink.kb.names.index_rows import JsonLines
from entlink.kb.store.store import Store
from entlink.kb.store.texts import TextWriter
from entlink.kb.store.versions import add_version, check_apart, stated_version, version_from, with_dates_in_utc
from entlink.kb.store.writing import insert_entity, replace_current, set_meta, transaction
from entlink.sources import Page

KEYS = "keys.jsonl"


class StoredPage(msgspec.Struct):
    """Page `r` of part `p` went into the entity with key `e`."""

    p: int
    r: int
    e: int


class Checkpoint(msgspec.Struct):
    """How far ingestion got: everything before this is committed."""

    parts: int = 0
    pages: int = 0
    texts: int = 0
    wikis: list[tuple[int, str]] = []  # of each wiki, the first key of its entities
    read: dict[int, int] = {}
    doubles: dict[int, int] = {}
    disambiguations: dict[int, int] = {}
    internal: dict[int, int] = {}
    last_item: int = 0  # the largest key of an item of Wikidata, which come before the pages of a wiki
    problems: list[str] = []


class Piece(NamedTuple):
    """One staged part: its number, its folder, and where in which source it began."""

    number: int
    folder: Path
    source: int
    path: Path
    before: int
    wiki: str | None
    has_items: bool = False


class Ingestion:
    """Takes staged parts into a store. `limit` is how many pages to take, `by_wikidata` gives entities its ids.

    Descriptions go to `texts`, if that is given, and are committed there before the part that has them.
    """

    def __init__(
        self,
        store: Store,
        *,
        skip: bool,
        limit: int | None = None,
        by_wikidata: bool = False,
        extras: Iterator[Extra],
        texts: TextWriter | None = None,
    ) -> None:
        self._texts = texts
        self._store, self._skip, self._limit, self._by_wikidata = store, skip, limit, by_wikidata
        saved = store.meta("checkpoint")
        self.checkpoint = msgspec.json.decode(saved, type=Checkpoint) if saved else Checkpoint()
        self._extras = _Extras(extras)
        self._left_out: str | None = None  # the number of the page that was left out last

    def run(self, pieces: Sequence[Piece], progress: Progress) -> Checkpoint:
        """Go on from the last committed part to the end."""
        for piece in pieces[self.checkpoint.parts :]:
            self._take(piece)
            progress("storing entities", self.checkpoint.parts, len(pieces))
        return self.checkpoint

    def _take(self, piece: Piece) -> None:
        """One transaction: a part's entities, which page is which, and the new checkpoint, or none of them."""
        checkpoint, keys = self.checkpoint, JsonLines(piece.folder / KEYS)
        pages = chain.from_iterable(read_batches(piece.folder / PAGES, StagedPage))
        self._left_out = None
        with transaction(self._store) as connection, closing(keys):
            self._note_wiki(piece)
            for record, page in enumerate(pages):
                # The past versions of a page follow it, and count as one with it.
                if page.valid_to is None and self._limit is not None and checkpoint.pages >= self._limit:
                    break
                checkpoint.read[piece.source] = checkpoint.read.get(piece.source, 0) + 1
                key = self._take_page(connection, page, piece, record)
                if key is not None:
                    keys.add(StoredPage(piece.number, record, key))
                    checkpoint.pages += page.valid_to is None
                    checkpoint.texts += page.texts
                    checkpoint.last_item = key if piece.has_items else checkpoint.last_item
            checkpoint.parts += 1
            if self._texts is not None:
                self._texts.commit()
            set_meta(connection, "checkpoint", msgspec.json.encode(checkpoint).decode())

    def _note_wiki(self, piece: Piece) -> None:
        wikis = self.checkpoint.wikis
        if piece.wiki is not None and (not wikis or wikis[-1][1] != piece.wiki):
            last = self._store.connection.execute("SELECT coalesce(max(key), 0) FROM entities").fetchone()[0]
            wikis.append((int(last) + 1, piece.wiki))

    def _take_page(self, connection: sqlite3.Connection, staged: StagedPage, piece: Piece, record: int) -> int | None:
        extras = self._extras.of(piece.number, record)
        for scheme, counted in (
            (DISAMBIGUATION, self.checkpoint.disambiguations),  # by a table of a wiki of which there is no export
            (INTERNAL, self.checkpoint.internal),
        ):
            if any(extra.scheme == scheme for extra in extras):
                counted[piece.source] = counted.get(piece.source, 0) + 1
                return None
        entity = with_extras(staged.entity, extras)
        if self._by_wikidata and WIKIDATA in entity.external:
            entity = msgspec.structs.replace(entity, id=entity.external[WIKIDATA])
        page = Page(entity, (), staged.valid_from, staged.valid_to)
        try:
            return self._store_page(connection, page, piece.wiki)
        except FieldError as error:
            problem = error.at(piece.path, f"record {piece.before + record + 1}")
            if not self._skip:
                raise problem from None
            checkpoint = self.checkpoint
            checkpoint.doubles[piece.source] = checkpoint.doubles.get(piece.source, 0) + 1
            if len(checkpoint.problems) < PROBLEMS_KEPT:
                checkpoint.problems.append(str(problem))
            return None

    def _store_page(self, connection: sqlite3.Connection, page: Page, wiki: str | None) -> int:
        """A new entity, or a further version of one that is there already; returns its key.

        Without dates it is the version that has always held, in whatever order the versions come.
        """
        page = with_dates_in_utc(page)
        try:
            return insert_entity(connection, page.entity, page.valid_from, page.valid_to, texts=self._texts)
        except sqlite3.IntegrityError:
            key = self._store.key(page.entity.id)
            assert key is not None
        if wiki is not None:
            return self._store_wiki_page(connection, key, page, wiki)
        return _store_version(self._store, connection, key, page)

    def _store_wiki_page(self, connection: sqlite3.Connection, key: int, page: Page, wiki: str) -> int:
        """A page under an id that is there: an item's, a past version, another page of the name, or a double."""
        if self._texts is not None:
            self._texts.commit()  # the store reads there what was put just now
        entity, there = page.entity, self._store.entity(key)
        number = entity.external.get(PAGE_SCHEME)
        is_item = key <= self.checkpoint.last_item
        if is_item and there is not None and PAGE_SCHEME not in there.external:
            replace_current(connection, key, joined_with_page(there, entity), page.valid_from, page.valid_to)
            return key
        is_other_wiki = not is_item and self._wiki_of(key) != wiki
        if is_other_wiki or (there is not None and there.external.get(PAGE_SCHEME) != number):
            apart = f"{entity.id}#{wiki if is_other_wiki and wiki else number}"
            if "#" not in entity.id:  # which no title holds
                told_apart = msgspec.structs.replace(entity, id=apart)
                return self._store_page(connection, msgspec.structs.replace(page, entity=told_apart), wiki)
        if page.valid_to is None or self._left_out == number:
            self._left_out = number  # with its past versions, which follow
            raise FieldError(
                f"the page {entity.title!r} (number {number}) appears a second time",
                "--on-error skip keeps the first",
            )
        return _store_version(self._store, connection, key, page)

    def _wiki_of(self, key: int) -> str | None:
        wikis = self.checkpoint.wikis
        place = bisect_right(wikis, key, key=itemgetter(0)) - 1
        return wikis[place][1] if place >= 0 else None


def pieces_of(folder: Path, staged: Sequence[StagedSource], sources: Sequence[PartedSource]) -> list[Piece]:
    """All staged parts, in order."""
    pieces: list[Piece] = []
    for number, (each, source) in enumerate(zip(staged, sources, strict=True)):
        before = 0
        for name, pages in zip(each.parts, each.pages, strict=True):
            has_items = source.format == WIKIDATA
            pieces.append(Piece(len(pieces), folder / name, number, source.path, before, source.wiki, has_items))
            before += pages
    return pieces


class _Extras:
    """A walk along sorted extras beside the walk along the pages."""

    def __init__(self, extras: Iterator[Extra]) -> None:
        self._extras = extras
        self._next = next(extras, None)

    def of(self, part: int, record: int) -> list[Extra]:
        found = []
        while (extra := self._next) is not None and (extra.part, extra.record) <= (part, record):
            if (extra.part, extra.record) == (part, record):
                found.append(extra)
            self._next = next(self._extras, None)
        return found


def with_extras(entity: Entity, extras: Sequence[Extra]) -> Entity:
    """The entity with further aliases, identifiers and pictures; what it says itself comes first."""
    if not extras:
        return entity
    aliases = dict.fromkeys(entity.aliases)
    images = dict.fromkeys(entity.images)
    external: Mapping[str, str] = entity.external
    for extra in extras:
        if extra.kind == ALIAS:
            if extra.value != entity.title:
                aliases[extra.value] = None
        elif extra.scheme == IMAGE:
            images[extra.value] = None
        else:
            external = {extra.scheme: extra.value, **external}
    return msgspec.structs.replace(entity, aliases=tuple(aliases), images=tuple(images), external=external)


def joined_with_page(item: Entity, page: Entity) -> Entity:
    """An item of Wikidata with its page in a wiki: title and text of the page, names of both, types of the item."""
    aliases = dict.fromkeys((*page.aliases, item.title, *item.aliases))
    aliases.pop(page.title, None)
    return Entity(
        item.id,
        page.title,
        page.description or item.description,
        tuple(aliases),
        item.types or page.types,
        tuple(dict.fromkeys((*item.images, *page.images))),
        page.language,
        page.created,
        page.revised,
        {**page.external, **item.external},
        item.claims,
    )


def _double(id: str) -> FieldError:
    return FieldError(
        f"the id {id!r} appears a second time",
        "Ids must be unique (each dated version needs its own valid_from); --on-error skip keeps the first",
    )


def _store_version(store: Store, connection: sqlite3.Connection, key: int, page: Page) -> int:
    versions, new = store.stated_versions(key), stated_version(page)
    if version_from(versions, new.valid_from):
        raise _double(page.entity.id)
    try:
        check_apart([*versions, new])
    except FieldError as error:
        raise error.of("id", page.entity.id) from None
    add_version(connection, key, versions[0], new)
    return key
