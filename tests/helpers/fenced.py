"""Fenced blocks, tables and links of a Markdown page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_HEADING = re.compile(r"#+ (.+)")
_FENCE = re.compile(r"```(\w*)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block: its language, its text, the line it begins at and the heading it stands under."""

    language: str
    text: str
    line: int
    heading: str


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf8")


def blocks(markdown: str, language: str) -> list[Block]:
    """The fenced blocks of one language, in order."""
    found, heading, current, start, lines = [], "", None, 0, []
    for number, line in enumerate(markdown.splitlines(), 1):
        if current is None:
            if match := _FENCE.match(line):
                current, start, lines = match[1], number + 1, []
            elif match := _HEADING.match(line):
                heading = match[1]
        elif line == "```":
            found.append(Block(current, "\n".join(lines) + "\n", start, heading))
            current = None
        else:
            lines.append(line)
    assert current is None, f"the block at line {start} is not closed"
    return [block for block in found if block.language == language]


def without_blocks(markdown: str) -> str:
    return re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)


def links(markdown: str) -> list[str]:
    """Targets of the links and pictures outside of code."""
    prose = re.sub(r"`[^`]*`", "", without_blocks(markdown))
    return _LINK.findall(prose)


def anchors(markdown: str) -> set[str]:
    """What GitHub calls the headings of a page in addresses."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(markdown), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(markdown: str, *columns: str) -> list[dict[str, str]]:
    """All rows of the tables that have exactly these columns."""
    rows: list[dict[str, str]] = []
    reading = False
    for line in markdown.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells == list(columns):
            reading = True
        elif not cells:
            reading = False
        elif reading and set(cells[0]) != {"-"}:
            rows.append(dict(zip(columns, cells, strict=True)))
    assert rows, f"no table with the columns {columns}"
    return rows
