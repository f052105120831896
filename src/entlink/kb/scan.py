"""Finding every name of the dictionary in a text, in one pass over its tokens.

This is the innermost loop of linking and of counting: a few microseconds a word is the whole budget, so
what a word can begin is looked up once and remembered, and most words never reach the trie.
"""

from __future__ import annotations

from typing import Protocol

import marisa_trie

from entlink.kb.alias_index import MAX_KEY, AliasIndex
from entlink.kb.folding import Folded, fold

Match = tuple[int, int]  # start and end in the text; what stands there is, folded, a known key

_CACHED_TOKENS = 100_000
_PLURAL_ENDINGS = ("s", "es")
_SHORTEST_STEM = 3  # "is" is no plural of "I"
_ALONE = True
_NOTHING = None


class FreshKeys(Protocol):
    """Keys that are not in the index yet: those an overlay adds."""

    def keys_from(self, first: str, rest: str) -> list[str]:
        """The fresh keys beginning with the token `first` that are prefixes of `rest`."""


class Scanner:
    """Scans texts against an alias index; `plurals` lets an English plural of a name match it too."""

    def __init__(self, index: AliasIndex, fresh: FreshKeys | None = None, *, plurals: bool = False) -> None:
        self._index = index
        self._fresh = fresh
        self._plurals = plurals
        self._beginnings: dict[str, marisa_trie.Trie | bool | None] = {}

    def matches(self, text: str) -> list[Match]:
        """Every match, by start and then by length, at word ends (anywhere in spaceless scripts)."""
        folded = fold(text)
        key, tokens, at, _, starts, ends = folded
        found: list[Match] = []
        beginnings, begins = self._beginnings, self._begins
        for position, token in enumerate(tokens):
            beginning = beginnings[token] if token in beginnings else begins(token)
            if beginning is None:
                continue
            if beginning is True:
                found.append((starts[position], ends[position]))
                continue
            start = at[position]
            keys = beginning.prefixes(key[start : start + MAX_KEY])
            if not keys:
                continue
            beyond = len(keys[-1]) - len(token)
            if beyond > 0:
                self._place(folded, position, keys, found)
            elif beyond == 0 or (self._plurals and _is_plural(token, beyond)):
                found.append((starts[position], ends[position]))
        if self._fresh is not None:
            self._add_fresh(folded, self._fresh, found)
        return found

    def _begins(self, token: str) -> marisa_trie.Trie | bool | None:
        """What keys begin with this token: none, only the token itself, or those of a trie."""
        if len(self._beginnings) >= _CACHED_TOKENS:
            self._beginnings.clear()
        beginning = self._beginnings[token] = self._look_up(token)
        return beginning

    def _look_up(self, token: str) -> marisa_trie.Trie | bool | None:
        trie = self._index.shard_trie(token)
        longer = iter(trie.iterkeys(token))
        first = next(longer, None)
        if first is not None:
            return _ALONE if first == token and next(longer, None) is None else trie
        if self._plurals and any(_is_plural(token, -n) and token[:-n] in trie for n in (1, 2)):
            return _ALONE
        return _NOTHING

    def _place(self, folded: Folded, position: int, keys: list[str], found: list[Match]) -> None:
        """Turn keys that begin at a token into matches, dropping those that end inside a word."""
        to, start, total = folded.to, folded.starts[position], len(folded.to)
        origin, last = folded.at[position], position
        for key in keys:
            end = origin + len(key)
            while last < total and to[last] < end:
                last += 1
            if last == total:
                return
            if to[last] == end or (
                self._plurals and folded.at[last] < end and folded.key[end : to[last]] in _PLURAL_ENDINGS
            ):
                match = (start, folded.ends[last])
                if not found or found[-1] != match:
                    found.append(match)

    def _add_fresh(self, folded: Folded, fresh: FreshKeys, found: list[Match]) -> None:
        before = len(found)
        for position, token in enumerate(folded.tokens):
            start = folded.at[position]
            keys = fresh.keys_from(token, folded.key[start : start + MAX_KEY])
            if keys:
                self._place(folded, position, sorted(keys, key=len), found)
        if len(found) > before:
            found[:] = sorted(set(found))


def _is_plural(token: str, beyond: int) -> bool:
    """Whether the last `-beyond` characters are an ending, and enough stands before them."""
    return token[beyond:] in _PLURAL_ENDINGS and len(token) + beyond >= _SHORTEST_STEM
