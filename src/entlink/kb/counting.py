"""Counting every name of the dictionary in megabytes of text at once: what `Scanner` finds, several times as fast.

A scanner takes a step of Python for every word, since it must tell where each match stands. Counting needs no
places: whole batches of words are split, folded and looked up by loops in C, and Python looks closer only where
two words stand side by side that begin a name.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, compress, count, islice
from operator import add
from sys import intern
from typing import Generic, TypeAlias, TypeVar

from entlink.kb.alias_index import MAX_KEY, AliasIndex
from entlink.kb.folding import first_token, fold
from entlink.kb.names import tidy
from entlink.kb.scan import ITSELF, Scanner

BARRIER = "\x00"  # stands between two texts and in place of a link: no name goes over it

_BATCH = 60_000  # characters: the words of one batch stay in the processor's cache
_LONGEST_PIECE = 1_000_000  # characters; what is longer is left to the scanner, which takes it apart
_REMEMBERED = 1_000_000  # words and followers of words that are kept; then all are forgotten
_MOST_LISTED = 250  # keys that begin with a word: listing more would cost more than it saves
# Beside one of these no word goes on, and none of them folds to a part of one: a link ends there with a word.
_EDGES = frozenset("\t\n\r !\"$%&'()*,-./:;<=>?@[\\]^_`{|}~–—‘’“”«»")

# Stand-ins, so that words and the gaps between them can be told apart byte by byte.
_BLANK = "\x01"  # for white space in gaps
_OTHER = "\x02"  # for what looks like a letter, byte by byte, and is none
_ASCII = [chr(code) for code in range(128)]
_LETTERS = "".join(filter(str.isalnum, _ASCII)) + "+#" + BARRIER
_GAPS = "".join(character for character in _ASCII if character not in _LETTERS)
_TO_WORDS = bytes.maketrans(_GAPS.encode(), b" " * len(_GAPS))
_NO_GAPS = _LETTERS.encode() + bytes(range(128, 256))
_BLANKS = "".join(filter(str.isspace, _ASCII)).encode()
_TO_GAPS = bytes.maketrans(_NO_GAPS + _BLANKS, b" " * len(_NO_GAPS) + _BLANK.encode() * len(_BLANKS))
_SIGNS = re.compile("[+#][+#]*+")

Found = TypeVar("Found")
_Followers: TypeAlias = "frozenset[str] | _Asked"  # empty, and so false, for most words


def outside_links(text: str, links: Sequence[tuple[int, int]]) -> str:
    """The text with a barrier in place of each link and of the words it touches; the links are sorted."""
    if not links:
        return text
    cut = _Cut(text)
    pieces, done = [], 0
    for start, end in links:
        before = start if start == 0 or text[start - 1] in _EDGES else cut.before(start)
        if before > done:
            pieces.append(text[done:before])
        elif not pieces:
            pieces.append("")
        done = max(done, end if text[end : end + 1] in _EDGES else cut.after(end))
    pieces.append(text[done:])
    return BARRIER.join(pieces)


class _Cut:
    """Where the words around a place begin and end, read from the text once it is asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places: tuple[list[int], list[int]] | None = None

    def before(self, place: int) -> int:
        """The end of the last word that ends at this place or before it."""
        ends = self._words()[1]
        words = bisect_right(ends, place)
        return ends[words - 1] if words else 0

    def after(self, place: int) -> int:
        """The start of the first word that starts at this place or after it."""
        starts = self._words()[0]
        words = bisect_left(starts, place)
        return starts[words] if words < len(starts) else len(self._text)

    def _words(self) -> tuple[list[int], list[int]]:
        if self._places is None:
            folded = fold(self._text)
            self._places = folded.starts, folded.ends
        return self._places


class BulkCounter:
    """Counts names in texts against an alias index; what it learns of the words serves all texts.

    The followers of a word that begins more than `most_listed` keys are asked for one by one.
    """

    def __init__(self, index: AliasIndex, *, most_listed: int = _MOST_LISTED) -> None:
        self._index = index
        self._scanner = Scanner(index)
        self._most_listed = most_listed
        self._characters = _Characters()
        self._numbers = _Memory(self._number)  # of words as they are written
        self._names: dict[int, str] = {}  # by their numbers: those that are names,
        self._words: list[str] = []  # what they fold to,
        self._after: list[_Followers] = []  # and what may follow them
        self._followers = _Memory(self._followers_of)  # of several words, folded and joined by spaces
        self._listed = 0

    def count(self, text: str) -> Counter[str]:
        """How often each name stands in the text, as written but for white space; none goes over a barrier."""
        self._forget()
        simple, marked, odd = self._by_kind(text)
        seen: Counter[int] = Counter()
        surfaces: Counter[str] = Counter()
        for batch in _batches(simple):
            self._count_batch(_Tokens(batch, batch), seen, surfaces)
        for batch in _batches(marked):
            self._count_batch(_Tokens(batch, self._characters.marked(batch)), seen, surfaces)
        for piece in odd:
            surfaces.update(piece[start:end] for start, end in self._scanner.matches(piece))
        counted = Counter({self._names[word]: times for word, times in seen.items() if word in self._names})
        for surface, times in surfaces.items():
            counted[tidy(surface)] += times
        return counted

    def _by_kind(self, text: str) -> tuple[list[str], list[str], list[str]]:
        """The pieces between barriers: those of simple words, those with gaps to mark, and those to scan."""
        strange = _BLANK in text or _OTHER in text
        simple: list[str] = []
        marked: list[str] = []
        odd: list[str] = []
        for piece in text.split(BARRIER):
            if len(piece) > _LONGEST_PIECE:
                odd.append(piece)
            elif piece.isascii() and not (strange or "+" in piece or "#" in piece):
                simple.append(piece)
            else:
                (marked if self._characters.are_plain(piece) else odd).append(piece)
        return simple, marked, odd

    def _count_batch(self, tokens: _Tokens, seen: Counter[int], surfaces: Counter[str]) -> None:
        """Count all words as `seen`, and as `surfaces` the names of several words."""
        numbers = list(map(self._numbers.__getitem__, tokens.words))
        seen.update(numbers)
        words, after = self._words, list(map(self._after.__getitem__, numbers))
        pairs = [first for first in compress(count(), after) if words[numbers[first + 1]] in after[first]]
        for first in pairs:
            for last in self._longer_names(numbers, first):
                surfaces[tokens.surface(first, last)] += 1

    def _longer_names(self, numbers: list[int], first: int) -> Iterator[int]:
        """The last words of the names of several words that begin with a word; a second is known to follow it."""
        words, last = self._words, first + 1
        prefix = f"{words[numbers[first]]} {words[numbers[last]]}"
        followers = self._followers[prefix]
        while followers:
            if ITSELF in followers:
                yield last
            last += 1
            word = words[numbers[last]]
            if word not in followers:  # a batch ends with a barrier, which follows nothing
                return
            prefix = f"{prefix} {word}"
            followers = self._followers[prefix]

    def _number(self, written: str) -> int:
        """The number of a word that is new."""
        word, number = _fold_word(written), len(self._words)
        followers = self._followers_of(word)
        if ITSELF in followers:
            self._names[number] = written
        self._words.append(word)
        self._after.append(_NOTHING if followers is _ITSELF else followers)
        return number

    def _followers_of(self, prefix: str) -> _Followers:
        """The words that follow one or several words in keys, and `ITSELF` if these are a key."""
        trie = self._index.shard_trie(prefix.partition(" ")[0])
        if len(prefix) > MAX_KEY or next(trie.iterkeys(prefix), None) is None:
            return _NOTHING
        named = prefix in trie
        keys = list(islice(trie.iterkeys(prefix + " "), self._most_listed + 1))
        if len(keys) > self._most_listed:
            return _Asked(named, lambda follower: self._begins_key(f"{prefix} {follower}"))
        self._listed += len(keys)
        followers = {_next_word(key, len(prefix) + 1) for key in keys}
        if not followers:
            return _ITSELF if named else _NOTHING
        return frozenset((*followers, ITSELF)) if named else frozenset(followers)

    def _begins_key(self, prefix: str) -> bool:
        """Whether a key begins so, be it in the middle of a word: who asks on finds out."""
        self._listed += 1
        return next(self._index.shard_trie(prefix.partition(" ")[0]).iterkeys(prefix), None) is not None

    def _forget(self) -> None:
        if len(self._numbers) + len(self._followers) + self._listed > _REMEMBERED:
            for memory in (self._numbers, self._names, self._words, self._after, self._followers):
                memory.clear()
            self._listed = 0


_NOTHING: frozenset[str] = frozenset()
_ITSELF = frozenset((ITSELF,))


class _Memory(dict[str, Found], Generic[Found]):
    """What was found out about words: a word that is new is looked into, the others cost no step of Python."""

    def __init__(self, find: Callable[[str], Found]) -> None:
        self._find = find

    def __missing__(self, word: str) -> Found:
        found = self[word] = self._find(word)
        return found


class _Asked:
    """The followers of a word that has too many to list them: each is asked for once."""

    def __init__(self, named: bool, ask: Callable[[str], bool]) -> None:
        self._answers = _Memory(ask)
        self._answers.update({ITSELF: named, BARRIER: False})

    def __contains__(self, word: object) -> bool:
        return self._answers[word]  # type: ignore[index]  # a container may be asked for anything; here it is words


class _Tokens:
    """The words of a batch as they are written, and the gap after each."""

    def __init__(self, text: str, marked: str) -> None:
        self._text = text
        self._starts: list[int] = []
        raw = marked.encode()
        self.words = raw.translate(_TO_WORDS).decode().split()
        self._gaps = raw.translate(_TO_GAPS).decode().split()

    def surface(self, first: int, last: int) -> str:
        """What stands from the first to the last word."""
        pieces = self.words[first : last + 1]
        gaps = self._gaps[first:last]
        surface = "".join(map(add, pieces, gaps)) + pieces[-1]
        if _OTHER in surface:
            return self._at(first, last)
        return surface.replace(_BLANK, " ")

    def _at(self, first: int, last: int) -> str:
        if not self._starts:  # most batches have no name with such a gap, and need no places
            lengths = map(add, map(len, self.words), map(len, [*self._gaps, ""]))
            self._starts = list(accumulate(lengths, initial=0))
        return self._text[self._starts[first] : self._starts[last] + len(self.words[last])]


def _next_word(key: str, start: int) -> str:
    """The word of a key that starts at a place."""
    end = key.find(" ", start)
    word = key[start:] if end < 0 else key[start:end]
    return intern(word if word.isascii() else first_token(word))


def _fold_word(word: str) -> str:
    """What folding makes of a word of plain characters."""
    if word.isascii():
        return intern(word.lower())
    return intern(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold()))


class _Characters:
    """What is known of the characters seen so far."""

    def __init__(self) -> None:
        self._odd = {_BLANK, _OTHER}
        self._plain = set(_ASCII) - self._odd
        self._gaps: re.Pattern[str] | None = None

    def are_plain(self, text: str) -> bool:
        """Whether all characters of a text fold by themselves, to letters if they are such and else to none."""
        if self._plain.issuperset(text):
            return True
        fresh = set(text) - self._plain - self._odd
        if not fresh:
            return False
        self._plain.update(filter(_is_plain, fresh))
        self._odd.update(fresh - self._plain)
        self._gaps = None
        return self._plain.issuperset(text)

    def marked(self, text: str) -> str:
        """A plain text with a stand-in for each character that only looks like a part of a word."""
        if self._gaps is None:
            gaps = [character for character in self._plain if not (character.isascii() or character.isalnum())]
            self._gaps = re.compile(f"[{_OTHER}{''.join(gaps)}]")
        return _SIGNS.sub(_mark_loose, self._gaps.sub(_OTHER, text))


def _is_plain(character: str) -> bool:
    # Alone, within a word and after one: folding itself must say, since it knows of marks, signs and scripts.
    folded = fold(f"{character} a{character}a{character}")
    places = list(zip(folded.starts, folded.ends, strict=True))
    return places == ([(0, 1), (2, 6)] if character.isalnum() else [(2, 3), (4, 5)])


def _mark_loose(signs: re.Match[str]) -> str:
    """Signs belong to the word they end; elsewhere they are gaps."""
    text, start, end = signs.string, *signs.span()
    if text[start - 1].isalnum() and not text[end].isalnum():  # a batch begins and ends with a barrier
        return signs.group()
    return _OTHER * (end - start)


def _batches(pieces: list[str]) -> Iterator[str]:
    """Pieces up to the size of a batch, with a barrier before, between and after them."""
    batch, size = [], 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece)
        if size >= _BATCH:
            yield _between_barriers(batch)
            batch, size = [], 0
    if batch:
        yield _between_barriers(batch)


def _between_barriers(pieces: list[str]) -> str:
    return f"{BARRIER} {f' {BARRIER} '.join(pieces)} {BARRIER}"
