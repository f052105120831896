"""Character references of HTML and Markdown: `&amp;`, `&#233;`, `&#xE9;`."""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5
from typing import NamedTuple

_REFERENCE = re.compile(r"&(?:#([0-9]++)|#[xX]([0-9a-fA-F]++)|([a-zA-Z][a-zA-Z0-9]{0,40}+));?")
_LONGEST_BARE_NAME = max(len(name) for name in html5 if not name.endswith(";"))
_LONGEST_NUMBER = 7
_NOT_A_CHARACTER = "\ufffd"


class Reference(NamedTuple):
    """The characters a reference stands for, and where it ends."""

    visible: str
    end: int


def reference_at(text: str, at: int, end: int, *, semicolon: bool) -> Reference | None:
    """The reference that starts with the `&` at `at`; `semicolon` says whether it must have one.

    Without one, HTML knows a few old names even as the beginning of a longer word (`&copy2020`).
    """
    match = _REFERENCE.match(text, at, end)
    if match is None or (semicolon and not match.group().endswith(";")):
        return None
    if match[3] is None:
        return Reference(_numbered(match), match.end())
    visible = html5.get(match[3] + ";") if match.group().endswith(";") else None
    if visible is not None:
        return Reference(visible, match.end())
    return None if semicolon else _bare_name(match[3], at)


def _numbered(match: re.Match[str]) -> str:
    digits = (match[1] or match[2]).lstrip("0")
    # Python refuses to make an int of thousands of digits; none so long is a character.
    if len(digits) > _LONGEST_NUMBER:
        return _NOT_A_CHARACTER
    return unescape(f"&#{digits or 0};" if match[1] else f"&#x{digits or 0};")


def _bare_name(name: str, at: int) -> Reference | None:
    for length in range(min(len(name), _LONGEST_BARE_NAME), 1, -1):
        visible = html5.get(name[:length])
        if visible is not None:
            return Reference(visible, at + 1 + length)
    return None
