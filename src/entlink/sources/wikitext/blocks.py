"""The lines of a page: paragraphs, items of lists, cells of tables, headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from entlink.sources.page import Kind
from entlink.sources.wikitext.blanks import one_blank
from entlink.sources.wikitext.quotes import without_quotes
from entlink.sources.wikitext.seams import SEAM, close_seams, tidy_seams

_MARKERS = "*#:;"
_TABLE = re.compile(r":*+\s*+\{\|")

Block = tuple[Kind, str]


class Blocks:
    """Divides one text, whose only inline markup is links and apostrophes, into blocks of a kind each."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._lines: list[str] = []  # of the block that is being read
        self._tables = 0  # how many are open, one in another
        self._handlers: dict[str, Callable[[str], None]] = {
            "=": self._heading,
            "-": self._rule,
            "{": self._open_table,
            "|": self._table_line,
            "!": self._table_line,
            SEAM: self._seam,
            **dict.fromkeys(_MARKERS, self._item),
        }

    def divide(self, text: str) -> list[Block]:
        """The blocks of a text, in order."""
        handlers, lines = self._handlers, self._lines
        for line in text.replace("\t", " ").replace("\xa0", " ").split("\n"):
            line = line.strip(" ")
            handler = handlers.get(line[:1])  # before the quotes are gone: what is bold or italic begins no item
            if "''" in line:
                line = without_quotes(line).strip(" ")
            if handler is not None:
                handler(line)
            elif line:
                lines.append(line)
            elif lines:
                self._end()
        self._end()
        return self._blocks

    def _end(self) -> None:
        if self._lines:
            self._add("cell" if self._tables else "text", " ".join(self._lines))
            self._lines.clear()

    def _add(self, kind: Kind, text: str) -> None:
        if SEAM in text:
            text = close_seams(tidy_seams(text)).strip(" ")
        if text:
            self._blocks.append((kind, one_blank(text) if "  " in text else text))

    def _heading(self, line: str) -> None:
        if len(line) > 2 and line.rstrip(f"{SEAM} ")[-1] == "=":
            self._end()
        else:
            self._lines.append(line)

    def _rule(self, line: str) -> None:
        if line.startswith("----"):
            self._end()
            line = line.lstrip("-").lstrip(" ")
        if line:
            self._lines.append(line)

    def _seam(self, line: str) -> None:
        if line.strip(f"{SEAM} "):
            self._lines.append(line)
        else:
            self._end()

    def _item(self, line: str) -> None:
        if _TABLE.match(line):
            self._open_table(line.lstrip(": "))
            return
        self._end()
        for content in _contents(line):
            self._add("cell" if self._tables else "item", content)

    def _open_table(self, line: str) -> None:
        if line.startswith("{|"):
            self._end()
            self._tables += 1
        else:
            self._lines.append(line)

    def _table_line(self, line: str) -> None:
        if not self._tables:
            self._lines.append(line)
            return
        self._end()
        sign = line[:2]
        if sign == "|}":
            self._tables -= 1
            rest = line[2:].strip(" ")
        elif sign == "|-":
            return
        else:
            *cells, rest = cells_of(line)
            for cell in cells:
                self._add("cell", cell)
        if rest:  # what follows on the next lines belongs to it
            self._lines.append(rest)


def _contents(line: str) -> Iterator[str]:
    """What an item says; a term and its definition on one line are two."""
    content = line.lstrip(_MARKERS).lstrip(" ")
    term, sign, definition = content.partition(" : ")
    if line[0] == ";" and sign and term.count("[[") == term.count("]]"):
        yield term.rstrip(" ")
        yield definition.lstrip(" ")
    else:
        yield content


def cells_of(line: str) -> list[str]:
    """The contents of the cells that a line of a table begins, without their attributes.

    The line begins with a bar, an exclamation mark or the |+ of a caption.
    """
    if line[0] == "!":
        line = line.replace("!!", "||")
    start = 2 if line.startswith("|+") else 1
    return [_content(cell) for cell in line[start:].split("||")]


def _content(cell: str) -> str:
    attributes, bar, content = cell.partition("|")
    if not bar or "[[" in attributes:
        return cell.strip(" ")
    return content.strip(" ")
