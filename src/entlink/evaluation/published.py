"""The figures of published papers as data, to set our own beside them.

A table of a paper is one TOML file that looks like the table: `columns`, and `rows` of `values`, the digits as
printed. Code asks for figures, each with all that says which one it is:

    [figure] = find(figures(folder), paper="hansel", table="5", system="CA", dataset="hansel-fs")

`columns` is a list of tables of keys. A key with several values stands for as many columns, the last key changing
fastest. `"-"` is a cell without a figure in the paper, `"?"` one that cannot be read; the latter is listed under
`unreadable`. What a table says of single cells (`misprints`, `unreadable`, `remarks`) names the cell by its system
and as much of the rest as it takes to mean one cell only.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, Literal

import msgspec

from entlink.errors import InputError, SourceError

Kind = Literal["results", "statistics", "settings"]
Unit = Literal["fraction", "percent", "points", "count", "mean", "ratio", "milliseconds", "seconds"]
Check = Literal[
    "bound", "claim", "difference", "harmonic-mean", "kappa", "mean", "ratio", "repeated-column", "same-figure", "sum"
]
NO_FIGURE, UNREADABLE = "-", "?"


class PublishedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a paper: `where` says which of the system's it is, `decimals` how many digits were printed.

    `decimals` is negative for a figure rounded to tens (-1), thousands (-3), millions (-6).
    """

    paper: str
    table: str
    kind: Kind
    system: str
    where: Mapping[str, str]
    value: float
    decimals: int
    unit: Unit
    bold: bool = False
    misprint: bool = False
    note: str = ""

    @property
    def rounding(self) -> float:
        """How far the true figure may be from the printed one: half of its last digit, nothing for a full count."""
        return 0.0 if self.unit == "count" and self.decimals == 0 else float(Decimal(5).scaleb(-self.decimals - 1))


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row as written; `bold` are the columns printed in bold, counted from 1."""

    values: tuple[Any, ...]
    system: str = ""
    where: dict[str, str] = {}
    unit: Unit | None = None
    bold: tuple[int, ...] = ()


class CellNote(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something to know about one cell."""

    system: str
    why: str
    where: dict[str, str] = {}


class Misprint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell that cannot be right, or that another place of the paper contradicts; `check` is what finds it."""

    system: str
    printed: Any
    check: Check
    why: str
    where: dict[str, str] = {}


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One place of a table; `value` is None where the paper has no figure or it cannot be read."""

    system: str
    where: dict[str, str]
    value: Decimal | None
    readable: bool
    unit: Unit
    bold: bool

    def fits(self, system: str, where: Mapping[str, str]) -> bool:
        """Whether a note for `system` and `where` means this cell."""
        return self.system == system and where.items() <= self.where.items()


class PublishedTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of a paper, or the figures of its running text; `where` holds for all of its cells."""

    paper: str
    table: str
    title: str
    kind: Kind
    unit: Unit
    columns: tuple[dict[str, str | tuple[str, ...]], ...]
    rows: tuple[Row, ...]
    where: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    misprints: tuple[Misprint, ...] = ()
    unreadable: tuple[CellNote, ...] = ()
    remarks: tuple[CellNote, ...] = ()

    def headers(self) -> list[dict[str, str]]:
        """The keys of every column, from left to right."""
        return [header for column in self.columns for header in _spread(column)]

    def cells(self) -> Iterator[Cell]:
        """All places of the table, row by row, with or without a figure."""
        headers = self.headers()
        for row in self.rows:
            for position, (header, value) in enumerate(zip(headers, row.values, strict=True), start=1):
                keys = self.where | row.where | header
                yield Cell(
                    system=keys.pop("system", row.system),
                    where=keys,
                    value=None if isinstance(value, str) else Decimal(value),
                    readable=value != UNREADABLE,
                    unit=row.unit or self.unit,
                    bold=position in row.bold,
                )

    def figures(self) -> Iterator[PublishedFigure]:
        """The figures of the table, row by row, each with what is noted about it."""
        for cell in self.cells():
            if cell.value is None:
                continue
            misprints = [note.why for note in self.misprints if cell.fits(note.system, note.where)]
            remarks = [note.why for note in self.remarks if cell.fits(note.system, note.where)]
            yield PublishedFigure(
                paper=self.paper,
                table=self.table,
                kind=self.kind,
                system=cell.system,
                where=cell.where,
                value=float(cell.value),
                decimals=-int(cell.value.as_tuple().exponent),
                unit=cell.unit,
                bold=cell.bold,
                misprint=bool(misprints),
                note="; ".join((*misprints, *remarks)),
            )


def read_table(path: Path | str) -> PublishedTable:
    """The table in one file; SourceError if anything in the file does not fit."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf8"), parse_float=Decimal)
        table = msgspec.convert(data, PublishedTable)
    except OSError as problem:
        raise SourceError(
            f"the file cannot be read: {problem.strerror}", str(path), hint="Check the path"
        ) from problem
    except UnicodeDecodeError as problem:
        raise SourceError("the file is not UTF-8", str(path), f"byte {problem.start}", "Convert it") from problem
    except tomllib.TOMLDecodeError as problem:
        raise SourceError(f"this is not TOML: {problem}", str(path), hint="Correct the file") from problem
    except msgspec.ValidationError as problem:
        hint = "See the README beside the tables for the keys of a file"
        raise SourceError(f"the table has a wrong or missing key: {problem}", str(path), hint=hint) from problem
    _Checker(table, str(path)).check()
    return table


def read_tables(folder: Path | str) -> Iterator[PublishedTable]:
    """The tables in a folder and the folders in it, in the order of their paths."""
    paths = sorted(Path(folder).rglob("*.toml"))
    if not paths:
        raise SourceError("there is no table here", str(folder), hint="Give a folder with .toml files")
    seen: dict[tuple[str, str], Path] = {}
    for path in paths:
        table = read_table(path)
        first = seen.setdefault((table.paper, table.table), path)
        if first is not path:
            problem = f"table {table.table!r} of {table.paper!r} is in {first} already"
            raise SourceError(problem, str(path), hint="Keep one of the two, or correct `table`")
        yield table


def figures(folder: Path | str) -> Iterator[PublishedFigure]:
    """Every figure of the tables in a folder."""
    for table in read_tables(folder):
        yield from table.figures()


def find(
    figures: Iterable[PublishedFigure],
    *,
    paper: str | None = None,
    table: str | None = None,
    system: str | None = None,
    **where: str,
) -> Iterator[PublishedFigure]:
    """Those of the figures that fit all that is given."""
    for figure in figures:
        given = ((paper, figure.paper), (table, figure.table), (system, figure.system))
        if all(wanted in (None, own) for wanted, own in given) and where.items() <= figure.where.items():
            yield figure


def find_one(figures: Iterable[PublishedFigure], **wanted: str) -> PublishedFigure:
    """The one figure that fits, as with `find`; InputError if none does or several do."""
    found = list(find(figures, **wanted))
    if len(found) == 1:
        return found[0]
    asked = ", ".join(f"{key}={value!r}" for key, value in wanted.items())
    hint = "Say more" if found else "Check the names against the table's file"
    raise InputError(f"{len(found) or 'no'} published figures have {asked}. {hint}")


def _spread(column: Mapping[str, str | tuple[str, ...]]) -> Iterator[dict[str, str]]:
    choices = [(value,) if isinstance(value, str) else value for value in column.values()]
    for values in product(*choices):
        yield dict(zip(column, values, strict=True))


class _Checker:
    """What the types alone cannot say of a table."""

    def __init__(self, table: PublishedTable, file: str) -> None:
        self.table, self.file, self.headers = table, file, table.headers()

    def check(self) -> None:
        self._columns()
        for number, row in enumerate(self.table.rows, start=1):
            self._row(row, f"row {number}{f' ({row.system})' if row.system else ''}")
        cells = list(self.table.cells())
        seen: set[tuple[str, frozenset[tuple[str, str]]]] = set()
        for cell in cells:
            name = cell.system, frozenset(cell.where.items())
            if name in seen:
                problem = f"two cells are both {cell.system!r} with {cell.where}"
                self._fail(problem, "rows", "Tell them apart by a key of `where`")
            seen.add(name)
        self._notes(cells)

    def _columns(self) -> None:
        if not self.headers or not self.table.rows:
            self._fail("there are no columns or no rows", "", "Write at least one of each; [{}] is one plain column")
        for number, header in enumerate(self.headers, start=1):
            if header.keys() != self.headers[0].keys():
                hint = "Give all columns the same keys"
                self._fail(f"the keys {sorted(header)} are not those of column 1", f"column {number}", hint)

    def _row(self, row: Row, position: str) -> None:
        if len(row.values) != len(self.headers):
            problem = f"there are {len(row.values)} values for {len(self.headers)} columns"
            self._fail(problem, position, f"Write {NO_FIGURE!r} where the paper has no figure")
        if row.where.keys() != self.table.rows[0].where.keys():
            self._fail("the keys of `where` are not those of row 1", position, "Give all rows the same keys")
        if bool(row.system) == ("system" in self.headers[0]):
            self._fail("the system must be named", position, "Name it in the row or in the columns, not in both")
        keys = [*self.table.where, *row.where, *self.headers[0]]
        if doubled := sorted({key for key in keys if keys.count(key) > 1}):
            self._fail(f"{doubled[0]!r} is set twice", position, "Set a key for the table, the row or the column")
        if any(not 1 <= number <= len(self.headers) for number in row.bold):
            self._fail(f"there is no column {max(row.bold)} to be bold", position, "Count the columns from 1")
        for number, value in enumerate(row.values, start=1):
            self._value(value, f"{position}, column {number}")

    def _value(self, value: object, position: str) -> None:
        number = isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite()
        if not number and value not in (NO_FIGURE, UNREADABLE):
            hint = f"Write a number, {NO_FIGURE!r} where there is none, {UNREADABLE!r} where it cannot be read"
            self._fail(f"{value!r} is not a number", position, hint)

    def _notes(self, cells: list[Cell]) -> None:
        for misprint in self.table.misprints:
            cell = self._cell(cells, misprint, "misprints")
            if cell.value != misprint.printed:
                hint = "Write into `rows` and `printed` what stands in the paper"
                self._fail(f"printed is {misprint.printed} and the cell {cell.value}", "misprints", hint)
        for remark in self.table.remarks:
            self._cell(cells, remark, "remarks")
        listed = [self._cell(cells, note, "unreadable") for note in self.table.unreadable]
        wrong = [cell for cell in cells if cell.readable == (cell in listed)]
        if wrong:
            place = f"{wrong[0].system!r} with {wrong[0].where}"
            hint = f"List exactly the cells whose value is {UNREADABLE!r}"
            self._fail(f"the list does not fit the cell of {place}", "unreadable", hint)

    def _cell(self, cells: list[Cell], note: CellNote | Misprint, position: str) -> Cell:
        known = {key for cell in cells for key in cell.where}
        if unknown := sorted(note.where.keys() - known):
            self._fail(f"no column or row has the key {unknown[0]!r}", position, f"Choose among {sorted(known)}")
        meant = [cell for cell in cells if cell.fits(note.system, note.where)]
        if len(meant) != 1:
            place = f"{note.system!r} with {note.where}"
            self._fail(f"{place} means {len(meant)} cells", position, "Name the cell so that it means one")
        return meant[0]

    def _fail(self, problem: str, position: str, hint: str) -> None:
        raise SourceError(problem, self.file, position, hint)
