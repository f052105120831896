"""The steps of a build, from sources to a finished store: stage, join, store, count, index."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from entlink.engine.protocol import DEFAULT_MEMORY, Engine
from entlink.errors import InputError
from entlink.io.atomic import write_whole
from entlink.io.checksums import checksum, checksums
from entlink.kb.build.count_links import LinkTotals, write_link_counts, write_occurrences
from entlink.kb.build.count_texts import count_occurrences
from entlink.kb.build.fill_hyperlinks import store_hyperlinks
from entlink.kb.build.fill_store import Checkpoint, Ingestion, Piece, pieces_of
from entlink.kb.build.read_sources import StagedSource, Stager
from entlink.kb.build.source_parts import PROBLEMS_KEPT, PartedSource
from entlink.kb.build.wiki_names import FINAL_REDIRECTS, join_names, list_disambiguations, read_extras, read_redirects
from entlink.kb.build.wikidata_items import OF_ITEMS, WIKIDATA, ItemTotals, join_items, store_types, types_to_drop
from entlink.kb.indexes.derived import SHORT
from entlink.kb.indexes.names import IndexWriter
from entlink.kb.indexes.short_names import write_short
from entlink.kb.names.counts import BASE
from entlink.kb.store.manifest import Manifest, OpeningTotals, SourceCard, WikiTotals
from entlink.kb.store.openings import find_openings
from entlink.kb.store.rules import take_rules
from entlink.kb.store.store import DESCRIPTIONS, Store
from entlink.kb.store.texts import TextWriter
from entlink.kb.store.writing import create_indexes, empty_log, insert_redirects, set_meta, transaction
from entlink.sources import Source, WikiOptions
from entlink.text.dates import now
from entlink.version import __version__

FIRST_INDEX = "index-1"
WIKI = "wiki"
_AMBIGUOUS = "that only tell what a name may mean"
_INTERNAL = "of the types to leave out, such as templates and lists"
EXPORT, TABLES = "mediawiki", "mediawiki-sql"
Totals = TypeVar("Totals", LinkTotals, WikiTotals, OpeningTotals, ItemTotals)


class BuildOptions(msgspec.Struct, frozen=True):
    """How to read the sources and how much of the machine to use.

    With `descriptions` "full" an entity is described by the whole text of its page, with "opening" by how it begins.
    None is "full", but "opening" without `count_text`: texts that are neither counted nor kept need not be read. With
    `names_in_openings` the other names that its first sentence gives are names of it, and some are redirects.
    """

    format: str | None = None
    columns: Mapping[str, str] = {}
    language: str | None = None
    on_error: Literal["stop", "skip"] = "stop"
    count_text: bool = True
    descriptions: Literal["opening", "full"] | None = None
    names_in_openings: bool = True
    memory: str = DEFAULT_MEMORY
    processes: int | None = None
    limit: int | None = None
    wiki: WikiOptions = WikiOptions()

    @property
    def described_by(self) -> Literal["opening", "full"]:
        """What describes an entity, where `descriptions` leaves it open, too."""
        return self.descriptions or ("full" if self.count_text else "opening")


class Building:
    """The steps of a build; each leaves files behind, and is not done again where they are there.

    Where `texts` are given, descriptions go there, and other stores can share them.
    """

    def __init__(
        self,
        engine: Engine,
        store: Store,
        sources: Sequence[PartedSource],
        options: BuildOptions,
        command: str,
        *,
        snapshot: str = BASE,
        texts: TextWriter | None = None,
    ) -> None:
        self._engine, self._store, self._sources, self._options = engine, store, sources, options
        self._command, self._snapshot, self._read, self._texts = command, snapshot, Checkpoint(), texts
        self._staging = store.folder / "staging"

    def run(self) -> Manifest:
        """All steps, from the sources to a finished store."""
        store = self._store
        staged = self._stage()
        pieces = pieces_of(self._staging / "parts", staged, self._sources)
        parts = [piece.folder for piece in pieces]
        items = self._join_items(parts)
        wiki = self._join_names(parts, items)
        self._read = self._ingest(pieces)
        self._take_rules(staged)
        create_indexes(store)
        links = self._count_links(parts)
        openings = self._read_openings()
        self._make_index(parts)
        manifest = self._manifest(staged, links, wiki, openings)
        with transaction(store) as connection:
            set_meta(connection, "index", FIRST_INDEX)
            set_meta(connection, "added_weight", str(links.mean()))
            set_meta(connection, "texts", str(self._read.texts))
            set_meta(connection, DESCRIPTIONS, self._options.described_by)
            set_meta(connection, "manifest", msgspec.json.encode(manifest).decode())
        empty_log(store)
        return manifest

    def _stage(self) -> list[StagedSource]:
        folder, options = self._staging / "parts", self._options
        stager = Stager(
            self._engine,
            folder,
            texts=options.count_text,
            full=options.described_by == "full",
            limit=options.limit,
            total=sum(source.size for source in self._sources),
            # Beside a wiki's texts, what Wikidata says of an item in a few words is no text that links could be in.
            not_running=(WIKIDATA,) if self._has_wiki else (),
        )
        staged: list[StagedSource] = []
        for number, source in enumerate(self._sources):
            if isinstance(source, Source) and source.format == EXPORT:
                self._note_disambiguations(source, [folder / name for each in staged for name in each.parts])
            staged.append(stager.stage(source, number))
        return staged

    def _note_disambiguations(self, source: Source, tables: Sequence[Path]) -> None:
        """What the tables, which come first, say of disambiguation pages must be known when the export is read."""
        folder = self._staging / "disambiguations"
        if tables and not folder.exists():
            partial = folder.with_name("disambiguations.partial")
            shutil.rmtree(partial, ignore_errors=True)
            wikis = {each.wiki for each in self._sources if each.format == EXPORT}
            only = next(iter(wikis)) if len(wikis) == 1 else None
            list_disambiguations(self._engine, tables, partial, self._staging, only)
            partial.rename(folder)
        if tables:
            source.note_disambiguations(folder)

    @property
    def _has_wiki(self) -> bool:
        return any(source.wiki is not None for source in self._sources)

    def _join_items(self, parts: Sequence[Path]) -> Path | None:
        """What Wikidata says of its items; None where there are none. The folder of what was found."""
        folder = self._staging / WIKIDATA

        def joined() -> ItemTotals:
            drop = types_to_drop(self._options.wiki.drop_types)
            return join_items(self._engine, parts, drop, folder, self._staging)

        if not any(source.format == WIKIDATA for source in self._sources):
            return None
        self._engine.progress("joining items", 0, 1)
        self._once(WIKIDATA, joined, ItemTotals)
        return folder

    def _join_names(self, parts: Sequence[Path], items: Path | None) -> WikiTotals | None:
        """What redirects, disambiguation pages, tables and items say of the pages; None where there is no wiki."""

        def joined() -> WikiTotals:
            found = None if items is None else items / OF_ITEMS
            return join_names(self._engine, parts, self._staging / WIKI, self._staging, found)

        if not self._has_wiki and items is None:
            return None
        self._engine.progress("joining names", 0, 1)
        totals = self._once("wiki", joined, WikiTotals)
        return totals if self._has_wiki else None

    def _ingest(self, pieces: Sequence[Piece]) -> Checkpoint:
        options, wiki = self._options, self._staging / WIKI
        is_wiki = wiki.exists()
        ingestion = Ingestion(
            self._store,
            skip=options.on_error == "skip",
            limit=options.limit,
            by_wikidata=options.wiki.ids == "wikidata",
            extras=read_extras(self._engine, wiki) if is_wiki else iter(()),
            texts=self._texts,
        )
        read = ingestion.run(pieces, self._engine.progress)
        if is_wiki:
            insert_redirects(self._store, read_redirects(self._engine, wiki))
        if (items := self._staging / WIKIDATA).exists():
            store_types(self._engine, self._store, items)
        return read

    def _take_rules(self, staged: Sequence[StagedSource]) -> None:
        """The pins and blocks of exported knowledge bases; with a limit what is pinned may not have been read."""
        options = self._options

        def fail(problem: InputError) -> None:
            if options.limit is None and options.on_error == "stop":
                raise problem
            if options.limit is None:
                self._read.problems.append(str(problem))

        with transaction(self._store):
            for source, each in zip(self._sources, staged, strict=True):
                take_rules(self._store, each.rules, source.path, fail)

    def _count_links(self, parts: Sequence[Path]) -> LinkTotals:
        def counted() -> LinkTotals:
            redirects = self._staging / WIKI / FINAL_REDIRECTS
            return write_link_counts(
                self._engine,
                self._store,
                parts,
                redirects,
                self._staging,
                targets=targets,
                snapshot=self._snapshot,
            )

        targets = self._staging / "targets.parquet" if self._options.described_by == "full" else None
        self._engine.progress("counting links", 0, 1)
        totals = self._once("links", counted, LinkTotals)
        if targets is not None:
            store_hyperlinks(self._engine, self._store, parts, targets, self._staging)
        return totals

    def _read_openings(self) -> OpeningTotals | None:
        """Only after the links are counted: where a link leads is not to depend on what was inferred."""

        def read() -> OpeningTotals:
            with transaction(self._store):
                return find_openings(self._store, self._engine.progress)

        return self._once("openings", read, OpeningTotals) if self._options.names_in_openings else None

    def _once(self, name: str, step: Callable[[], Totals], type: type[Totals]) -> Totals:
        """What a step came to, which is done only if it was not done before."""
        saved = self._staging / f"{name}.json"
        if saved.exists():
            return msgspec.json.decode(saved.read_bytes(), type=type)
        totals = step()
        write_whole(saved, msgspec.json.encode(totals))
        return totals

    def _make_index(self, parts: Sequence[Path]) -> None:
        """The alias index, and what the default linker reads beside it.

        With `count_text` the texts are scanned as soon as the dictionary is complete.
        """
        engine, store, index = self._engine, self._store, self._store.folder / FIRST_INDEX
        shutil.rmtree(index / SHORT, ignore_errors=True)  # of a build that was killed as it ended
        writer = IndexWriter(engine, store, index, self._staging, snapshot=self._snapshot)
        shards = writer.write_names()
        if self._options.count_text:
            counted = count_occurrences(engine, parts, index, shards, self._staging / "texts")
            write_occurrences(engine, counted, store, self._staging, snapshot=self._snapshot)
        else:
            counted = writer.counted_texts()
        writer.finish(counted)
        write_short(store, index / SHORT, engine.progress)

    def _manifest(
        self,
        staged: Sequence[StagedSource],
        links: LinkTotals,
        wiki: WikiTotals | None,
        openings: OpeningTotals | None,
    ) -> Manifest:
        read = self._read
        return Manifest(
            entlink=__version__,
            built=now(),
            command=self._command,
            sources=[self._card(number, each) for number, each in enumerate(staged)],
            entities=self._store.count(),
            links=links.resolved,
            links_unresolved=links.unresolved,
            texts=read.texts,
            counts=checksums(self._store.folder / "counts"),
            problems=[*chain.from_iterable(each.problems for each in staged), *read.problems][:PROBLEMS_KEPT],
            wiki=wiki,
            openings=openings,
        )

    def _card(self, number: int, staged: StagedSource) -> SourceCard:
        source, read = self._sources[number], self._read
        known = {_AMBIGUOUS: read.disambiguations.get(number, 0), _INTERNAL: read.internal.get(number, 0)}
        return SourceCard(
            source.path.name,
            source.format,
            source.size,
            checksum(source.path) if source.path.is_file() else "",
            read.read.get(number, 0),
            staged.skipped + read.doubles.get(number, 0),
            staged.left_out | {reason: count for reason, count in known.items() if count},
        )
