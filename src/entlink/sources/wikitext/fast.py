"""The plain page: nothing but paragraphs with links. It is told at a glance, and read without further ado."""

from __future__ import annotations

import re
from operator import itemgetter

from entlink.sources.wikitext.literals import has_entity, has_reserved
from entlink.sources.wikitext.tags import has_tag

# A search for one character is many times as quick as any other, so that most questions begin with one.
_has_quotes = re.compile("'(?=')").search
_has_braces = re.compile(r"\{(?:[{|]|(?<=-\{))").search
_SIGNS = frozenset("*#:;= ")
_first, _last = itemgetter(0), itemgetter(-1)


def plain_lines(text: str) -> list[str] | None:
    """The paragraphs of a page that has no markup but links, inside and out; None for one to be read with care."""
    if "\t" in text or "\xa0" in text or "\r" in text or _has_markup(text):
        return None
    if text.rfind("  ") >= 0 or has_reserved(text):  # backwards the first search is a third quicker
        return None
    lines = text.split("\n")
    if any(lines[1::2]):
        return None
    paragraphs = list(filter(None, lines))
    firsts = set(map(_first, paragraphs))
    if not _SIGNS.isdisjoint(firsts) or " " in map(_last, paragraphs):
        return None
    return None if "-" in firsts and "\n----" in f"\n{text}" else paragraphs


def _has_markup(text: str) -> bool:
    return bool(
        ("<" in text and has_tag(text))
        or ("{" in text and _has_braces(text))
        or ("&" in text and has_entity(text))
        or ("_" in text and "__" in text)
        or ("~" in text and "~~~" in text)
        or _has_quotes(text)
    )
