"""Tables of studies as LaTeX, and their figures as CSV, a figure a line with nothing rounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from entlink.evaluation.report.latex import escaped
from entlink.evaluation.report.table import Group, Table, words

HERE, PUBLISHED = "here", "published"


class Line(NamedTuple):
    """A figure: of which table and system, of which part of the data, and whether it is ours or a paper's."""

    table: str
    system: str
    part: str
    measure: str
    value: float | int
    source: str = HERE


def csv_text(lines: Iterable[Line]) -> str:
    """The figures as CSV with a head."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Line._fields)
    writer.writerows(lines)
    return out.getvalue()


def latex_text(tables: Sequence[Table], notes: Sequence[str]) -> str:
    """The tables one after the other, to take into a paper with \\input; the notes stand above as comments."""
    comments = [f"% {' '.join(note.split())}" for note in notes]
    return "\n".join(["% Made by entlink study; no package is needed.", *comments, *map(_table, tables)]) + "\n"


def _table(table: Table) -> str:
    width = len(table.columns)
    kinds = "".join("l" if table.is_of_text(place) else "r" for place in range(width))
    lines = ["", r"\begin{table}[ht]", r"\centering\scriptsize", rf"\begin{{tabular}}{{{kinds}}}", r"\hline"]
    if table.bands:
        lines.append(_row(rf"\multicolumn{{{size}}}{{c}}{{{escaped(title)}}}" for title, size in table.bands))
    lines += [_row(map(escaped, table.columns)), r"\hline"]
    for group in table.groups:
        if group.title and group.rows:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escaped(group.title)}}}}} \\")
        lines += [_row(escaped(words(cell)[0]) for cell in row) for row in group.rows]
    lines += [r"\hline", r"\end{tabular}", rf"\caption{{{escaped(table.title)}}}", r"\end{table}"]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def table_of(name: str, title: str, columns: Sequence[str], *groups: Group) -> Table:
    """A table of the groups that have rows."""
    return Table(name, title, tuple(columns), [group for group in groups if group.rows])
