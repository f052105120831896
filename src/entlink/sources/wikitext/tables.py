"""Tables: what stands in the cells of a line."""

from __future__ import annotations


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
