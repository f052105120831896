"""Reading `kb.sqlite`: entities, their dated versions, identifiers, edits and rules."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from entlink.errors import DamagedError, LockedError, NotFoundError, VersionError

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.kb.store.texts import SharedTexts

STORE_VERSION = 3
OLDEST_READ = 2  # lacks nothing: only a store of version 3 can share its texts
DATABASE = "kb.sqlite"
CHECKSUM = "kb.sqlite.sha256"  # of the database; an edit takes it away, and notes another if that is quick
DESCRIPTIONS = "descriptions"  # in `meta`: "full" or "opening"
TEXTS_AT = "texts_at"  # in `meta`: where the texts that it shares are, from its folder
REPLACED = ".replaced"  # what a knowledge base is called between the two renames that replace it
MAX_KEY = 2**62
_MAPPED = 64 << 20  # bytes of the database that readers map: a tenth quicker, and no more however large it is
_CACHED_HEADS = 100_000


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether a store has a table: those of older releases lack some."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


class Version(NamedTuple):
    """An entity as it was in `[valid_from, valid_to)`; None is open."""

    entity: Entity
    valid_from: str | None
    valid_to: str | None

    @property
    def begins(self) -> str:
        """Its place among the others: an open beginning sorts before every date."""
        return self.valid_from or ""

    def covers(self, date: str) -> bool:
        return covers(self.valid_from, self.valid_to, date)


class Edit(NamedTuple):
    """A change made after the alias index: `operation` is "put" or "remove"."""

    seq: int
    entity: int
    operation: str


class Rule(NamedTuple):
    """A pin (`entity` is a key) or a block (`entity` is None) on a surface."""

    surface: str
    case_sensitive: bool
    entity: int | None


def covers(valid_from: str | None, valid_to: str | None, date: str) -> bool:
    """Whether the period holds the date. Dates in the form that is stored compare as text."""
    return (valid_from is None or valid_from <= date) and (valid_to is None or date < valid_to)


class Store:
    """A connection to the database of a knowledge base."""

    def __init__(self, folder: Path, *, writable: bool = False) -> None:
        self.folder = folder
        self.connection = connect(existing(folder) / DATABASE, writable=writable)
        # A linker is often just dropped: its connection goes with it.
        self._finalizer = weakref.finalize(self, self.connection.close)
        self._heads: dict[int, tuple[str, str]] = {}
        self.texts: SharedTexts | None = None
        self._check_version()
        self.texts = self._shared_texts()

    def _shared_texts(self) -> SharedTexts | None:
        """Where descriptions are, if other stores share them; an ordinary store keeps its own."""
        place = self.meta(TEXTS_AT)
        if not place:
            return None
        from entlink.kb.store.texts import SharedTexts

        return SharedTexts(self.folder / place)

    def close(self) -> None:
        self._finalizer()
        if self.texts is not None:
            self.texts.forget()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is of one state of the database, whatever others commit."""
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("COMMIT")

    def data_version(self) -> int:
        """A number that changes when another connection has committed."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def forget(self) -> None:
        """Drop what was cached: the database has changed."""
        self._heads.clear()

    def meta(self, name: str, default: str = "") -> str:
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else default

    def has_whole_texts(self) -> bool:
        """Whether entities are described by all that their pages say."""
        return self.meta(DESCRIPTIONS) == "full"

    def count(self) -> int:
        return int(self.connection.execute("SELECT count(*) FROM entities").fetchone()[0])

    def head(self, key: int) -> tuple[str, str] | None:
        """Id and title of an entity, cached."""
        head = self._heads.get(key)
        if head is None:
            row = self.connection.execute("SELECT id, title FROM entities WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            if len(self._heads) >= _CACHED_HEADS:
                self._heads.clear()
            head = self._heads[key] = (row[0], row[1])
        return head

    def key(self, id: str) -> int | None:
        row = self.connection.execute("SELECT key FROM entities WHERE id = ?", (id,)).fetchone()
        return int(row[0]) if row else None

    def keys_titled(self, title: str) -> list[int]:
        rows = self.connection.execute("SELECT key FROM entities WHERE title = ? ORDER BY key", (title,))
        return [int(row[0]) for row in rows]

    def entity(self, key: int, date: str | None = None) -> Entity | None:
        """The current version, or the one that held on `date` (None where there was none)."""
        if date is None:
            current = self._current(key)
            return current.entity if current else None
        version = self.version_at(key, date)
        return version.entity if version else None

    def version_at(self, key: int, date: str) -> Version | None:
        covering = (version for version in self.versions(key) if version.covers(date))
        return next(covering, None)

    def versions(self, key: int) -> list[Version]:
        """All versions of an entity, the current one first; each ends when the next begins, if not sooner."""
        return _apart(self.stated_versions(key))

    def stated_versions(self, key: int) -> list[Version]:
        """All versions with the periods that were given for them, the current one first."""
        current = self._current(key)
        return [current, *self.other_versions(key, current.entity.id)] if current else []

    def other_versions(self, key: int, id: str) -> list[Version]:
        """The versions that are not current, with the periods that were given for them, oldest first."""
        rows = self.connection.execute(
            "SELECT title, valid_from, valid_to, record FROM versions WHERE entity = ? ORDER BY valid_from",
            (key,),
        )
        return [self._version(id, *row) for row in rows]

    def _version(self, id: str, title: str, valid_from: str | None, valid_to: str | None, record: str) -> Version:
        from entlink.kb.store.records import decode_record

        return Version(decode_record(id, title, record, self.texts), valid_from or None, valid_to)

    def _current(self, key: int) -> Version | None:
        row = self.connection.execute(
            "SELECT id, title, valid_from, valid_to, record FROM entities WHERE key = ?", (key,)
        ).fetchone()
        return self._version(*row) if row else None

    def entities(self, after: int = 0, last: int = MAX_KEY) -> Iterator[tuple[int, int, Version]]:
        """Every entity with a key in `(after, last]` as (key, weight, current version), by key."""
        rows = self.connection.execute(
            "SELECT key, weight, id, title, valid_from, valid_to, record FROM entities"
            " WHERE key > ? AND key <= ? ORDER BY key",
            (after, last),
        )
        for key, weight, *version in rows:
            yield key, weight, self._version(*version)

    def all_keys(self) -> Iterator[int]:
        """The keys of all entities, in their order."""
        for row in self.connection.execute("SELECT key FROM entities ORDER BY key"):
            yield int(row[0])

    def past_versions(self, first: int = 0, last: int = MAX_KEY) -> Iterator[tuple[int, Version]]:
        """Every version that is not current, as (entity key, version with the period that was given for it)."""
        rows = self.connection.execute(
            "SELECT entity, id, v.title, v.valid_from, v.valid_to, v.record FROM versions v"
            " JOIN entities ON key = entity WHERE entity BETWEEN ? AND ? ORDER BY entity, v.valid_from",
            (first, last),
        )
        for key, *version in rows:
            yield key, self._version(*version)

    def removed_keys(self) -> set[int]:
        """Keys that were given once and have no entity any more: the gaps among those that have one."""
        given = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entities'").fetchone()
        last = int(given[0]) if given else 0
        gaps: set[int] = set()
        if self.count() == last:
            return gaps
        before = 0
        for (key,) in self.connection.execute("SELECT key FROM entities ORDER BY key"):
            gaps.update(range(before + 1, key))
            before = key
        gaps.update(range(before + 1, last + 1))
        return gaps

    def weight(self, key: int) -> int:
        row = self.connection.execute("SELECT weight FROM entities WHERE key = ?", (key,)).fetchone()
        return int(row[0]) if row else 0

    def resolve(self, identifier: str, *, titles: bool = True) -> int | None:
        """The key behind an id, external identifier, title, address or redirect; the first where it means several.

        Without `titles` a title means nothing, unless it is also an id.
        """
        return next(iter(self.resolve_all(identifier, titles=titles)), None)

    def resolve_all(self, identifier: str, *, titles: bool = True) -> list[int]:
        """The keys of all entities that an identifier means."""
        for form in _identifier_forms(identifier):
            keys = self._resolve_form(form, titles)
            if keys:
                return keys
        return []

    def _resolve_form(self, form: str, titles: bool) -> list[int]:
        seen: set[str] = set()
        while form not in seen:
            seen.add(form)
            keys = self._lookup(form, titles)
            if keys:
                return keys
            row = self.connection.execute("SELECT target FROM redirects WHERE source = ?", (form,)).fetchone()
            if row is None:
                break
            form = row[0]
        return []

    def _lookup(self, form: str, titles: bool) -> list[int]:
        key = self.key(form)
        if key is not None:
            return [key]
        titled = self.keys_titled(form) if titles else []
        return self._identified(form) or titled or self._identified_in_scheme(form)

    def _identified(self, value: str) -> list[int]:
        """A page's number, or its title in another language, may be some title: they need their scheme."""
        rows = self.connection.execute(
            "SELECT entity FROM identifiers WHERE value = ? AND scheme <> 'page' AND scheme NOT LIKE '%:%' "
            "ORDER BY scheme, entity",
            (value,),
        ).fetchall()
        return list(dict.fromkeys(int(row[0]) for row in rows))

    def _identified_in_scheme(self, form: str) -> list[int]:
        """`page:736` or `wikipedia:fr:Chat`: an identifier with its scheme before it."""
        scheme, colon, value = form.partition(":")
        while colon:
            rows = self.connection.execute(
                "SELECT entity FROM identifiers WHERE value = ? AND scheme = ? ORDER BY entity", (value, scheme)
            ).fetchall()
            if rows:
                return [int(row[0]) for row in rows]
            further, colon, value = value.partition(":")
            scheme = f"{scheme}:{further}"
        return []

    def edits(self, after: int = 0) -> list[Edit]:
        rows = self.connection.execute(
            "SELECT seq, entity, operation FROM edits WHERE seq > ? ORDER BY seq", (after,)
        )
        return [Edit(*row) for row in rows]

    def last_edit(self) -> int:
        """The number of the last edit that is not in the index yet, or 0."""
        return int(self.connection.execute("SELECT coalesce(max(seq), 0) FROM edits").fetchone()[0])

    def edited_count(self) -> int:
        """How many entities changed since the last index."""
        return int(self.connection.execute("SELECT count(DISTINCT entity) FROM edits").fetchone()[0])

    def rules(self) -> list[Rule]:
        rows = self.connection.execute("SELECT surface, case_sensitive, entity FROM rules ORDER BY surface")
        return [Rule(surface, bool(sensitive), entity) for surface, sensitive, entity in rows]

    def type_counts(self) -> list[tuple[str, int]]:
        rows = self.connection.execute("SELECT type, count(*) FROM types GROUP BY type ORDER BY count(*) DESC, type")
        return [(row[0], int(row[1])) for row in rows]

    def last_key(self) -> int:
        """The largest internal key; 0 where there is no entity."""
        return int(self.connection.execute("SELECT coalesce(max(key), 0) FROM entities").fetchone()[0])

    def keys_of_types(self, types: Iterable[str]) -> set[int]:
        """Keys of all entities with any of the types."""
        keys: set[int] = set()
        for type in types:
            rows = self.connection.execute("SELECT entity FROM types WHERE type = ?", (type,))
            keys.update(int(row[0]) for row in rows)
        return keys

    def _check_version(self) -> None:
        try:
            found = int(self.meta("store_version", "0"))
        except (sqlite3.DatabaseError, ValueError) as problem:
            self.close()
            raise DamagedError(
                f"{self.folder}: {DATABASE} is not a knowledge base ({problem}). "
                "Restore it from a copy, or build it again with `entlink kb build`"
            ) from problem
        if found > STORE_VERSION:
            self.close()
            raise VersionError(
                f"{self.folder}: made by a newer entlink (store version {found}, this release reads up to "
                f"{STORE_VERSION}). Upgrade entlink: pip install -U entlink"
            )
        if found < OLDEST_READ:
            self.close()
            raise VersionError(
                f"{self.folder}: store version {found}, this release needs {STORE_VERSION}. "
                f"Run `entlink kb upgrade {self.folder}`"
            )


def existing(folder: Path) -> Path:
    """The folder, if there is a knowledge base in it."""
    if (folder / DATABASE).is_file():
        return folder
    replaced = folder.with_name(folder.name + REPLACED)
    if replaced.exists():
        hint = f"A replacement was cut off: rename {replaced} to {folder}, or run the build again"
    else:
        hint = f"Make one with `entlink kb build SOURCE -o {folder}`"
    raise NotFoundError(f"{folder}: no knowledge base there (no {DATABASE}). {hint}")


def connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    """A connection to a database that is there, on a medium that cannot be written too."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA busy_timeout = 5000")
        if not writable:
            connection.execute("PRAGMA query_only = 1")
            connection.execute(f"PRAGMA mmap_size = {_MAPPED}")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as problem:
        connection.close()
        if "locked" in str(problem):
            raise LockedError(f"{path}: another process is writing. Try again when it is done") from problem
        # A read-only medium cannot hold the shared-memory file that a write-ahead log needs.
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
        )
    except sqlite3.DatabaseError:
        pass  # _check_version says what is wrong
    return connection


def _apart(versions: list[Version]) -> list[Version]:
    """The versions in the same order, none of which holds on when the next has begun."""
    if len(versions) < 2:
        return versions
    begins = sorted(version.begins for version in versions)
    nexts = dict(pairwise(begins))
    return [_ending_by(version, nexts.get(version.begins)) for version in versions]


def _ending_by(version: Version, date: str | None) -> Version:
    if date is None or (version.valid_to is not None and version.valid_to <= date):
        return version
    return version._replace(valid_to=date)


def _identifier_forms(identifier: str) -> Iterator[str]:
    """The identifier as given, then as a page title, then as the last part of an address."""
    yield identifier
    if "_" in identifier:
        yield identifier.replace("_", " ")
    if "://" in identifier:
        from urllib.parse import unquote

        path = identifier.split("#")[0].split("?")[0].rstrip("/")
        # A wiki's titles may hold a slash themselves: ".../wiki/AC/DC".
        last = unquote(path.partition("/wiki/")[2] or path.rsplit("/", 1)[-1])
        yield last
        if "_" in last:
            yield last.replace("_", " ")
    elif identifier[:1].islower():
        yield identifier[0].upper() + identifier[1:]
