"""The plain page: nothing but paragraphs with links. It is told at a glance, and read without further ado."""

from __future__ import annotations

import re
from operator import itemgetter

from entlink.sources.wikitext.external import has_external
from entlink.sources.wikitext.literals import has_entity

# Quicker than searches for two characters: the first ones are rare.
_has_quotes = re.compile("'(?=')").search
_may_be_external = re.compile(r"\[[^\[\]\s](?<=[A-Za-z/])").search
_SIGNS = frozenset("*#:;=- ")
_first, _last = itemgetter(0), itemgetter(-1)


def plain_lines(text: str) -> list[str] | None:
    """The paragraphs of a page whose only markup is links; None for a page that has to be read with care."""
    if "{" in text or "<" in text or "\t" in text or "\xa0" in text or "\r" in text:
        return None
    if ("&" in text and has_entity(text)) or ("_" in text and "__" in text) or ("~" in text and "~~~" in text):
        return None
    if _has_quotes(text) or "  " in text or (_may_be_external(text) and has_external(text)):
        return None
    lines = text.split("\n")
    if any(lines[1::2]):
        return None
    paragraphs = list(filter(None, lines))
    if not _SIGNS.isdisjoint(map(_first, paragraphs)) or " " in map(_last, paragraphs):
        return None
    return paragraphs
