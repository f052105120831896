"""Fine types: the (property, value) pairs that most entities have, counted once and kept beside the alias index.

`pairs.tsv` has a line a pair, the most frequent first: property, value, entities. It is made when it is first asked
for, and anew with each index. Counting takes no more memory for more entities: what is too much goes to a file.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from entlink.errors import DamagedError
from entlink.io.atomic import write_whole
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.indexes.derived import FINE, DerivedCard, begin, ensure_derived, finish, read_complete
from entlink.kb.store.store import Store
from entlink.kb.store.writing import errors_told
from entlink.kb.types.facts import Known, all_facts, pairs_of

MOST = 10_000
_FILE = "pairs.tsv"
_IN_MEMORY = 500_000  # pairs
_ADD = "INSERT INTO pairs VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET entities = entities + excluded.entities"
_EVERY = 20_000  # entities that progress is told


class TopSnak(NamedTuple):
    """A property with a value, and how many entities have it."""

    predicate: str
    value: str
    entities: int

    @property
    def name(self) -> str:
        """As in the paper: `P31-Q5`."""
        return f"{self.predicate}-{self.value}"


class TopSnaks:
    """The fine types of a knowledge base, the most frequent first, by name."""

    def __init__(self, pairs: Iterable[TopSnak]) -> None:
        self.pairs = list(pairs)
        self._places = {(one.predicate, one.value): place for place, one in enumerate(self.pairs)}

    def of(self, facts: Known) -> tuple[str, ...]:
        """Those that an entity has, the most frequent first."""
        places = {place for pair in pairs_of(facts) if (place := self._places.get(pair)) is not None}
        return tuple(self.pairs[place].name for place in sorted(places))

    def covers(self, facts: Known) -> bool:
        """Whether an entity has one at least."""
        return any(pair in self._places for pair in pairs_of(facts))


def read_top_snaks(kb: Path) -> TopSnaks:
    """The fine types of the knowledge base in a folder, counted now where they were not."""
    path = ensure_top_snaks(kb) / _FILE
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf8").splitlines()]
        return TopSnaks(TopSnak(predicate, value, int(count)) for predicate, value, count in rows)
    except (OSError, ValueError) as problem:
        raise DamagedError(
            f"{path}: cannot be read ({problem}). Remove its folder: it is made anew when it is needed"
        ) from problem


def ensure_top_snaks(kb: Path, most: int | None = None, progress: Progress = ignore_progress) -> Path:
    """The folder they are in; `most` is how many there are to be, and without it those that are there will do."""

    def make(store: Store, target: Path) -> None:
        write_top_snaks(store, target, most or MOST, progress)

    folder = ensure_derived(kb, FINE, make)
    if most is not None and read_complete(folder).settings.get("most") != most:
        shutil.rmtree(folder)
        folder = ensure_derived(kb, FINE, make)
    return folder


def renew(store: Store, old: Path, new: Path, progress: Progress = ignore_progress) -> DerivedCard:
    """As many as there were, counted anew beside a new alias index."""
    return write_top_snaks(store, new, int(read_complete(old).settings["most"]), progress)


def write_top_snaks(store: Store, folder: Path, most: int, progress: Progress = ignore_progress) -> DerivedCard:
    """Count the pairs of a store and keep those that most entities have; of equals, the first by name."""
    begin(folder)
    counting = folder / "counting.sqlite"
    counting.unlink(missing_ok=True)
    with errors_told(store.folder), closing(sqlite3.connect(counting, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(
            "CREATE TABLE pairs (property, value, entities, PRIMARY KEY (property, value)) WITHOUT ROWID"
        )
        for counts in _counted(store, progress):
            rows = sorted((*pair, count) for pair, count in counts.items())
            connection.execute("BEGIN")
            connection.executemany(_ADD, rows)
            connection.execute("COMMIT")
        query = "SELECT property, value, entities FROM pairs ORDER BY entities DESC, property, value LIMIT ?"
        pairs = connection.execute(query, (most,)).fetchall()
    counting.unlink()
    write_whole(folder / _FILE, "".join(f"{p}\t{value}\t{count}\n" for p, value, count in pairs).encode())
    return finish(folder, "entlink.kb.types.top_snaks", len(pairs), {"most": most})


def _counted(store: Store, progress: Progress) -> Iterator[Counter[tuple[str, str]]]:
    """Counts of pairs, of as many entities at a time as memory is given for."""
    counts: Counter[tuple[str, str]] = Counter()
    last = store.count()
    for number, facts in enumerate(all_facts(store)):
        if number % _EVERY == 0:
            progress("counting properties", number, last)
        counts.update(pair for pair in pairs_of(facts) if _is_line(pair))
        if len(counts) >= _IN_MEMORY:
            yield counts
            counts = Counter()
    yield counts
    progress("counting properties", last, last)


def _is_line(pair: tuple[str, str]) -> bool:
    """A value of several lines or cells is a text, and not a kind of thing."""
    return not any(sign in text for text in pair for sign in "\t\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
