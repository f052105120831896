"""Other names that the first sentence of a description gives: "Coriander, also known as cilantro, is …".

Only what stands before the main verb, or in its parentheses, is read, and when in doubt nothing is taken: a wrong
name costs more than one that is missing. A description is read to a fixed length, so its size does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from entlink.kb.names.opening_phrases import ASIDE, Phrases, phrases_of
from entlink.text.folding import key_of
from entlink.text.titles import tidy, without_parenthesis

READ = 600  # characters of a description
MOST_NAMES = 12
_LONGEST, _MOST_WORDS = 60, 6  # characters and words of a name
_LAST_LATIN = 0x24F
_QUOTES = "\"“”„‘’'«»*"
_SIGNS = frozenset("()[].\n")
_TWO_CAPITALS = re.compile(r"[A-Z][A-Za-z0-9&/.-]*[A-Z]")  # what every abbreviation has
_ABBREVIATION = re.compile(r"[A-Z0-9](?:[A-Za-z0-9&/-]|\.){0,9}")
_POST_NOMINAL = re.compile(r"\s(?![IVX]+$)[A-Z]{2,}$")  # "Gareth Gwenlan OBE"
_REMARK = re.compile("[;:]")
_MARKUP = re.compile(r"[:=<>|{}\[\]()~→\\]|https?|\d{4}")
_QUOTED = re.compile(r"[\"“„]([^\"“”„]+)[\"”“]")


class _Aside(NamedTuple):
    """What stands in parentheses, and whether the name that it interrupts goes on after it."""

    text: str
    goes_on: bool


class _Head(NamedTuple):
    """What stands before the main verb: its text with blanks for parentheses, and what is in those."""

    text: str
    asides: list[_Aside]


def names_in_opening(title: str, description: str, language: str | None = None) -> tuple[str, ...]:
    """The other names in a first sentence, as written there; none in a language that has no table of phrases.

    A language that is not known is taken for English: the phrases do not stand in texts of others.
    """
    phrases = phrases_of(language or "en")
    head = _head(description[:READ], phrases) if phrases else None
    if phrases is None or head is None:
        return ()
    if not head.asides and tidy(head.text) == title:
        return ()  # most often, and quickly told
    reader = _Reader(tidy(title), phrases)
    found = dict.fromkeys(tidy(name) for name in reader.names(head) if ASIDE not in name.strip())
    return tuple(name for name in found if reader.may_be_name(name))[:MOST_NAMES]


def _head(text: str, phrases: Phrases) -> _Head | None:
    """The part before the main verb; None where there is none in the first sentence."""
    pieces: list[str] = []
    asides: list[_Aside] = []
    depth = begun = 0
    for step in phrases.steps.finditer(text):
        sign = step.group()
        if sign in "([":
            if depth == 0:
                pieces.append(text[begun : step.start()])
                begun = step.end()
            depth += 1
        elif sign in ")]":
            depth -= 1
            if depth < 0:
                return None
            if depth == 0:
                goes_on = text[step.end() :].lstrip()[:1].isupper()
                asides.append(_Aside(text[begun : step.start()], goes_on))
                pieces.append(ASIDE)
                begun = step.end()
        elif depth == 0:
            is_verb = sign not in _SIGNS and not phrases.lists_meanings.match(text, step.start())
            pieces.append(text[begun : step.start()])
            return _Head(_before_clause("".join(pieces), phrases), asides) if is_verb else None
    return None


def _before_clause(text: str, phrases: Phrases) -> str:
    """The text less the beginning of a clause ("…, which") that the verb after it belongs to."""
    clause = phrases.relative.search(text)
    return text[: clause.start()] if clause else text


class _Reader:
    """Finds names of the entity of a title."""

    def __init__(self, title: str, phrases: Phrases) -> None:
        self._phrases = phrases
        self._title = without_parenthesis(title) or title
        self._whole_title = title

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset((key_of(self._whole_title), key_of(self._title)))

    @cached_property
    def _words(self) -> list[str]:
        return key_of(self._title).split()

    @cached_property
    def _is_proper(self) -> bool:
        return any(word[:1].isupper() for word in self._title.split()[1:])

    @cached_property
    def _is_latin(self) -> bool:
        return _is_latin(self._whole_title)

    @cached_property
    def _joins(self) -> bool:
        return self._phrases.joins.search(f" {self._title} ") is not None

    def names(self, head: _Head) -> Iterator[str]:
        subject = head.text
        if tidy(subject) != self._title or self._phrases.separator.search(subject):  # seldom, and it takes time
            leads = list(self._phrases.leads.finditer(head.text))
            subject = head.text[: leads[0].start()] if leads else head.text
            yield from self._of_subject(subject)
            yield from self._after(leads, head.text)
        for aside in head.asides:
            for segment in aside.text.split(";"):
                yield from self._of_aside(segment, subject, goes_on=aside.goes_on)

    def _of_subject(self, subject: str) -> Iterator[str]:
        """ "A movie, or film," and "The United States of America": lists that the title is in, and longer forms."""
        parts = [item for item, _ in self._items(subject)]
        if any(key_of(part) in self._keys for part in parts):
            yield from self._listed(subject, "or")
        elif parts and self._is_longer_form(parts[0]):
            yield parts[0]

    def _is_longer_form(self, name: str) -> bool:
        """Whether all words of the title stand in a name in their order, and every word that is added is a name's."""
        if not self._is_proper or _POST_NOMINAL.search(name):
            return False
        words, place = name.split(), 0
        for number, word in enumerate(words):
            if place < len(self._words) and key_of(word) == self._words[place]:
                place += 1
            elif number == 0 or not (word[0].isupper() or word in ("of", "the", "de", "van", "von")):
                return False
        return place == len(self._words)

    def _after(self, leads: list[re.Match[str]], text: str) -> Iterator[str]:
        ends = [*(lead.start() for lead in leads), len(text)][1:]
        for lead, end in zip(leads, ends, strict=True):
            yield from self._listed(text[lead.end() : end])

    def _of_aside(self, segment: str, subject: str, *, goes_on: bool) -> Iterator[str]:
        """Names by their phrase; "(or X)" where X is not just another form of the last word; abbreviations."""
        if ":" in segment:
            return
        bare = segment.strip()
        separator = self._phrases.separator.match(bare)
        is_list = separator is not None and bool(separator["closes"])
        bare = bare[separator.end() :] if separator else bare
        marked = ASIDE + bare
        leads = [lead for lead in self._phrases.leads.finditer(marked) if _begins_part(marked[: lead.start()])]
        if leads:
            yield from self._after(leads, marked)
            return
        may_be_other = is_list and not goes_on
        if not may_be_other and not _TWO_CAPITALS.search(bare):
            return  # a date, most often
        for name in self._listed(bare):
            is_other = may_be_other and (not self._is_proper or " " in name)
            if is_other or self._abbreviates(name, subject):
                yield name

    def _abbreviates(self, name: str, subject: str) -> bool:
        """Whether the letters of a name in capitals stand in this order in the title, or in a subject like it."""
        letters = [character.lower() for character in name if character.isalnum()]
        capitals = sum(map(str.isupper, name))
        if len(letters) < 2 or capitals < 2 or capitals < len(letters) / 2 or not _ABBREVIATION.fullmatch(name):
            return False
        if _are_in_order(letters, self._title.lower()):
            return True
        alike = not set(self._words).isdisjoint(key_of(subject).split())
        return alike and _are_in_order(letters, self._phrases.qualifier.sub("", subject.lstrip(), count=1).lower())

    def _listed(self, text: str, *closings: str) -> Iterator[str]:
        """The names at the beginning of a text: the first, and those of a list that "or" or ", and" closes."""
        items = list(self._items(text))
        last = max((at for at, (_, word) in enumerate(items) if word and word in (closings or (word,))), default=0)
        for name, _ in items[: last + 1]:
            if not name:
                return
            yield name

    def _items(self, text: str) -> Iterator[tuple[str, str]]:
        """The names of a list, each with the word before it, "or" or "and"; one is empty where there is no name."""
        begun, word, is_first = 0, "", True
        text = _REMARK.split(text, maxsplit=1)[0]
        for separator in self._phrases.separator.finditer(text):
            piece = text[begun : separator.start()]
            if piece.strip():
                yield self._cleaned(piece, is_first=is_first or bool(word)), word
                is_first = False
            begun, word = separator.end(), separator["closes"] or ""
        if text[begun:].strip():
            yield self._cleaned(text[begun:], is_first=is_first or bool(word)), word

    def _cleaned(self, piece: str, *, is_first: bool) -> str:
        """A name without what stands before and after it; empty if it is none.

        After a mere comma, an article begins no name but a remark.
        """
        piece = piece.strip()
        words = piece.split(None, 1)
        if not is_first and words and words[0].lower() in self._phrases.articles:
            return ""
        before = self._phrases.qualifier.match(f"{piece} ")
        piece = piece[before.end() :] if before else piece
        quoted = _QUOTED.match(piece)
        if quoted:
            return "" if self._phrases.gloss.match(piece, quoted.end()) else quoted[1].strip(" ,.")
        if self._phrases.gloss.search(piece):
            return ""
        if self._phrases.goes_on.search(piece):
            return ""
        end = self._phrases.ends.search(piece)
        return (piece[: end.start()] if end else piece).strip(f" ,{_QUOTES}")

    def may_be_name(self, name: str) -> bool:
        words = name.split()
        if not words or len(name) > _LONGEST or len(words) > _MOST_WORDS or key_of(name) in self._keys:
            return False
        if sum(map(str.isalpha, name)) < 2 or (not name[0].isalnum() and name[0] != ".") or _MARKUP.search(name):
            return False
        if words[0].lower() in self._phrases.no_names or words[-1].lower() in self._phrases.no_ends:
            return False
        if self._phrases.joins.search(name) and not self._joins:
            return False
        return not (self._is_proper and name.islower()) and (_is_latin(name) or not self._is_latin)


def _begins_part(before: str) -> bool:
    """Whether nothing stands before, or what stands there ends with a comma."""
    before = before.rstrip()
    return not before or before.endswith(",")


def _is_latin(text: str) -> bool:
    return text.isascii() or all(ord(character) <= _LAST_LATIN for character in text if character.isalpha())


def _are_in_order(letters: list[str], text: str) -> bool:
    """Whether a text begins with the first of the letters and holds the others in their order."""
    begins = next((character for character in text if character.isalnum()), "")
    rest = iter(text)
    return begins == letters[0] and all(letter in rest for letter in letters)
