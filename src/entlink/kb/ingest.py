"""Staged pages into the store, a transaction a part, so that a build that was killed goes on after the last one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.documents import Entity
from entlink.engine.local import Progress
from entlink.errors import FieldError
from entlink.kb.frames import read_frames
from entlink.kb.parts import PAGE_SCHEME, PAGES, StagedPage
from entlink.kb.stage_sources import PROBLEMS_KEPT, StagedSource
from entlink.kb.staging import write_rows
from entlink.kb.store import Store
from entlink.kb.versions import add_version, check_apart, stated_version, version_from, with_dates_in_utc
from entlink.kb.wiki_names import ALIAS, IMAGE, Extra
from entlink.kb.writing import insert_entity, set_meta, transaction
from entlink.sources import Page

KEYS = "keys.jsonl"
WIKIDATA = "wikidata"


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
    read: dict[int, int] = {}
    doubles: dict[int, int] = {}
    problems: list[str] = []


class Piece(NamedTuple):
    """One staged part: its number, its folder, and where in which source it began."""

    number: int
    folder: Path
    source: int
    path: Path
    before: int


class Ingestion:
    """Takes staged parts into a store. `limit` is how many pages to take, `by_wikidata` gives entities its ids."""

    def __init__(
        self,
        store: Store,
        *,
        skip: bool,
        limit: int | None = None,
        by_wikidata: bool = False,
        extras: Iterator[Extra],
    ) -> None:
        self._store, self._skip, self._limit, self._by_wikidata = store, skip, limit, by_wikidata
        saved = store.meta("checkpoint")
        self.checkpoint = msgspec.json.decode(saved, type=Checkpoint) if saved else Checkpoint()
        self._extras = _Extras(extras)

    def run(self, pieces: Sequence[Piece], progress: Progress) -> Checkpoint:
        """Go on from the last committed part to the end."""
        for piece in pieces[self.checkpoint.parts :]:
            self._take(piece)
            progress("storing entities", self.checkpoint.parts, len(pieces))
        return self.checkpoint

    def _take(self, piece: Piece) -> None:
        """One transaction: a part's entities, which page is which, and the new checkpoint, or none of them."""
        checkpoint, stored = self.checkpoint, []
        pages = chain.from_iterable(read_frames(piece.folder / PAGES, StagedPage))
        with transaction(self._store) as connection:
            for record, page in enumerate(pages):
                if self._limit is not None and checkpoint.pages >= self._limit:
                    break
                checkpoint.read[piece.source] = checkpoint.read.get(piece.source, 0) + 1
                key = self._take_page(connection, page, piece, record)
                if key is not None:
                    stored.append(StoredPage(piece.number, record, key))
                    checkpoint.pages += 1
                    checkpoint.texts += page.texts
            write_rows(stored, piece.folder / KEYS)
            checkpoint.parts += 1
            set_meta(connection, "checkpoint", msgspec.json.encode(checkpoint).decode())

    def _take_page(self, connection: sqlite3.Connection, staged: StagedPage, piece: Piece, record: int) -> int | None:
        entity = with_extras(staged.entity, self._extras.of(piece.number, record))
        if self._by_wikidata and WIKIDATA in entity.external:
            entity = msgspec.structs.replace(entity, id=entity.external[WIKIDATA])
        page = Page(entity, (), staged.valid_from, staged.valid_to)
        try:
            return _store_page(self._store, connection, page)
        except FieldError as error:
            problem = error.at(piece.path, f"record {piece.before + record + 1}")
            if not self._skip:
                raise problem from None
            checkpoint = self.checkpoint
            checkpoint.doubles[piece.source] = checkpoint.doubles.get(piece.source, 0) + 1
            if len(checkpoint.problems) < PROBLEMS_KEPT:
                checkpoint.problems.append(str(problem))
            return None


def pieces_of(folder: Path, staged: Sequence[StagedSource], paths: Sequence[Path]) -> list[Piece]:
    """All staged parts, in order."""
    pieces: list[Piece] = []
    for source, (each, path) in enumerate(zip(staged, paths, strict=True)):
        before = 0
        for name, pages in zip(each.parts, each.pages, strict=True):
            pieces.append(Piece(len(pieces), folder / name, source, path, before))
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


def _store_page(store: Store, connection: sqlite3.Connection, page: Page) -> int:
    """A new entity, or a further version of one that is there already; returns its key.

    Without dates it is the version that has always held, in whatever order the versions come.
    """
    page = with_dates_in_utc(page)
    try:
        return insert_entity(connection, page.entity, page.valid_from, page.valid_to)
    except sqlite3.IntegrityError:
        key = store.key(page.entity.id)
        assert key is not None
    if _is_another_page(store, key, page.entity):
        return _store_page(store, connection, msgspec.structs.replace(page, entity=_told_apart(page.entity)))
    return _store_version(store, connection, key, page)


def _is_another_page(store: Store, key: int, entity: Entity) -> bool:
    """Whether the entity with this id is another page of a wiki, or of another wiki, under the same title."""
    number, there = entity.external.get(PAGE_SCHEME), store.entity(key)
    other = there.external.get(PAGE_SCHEME) if there else None
    return number is not None and other is not None and number != other and "#" not in entity.id


def _told_apart(entity: Entity) -> Entity:
    """No title of a wiki holds a number sign, so that this id cannot be taken."""
    return msgspec.structs.replace(entity, id=f"{entity.id}#{entity.external[PAGE_SCHEME]}")


def _store_version(store: Store, connection: sqlite3.Connection, key: int, page: Page) -> int:
    versions, new = store.stated_versions(key), stated_version(page)
    if version_from(versions, new.valid_from):
        raise FieldError(
            f"the id {page.entity.id!r} appears a second time",
            "Ids must be unique (each dated version needs its own valid_from); --on-error skip keeps the first",
        )
    try:
        check_apart([*versions, new])
    except FieldError as error:
        raise error.of("id", page.entity.id) from None
    add_version(connection, key, versions[0], new)
    return key
