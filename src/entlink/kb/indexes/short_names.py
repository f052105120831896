"""The index of names cut short: which entities a form may stand for, and how often texts speak of each in full.

`short.sqlite` has a row a form and entity, of each form those spoken of most. It is read where it stands: memory does
not grow with the knowledge base.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from entlink.errors import DamagedError
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.indexes.derived import SHORT, DerivedCard, begin, ensure_derived, finish, is_complete
from entlink.kb.names.alias_index import COMPLETE, AliasIndex
from entlink.kb.names.aliases import PriorWeights, given_weight
from entlink.kb.names.own_names import NameSource, given_names
from entlink.kb.store.store import Store
from entlink.kb.store.writing import errors_told
from entlink.text.folding import key_of
from entlink.text.short_forms import initials, short_forms
from entlink.text.titles import without_parenthesis

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.kb.knowledge_base import KnowledgeBase

FORMAT = 1
DATABASE = "short.sqlite"
MOST_OF_FORM = 30  # entities
_ROWS_AT_A_TIME = 50_000
_EVERY = 1_000  # entities that progress is told
_ANCHOR = int(NameSource.ANCHOR)
_WEIGHTS = PriorWeights()


class ShortName(NamedTuple):
    """An entity that a form may stand for, by its internal key, and how often texts speak of it in full."""

    entity: int
    times: int


class ShortIndex:
    """Read access to the index in a folder."""

    def __init__(self, folder: Path) -> None:
        path = folder / DATABASE
        try:
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
            self._connection.execute("SELECT 1 FROM short LIMIT 1")
        except sqlite3.Error as problem:
            raise DamagedError(
                f"{path}: cannot be read ({problem}). Remove its folder: it is made anew when it is needed"
            ) from problem

    def close(self) -> None:
        self._connection.close()

    def of(self, form: str) -> list[ShortName]:
        """The entities of a form, those spoken of most first."""
        rows = self._connection.execute("SELECT entity, times FROM short WHERE form = ? ORDER BY place", (form,))
        return [ShortName(*row) for row in rows]


class ShortNames:
    """The entities that a surface may stand for cut short, as of now: those that changed are looked at anew."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._index: ShortIndex | None = None
        self._index_folder: Path | None = None
        self._fresh: dict[str, list[ShortName]] | None = None

    def knowledge_base_changed(self) -> None:
        self._fresh = None

    def of(self, surface: str) -> list[ShortName]:
        """Each entity that has the surface as a short form, once."""
        index, fresh = self._opened(), self._fresh_names()
        forms = [form for form in (key_of(surface), initials(surface)) if form]
        found = [one for form in forms for one in index.of(form) if self._has(one.entity, form)]
        found += [one for form in forms for one in fresh.get(form, ())]
        return list({one.entity: one for one in found}.values())

    def _has(self, key: int, form: str) -> bool:
        """Whether what the index says of an entity holds: not if it changed, nor if it was called otherwise then."""
        if key in self.kb.changed_keys:
            return False
        if self.kb.date is None:
            return True
        entity = self.kb.entity(key)
        return entity is not None and form in forms_of(entity)

    def _fresh_names(self) -> dict[str, list[ShortName]]:
        if self._fresh is None:
            self._fresh = {}
            for key, entity in self.kb.fresh_entities():
                for form in forms_of(entity):
                    self._fresh.setdefault(form, []).append(ShortName(key, 0))
        return self._fresh

    def _opened(self) -> ShortIndex:
        if self._index is None or self._index_folder != self.kb.index_folder:
            folder = ensure_short(self.kb.folder)
            if self._index is not None:
                self._index.close()
            self._index, self._index_folder = ShortIndex(folder), self.kb.index_folder
        return self._index


def ensure_short(folder: Path, progress: Progress = ignore_progress) -> Path:
    """The folder of the index of a knowledge base, made now if there is none."""

    def make(store: Store, target: Path) -> None:
        write_short(store, target, progress)

    return ensure_derived(folder, SHORT, make)


def has_short_names(folder: Path) -> bool:
    """Whether a knowledge base has the index."""
    with closing(Store(folder)) as store:
        return is_complete(folder / store.meta("index") / SHORT)


def renew(store: Store, old: Path, new: Path, progress: Progress = ignore_progress) -> DerivedCard:
    """The index beside a new alias index; nothing of the old one is used."""
    return write_short(store, new, progress)


def write_short(store: Store, folder: Path, progress: Progress = ignore_progress) -> DerivedCard:
    """Make the index of a store in a folder, from the names and counts of the alias index that the folder is in."""
    from entlink.kb.indexes.names import read_card

    begin(folder)
    for leftover in folder.iterdir():
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    names = folder.parent if (folder.parent / COMPLETE).is_file() else store.folder / store.meta("index")
    index = AliasIndex(names, read_card(names).shards)
    partial = folder / f"{DATABASE}.partial"
    with errors_told(store.folder), closing(sqlite3.connect(partial)) as connection:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        count = _fill(connection, store, index, progress)
    partial.replace(folder / DATABASE)
    return finish(folder, "entlink.kb.indexes.short_names", count, {"format": FORMAT})


def _fill(connection: sqlite3.Connection, store: Store, index: AliasIndex, progress: Progress) -> int:
    connection.execute("CREATE TABLE every (form TEXT NOT NULL, entity INTEGER NOT NULL, times INTEGER NOT NULL)")
    rows: list[tuple[str, int, int]] = []
    for row in _rows(store, index, progress):
        rows.append(row)
        if len(rows) >= _ROWS_AT_A_TIME:
            connection.executemany("INSERT INTO every VALUES (?, ?, ?)", rows)
            rows.clear()
    connection.executemany("INSERT INTO every VALUES (?, ?, ?)", rows)
    progress("sorting short names", 0, 0)
    connection.execute(
        "CREATE TABLE short (form TEXT NOT NULL, place INTEGER NOT NULL, entity INTEGER NOT NULL, "
        "times INTEGER NOT NULL, PRIMARY KEY (form, place)) WITHOUT ROWID"
    )
    connection.execute(
        "INSERT INTO short SELECT form, place, entity, times FROM (SELECT form, entity, times, ROW_NUMBER() OVER "
        "(PARTITION BY form ORDER BY times DESC, entity) AS place FROM every) WHERE place <= ? ORDER BY form, place",
        (MOST_OF_FORM,),
    )
    connection.execute("DROP TABLE every")
    connection.commit()
    connection.execute("VACUUM")
    found: int = connection.execute("SELECT count(*) FROM short").fetchone()[0]
    return found


def _rows(store: Store, index: AliasIndex, progress: Progress) -> Iterator[tuple[str, int, int]]:
    last = store.last_key()
    for number, (key, _, version) in enumerate(store.entities()):
        if number % _EVERY == 0:
            progress("cutting names short", key, last)
        forms = forms_of(version.entity)
        if forms:
            title = version.entity.title
            times = _times_spoken_of(index, key, key_of(without_parenthesis(title) or title))
            yield from ((form, key, times) for form in forms)
    progress("cutting names short", last, last)


def forms_of(entity: Entity) -> list[str]:
    """The forms that may stand for an entity: of its title and its aliases."""
    return sorted({form for name, _ in given_names(entity) for form in short_forms(name)})


def _times_spoken_of(index: AliasIndex, entity: int, title: str) -> int:
    """How often the title stands in texts, linked or not; namesakes share by what its links and names say."""
    seen = total = own = 0
    for form in index.group(title):
        seen += form.unlinked
        for one, count, sources in form.triples():
            seen += count if sources & _ANCHOR else 0
            support = count + given_weight(_WEIGHTS, sources)
            total += support
            own += support if one == entity else 0
    return round(seen * own / total) if total else 0
