"""The blocks of a Markdown text: which stretches of which lines hold prose, and which hold HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from entlink.formats.markup.html import BLOCKS

Stretch = tuple[int, int]

# Each level costs time on every line, so a line of a million `>` must not nest a million deep.
MAX_NESTING = 32

# A container is the indent its lines need, for a list item, or this.
_QUOTE_LEVEL = 0

_LINE = re.compile(r"([^\r\n]*+)(?:\r\n|\r|\n)?")
_BLANK = re.compile(r"[ \t]*+\Z")
# Most lines start with a letter, and then need none of the other patterns.
_PLAIN = re.compile(r" {0,3}[^\s0-9>#*+\-_`~<=|:\[]")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_ITEM = re.compile(r" {0,3}(?:[-+*]|([0-9]{1,9})[.)])(?=[ \t]|\Z)")
_TASK_BOX = re.compile(r"\[[ xX]\](?=[ \t])")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*+(?:\1[ \t]*+){2,}+\Z")
_HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=++|-++)[ \t]*+\Z")
_FENCE = re.compile(r" {0,3}(?:(`{3,}+)(?=[^`]*+\Z)|(~{3,}+))")
TITLE = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"""
_DEFINITION = re.compile(
    rf" {{0,3}}\[((?:[^\[\]\\]|\\.){{1,999}}+)\]:[ \t]*+(<[^<>]*+>|[^\s<]\S*+)([ \t]++{TITLE})?[ \t]*+\Z"
)
_TITLE_LINE = re.compile(rf"[ \t]*+{TITLE}[ \t]*+\Z")
_FOOTNOTE = re.compile(r" {0,3}\[\^([^\[\]\s]{1,999}+)\]:[ \t]*+")
_DELIMITER_ROW = re.compile(
    r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+\Z",
)
_PIPE = re.compile(r"\\.|\|")

_HTML_NAMES = "|".join(sorted(BLOCKS - {"pre", "textarea"}))
_HTML_STARTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(r" {0,3}<(?:script|pre|style|textarea)(?=[ \t>]|\Z)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r" {0,3}<!--"), re.compile(r"-->")),
    (re.compile(r" {0,3}<\?"), re.compile(r"\?>")),
    (re.compile(r" {0,3}<![A-Za-z]"), re.compile(r">")),
    # The others last until a blank line, which no pattern finds within a line.
    (re.compile(rf" {{0,3}}</?(?:{_HTML_NAMES})(?=[ \t/>]|\Z)", re.IGNORECASE), re.compile(r"(?!)")),
)
_UNTIL_BLANK = _HTML_STARTS[-1][1]


class Block(NamedTuple):
    """Prose (the stretches of its lines, markers left out), or a stretch of HTML."""

    lines: list[Stretch]
    is_html: bool = False


@dataclass(slots=True)
class Outline:
    """The visible blocks of a text in order, where the labels of its links lead, and those of its footnotes."""

    blocks: list[Block] = field(default_factory=list)
    references: dict[str, str] = field(default_factory=dict)
    footnotes: set[str] = field(default_factory=set)


def find_blocks(text: str) -> Outline:
    """The blocks of `text`; code, rules and link definitions are not among them."""
    outliner = _Outliner(text)
    for match in _LINE.finditer(text):
        if match.start() < len(text):
            outliner.line(*match.span(1))
    outliner.close()
    return outliner.outline


def normal_label(label: str) -> str:
    """The form in which labels of links are compared."""
    return " ".join(label.split()).casefold()


class _Outliner:
    """Reads lines one after the other; holds the containers, paragraph, table, code or HTML still open."""

    def __init__(self, text: str) -> None:
        self.outline = Outline()
        self._text = text
        self._line_start = 0
        self._containers: list[int] = []
        self._paragraph: list[Stretch] = []
        self._columns = 0
        self._fence = ""
        self._html: Stretch | None = None
        self._html_end = _UNTIL_BLANK
        self._title_may_follow = False

    def line(self, start: int, end: int) -> None:
        self._line_start = start
        at, matched = self._enter(start, end)
        whole = matched == len(self._containers)
        if whole and self._fence:
            self._code_line(at, end)
        elif whole and self._html:
            self._html_line(at, end)
        elif not whole and self._paragraph and not self._starts_block(at, end):
            self._add_to_paragraph(at, end)
        else:
            if not whole:
                self.close()
                del self._containers[matched:]
            self._leaf(self._open_containers(at, end), end)

    def close(self) -> None:
        """Ends whatever block is open."""
        if self._paragraph:
            self.outline.blocks.append(Block(self._paragraph))
            self._paragraph = []
        if self._html:
            self.outline.blocks.append(Block([self._html], True))
            self._html = None
        self._columns, self._fence, self._title_may_follow = 0, "", False

    # Containers: quotes and list items

    def _enter(self, at: int, end: int) -> tuple[int, int]:
        """Past the markers of the containers this line continues; returns where, and how many they are."""
        for index, container in enumerate(self._containers):
            if container == _QUOTE_LEVEL:
                match = _QUOTE.match(self._text, at, end)
                inner = match.end() if match else None
            else:
                inner = at if _BLANK.match(self._text, at, end) else self._past_indent(at, end, container)
            if inner is None:
                return at, index
            at = inner
        return at, len(self._containers)

    def _past_indent(self, at: int, end: int, columns: int) -> int | None:
        """Past white space of that many columns, tabs counted to the next stop of four; None if too short."""
        first = column = at - self._line_start
        while column < first + columns:
            if at >= end or self._text[at] not in " \t":
                return None
            column += 1 if self._text[at] == " " else 4 - column % 4
            at += 1
        return at

    def _open_containers(self, at: int, end: int) -> int:
        while len(self._containers) < MAX_NESTING:
            if match := _QUOTE.match(self._text, at, end):
                self.close()
                self._containers.append(_QUOTE_LEVEL)
                at = match.end()
            elif match := self._item(at, end, may_interrupt=not self._paragraph):
                self.close()
                at = self._open_item(at, match.end(), end)
            else:
                break
        return at

    def _open_item(self, at: int, marker_end: int, end: int) -> int:
        padding = 1
        if not _BLANK.match(self._text, marker_end, end) and self._past_indent(marker_end, end, 5) is None:
            while self._past_indent(marker_end, end, padding + 1) is not None:
                padding += 1
        self._containers.append(marker_end - at + padding)
        inner = self._past_indent(marker_end, end, padding)
        at = marker_end if inner is None else inner
        box = _TASK_BOX.match(self._text, at, end)
        return box.end() if box else at

    def _item(self, at: int, end: int, *, may_interrupt: bool) -> re.Match[str] | None:
        """The list marker at `at`. An empty item, or a number but 1, does not interrupt a paragraph."""
        match = _ITEM.match(self._text, at, end)
        if match is None or _RULE.match(self._text, at, end):
            return None
        if not may_interrupt and (match[1] not in (None, "1") or _BLANK.match(self._text, match.end(), end)):
            return None
        return match

    def _starts_block(self, at: int, end: int) -> bool:
        if _PLAIN.match(self._text, at, end):
            return False
        patterns = (_BLANK, _QUOTE, _RULE, _HEADING, _FENCE)
        if any(pattern.match(self._text, at, end) for pattern in patterns):
            return True
        return self._item(at, end, may_interrupt=True) is not None or self._html_start(at, end) is not None

    # Leaves: what stands in the containers

    def _leaf(self, at: int, end: int) -> None:
        text = self._text
        if _PLAIN.match(text, at, end):
            self._prose(at, end)
        elif self._shows_nothing(at, end):
            self.close()
        elif match := _FENCE.match(text, at, end):
            self.close()
            self._fence = match[1] or match[2]
        elif match := _HEADING.match(text, at, end):
            self.close()
            self._heading(match.end(), end)
        elif _RULE.match(text, at, end):
            self.close()
        elif html_end := self._html_start(at, end):
            self.close()
            self._html, self._html_end = (at, at), html_end
            self._html_line(at, end)
        else:
            self._prose(at, end)

    def _shows_nothing(self, at: int, end: int) -> bool:
        """Whether this is a blank line, the underline of a heading, or indented code."""
        if _BLANK.match(self._text, at, end):
            return True
        if self._paragraph:
            return _UNDERLINE.match(self._text, at, end) is not None
        return self._past_indent(at, end, 4) is not None

    def _prose(self, at: int, end: int) -> None:
        if self._columns:
            self._row(at, end)
        elif self._paragraph:
            if not self._open_table(at, end):
                self._add_to_paragraph(at, end)
        elif not self._define(at, end):
            self._add_to_paragraph(at, end)

    def _add_to_paragraph(self, at: int, end: int) -> None:
        while at < end and self._text[at] in " \t":
            at += 1
        if at < end:
            self._title_may_follow = False
            self._paragraph.append((at, end))

    def _heading(self, at: int, end: int) -> None:
        content = self._text[at:end].rstrip(" \t")
        bare = content.rstrip("#")
        if not bare or bare[-1] in " \t":
            content = bare
        if content.strip(" \t"):
            self.outline.blocks.append(Block([(at, at + len(content))]))

    def _code_line(self, at: int, end: int) -> None:
        line = self._text[at:end].strip(" \t")
        if len(line) >= len(self._fence) and not line.strip(self._fence[0]):
            self._fence = ""

    def _html_start(self, at: int, end: int) -> re.Pattern[str] | None:
        """What ends the HTML block that starts at `at`; quoted HTML is read as prose with tags in it."""
        if _QUOTE_LEVEL in self._containers:
            return None
        return next((stop for start, stop in _HTML_STARTS if start.match(self._text, at, end)), None)

    def _html_line(self, at: int, end: int) -> None:
        assert self._html is not None
        if self._html_end is _UNTIL_BLANK and _BLANK.match(self._text, at, end):
            self.close()
            return
        self._html = self._html[0], end
        if self._html_end.search(self._text, at, end):
            self.close()

    def _define(self, at: int, end: int) -> bool:
        """Takes a definition of a link or footnote; says whether the line holds nothing else."""
        if match := _FOOTNOTE.match(self._text, at, end):
            self.outline.footnotes.add(normal_label(match[1]))
            self._add_to_paragraph(match.end(), end)
            return True
        if self._title_may_follow and _TITLE_LINE.match(self._text, at, end):
            self._title_may_follow = False
            return True
        match = _DEFINITION.match(self._text, at, end)
        if match is None:
            return False
        self.outline.references.setdefault(normal_label(match[1]), match[2])
        self._title_may_follow = match[3] is None
        return True

    # Tables

    def _open_table(self, at: int, end: int) -> bool:
        """Makes the last line of the paragraph a table's head if this one is the rule below it."""
        if "|" not in self._text[at:end] or not _DELIMITER_ROW.match(self._text, at, end):
            return False
        head = self._paragraph[-1]
        columns = len(self._cells(at, end))
        if columns != len(self._cells(*head)):
            return False
        self._paragraph.pop()
        self.close()
        self._columns = columns
        self._row(*head)
        return True

    def _row(self, at: int, end: int) -> None:
        for start, stop in self._cells(at, end)[: self._columns]:
            if not _BLANK.match(self._text, start, stop):
                self.outline.blocks.append(Block([(start, stop)]))

    def _cells(self, at: int, end: int) -> list[Stretch]:
        cells = []
        for match in _PIPE.finditer(self._text, at, end):
            if match.group() == "|":
                cells.append((at, match.start()))
                at = match.end()
        if not _BLANK.match(self._text, at, end):
            cells.append((at, end))
        if cells and _BLANK.match(self._text, *cells[0]):
            del cells[0]
        return cells
