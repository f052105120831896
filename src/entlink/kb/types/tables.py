"""Changing what is known of types: the hierarchy, their names, and the coarse types, each from a two-column file."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from entlink.errors import InputError, SourceError
from entlink.io.inputs import input_lines, open_input
from entlink.kb.store.edits import open_for_writing
from entlink.kb.store.store import Store, has_table
from entlink.kb.store.writing import create_type_tables, set_meta, transaction
from entlink.kb.types.coarse import COARSE_AT, TIMES_SET
from entlink.kb.types.hierarchy import NAMES, PARENTS

Pairs = str | Path | Iterable[tuple[str, str]]
_HEADINGS = {"type", "parent", "child", "name", "label", "coarse"}
_HINT = "Give a file of two columns, tab-separated or CSV"


class TypesReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many rows of each were set; None of what was left as it is."""

    parents: int | None = None
    names: int | None = None
    coarse: int | None = None


def set_types(
    folder: str | Path,
    *,
    hierarchy: Pairs | None = None,
    separator: str | None = None,
    names: Pairs | None = None,
    coarse: Pairs | None = None,
    wait: bool = False,
) -> TypesReport:
    """Set what is given in place of what was there, all of it or nothing; `KnowledgeBase.set_types` says more."""
    if hierarchy is None and separator is None and names is None and coarse is None:
        raise InputError("nothing to set: give a hierarchy, a separator, names or coarse types")
    if separator == "":
        raise InputError("the separator is empty: give the sign between the parts of a type, such as .")
    parents = written = coarsely = None
    with open_for_writing(folder, wait=wait) as store, transaction(store) as connection:
        create_type_tables(connection)
        set_meta(connection, TIMES_SET, str(int(store.meta(TIMES_SET, "0")) + 1))
        if hierarchy is not None or separator is not None:
            connection.execute(f"DELETE FROM {PARENTS}")
            if hierarchy is not None:
                _fill(connection, PARENTS, _some_pairs(hierarchy))
            if separator is not None:
                _fill(connection, PARENTS, _cut(store, separator))
            parents = _count(connection, PARENTS)
        if names is not None:
            connection.execute(f"DELETE FROM {NAMES}")
            _fill(connection, NAMES, _some_pairs(names))
            written = _count(connection, NAMES)
        if coarse is not None:
            rows = list(dict.fromkeys(_pairs(coarse)))
            set_meta(connection, COARSE_AT, msgspec.json.encode(rows).decode() if rows else "")
            coarsely = len(rows)
    return TypesReport(parents, written, coarsely)


def merge_types(merged: Store, stores: Sequence[Store]) -> None:
    """What several stores know of types; where two name a type or coarse types, what the first says."""
    for store in stores:
        for table in (PARENTS, NAMES):
            if has_table(store.connection, table):
                _fill(merged.connection, table, store.connection.execute(f"SELECT * FROM {table}"))
    coarse = next((told for store in stores if (told := store.meta(COARSE_AT))), "")
    if coarse:
        set_meta(merged.connection, COARSE_AT, coarse)


def _fill(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[str, str]]) -> None:
    connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", rows)


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _cut(store: Store, separator: str) -> Iterator[tuple[str, str]]:
    """Parents of the types that entities have: `A.b.c` is a kind of `A.b`, and that one of `A`."""
    for type, _ in store.type_counts():
        parent, found, _ = type.rpartition(separator)
        while found and parent:
            yield type, parent
            type = parent
            parent, found, _ = type.rpartition(separator)


def _pairs(given: Pairs) -> Iterator[tuple[str, str]]:
    return read_pairs(given) if isinstance(given, str | Path) else map(_checked, given)


def _some_pairs(given: Pairs) -> Iterator[tuple[str, str]]:
    """The pairs; a file without any is a mistake, and a list without any removes what was there."""
    rows = _pairs(given)
    first = next(rows, None)
    if first is None and isinstance(given, str | Path):
        raise InputError(f"{given} has no rows, and what was set or built before would be lost. {_HINT}")
    return rows if first is None else chain([first], rows)


def _checked(pair: tuple[str, str]) -> tuple[str, str]:
    if isinstance(pair, tuple | list) and len(pair) == 2 and all(type(one) is str and one.strip() for one in pair):
        return pair[0], pair[1]
    raise InputError(f"{pair!r} is no pair of texts. Give pairs such as ('city', 'place')")


def read_pairs(path: str | Path) -> Iterator[tuple[str, str]]:
    """The rows of a file of two columns; a first row that only names the columns is left out."""

    def fail(problem: SourceError) -> None:
        raise problem

    separator = ""
    with open_input(path) as file:
        for number, line in input_lines(file, str(path), fail):
            place = (str(path), f"line {number}")
            try:
                text = line.decode().rstrip("\r\n")
            except UnicodeDecodeError as problem:
                hint = "Convert the file to UTF-8, for example with iconv"
                raise SourceError(f"not valid UTF-8 ({problem.reason})", *place, hint) from None
            is_first, separator = not separator, separator or ("\t" if "\t" in text else ",")
            try:
                cells = text.split("\t") if separator == "\t" else next(csv.reader([text]))
            except csv.Error as problem:
                raise SourceError(f"the row cannot be read ({problem})", *place, _HINT) from None
            pair = tuple(cell.strip() for cell in cells)
            if is_first and {cell.casefold() for cell in pair} <= _HEADINGS:
                continue
            if len(pair) != 2 or not all(pair):
                raise SourceError(f"the row has {sum(map(bool, pair))} cells, and two are needed", *place, _HINT)
            yield pair
