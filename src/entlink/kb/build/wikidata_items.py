"""What a dump of Wikidata says beside its items: which are kinds of which, and which are none of our concern.

Found by SQL over all items of the dump, those that become no entity included, so that memory does not grow with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from entlink.engine.protocol import Columns, Engine, JsonFiles, ParquetFiles, SqlSession
from entlink.errors import InputError
from entlink.kb.build.part_files import INSTANCES, ITEMS, MOVED, TYPE_NAMES, TYPE_PARENTS
from entlink.kb.names.index_rows import write_rows
from entlink.kb.store.store import Store
from entlink.kb.store.writing import insert_redirects, transaction

WIKIDATA = "wikidata"  # the format of such a source, and the scheme of its ids
OF_ITEMS, NAMED, PARENTS, REDIRECTED = "items.parquet", "named.parquet", "parents.parquet", "moved.parquet"
_COLUMNS: dict[str, Columns] = {
    ITEMS: {"p": "BIGINT", "r": "BIGINT", "i": "STRING", "t": "STRING"},
    INSTANCES: {"p": "BIGINT", "r": "BIGINT", "t": "STRING"},
    TYPE_NAMES: {"t": "STRING", "n": "STRING"},
    TYPE_PARENTS: {"t": "STRING", "parent": "STRING"},
    MOVED: {"title": "STRING", "target": "STRING"},
}
ITEM = re.compile(r"Q[1-9][0-9]*")


class ItemTotals(msgspec.Struct):
    """How many items there are, how many of them are left out for what they are, and how many types are known."""

    items: int = 0
    dropped: int = 0
    types: int = 0


class _Type(msgspec.Struct):
    t: str


def types_to_drop(path: str | None) -> list[str]:
    """The types of what is Wikimedia's own, and those of a user's file, one a line; `#` begins a comment."""
    own = files("entlink.sources.wikidata").joinpath("internal.txt").read_text(encoding="utf8")
    try:
        given = Path(path).read_text(encoding="utf-8-sig") if path is not None else ""
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: the types to leave out cannot be read ({problem}). Give a text file") from problem
    return [*_listed(own, ""), *_listed(given, str(path))]


def _listed(text: str, file: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        type = line.partition("#")[0].strip()
        if type and not ITEM.fullmatch(type):
            raise InputError(f"{file}, line {number}: {type!r} is no id of an item. Give one such as Q5 in each line")
        if type:
            yield type


def join_items(engine: Engine, parts: Sequence[Path], drop: Iterable[str], folder: Path, work: Path) -> ItemTotals:
    """Write which items stay (`items.parquet`), the types they have by way of others, and the ids that were moved."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows((_Type(type) for type in drop), folder / "drop.jsonl")
    with engine.sql(work) as session:
        for name, columns in _COLUMNS.items():
            found = JsonFiles([part / name for part in parts], columns)
            session.view(name.removesuffix(".jsonl"), found, cached=name not in (TYPE_NAMES, MOVED))
        session.view("given", JsonFiles([folder / "drop.jsonl"], {"t": "STRING"}))
        _closed(session, "dropped", "SELECT DISTINCT t FROM given", below=True)
        session.table(
            "unwanted",
            "SELECT DISTINCT p, r FROM "
            "(SELECT p, r, i AS t FROM items UNION ALL SELECT p, r, t FROM instances) kinds "
            "JOIN dropped ON kinds.t = dropped.t",
        )
        session.table(
            "marked",
            "SELECT p, r, i, t, 1 AS d FROM items JOIN unwanted USING (p, r) "
            "UNION ALL SELECT p, r, i, t, 0 AS d FROM items WHERE NOT EXISTS "
            "(SELECT 1 FROM unwanted WHERE unwanted.p = items.p AND unwanted.r = items.r)",
        )
        session.write("SELECT p, r, i, t, d FROM marked ORDER BY p, r", folder / OF_ITEMS)
        _write_types(session, folder)
        session.write(
            "SELECT title, min(target) AS target FROM moved GROUP BY title ORDER BY title", folder / REDIRECTED
        )
        return ItemTotals(
            session.number("SELECT count(*) FROM marked"),
            session.number("SELECT count(*) FROM marked WHERE d = 1"),
            session.number("SELECT count(*) FROM used"),
        )


def _write_types(session: SqlSession, folder: Path) -> None:
    """The types of the items that stay and all that these are kinds of: their names, and what they are kinds of."""
    _closed(
        session,
        "used",
        "SELECT DISTINCT instances.t AS t FROM instances JOIN marked "
        "ON instances.p = marked.p AND instances.r = marked.r WHERE d = 0",
        below=False,
    )
    session.write(
        "SELECT type_names.t AS t, min(n) AS n FROM type_names JOIN used ON type_names.t = used.t WHERE n <> '' "
        "GROUP BY type_names.t ORDER BY t",
        folder / NAMED,
    )
    session.write(
        "SELECT DISTINCT type_parents.t AS t, parent FROM type_parents JOIN used ON type_parents.t = used.t "
        "ORDER BY t, parent",
        folder / PARENTS,
    )


def _closed(session: SqlSession, name: str, query: str, *, below: bool) -> None:
    """A table of types and all that are kinds of them, or that they are kinds of; rings end by themselves."""
    near, far = ("parent", "t") if below else ("t", "parent")
    session.table(name, query)
    session.table("found_last", query)  # the types found last: only these lead further
    while session.number("SELECT count(*) FROM found_last"):
        session.table(
            "found_last",
            f"SELECT DISTINCT type_parents.{far} AS t FROM type_parents "
            f"JOIN found_last ON type_parents.{near} = found_last.t "
            f"WHERE NOT EXISTS (SELECT 1 FROM {name} WHERE {name}.t = type_parents.{far})",
        )
        session.table(name, f"SELECT t FROM {name} UNION ALL SELECT t FROM found_last")


def store_types(engine: Engine, store: Store, folder: Path) -> None:
    """Fill the tables of types, and note the ids that were moved; to do it once more changes nothing."""
    with engine.sql(folder) as session, transaction(store) as connection:
        session.view("named", ParquetFiles([folder / NAMED]))
        session.view("parents", ParquetFiles([folder / PARENTS]))
        connection.executemany(
            "INSERT OR REPLACE INTO type_names VALUES (?, ?)", session.rows("SELECT t, n FROM named ORDER BY t")
        )
        connection.executemany(
            "INSERT OR REPLACE INTO type_parents VALUES (?, ?)",
            session.rows("SELECT t, parent FROM parents ORDER BY t, parent"),
        )
    with engine.sql(folder) as session:
        session.view("moved", ParquetFiles([folder / REDIRECTED]))
        insert_redirects(store, session.rows("SELECT title, target FROM moved ORDER BY title"))
