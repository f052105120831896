"""A knowledge base as its users see and edit it: entities, names and their meanings, now or as of a date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from entlink.documents import Entity
from entlink.engine.protocol import DEFAULT_MEMORY
from entlink.errors import DamagedError, FieldError, InputError, NotFoundError
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.names.alias_index import COMPLETE, AliasIndex
from entlink.kb.names.aliases import AliasEntry, AliasTable, Meaning, PriorWeights, WideEntry, prior
from entlink.kb.names.overlay import OVERLAY_CAP, Overlay
from entlink.kb.names.own_names import NameSource
from entlink.kb.names.scan import Scanner
from entlink.kb.names.scripts import warn_of_scripts
from entlink.kb.names.tiers import Normalisation, Tier
from entlink.kb.recent import RecentEntities
from entlink.kb.snapshots.folders import date_of, folder_as_of, is_snapshot
from entlink.kb.store.store import Store, Version
from entlink.kb.types.kb_types import Types
from entlink.text.folding import key_of

if TYPE_CHECKING:
    from entlink.documents import Span
    from entlink.interfaces import DualEncoder
    from entlink.io.outputs import Output
    from entlink.kb.indexes.entity_vectors.dual import WordAndEntityVectors
    from entlink.kb.indexes.making import IndexReport
    from entlink.kb.snapshots.diff import Diff
    from entlink.kb.snapshots.listing import SnapshotInfo
    from entlink.kb.store.edits import SyncReport
    from entlink.kb.store.manifest import Manifest
    from entlink.kb.types.tables import Pairs, TypesReport
    from entlink.sources import Page

    Entities = Entity | Page | Iterable[Entity | Page] | str | Path

Done = TypeVar("Done")


class NameOf(NamedTuple):
    """An entity a surface may mean, as shown to people: P(e|m), the support behind it and where it comes from."""

    entity: str
    title: str
    probability: float
    support: int
    sources: list[str]
    tier: Tier


class KnowledgeBase:
    """Opened with `KnowledgeBase.open(path)`; sees the edits other processes make as soon as they commit.

    One object serves one thread; any number of objects and processes may read one folder.
    """

    def __init__(
        self,
        folder: Path,
        *,
        date: str | None = None,
        weights: PriorWeights = PriorWeights(),
        normalisation: Normalisation = Normalisation(),
        names: bool = True,
        wait: bool = False,
    ) -> None:
        folder, date = folder_as_of(folder, date)
        self.folder, self.date, self.wait = folder, _in_full(date), wait
        self._weights, self._normalisation, self._has_names = weights, normalisation, names
        self._store = Store(folder)
        self._overlay = Overlay()
        self.types = Types(self._store, self.get)
        self.recent = RecentEntities(self.entity, self._store.key)
        self._index_name = ""
        self._seen_version = -1
        self.revision = 0  # how often it has changed since it was opened
        try:
            self.refresh()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, folder: str | Path, **settings: object) -> KnowledgeBase:
        """Open to read and edit. Settings: `date`, `weights`, `normalisation`, `names`, `wait`.

        With `names=False` the index of names stays closed: entities can be read and edited even where it is missing.
        With `wait=True` an edit waits while another process is writing, which is else a `LockedError`.
        """
        return cls(Path(folder), **settings)  # type: ignore[arg-type]

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def as_of(self, date: str) -> KnowledgeBase:
        """The same knowledge base as it was on that ISO date: the nearest snapshot at or before it.

        One without snapshots is opened with the entities, titles and names of that date by its dated versions.
        """
        return KnowledgeBase(self.folder, date=date, weights=self._weights, normalisation=self._normalisation)

    @property
    def snapshot(self) -> str | None:
        """The date of the snapshot that this is, in full; None of a knowledge base that is none."""
        return date_of(self.folder) if is_snapshot(self.folder) else None

    def snapshots(self) -> list[SnapshotInfo]:
        """The snapshots it has, the earliest first, each with what is in it."""
        from entlink.kb.snapshots.listing import list_snapshots

        return list_snapshots(self.folder)

    def diff(self, a: str, b: str, *, limit: int | None = None) -> Diff:
        """What changed from its snapshot at or before one date to that of another; of each kind the largest first.

        With a `limit` so many of each kind are listed, and all are counted.
        """
        from entlink.kb.snapshots.diff import diff

        with self.as_of(a) as before, self.as_of(b) as after:
            return diff(before, after, limit=limit)

    # Keeping up with edits

    def refresh(self) -> bool:
        """Take in what was committed since the last call; True when something had changed."""
        version = self._store.data_version()
        if version == self._seen_version:
            return False
        self._store.forget()
        self.types.forget()
        self.recent.forget()
        if self._has_names:
            self._take_in()
            self.names.forget()
        self._seen_version = version  # only now: what failed half-way is tried again
        self.revision += 1
        if len(self._overlay.changed) > OVERLAY_CAP:
            self._warn_of_size()
        return True

    def _take_in(self) -> None:
        """Index and edits of one state of the store: an index made meanwhile has taken edits in."""
        while True:
            asked = ""
            try:
                with self._store.snapshot():
                    asked = self._store.meta("index")
                    if asked != self._index_name:
                        self._open_index(asked)
                    self._overlay.refresh(self._store)
                return
            except DamagedError:
                if self._store.meta("index") == asked:
                    raise
                # Another process made a new index and removed this one before it could be opened.

    def _warn_of_size(self) -> None:
        import logging

        logging.getLogger(__name__).warning(
            "%s: %d entities changed since the last index; run `entlink kb index` to keep linking fast",
            self.folder,
            len(self._overlay.changed),
        )

    def _open_index(self, name: str) -> None:
        index = self.folder / name
        if not name or not (index / COMPLETE).exists():
            raise DamagedError(
                f"{self.folder}: its alias index ({name or 'none'}) is missing or incomplete. "
                f"Run `entlink kb index {self.folder}` to make it anew"
            )
        shards, is_simplified = _card(index)
        self.alias_index = AliasIndex(index, shards)
        warn_of_scripts(self.folder, self.alias_index, is_simplified=is_simplified)
        self._index_name = name
        self._overlay = Overlay()
        self._scanners: dict[bool, Scanner] = {}
        self.names = AliasTable(
            self._store,
            self.alias_index,
            self._overlay,
            date=self.date,
            weights=self._weights,
            normalisation=self._normalisation,
        )

    # Edits, each one transaction that other readers see at once, too

    def add(
        self,
        entities: Entities,
        *,
        weight: int | None = None,
        replace: bool = False,
        format: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> int:
        """Add an entity, several, or those of a table given by its path; returns how many. All are added, or none.

        One that is there is an error, unless `replace` changes it or a page with `valid_from` is a version of it.
        `weight` is how many links each of their names counts for; `format` and `columns` say how to read a table.
        """
        from entlink.kb.store.edits import add

        return self._seen(
            add(self.folder, _pages(entities, format, columns), weight=weight, replace=replace, wait=self.wait)
        )

    def remove(self, *identifiers: str) -> int:
        """Remove entities by id or another identifier that means just one; all or none."""
        from entlink.kb.store.edits import remove

        return self._seen(remove(self.folder, identifiers, wait=self.wait))

    def sync(
        self,
        table: Entities,
        *,
        delete: bool = False,
        dry_run: bool = False,
        format: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> SyncReport:
        """Bring it in line with a table, by id; `delete` removes what the table lacks. All is done, or nothing.

        With `dry_run` nothing is changed: the report tells what would be, and its `ids` of which entities.
        """
        from entlink.kb.store.edits import sync

        return self._seen(
            sync(self.folder, _pages(table, format, columns), delete=delete, dry_run=dry_run, wait=self.wait)
        )

    def pin(self, surface: str, identifier: str, *, case_sensitive: bool = False) -> None:
        """From now on the surface always means this entity."""
        from entlink.kb.store.edits import pin

        pin(self.folder, surface, identifier, case_sensitive=case_sensitive, wait=self.wait)
        self.refresh()

    def unpin(self, surface: str) -> int:
        """Lift the pins on a surface; returns how many there were."""
        from entlink.kb.store.edits import unpin

        return self._seen(unpin(self.folder, surface, wait=self.wait))

    def block(self, surface: str, *, case_sensitive: bool = False) -> None:
        """From now on the surface is never linked."""
        from entlink.kb.store.edits import block

        block(self.folder, surface, case_sensitive=case_sensitive, wait=self.wait)
        self.refresh()

    def unblock(self, surface: str) -> int:
        """Lift the blocks on a surface; returns how many there were."""
        from entlink.kb.store.edits import unblock

        return self._seen(unblock(self.folder, surface, wait=self.wait))

    def set_types(
        self,
        *,
        hierarchy: Pairs | None = None,
        separator: str | None = None,
        names: Pairs | None = None,
        coarse: Pairs | None = None,
    ) -> TypesReport:
        """Say what is known of types; each that is given takes the place of what was there. All is done, or nothing.

        `hierarchy` has (type, more general type), `names` (type, what it is called), `coarse` (coarse type, a type
        whose kinds it is for), the first that fits holding: pairs, or the path of a file of two columns. With
        `separator` types are cut: with "." `A.b` is a kind of `A`. Empty `coarse` types bring the default back.
        """
        from entlink.kb.types.tables import set_types

        return self._seen(
            set_types(
                self.folder, hierarchy=hierarchy, separator=separator, names=names, coarse=coarse, wait=self.wait
            )
        )

    def _seen(self, done: Done) -> Done:
        """What an edit gave, the edit being taken in."""
        self.refresh()
        return done

    # The whole of it

    def index(
        self,
        *,
        words: bool = False,
        cooccurrence: bool = False,
        short: bool = False,
        fine_types: int | None = None,
        entity_vectors: bool = False,
        vectors: Sequence[str | DualEncoder] = (),
        memory: str = DEFAULT_MEMORY,
        processes: int | None = None,
        progress: Progress = ignore_progress,
    ) -> IndexReport:
        """Fold the edits since the last index into a new one, and make search indexes beside it.

        These are over the `words` of names and descriptions, over the `cooccurrence` of words and names in
        descriptions, over names cut `short`, and over the `vectors` of encoders; `fine_types` counts so many of the
        most frequent properties with their values; `entity_vectors` trains vectors of words and entities. Those that
        are there are made anew with the index of names, which is left as it is if it has all edits and another one is
        asked for.
        """
        from entlink.kb.indexes.making import make_indexes

        made = make_indexes(
            self.folder,
            words=words,
            cooccurrence=cooccurrence,
            short=short,
            fine_types=fine_types,
            entity_vectors=entity_vectors,
            vectors=vectors,
            memory=memory,
            processes=processes,
            progress=progress,
        )
        self.types.forget()
        return self._seen(made)

    def entity_vectors(self, **settings: Any) -> WordAndEntityVectors:
        """The vectors of words and entities in one space: `kb.index(entity_vectors=True)` trains them.

        `kb.entity_vectors().of(["Q1", "Q2"])` is an array with a row for each id. `settings` say how mentions are
        read: `surface` and `reach`, as for the retriever.
        """
        from entlink.kb.indexes.entity_vectors.dual import WordAndEntityVectors

        return WordAndEntityVectors(self, **settings)

    def export(self, out: Output, *, as_of: str | None = None, progress: Progress = ignore_progress) -> int:
        """Write entities, versions, pins and blocks as JSON lines, which `entlink.build` reads; returns how many.

        With `as_of`, the entities of that date, each with its page's number and revision and what redirected to it.
        """
        from entlink.kb.snapshots.export import export_as_of
        from entlink.kb.store.transfer import export

        if as_of is None:
            return export(self.folder, out, progress=progress)
        with self.as_of(as_of) as kb:
            return export_as_of(kb, out, progress=progress)

    @staticmethod
    def merge(
        kbs: Sequence[KnowledgeBase | str | Path],
        out: str | Path,
        *,
        by: Literal["id", "title"] = "id",
        on_conflict: Literal["error", "first", "last"] = "error",
        replace: bool = False,
        memory: str = DEFAULT_MEMORY,
        processes: int | None = None,
        command: str = "",
        progress: Progress = ignore_progress,
    ) -> Manifest:
        """Merge several knowledge bases into a new one; `entlink.kb.build.merge` says how entities become one."""
        from entlink.kb.build.merge import merge

        return merge(
            [kb.folder if isinstance(kb, KnowledgeBase) else kb for kb in kbs],
            out,
            by=by,
            on_conflict=on_conflict,
            replace=replace,
            memory=memory,
            processes=processes,
            command=command,
            progress=progress,
        )

    @staticmethod
    def upgrade(folder: str | Path) -> tuple[int, int]:
        """Bring one that an older release made up to this one, in place; returns the versions before and now."""
        from entlink.kb.store.upgrade import upgrade

        return upgrade(folder)

    # Entities

    def __len__(self) -> int:
        """How many entities there are; as of a date, how many existed then."""
        return self._store.count() if self.date is None else sum(1 for _ in self)

    def __iter__(self) -> Iterator[Entity]:
        """Every entity, in the order it came in; as of a date, those that existed then."""
        for key, _, version in self._store.entities():
            entity = version.entity if self.date is None else self._store.entity(key, self.date)
            if entity is not None:
                yield entity

    def get(self, id: str) -> Entity | None:
        """The entity with this id, or None."""
        key = self._store.key(id)
        return None if key is None else self._store.entity(key, self.date)

    def resolve(self, identifier: str, *, titles: bool = True) -> Entity | None:
        """The entity behind an id, title, address, or identifier of another scheme; redirects followed.

        Without `titles`, what is only a title means nothing: another entity may have the same.
        """
        key = self._store.resolve(identifier, titles=titles)
        return None if key is None else self._store.entity(key, self.date)

    def require(self, identifier: str) -> Entity:
        """Like `resolve`, but an unknown identifier is an error that says what to try."""
        entity = self.resolve(identifier)
        if entity is None:
            raise NotFoundError(
                f"{self.folder}: no entity {identifier!r}. `entlink kb search` finds entities by name"
            )
        return entity

    def versions(self, identifier: str) -> list[Version]:
        """All dated versions of an entity, oldest first."""
        key = self._store.resolve(identifier)
        found = [] if key is None else self._store.versions(key)
        return sorted(found, key=lambda version: version.begins)

    def hyperlinks(self, entity: str | int) -> list[tuple[Span, str]]:
        """The links in an entity's description, in its order: where each stands, and the id it leads to.

        The entity is given by its id or internal key. Only a build with full descriptions keeps links; those to what
        is not, or not on the date, in the knowledge base are left out. They may overlap if they do in the source.
        """
        from entlink.documents import Span
        from entlink.kb.store.hyperlinks import hyperlinks_of

        key = self._store.key(entity) if isinstance(entity, str) else entity
        found = None if key is None else self._store.entity(key, self.date)
        if key is None or found is None:
            return []
        links = hyperlinks_of(self._store, key, found.description)
        ids = {target: self._id_of(target) for _, _, target in links}
        return [(Span(start, end), id) for start, end, target in links if (id := ids[target]) is not None]

    def _id_of(self, key: int) -> str | None:
        """The id behind a key, if its entity is there, as of the date."""
        if self.date is not None and self._store.version_at(key, self.date) is None:
            return None
        head = self._store.head(key)
        return head[0] if head else None

    def head(self, key: int) -> tuple[str, str]:
        """Id and title of the entity with an internal key, as of the date."""
        if self.date is not None:
            entity = self._store.entity(key, self.date)
            if entity is not None:
                return entity.id, entity.title
        head = self._store.head(key)
        if head is None:
            raise DamagedError(
                f"{self.folder}: its index names an entity ({key}) that the store lacks. "
                f"Run `entlink kb index {self.folder}`"
            )
        return head

    # Entities by internal key, for indexes beside the alias index

    @property
    def index_folder(self) -> Path:
        """Where the current index is; what else is derived from the store lies beside it, and goes with it."""
        return self.folder / (self._index_name or self._store.meta("index"))

    @property
    def changed_keys(self) -> Set[int]:
        """Keys of the entities that changed since the last index, the removed ones included."""
        return self._overlay.changed

    def key(self, id: str) -> int | None:
        """The internal key of the entity with this id."""
        return self._store.key(id)

    def entity(self, key: int) -> Entity | None:
        """The entity with an internal key, as of the date."""
        return self._store.entity(key, self.date)

    def entity_is_there(self, key: int) -> bool:
        """Whether there is an entity with an internal key, as of the date."""
        if self.date is None:
            return self._store.head(key) is not None
        return self._store.version_at(key, self.date) is not None

    def all_keys(self) -> Iterator[int]:
        """The internal keys of all entities, in the order they came in; as of a date, of those that existed then."""
        return (key for key in self._store.all_keys() if self.date is None or self._store.entity(key, self.date))

    @property
    def last_key(self) -> int:
        """The largest internal key: there are fewer entities than that where some were removed."""
        return self._store.last_key()

    def fresh_entities(self) -> Iterator[tuple[int, Entity]]:
        """Every entity that changed since the last index and is still there, as of the date, by key."""
        for key in sorted(self._overlay.changed - self._overlay.removed):
            entity = self._store.entity(key, self.date)
            if entity is not None:
                yield key, entity

    def keys_of_types(self, types: Iterable[str]) -> set[int]:
        """Keys of all entities with any of the types."""
        return self._store.keys_of_types(types)

    # Names

    def meaning(self, surface: str) -> Meaning:
        """What a surface may mean, with counts."""
        return self.names.meaning(surface)

    def wide(self, surface: str) -> tuple[WideEntry, ...]:
        """What a surface may mean at any tier, where `meaning` stops at the tightest that finds something."""
        return self.names.wide(surface)

    def meaning_of_key(self, key: str) -> Meaning:
        """What any form with a folded key may mean."""
        return self.names.meaning_of_key(key)

    def is_written_so(self, surface: str) -> bool:
        """Whether some entity's name is written exactly as the surface is."""
        meaning = self.names.meaning(surface)
        return meaning.tier is Tier.EXACT and not meaning.pinned and surface in meaning.forms

    def forms(self, surface: str) -> list[str]:
        """Every way in which the surface's key is written, by names and by rules."""
        return self.names.forms(surface)

    def occurrences(self, surface: str) -> dict[str, int]:
        """How often each written form of the surface's key stands unlinked in the texts."""
        return {form.text: form.unlinked for form in self.alias_index.group(key_of(surface))}

    def aliases(self, surface: str) -> list[NameOf]:
        """What a surface may mean, best first, for people to read."""
        meaning = self.meaning(surface)
        total = meaning.total
        return [
            NameOf(
                id,
                title,
                prior(entry.support, total),
                entry.support,
                NameSource(entry.sources).words(),
                meaning.tier,
            )
            for entry, id, title in self.entities_named(meaning)
        ]

    def entities_named(self, meaning: Meaning, limit: int | None = None) -> Iterator[tuple[AliasEntry, str, str]]:
        """The first entries of a meaning, each with the entity's id and title.

        An entity that another process removes while this one is at work is left out.
        """
        for entry in meaning.entries[:limit]:
            head = self.head_of(entry.entity)
            if head is not None:
                yield entry, *head

    def head_of(self, key: int) -> tuple[str, str] | None:
        """Id and title of an entity as `head` gives them; None if another process removed it meanwhile."""
        return None if self._store.head(key) is None else self.head(key)

    def scanner(self, *, plurals: bool = True) -> Scanner:
        """A scanner for the names of this knowledge base, fresh ones included; the same until it is reindexed."""
        if plurals not in self._scanners:
            self._scanners[plurals] = Scanner(self.alias_index, self._overlay, plurals=plurals)
        return self._scanners[plurals]

    def fresh_keys(self) -> Iterable[str]:
        """Keys of names added since the last index."""
        return self._overlay.keys()

    # Facts about itself

    @property
    def texts(self) -> int:
        """How many texts P(link|m) was counted over; 0 when they were not."""
        return int(self._store.meta("texts", "0"))

    @property
    def has_links(self) -> bool:
        return self.manifest().links > 0

    @property
    def has_hyperlinks(self) -> bool:
        """Whether it kept where the links stand in its descriptions."""
        from entlink.kb.store.hyperlinks import has_hyperlinks

        return has_hyperlinks(self._store)

    @property
    def pending_edits(self) -> int:
        """How many entities changed since the last index."""
        return self._store.edited_count()

    def manifest(self) -> Manifest:
        """What the knowledge base was built from."""
        from entlink.kb.store.manifest import manifest_of

        return manifest_of(self._store)

    def type_counts(self) -> list[tuple[str, int]]:
        return self._store.type_counts()


def _pages(given: Entities, format: str | None, columns: Mapping[str, str] | None) -> Iterable[Entity | Page]:
    """What is to be added or synced: a table is read from its path, and one entity is a list of it."""
    from entlink.sources import Page, open_source

    if isinstance(given, str | Path):
        source = open_source(given, format=format, columns=columns)
        if source.format == "wikidata":
            raise InputError(
                f"{given} has items of Wikidata, which only a build joins with pages and chooses the language of. "
                "Build a knowledge base of it, and merge the two with `entlink kb merge`"
            )
        return source
    if format or columns:
        raise InputError("format and columns say how to read a table, and here entities are given")
    return [given] if isinstance(given, Entity | Page) else given


def _card(index: Path) -> tuple[int, bool]:
    """Shards, and whether names were simplified, from the index's card: a JSON parser would slow the start."""
    card = (index / COMPLETE).read_bytes()
    shards = re.search(rb'"shards":\s*([1-9]\d*)', card)
    if shards is None:
        raise DamagedError(f"{index}: {COMPLETE} is cut off. Run `entlink kb index {index.parent}` to make it anew")
    return int(shards[1]), re.search(rb'"simplified":\s*true', card) is not None


def _in_full(date: str | None) -> str | None:
    """The date as dates are stored: a year or month stands for its first day; what is no date is an error."""
    if date is None:
        return None
    from entlink.text.dates import in_utc

    try:
        return in_utc(date)
    except FieldError as problem:
        raise InputError(f"the date {date!r} is not an ISO date such as 2020-05-01") from problem
