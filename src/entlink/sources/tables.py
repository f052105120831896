"""Tables of entities, a row each: JSON Lines, CSV and TSV. `ColumnMapping` says which column is what."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from entlink.errors import FieldError, SourceError
from entlink.io import lines
from entlink.sources.columns import RowPlan, missing_column, warn_of_unused
from entlink.sources.page import NameRule, Page
from entlink.sources.reading import Reading
from entlink.text import field_limits as texts

_MAX_PLANS = 1000
_SEPARATORS = (",", ";", "\t", "|")
_QUOTED = re.compile(r'"[^"]*"?')
_RULE = ("rule",)  # the only column of a row that is a pin or a block
_ROW_DECODER: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


class _Plans:
    """The plan for each set of columns that the rows of a JSON Lines file have."""

    def __init__(self, reading: Reading) -> None:
        self._columns, self._language = reading.columns, reading.language
        self._plans: dict[tuple[str, ...], RowPlan] = {}
        self._first: tuple[str, ...] | None = None
        self._unseen = set(reading.columns.mapped_columns)
        self._seen: dict[str, bool] = {}  # whether any row used a column

    def of(self, columns: tuple[str, ...]) -> RowPlan:
        plan = self._plans.get(columns)
        if plan is None:
            self._first = self._first or columns
            self._unseen.difference_update(columns)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            chosen = self._columns.resolve(columns)
            plan = self._plans[columns] = RowPlan(chosen, self._language, of_cells=False)
            if len(self._seen) < _MAX_PLANS:
                self._seen = dict.fromkeys(columns, False) | self._seen | dict.fromkeys(plan.columns, True)
        return plan

    def tell_of_columns(self, path: Path) -> None:
        """Tell of columns that no row used, and check that of those that were asked for."""
        warn_of_unused(path, (column for column, is_used in self._seen.items() if not is_used))
        self._check_all_seen(path)

    def _check_all_seen(self, path: Path) -> None:
        """A mapped column may be absent from some rows, but one that no row has is a mistake."""
        if self._first is not None and self._unseen:
            error = missing_column(min(self._unseen), self._first)
            raise SourceError(f"in all of the file {error.problem} in the first record", str(path), hint=error.hint)


def read_jsonl(reading: Reading) -> Iterator[Page]:
    """A JSON object a line; each may leave out columns that are not the id or the title.

    A line with nothing but a `rule` is a pin or a block of the knowledge base that was exported.
    """
    (path,) = reading.files
    plans = _Plans(reading)
    for number, row, is_odd in lines.read_json_lines(path, reading, _ROW_DECODER):
        try:
            columns = tuple(row)
            if columns == _RULE:
                reading.rules.append(_rule(row))
                continue
            plan = plans.of(columns)
            if is_odd:
                plan.check(row)
            page = plan.page(row)
        except FieldError as error:
            reading.fail(error.at(path, f"line {number}"))
            continue
        yield page
    plans.tell_of_columns(path)


def _rule(row: dict[str, Any]) -> NameRule:
    """The pin or block that an export has written as an object."""
    try:
        rule = msgspec.convert(row["rule"], NameRule)
    except msgspec.ValidationError as error:
        raise FieldError(f"the pin or block is not as expected: {error}") from None
    texts.check_texts({"surface": rule.surface, "entity": rule.entity})
    return rule


class _TextLines:
    """The lines of a CSV file as text for the csv module, remembering what was odd about a record's lines.

    A line that is not UTF-8 is passed on with replacements, so that the csv module sees where the
    record ends and the whole record can be left out.
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        self._path = path
        first, self._lines = _peeked(lines.read_lines(path, reading))
        self.separator = _separator(first.decode(errors="replace"))
        self.last_line = 0
        self.start_record()

    def start_record(self) -> None:
        self.first_line = 0
        self.size = 0
        self.has_nul = False
        self.error: SourceError | None = None

    def __iter__(self) -> _TextLines:
        return self

    def __next__(self) -> str:
        self.last_line, line = next(self._lines)
        self.first_line = self.first_line or self.last_line
        self.size += len(line)
        self.has_nul = self.has_nul or b"\x00" in line
        try:
            return lines.decoded(line, self._path, self.last_line)
        except SourceError as error:
            self.error = self.error or error
            return line.decode(errors="replace")

    @property
    def is_odd(self) -> bool:
        return self.has_nul or self.size > texts.MAX_FIELD


def _peeked(numbered: Iterator[tuple[int, bytes]]) -> tuple[bytes, Iterator[tuple[int, bytes]]]:
    """The first line that is not empty, and all lines from it on."""
    for number, line in numbered:
        if line.strip(b"\r\n"):
            return line, chain([(number, line)], numbered)
    return b"", numbered


def _separator(header: str) -> str:
    """The separator that splits the header into most columns, what stands in quotes apart; the comma on ties."""
    return max(_SEPARATORS, key=_QUOTED.sub("", header).count)


# A row's line number, its cells, and whether a cell may hold a NUL or be too large.
_Cells = tuple[int, list[str], bool]


def _csv_rows(path: Path, reading: Reading) -> Iterator[_Cells]:
    # The limit is the process's: it is only ever raised. Fields are measured by RowPlan.check.
    csv.field_size_limit(max(csv.field_size_limit(), lines.MAX_LINE))
    text = _TextLines(path, reading)
    rows = csv.reader(text, delimiter=text.separator, strict=True)
    while True:
        text.start_record()
        try:
            cells = next(rows)
            error = text.error
        except StopIteration:
            return
        except csv.Error as problem:
            if reading.is_cut_off:
                return
            error = _bad_quoting(path, text, problem)
        if error is not None:
            reading.fail(error)
        elif cells:
            yield text.first_line, cells, text.is_odd


def _bad_quoting(path: Path, text: _TextLines, problem: csv.Error) -> SourceError:
    ends = f" (the record ends at line {text.last_line})" if text.last_line > text.first_line else ""
    hint = 'A cell with a separator, quote or line end stands in quotes, and a quote in it is doubled ("")'
    return SourceError(f"bad CSV: {problem}{ends}", str(path), f"line {text.first_line}", hint)


def _tsv_rows(path: Path, reading: Reading) -> Iterator[_Cells]:
    for number, line in lines.read_lines(path, reading):
        try:
            text = lines.decoded(line, path, number).rstrip("\r\n")
        except SourceError as error:
            reading.fail(error)
            continue
        if text:
            yield number, text.split("\t"), "\x00" in text or len(line) > texts.MAX_FIELD


def read_csv(reading: Reading) -> Iterator[Page]:
    """Cells quoted where need be; the first row names the columns and shows what separates them."""
    return _read_cells(reading, _csv_rows(reading.files[0], reading))


def read_tsv(reading: Reading) -> Iterator[Page]:
    """Tab-separated cells in which a quote means nothing; the first row names the columns."""
    return _read_cells(reading, _tsv_rows(reading.files[0], reading))


def _read_cells(reading: Reading, rows: Iterator[_Cells]) -> Iterator[Page]:
    (path,) = reading.files
    header = next(rows, None)
    if header is None:
        return
    columns = [column.strip() for column in header[1]]
    plan = _plan_of_header(reading, path, header[0], columns)
    for number, cells, is_odd in rows:
        row = dict(zip(columns, cells, strict=False))
        try:
            if len(cells) != len(columns):
                raise FieldError(f"the row has {len(cells)} cells, the header {len(columns)}")
            if is_odd:
                plan.check(row)
            page = plan.page(row)
        except FieldError as error:
            reading.fail(error.at(path, f"line {number}"))
            continue
        yield page


def _plan_of_header(reading: Reading, path: Path, number: int, columns: list[str]) -> RowPlan:
    """The plan for all rows; a header that does not fit is an error even when rows may be skipped."""
    try:
        if missing := reading.columns.missing(columns):
            raise missing_column(missing[0], columns)
        plan = RowPlan(reading.columns.resolve(columns), reading.language, of_cells=True)
        if doubled := [column for column in plan.columns if columns.count(column) > 1]:
            raise FieldError(f"the header names the column {doubled[0]!r} twice")
    except FieldError as error:
        raise _of_header(error, columns).at(path, f"line {number}") from None
    warn_of_unused(path, (column for column in columns if column not in plan.columns))
    return plan


def _of_header(error: FieldError, columns: list[str]) -> FieldError:
    """The error, saying so where the whole header is one column because its separator is another."""
    separator = _separator(columns[0])
    if len(columns) > 1 or separator not in columns[0]:
        return error
    return FieldError(f"{error.problem}; the separator seems to be {separator!r}", "Read it as the format csv")
