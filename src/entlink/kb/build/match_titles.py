"""Which entities of several knowledge bases are one: by title, by redirect, or by openings that name each other.

Worked out in temporary tables of the merged store, so that memory does not grow with it. An entity of one knowledge
base is matched with one of another at most, and never where several would do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from entlink.io.progress import Progress
from entlink.kb.store.manifest import MergeTotals
from entlink.kb.store.openings import has_openings
from entlink.kb.store.store import Store
from entlink.text.folding import key_of

_EVERY = 20_000
_TABLES = """
CREATE TEMP TABLE heads (place INTEGER PRIMARY KEY, k INTEGER, old INTEGER, title TEXT, key TEXT, root INTEGER);
CREATE TEMP TABLE called (k INTEGER, old INTEGER, key TEXT);
CREATE TEMP TABLE aimed (k INTEGER, old INTEGER, source TEXT);
CREATE TEMP TABLE pairs (place INTEGER, root INTEGER, PRIMARY KEY (place, root)) WITHOUT ROWID;
CREATE INDEX temp.head_titles ON heads (title, k);
CREATE INDEX temp.head_keys ON heads (key, k);
CREATE INDEX temp.head_places ON heads (k, old);
CREATE INDEX temp.head_roots ON heads (root, k);
CREATE INDEX temp.called_keys ON called (k, old, key);
CREATE INDEX temp.aimed_sources ON aimed (source)
"""
_SETTLING = "settling matches"
# What may be one, as a place in the n-th knowledge base and the root of one in those before it.
_BY_TITLE = (
    "SELECT new.place, there.root FROM temp.heads new JOIN temp.heads there ON there.title = new.title "
    "WHERE new.k = :n AND there.k < :n"
)
_BY_REDIRECT = (
    "SELECT new.place, there.root FROM temp.heads new JOIN temp.aimed a ON a.source = new.title AND a.k < :n "
    "JOIN temp.heads there ON there.k = a.k AND there.old = a.old WHERE new.k = :n UNION "
    "SELECT new.place, there.root FROM temp.heads there JOIN temp.aimed a ON a.source = there.title AND a.k = :n "
    "JOIN temp.heads new ON new.k = a.k AND new.old = a.old WHERE there.k < :n"
)
_BY_OPENINGS = (
    "SELECT new.place, there.root FROM temp.heads new JOIN temp.called c ON c.k = new.k AND c.old = new.old "
    "JOIN temp.heads there ON there.key = c.key AND there.k < :n "
    "JOIN temp.called back ON back.k = there.k AND back.old = there.old AND back.key = new.key WHERE new.k = :n"
)
_UNTAKEN = (
    "SELECT DISTINCT place, root FROM ({}) found WHERE place IN (SELECT place FROM temp.heads WHERE k = :n AND root "
    "IS NULL) AND NOT EXISTS (SELECT 1 FROM temp.heads taken WHERE taken.root = found.root AND taken.k = :n)"
)
_ALONE = (
    "UPDATE temp.heads SET root = (SELECT root FROM temp.pairs WHERE pairs.place = heads.place) WHERE place IN "
    "(SELECT place FROM temp.pairs GROUP BY place HAVING count(*) = 1) AND place IN "
    "(SELECT min(place) FROM temp.pairs GROUP BY root HAVING count(*) = 1)"
)


class TitleMatching:
    """The entities of knowledge bases by the root of each: the first of those that are one with it."""

    def __init__(self, merged: Store, stores: Sequence[Store], progress: Progress) -> None:
        self._connection = merged.connection
        for statement in _TABLES.split(";"):
            self._connection.execute(statement)
        for number, store in enumerate(stores):
            self._note(number, store, progress)
        found = [self._match(number, progress) for number in range(1, len(stores))]
        progress(_SETTLING, 0, 1)
        self._connection.execute("UPDATE temp.heads SET root = place WHERE root IS NULL")
        self.totals = MergeTotals(*(sum(counts) for counts in zip(*found, strict=True)))

    def root(self, number: int, old: int) -> tuple[int, int]:
        """The knowledge base and key of what an entity is one with: its own, if it is the first."""
        row = self._connection.execute(
            "SELECT there.k, there.old FROM temp.heads own JOIN temp.heads there ON there.place = own.root "
            "WHERE own.k = ? AND own.old = ?",
            (number, old),
        ).fetchone()
        return int(row[0]), int(row[1])

    def is_title(self, title: str) -> bool:
        """Whether some entity of the merged store has this title."""
        query = "SELECT 1 FROM temp.heads WHERE title = ? AND root = place"
        return self._connection.execute(query, (title,)).fetchone() is not None

    def _note(self, number: int, store: Store, progress: Progress) -> None:
        last = store.last_key()
        rows = store.connection.execute("SELECT key, title FROM entities ORDER BY key")
        self._connection.executemany(
            "INSERT INTO temp.heads (k, old, title, key, root) VALUES (?, ?, ?, ?, NULL)",
            ((number, key, title, key_of(title)) for key, title in _told(rows, last, progress)),
        )
        if number == 0:
            progress(_SETTLING, 0, 1)
            self._connection.execute("UPDATE temp.heads SET root = place")
        if has_openings(store.connection):
            progress("matching openings", 0, 1)
            names = store.connection.execute("SELECT entity, name FROM opening_names")
            self._connection.executemany(
                "INSERT INTO temp.called VALUES (?, ?, ?)", ((number, key, key_of(name)) for key, name in names)
            )
        progress("matching redirects", 0, 1)
        self._connection.executemany(
            "INSERT INTO temp.aimed VALUES (?, ?, ?)",
            ((number, key, source) for source, key in given_redirects(store)),
        )

    def _match(self, number: int, progress: Progress) -> tuple[int, int, int]:
        """Match the entities of a knowledge base with those before it; returns how many by each rule."""
        by_title, by_redirect, by_openings = (
            self._join(rule, number, f"joining by {what}", progress)
            for what, rule in (("title", _BY_TITLE), ("redirect", _BY_REDIRECT), ("opening", _BY_OPENINGS))
        )
        progress(_SETTLING, 0, 1)
        self._connection.execute("UPDATE temp.heads SET root = place WHERE root IS NULL AND k = ?", (number,))
        return by_title, by_redirect, by_openings

    def _join(self, rule: str, number: int, what: str, progress: Progress) -> int:
        self._connection.execute("DELETE FROM temp.pairs")
        progress(what, 0, 2)
        self._connection.execute(f"INSERT INTO temp.pairs {_UNTAKEN.format(rule)}", {"n": number})
        progress(what, 1, 2)
        return self._connection.execute(_ALONE).rowcount


def _told(rows: Iterator[tuple[int, str]], last: int, progress: Progress) -> Iterator[tuple[int, str]]:
    for number, row in enumerate(rows, 1):
        yield row
        if number % _EVERY == 0:
            progress("matching titles", row[0], last)


def given_redirects(store: Store) -> Iterator[tuple[str, int]]:
    """The redirects of a store that were given, not inferred from openings, each with the key it leads to."""
    for source, target in redirect_rows(store):
        key = store.resolve(target)
        if key is not None:
            yield source, key


def redirect_rows(store: Store) -> Iterator[tuple[str, str]]:
    """The redirects of a store that were given, as they are stored."""
    inferred = "WHERE source NOT IN (SELECT redirect FROM opening_names WHERE redirect IS NOT NULL)"
    where = inferred if has_openings(store.connection) else ""
    yield from store.connection.execute(f"SELECT source, target FROM redirects {where} ORDER BY source")
