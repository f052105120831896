"""Finding every name of the dictionary in a text, in one pass over its tokens.

This is the innermost loop of linking and of counting: a few microseconds a word is the whole budget. So what
can follow a word is looked up once and remembered, and most words never reach the trie.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from typing import Literal, Protocol, TypeAlias

import marisa_trie

from entlink.kb.names.alias_index import MAX_KEY, AliasIndex
from entlink.text.folding import SPACELESS, Folded, first_token, fold
from entlink.text.passages import pieces

Match = tuple[int, int]  # start and end in the text; what stands there is, folded, a known key
# What a token can begin: nothing, itself alone, the keys of a trie, or these words after it.
Beginning: TypeAlias = "marisa_trie.Trie | frozenset[str] | Literal[True] | None"

_CACHED_TOKENS = 100_000
_WARM = 16  # sightings of a token after which the words that follow it in keys are worth remembering
_MOST_KEYS = 20_000  # never more: in a large knowledge base the words that follow "the" would fill the memory
_KEYS_A_SIGHTING = 4  # how many keys to go through for that: listing them must not cost more than it saves
_PIECE = 1_000_000  # characters folded at once: a text of any length needs no more memory than this
_PLURAL_ENDINGS = ("s", "es")
_SHORTEST_STEM = 3  # "is" is no plural of "I"
_FIRST_SPACELESS = SPACELESS[0]
ITSELF = ""  # among a token's followers: the token alone is a name


class FreshKeys(Protocol):
    """Keys that are not in the index yet: those an overlay adds."""

    def __bool__(self) -> bool:
        """Whether there are any."""

    def keys_from(self, first: str, rest: str) -> list[str]:
        """The fresh keys beginning with the token `first` that are prefixes of `rest`."""


class Scanner:
    """Scans texts against an alias index; `plurals` lets an English plural of a name match it too."""

    def __init__(self, index: AliasIndex, fresh: FreshKeys | None = None, *, plurals: bool = False) -> None:
        self._index = index
        self._fresh = fresh
        self._plurals = plurals
        self._beginnings: dict[str, Beginning] = {}
        self._heat: Counter[str] = Counter()
        self._longer: dict[str, frozenset[str]] = {}  # what follows several words, as a beginning may tell of one
        self._plural_names: set[str] = set()

    def matches(self, text: str) -> list[Match]:
        """Every match, by start and then by length, at word ends (anywhere in spaceless scripts)."""
        if len(text) <= _PIECE:
            return self._in_piece(text)
        found: list[Match] = []
        for start, end in pieces(text, _PIECE):
            found += [(start + match[0], start + match[1]) for match in self._in_piece(text[start:end])]
        return found

    def _in_piece(self, text: str) -> list[Match]:
        return self.matches_in(fold(text))

    def matches_in(self, folded: Folded) -> list[Match]:
        """Every match in a text that was folded before; all of it is in memory at once."""
        tokens, starts, ends = folded.tokens, folded.starts, folded.ends
        found: list[Match] = []
        following = chain(tokens[1:], (ITSELF,))
        for position, (beginning, follower) in enumerate(zip(self._look_up(tokens), following, strict=False)):
            if beginning is None:
                continue
            if beginning is True:
                found.append((starts[position], ends[position]))
            elif type(beginning) is not frozenset:
                self._search(folded, position, found)
            elif follower and (follower in beginning or follower >= _FIRST_SPACELESS):
                self._walk(folded, position, beginning, found)
            elif ITSELF in beginning:
                found.append((starts[position], ends[position]))
        if self._fresh:
            self._add_fresh(folded, self._fresh, found)
        return found

    def _look_up(self, tokens: list[str]) -> list[Beginning]:
        """What each token can begin; those not seen before are asked of the index."""
        known = self._beginnings
        try:
            return list(map(known.__getitem__, tokens))
        except KeyError:
            if len(known) + len(self._longer) >= _CACHED_TOKENS:
                self._forget()
            for token in set(tokens).difference(known):
                known[token] = self._begins(token)
            return list(map(known.__getitem__, tokens))

    def _forget(self) -> None:
        for memory in (self._beginnings, self._longer, self._heat, self._plural_names):
            memory.clear()

    def _begins(self, token: str) -> Beginning:
        """What keys begin with this token: none (None), it alone (True), or those of a trie."""
        if self._plurals and self._is_plural_of_key(token, token):
            self._plural_names.add(token)
        trie = self._index.shard_trie(token)
        longer = trie.iterkeys(token)
        first = next(longer, None)
        if first is None or (first == token and next(longer, None) is None):
            return True if first or token in self._plural_names else None
        return trie

    def _walk(self, folded: Folded, position: int, known: frozenset[str], found: list[Match]) -> None:
        """Follow the words that are remembered as far as they go; where memory ends, ask the trie."""
        tokens, start = folded.tokens, folded.starts[position]
        prefix, last, matches = tokens[position], position, []
        while True:
            if ITSELF in known:
                matches.append((start, folded.ends[last]))
            last += 1
            follower = tokens[last] if last < len(tokens) else ITSELF
            if follower >= _FIRST_SPACELESS:
                return self._search(folded, position, found)
            if not follower or follower not in known:
                break
            prefix = f"{prefix} {follower}"
            longer = self._longer.get(prefix)
            if longer is None:
                self._warm(prefix, tokens[position])
                return self._search(folded, position, found)
            known = longer
        found += matches
        return None

    def _warm(self, prefix: str, first: str) -> None:
        """Count a sighting of a word, or of several; those seen often are remembered with what follows them."""
        heat = self._heat[prefix] = self._heat[prefix] + 1
        if heat >= _WARM and heat & (heat - 1) == 0:  # again at each power of two, with more patience
            limit = min(heat * _KEYS_A_SIGHTING, _MOST_KEYS)
            words = self._followers(prefix, self._index.shard_trie(first), limit)
            if words is not None:
                (self._beginnings if prefix == first else self._longer)[prefix] = words

    def _followers(self, prefix: str, trie: marisa_trie.Trie, limit: int) -> frozenset[str] | None:
        """The words that follow the prefix in a key; None where there are more keys than `limit`."""
        words: set[str] = set()
        for key in islice(trie.iterkeys(prefix + " "), limit):
            limit -= 1
            word, _, more = key[len(prefix) + 1 :].partition(" ")
            words.add(word if word.isascii() else first_token(word))
            if self._plurals and not more:
                words.update(word + ending for ending in _PLURAL_ENDINGS)
        if not limit:
            return None
        if prefix in trie or (self._plurals and self._is_plural_of_key(prefix, prefix.rpartition(" ")[2])):
            words.add(ITSELF)
        return frozenset(words)

    def _is_plural_of_key(self, key: str, last: str) -> bool:
        """Whether a key becomes this one when its last word is put into the plural."""
        for ending in _PLURAL_ENDINGS:
            if last.endswith(ending) and len(last) - len(ending) >= _SHORTEST_STEM:
                singular = key.removesuffix(ending)
                if singular in self._index.shard_trie(singular.partition(" ")[0]):
                    return True
        return False

    def _search(self, folded: Folded, position: int, found: list[Match]) -> None:
        """Ask the trie which keys begin at a token."""
        token, start = folded.tokens[position], folded.at[position]
        if token < _FIRST_SPACELESS and type(self._beginnings[token]) is not frozenset:
            self._warm(token, token)
        keys = self._index.shard_trie(token).prefixes(folded.key[start : start + MAX_KEY])
        longest = len(keys[-1]) if keys else 0
        if longest == len(token) or token in self._plural_names:
            found.append((folded.starts[position], folded.ends[position]))
        if longest > len(token):
            self._place(folded, position, keys, found)

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
            if to[last] == end or (self._plurals and _ends_plural(folded, last, end)):
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


def _ends_plural(folded: Folded, last: int, end: int) -> bool:
    """Whether what is left of the token after `end` is an ending, and enough of the token stands before."""
    stem = end - folded.at[last]
    return stem >= _SHORTEST_STEM and folded.key[end : folded.to[last]] in _PLURAL_ENDINGS
