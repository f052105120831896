"""A table of the report: plain rows, the same for the page, for LaTeX and for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from entlink.evaluation.intervals.resampling import Interval

Mark = Literal["", "best", "near"]


class Score(NamedTuple):
    """A share from 0 to 1 with its interval; a `near` one has an interval that overlaps the best one's."""

    value: float
    interval: Interval | None = None
    mark: Mark = ""


class Gap(NamedTuple):
    """A difference of two scores, with its sign."""

    value: float
    interval: Interval | None = None


class Part(NamedTuple):
    """How many, and what share that is of all."""

    number: int
    share: float


class Amount(NamedTuple):
    """A number that is no share."""

    value: float


class Chance(NamedTuple):
    """A probability, which may be small."""

    p: float


class Shade(NamedTuple):
    """A share coloured by how it compares: `against` is from -1, the worst, by 0, as good, to 1, the best."""

    value: float
    against: float


Cell = str | int | float | Score | Gap | Part | Amount | Chance | Shade | None
Row = tuple[Cell, ...]


class Group(NamedTuple):
    """Rows under a heading of their own, if it has words."""

    title: str
    rows: list[Row]


class Table(NamedTuple):
    """Columns with their headings; the first cell of a row names it. `bands` are headings over several columns."""

    name: str
    title: str
    columns: tuple[str, ...]
    groups: list[Group]
    bands: tuple[tuple[str, int], ...] = ()

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    def is_of_text(self, place: int) -> bool:
        """Whether a column holds words, which stand at its left."""
        return any(isinstance(row[place], str) for row in self.rows)


def without_empty(table: Table) -> Table:
    """The table without the columns in which no row has anything."""
    kept = [place for place in range(len(table.columns)) if any(row[place] is not None for row in table.rows)]
    return table._replace(
        columns=tuple(table.columns[place] for place in kept),
        groups=[
            Group(group.title, [tuple(row[place] for place in kept) for row in group.rows]) for group in table.groups
        ],
    )


def words(cell: Cell) -> tuple[str, str]:
    """A cell as text, and what stands below it in small: an interval or a share."""
    match cell:
        case None:
            return "–", ""
        case str():
            return cell, ""
        case Score():
            return f"{cell.value:.3f}", _span(cell.interval, "{:.3f}")
        case Gap():
            return signed(cell.value), _span(cell.interval, "{:+.3f}")
        case Part():
            return f"{cell.number:,}", f"{cell.share:.3f}"
        case Amount():
            return f"{cell.value:,.2f}", ""
        case Chance():
            return f"{cell.p:.4f}", ""
        case Shade():
            return f"{cell.value:.3f}", ""
        case int():
            return f"{cell:,}", ""
        case float():
            return f"{cell:.3f}", ""


def signed(value: float) -> str:
    """A difference as it is written: with its sign, the minus as wide as the plus."""
    return f"{value:+.3f}".replace("-", "−")


def _span(interval: Interval | None, form: str) -> str:
    if interval is None:
        return ""
    low, high = form.format(interval.low), form.format(interval.high)
    return f"{low}–{high}" if form == "{:.3f}" else f"{low} to {high}".replace("-", "−")


def marked(scores: Sequence[Score | None]) -> list[Score | None]:
    """The best of the scores marked, and those that chance may have put behind it: their intervals overlap."""
    known = [one for one in scores if one is not None]
    if len(known) < 2:
        return list(scores)
    best = max(known, key=lambda one: one.value)
    return [one and one._replace(mark=_mark(one, best)) for one in scores]


def _mark(one: Score, best: Score) -> Mark:
    if one.value == best.value:
        return "best"
    ours, theirs = one.interval, best.interval
    return "near" if ours and theirs and ours.high >= theirs.low else ""
