"""The tables as LaTeX that needs no package: to compile as it is, or to take into a paper."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from entlink.evaluation.report.content import Report
from entlink.evaluation.report.markup import readable
from entlink.evaluation.report.table import Cell, Group, Row, Score, Table, words

_MOST_ROWS, _WIDEST_HEAD = 32, 60
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # at the beginning of a row it would be an argument of the row before, as would a star
    "*": "{*}",
    "…": r"\ldots{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "−": "$-$",
    "≈": r"$\approx$",
    "÷": r"$\div$",
    "·": r"$\cdot$",
    "’": "'",
    "“": "``",
    "”": "''",
    "\ufffd": "?",
}
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c", "\u0323": "d", "\u0331": "b",
}  # fmt: skip
_ASCII_LETTER = re.compile("[A-Za-z]")
_HEAD = r"""% Made by entlink report: tables for the class article and others like it; no package is needed.
% To take all of them into a paper: \input{NAME}. Alone, this file is a document of its own.
% Names with letters other than Latin ones need XeLaTeX or LuaLaTeX, and a font that has them.
\makeatletter
\ifx\@nodocument\relax
  \let\entlinkend\relax
\else
  \documentclass{article}
  \def\entlinkend{\end{document}}
  \begin{document}
\fi
\makeatother
"""


def latex(report: Report) -> str:
    """Every table that fits a page, one after the other; slices as recall by run."""
    shown = [table for name, table in report.tables.items() if not name.startswith("slice-")]
    names = [run.label for run in report.runs]
    parts = [_table(_numbered(part, names)) for table in shown for part in _pages(table)]
    return _HEAD + "\n".join(parts) + "\n\\clearpage\n\\entlinkend\n"


def _pages(table: Table) -> Iterator[Table]:
    """A table in parts that fit a page, cut between groups and, where one is too long itself, within it."""
    if len(table.rows) <= _MOST_ROWS:
        yield table
        return
    for group in table.groups:
        for start in range(0, len(group.rows), _MOST_ROWS):
            title = f"{table.title}, {group.title}" if group.title else table.title
            yield table._replace(title=title, groups=[Group("", group.rows[start : start + _MOST_ROWS])])


def _numbered(table: Table, names: list[str]) -> Table:
    """Columns of runs by number, where their names are too wide for a page; the title then says which is which."""
    if list(table.columns[-len(names) :]) != names or sum(map(len, names)) <= _WIDEST_HEAD:
        return table
    key = "; ".join(f"{number}: {name}" for number, name in enumerate(names, 1))
    numbers = tuple(str(number) for number in range(1, len(names) + 1))
    columns = table.columns[: -len(names)] + numbers
    return table._replace(title=f"{table.title}. {key}", columns=columns)


def _table(table: Table) -> str:
    width = len(table.columns)
    kinds = "".join("l" if table.is_of_text(place) else "r" for place in range(width))
    lines = [
        r"\begin{table}[ht]",
        r"\centering\scriptsize\setlength{\tabcolsep}{2.5pt}",
        r"\makebox[\textwidth][c]{%",
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\hline",
    ]
    if table.bands:
        lines.append(_row(rf"\multicolumn{{{size}}}{{c}}{{{escaped(title)}}}" for title, size in table.bands))
    lines += [_row(map(escaped, table.columns)), r"\hline"]
    for group in table.groups:
        if group.title:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escaped(group.title)}}}}} \\")
        lines += [line for row in group.rows for line in _lines(row)]
    end = [r"\hline", r"\end{tabular}}", rf"\caption{{{escaped(table.title)}}}", r"\end{table}", ""]
    return "\n".join([*lines, *end])


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _lines(row: Row) -> Iterator[str]:
    """A row, and below it in small print the intervals or shares it has."""
    yield _row(map(_cell, row))
    below = [escaped(words(cell)[1]) for cell in row]
    if any(below):
        yield _row(rf"\tiny {small}" if small else "" for small in below)


def _cell(cell: Cell) -> str:
    text = escaped(words(cell)[0])
    if isinstance(cell, Score) and cell.mark == "best":
        return rf"\textbf{{{text}}}"
    return rf"{text}$^\approx$" if isinstance(cell, Score) and cell.mark == "near" else text


def escaped(text: str) -> str:
    """The text as LaTeX that prints it; accents are written out, so that any encoding of fonts has them."""
    plain = " ".join(readable(text).split())
    return "".join(_letter(letter) for letter in plain).replace("--", "-{}-")


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if letter.isascii():
        return letter
    parts = unicodedata.normalize("NFD", letter)
    if len(parts) != 2 or parts[1] not in _ACCENTS or not _ASCII_LETTER.fullmatch(parts[0]):
        return letter
    return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
