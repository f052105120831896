"""How a file holds its entities: one a line, in an array over many lines, or all in one answer."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from entlink.io.ledger import FileLedger
from entlink.io.lines import read_lines

Layout = Literal["lines", "array", "document"]
_LONGEST_LOOKED_AT = 1 << 16
_ANSWER = re.compile(rb'\s*\{\s*"entities"\s*:\s*[\[{]')
_ERROR = re.compile(rb'\s*\{\s*"error"\s*:\s*\{')  # what the API says in place of an answer
_ID = re.compile(rb'"(?:id|title)"\s*:\s*"(?:Property:|Lexeme:)?[QPL][1-9]\d*"')
_TYPE = re.compile(rb'"type"\s*:\s*"(?:item|property|lexeme)"')
_PART = re.compile(rb'"(?:labels|descriptions|aliases|claims|sitelinks|lemmas)"\s*:\s*(?:\{|\[\s*\])')


def looks_like_wikidata(first: Sequence[bytes]) -> bool:
    """Whether the first lines of a file are those of entities of Wikidata."""
    start = b"\n".join(line[:_LONGEST_LOOKED_AT] for line in first)
    if _ANSWER.match(start) or (b'"redirect"' in start and re.search(rb'"entity"\s*:\s*"Q[1-9]\d*"', start)):
        return True
    return all(each.search(start) for each in (_ID, _TYPE, _PART))


def layout_of(path: Path) -> Layout:
    """Told by the first two lines that are not empty."""
    stripped = (line.strip(b" \t\r\n") for _, line in read_lines(path, FileLedger("skip")))
    lines = (line for line in stripped if line)
    first, second = next(lines, b""), next(lines, b"")
    first = first.removeprefix(codecs.BOM_UTF8)
    if first == b"[" and second not in (b"{", b""):
        return "lines"
    if first.startswith(b"["):
        return "array"
    return "document" if first == b"{" or _ANSWER.match(first) or _ERROR.match(first) else "lines"
