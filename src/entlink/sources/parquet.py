"""Tables of entities in Parquet, read through DuckDB a batch of rows at a time."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from entlink.errors import FieldError, SourceError
from entlink.io.files import compression_of
from entlink.sources.columns import RowPlan, missing_column, warn_of_unused
from entlink.sources.page import Page
from entlink.sources.reading import Reading

if TYPE_CHECKING:
    import duckdb

_BATCH = 1000
_TABLE = "read_parquet(?, hive_partitioning = false)"
# Their Python values would need more libraries or lose the form that dates are checked in.
_READ_AS_TEXT = ("DATE", "TIMESTAMP", "UUID")


def read(reading: Reading) -> Iterator[Page]:
    """One page a row; list columns, and struct or map columns for `external`, are understood."""
    import duckdb

    (path,) = reading.files
    if not path.stat().st_size:
        return
    if (compression := compression_of(path)) is not None:
        raise SourceError(f"the Parquet file is packed with {compression}", str(path), hint="Unpack it first")
    try:
        with closing(duckdb.connect(":memory:", config={"threads": 1})) as connection:
            connection.execute("SET enable_progress_bar = false")  # it would print
            connection.execute("SET TimeZone = 'UTC'")
            total = _count(connection, path)
            plan = _plan(connection, path, reading)
            yield from _pages(connection, plan, total, reading)
    except duckdb.Error as error:
        reading.fail(_unreadable(path, reading, error))


def _unreadable(path: Path, reading: Reading, error: Exception) -> SourceError:
    cause = str(error).splitlines()[0]
    problem = f"the Parquet data cannot be read ({cause}); {reading.records} records were read before that"
    return SourceError(problem, str(path), hint="Is the file complete, and is it Parquet?")


def _count(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    row = connection.execute(f"SELECT count(*) FROM {_TABLE}", [glob.escape(str(path))]).fetchone()
    return int(row[0]) if row else 0


class _Plan(NamedTuple):
    """How the rows become pages, and the query that gives them."""

    of_row: RowPlan
    query: str


def _plan(connection: duckdb.DuckDBPyConnection, path: Path, reading: Reading) -> _Plan:
    described = connection.execute(f"DESCRIBE SELECT * FROM {_TABLE}", [glob.escape(str(path))]).fetchall()
    types = {column: kind for column, kind, *_ in described}
    try:
        if missing := reading.columns.missing(types):
            raise missing_column(missing[0], types)
        of_row = RowPlan(reading.columns.resolve(list(types)), reading.language, of_cells=False)
    except FieldError as error:
        raise error.at(path, "") from None
    warn_of_unused(path, (column for column in types if column not in of_row.columns))
    selected = ", ".join(_expression(column, types[column]) for column in of_row.columns)
    return _Plan(of_row, f"SELECT {selected} FROM {_TABLE}")


def _expression(column: str, kind: str) -> str:
    quoted = '"' + column.replace('"', '""') + '"'
    is_list = kind.endswith("]")
    return f"CAST({quoted} AS VARCHAR)" if kind.startswith(_READ_AS_TEXT) and not is_list else quoted


def _pages(connection: duckdb.DuckDBPyConnection, plan: _Plan, total: int, reading: Reading) -> Iterator[Page]:
    (path,) = reading.files
    size = path.stat().st_size
    done = 0
    cursor = connection.execute(plan.query, [glob.escape(str(path))])
    while rows := cursor.fetchmany(_BATCH):
        for number, values in enumerate(rows, done + 1):
            row = dict(zip(plan.of_row.columns, values, strict=True))
            try:
                plan.of_row.check(row)
                page = plan.of_row.page(row)
            except FieldError as error:
                reading.fail(error.at(path, f"row {number}"))
                continue
            yield page
        done += len(rows)
        # DuckDB does not tell how far it has read: the share of the rows stands for it.
        reading.meter.consumed = size * done // total
