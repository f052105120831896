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
from functools import partial
from itertools import accumulate, compress, count, islice
from operator import add, itemgetter
from sys import intern
from typing import Generic, TypeAlias, TypeVar

import marisa_trie

from entlink.kb.names.alias_index import MAX_KEY, AliasIndex
from entlink.kb.names.scan import ITSELF, Scanner
from entlink.text.folding import first_token, fold
from entlink.text.titles import tidy

BARRIER = "\x00"  # stands between two texts and in place of a link: no name goes over it

_BATCH = 60_000  # characters whose words are held at once; larger batches are not quicker
_LONGEST_PIECE = 1_000_000  # characters; what is longer is left to the scanner, which takes it apart
_REMEMBERED = 1_000_000  # words and followers of words that are kept; then all are forgotten
_MOST_KEYS = 200_000  # of a dictionary whose words are all kept, so that other words are known for such at once
_MOST_LISTED = 250  # keys that begin with a word: to list more costs more than it saves
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

# What part a word has in names, as bits of one byte: `_may_begin` relies on their places.
_FIRST, _SECOND, _NAME, _FIRST_OF_ANY = 1, 2, 4, 8
_IS_FIRST = bytes(code & _FIRST for code in range(256))
_IS_NAME = bytes(code & _NAME for code in range(256))

Found = TypeVar("Found")
Followers: TypeAlias = "frozenset[str] | _Asked"  # empty, and so false, for most words


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
        done = max(done, end if end == len(text) or text[end] in _EDGES else cut.after(end))
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

    The words that follow a word in keys are listed, unless it begins more than `most_listed` keys. Of an index of up
    to `most_keys` all words are kept.
    """

    def __init__(self, index: AliasIndex, *, most_listed: int = _MOST_LISTED, most_keys: int = _MOST_KEYS) -> None:
        self._index = index
        self._words_of_keys = _words_of_keys(index) if len(index) <= most_keys else None
        self._scanner = Scanner(index)
        self._most_listed = most_listed
        self._characters = _Characters()
        self._numbers = _Memory(self._number)  # of words as they are written
        self._names: dict[int, str] = {}  # by their numbers: those that are names,
        self._words: list[str] = []  # what they fold to,
        self._traits: list[int] = []  # their part in names,
        self._after: list[Followers] = []  # and what may follow them
        self._alike: list[int] = []  # the number of a word that was seen before and folds to the same, or -1
        self._latest: dict[str, int] = {}  # the latest number of a word, folded
        self._seconds: set[str] = set()  # the words that follow one of those listed
        self._longer = _Memory(self._after_several)  # what may follow several words, folded and joined by spaces
        self._listed = 0
        self._begin()

    def _begin(self) -> None:
        """The first number is shared by all words that stand in no key: like a barrier they follow nothing."""
        self._words.append(BARRIER)
        self._traits.append(0)
        self._after.append(_NOTHING)
        self._alike.append(-1)

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
        counted = Counter({self._names[number]: times for number, times in seen.items()})
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
        """Count the names of one word, by number, as `seen`, and those of several as `surfaces`."""
        # Getting many items at once is a loop in C that makes no calls, unlike `map`.
        numbers = itemgetter(*tokens.words)(self._numbers)
        traits = bytes(itemgetter(*numbers)(self._traits))
        seen.update(compress(numbers, traits.translate(_IS_NAME)))
        words, after = self._words, self._after
        for first in compress(count(), _may_begin(traits)):
            if words[numbers[first + 1]] in after[numbers[first]]:
                for last in self._longer_names(numbers, first):
                    surfaces[tokens.surface(first, last)] += 1

    def _longer_names(self, numbers: Sequence[int], first: int) -> Iterator[int]:
        """The last words of the names of several words that begin with a word; a second is known to follow it."""
        words, last = self._words, first + 1
        prefix = f"{words[numbers[first]]} {words[numbers[last]]}"
        while followers := self._longer[prefix]:
            if ITSELF in followers:
                yield last
            last += 1
            word = words[numbers[last]]  # a batch ends with a barrier, which follows nothing
            if word not in followers:
                return
            prefix = f"{prefix} {word}"

    def _number(self, written: str) -> int:
        """The number of a word that is new."""
        word, number = _fold_word(written), len(self._words)
        if self._words_of_keys is not None and word not in self._words_of_keys:
            return 0
        trie = self._index.shard_trie(word)
        begins_keys = next(trie.iterkeys(word), None) is not None  # most words do not: one question is enough
        followers = self._followers_of(word, trie) if begins_keys else _NOTHING
        self._words.append(word)
        self._after.append(followers)
        self._traits.append(_SECOND if word in self._seconds else 0)
        self._alike.append(self._latest.get(word, -1))
        self._latest[word] = number
        if ITSELF in followers:
            self._names[number] = written
            self._traits[number] |= _NAME
        if isinstance(followers, _Asked):
            self._traits[number] |= _FIRST_OF_ANY
        elif followers and followers is not _ITSELF:
            self._traits[number] |= _FIRST
            self._add_seconds(followers)
        return number

    def _add_seconds(self, words: frozenset[str]) -> None:
        for word in words - self._seconds:
            number = self._latest.get(word, -1)
            while number >= 0:
                self._traits[number] |= _SECOND
                number = self._alike[number]
        self._seconds |= words

    def _after_several(self, prefix: str) -> Followers:
        return self._followers_of(prefix, self._index.shard_trie(prefix.partition(" ")[0]))

    def _followers_of(self, prefix: str, trie: marisa_trie.Trie) -> Followers:
        """The words that follow one or several words in keys, and `ITSELF` if these are a key."""
        if len(prefix) > MAX_KEY:
            return _NOTHING
        named = prefix in trie
        keys = list(islice(trie.iterkeys(prefix + " "), self._most_listed + 1))
        if len(keys) > self._most_listed:
            return _Asked(named, partial(self._begins_key, prefix, trie))
        if not keys:
            return _ITSELF if named else _NOTHING
        self._listed += len(keys)
        followers = {_next_word(key, len(prefix) + 1) for key in keys}
        return frozenset((*followers, ITSELF)) if named else frozenset(followers)

    def _begins_key(self, prefix: str, trie: marisa_trie.Trie, word: str) -> bool:
        """Whether the word, or a longer one that begins like it, comes after the prefix in a key."""
        self._listed += 1
        return next(trie.iterkeys(f"{prefix} {word}"), None) is not None

    def _forget(self) -> None:
        if len(self._numbers) + len(self._longer) + self._listed > _REMEMBERED:
            for lists in (self._words, self._traits, self._after, self._alike):
                lists.clear()
            for memory in (self._numbers, self._names, self._latest, self._seconds, self._longer):
                memory.clear()
            self._listed = 0
            self._begin()


_NOTHING: frozenset[str] = frozenset()
_ITSELF = frozenset((ITSELF,))


def _words_of_keys(index: AliasIndex) -> frozenset[str]:
    return frozenset(word for key in index.keys() for word in key.split(" "))  # noqa: SIM118  # it is no mapping


def _may_begin(traits: bytes) -> bytes:
    """For each word whether a name of several may begin there: where a first word stands before a second."""
    bits = int.from_bytes(traits, "little")  # one number for all words: each byte is set against the next at once
    return (bits & bits >> 9 | bits >> 3).to_bytes(len(traits), "little").translate(_IS_FIRST)


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
        self._compile()

    def are_plain(self, text: str) -> bool:
        """Whether all characters of a text fold by themselves, to letters if they are such and else to none."""
        if self._not_plain.search(text) is None:
            return True
        fresh = set(text) - self._plain - self._odd
        self._plain.update(filter(_is_plain, fresh))
        self._odd.update(fresh - self._plain)
        return self._plain.issuperset(text)

    def marked(self, text: str) -> str:
        """A plain text with a stand-in for each character that only looks like a part of a word."""
        if len(self._plain) > self._compiled:  # not with each new character: that would take longer than all else
            self._compile()
        return _SIGNS.sub(_mark_loose, self._gaps.sub(_OTHER, text))

    def _compile(self) -> None:
        self._compiled = len(self._plain)
        wide = sorted(character for character in self._plain if not character.isascii())
        self._not_plain = re.compile(f"[^\\x00\\x03-\\x7f{''.join(wide)}]")
        self._gaps = re.compile(f"[{_OTHER}{''.join(character for character in wide if not character.isalnum())}]")


def _is_plain(character: str) -> bool:
    # Alone, within a word, after one, and after a sign that folds to several: folding itself must say.
    folded = fold(f"{character} a{character}a{character}…{character}")
    places = list(zip(folded.starts, folded.ends, strict=True))
    return places == ([(0, 1), (2, 6), (7, 8)] if character.isalnum() else [(2, 3), (4, 5)])


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
