"""Texts to terms: what a word index counts, and what a search looks for.

A term is a token of `entlink.text.folding`. Where a script writes without spaces, each character is a term and so is
each pair of neighbours, which stands for the words that nobody marked.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from entlink.text.folding import fold, is_spaceless

if TYPE_CHECKING:
    from entlink.documents import Entity

TITLE_WEIGHT = 1  # how often a term of the title counts; one of an alias or the description counts once
_FIRST_SPACELESS = "\u0e00"  # no character before it belongs to a script without spaces
_CACHED_TERMS = 1 << 16


def terms_of(text: str) -> list[str]:
    """The terms of a text, in order, each as often as it occurs."""
    folded = fold(text)
    return folded.tokens if text.isascii() else terms_of_tokens(folded.tokens, folded.starts, folded.ends)


def terms_of_tokens(tokens: list[str], starts: list[int], ends: list[int]) -> list[str]:
    """The terms of a row of tokens, of which it is known where each stands."""
    if not any(token >= _FIRST_SPACELESS for token in tokens):
        return tokens
    terms: list[str] = []
    before, end = "", -1  # the spaceless token that came last, and where it ended
    for token, start, to in zip(tokens, starts, ends, strict=True):
        terms.append(token)
        if not is_spaceless(token[0]):
            before = ""
            continue
        if before and start == end:
            terms.append(before + token)
        before, end = token, to
    return terms


def entity_terms(entity: Entity) -> Counter[str]:
    """The terms of an entity's title, aliases and description, with their counts."""
    # No term reaches across a line end, so the names and the text are folded as one.
    title = [entity.title] * TITLE_WEIGHT
    return Counter(terms_of("\n".join((*title, *entity.aliases, entity.description or ""))))


@lru_cache(maxsize=_CACHED_TERMS)
def hash_of(term: str) -> int:
    """The 64 bits by which an index knows a term."""
    return int.from_bytes(blake2b(term.encode("utf8", "surrogatepass"), digest_size=8).digest(), "little")
