"""What a knowledge base and the words around it tell of a span: numbers with a name each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from math import log, log1p
from typing import NamedTuple

from entlink.kb.knowledge_base import KnowledgeBase
from entlink.mentions.proposals import Proposal, Word
from entlink.text.folding import key_of
from entlink.text.titles import without_parenthesis

_CACHED = 200_000
_ENTITIES = 10
_LONGEST_NAME = 200  # characters; in running text no longer ones are looked for
_UNKNOWN_TIER = 9.0
_ARTICLES = frozenset(("a", "an", "the"))
_OWNERS = frozenset(("my", "your", "his", "her", "our", "their", "its"))
_PLACES = frozenset(("of", "in", "at", "from", "to", "for"))
_COPULAS = frozenset(("is", "are", "was", "were"))
# Words that hardly ever begin or end a name in English; in other languages these features say nothing.
_SMALL_WORDS = """
a an the my your his her its our their this that these those of in on at to for from with by as and or but if
so is are was were be been am do does did have has had i you he she it we they me him them us what which who
whom whose how when where why not no yes can could would should will may might must there here about into over
than then too very just also some any all each every much many more most few lot lots got get one two let okay
ok well oh really like know think want go going
"""
_SMALL = frozenset(_SMALL_WORDS.split())
_STOPS = frozenset(",.;:!?")


class Seen(NamedTuple):
    """How often a name was a mention in texts with gold, and how often it stood in them."""

    linked: float
    total: float


NEVER_SEEN = Seen(0.0, 0.0)


SURFACE_FEATURES = (
    "is a name",
    "how exactly",
    "bearers",
    "bearers of any form",
    "is a title",
    "times in texts",
    "share of texts",
    "share in lower case",
    "times linked",
    "P(link)",
)
PLACE_FEATURES = (
    "is found",
    "inside a longer name",
    "has a shorter name",
    "words",
    "characters",
    "begins with a capital",
    "all words have capitals",
    "is in capitals",
    "begins a sentence",
    "begins with a small word",
    "ends with a small word",
    "share of small words",
    "has a digit",
    "after an article",
    "after an owner",
    "after a preposition",
    "before a preposition",
    "before a copula",
    "ends the text",
    "after a small word",
    "before a small word",
    "before a sign",
    "after a sign",
    "ends in s",
    "ends in ing",
    "ends in ed",
    "ends in ly",
    "rarest word",
    "commonest word",
    "text without capitals",
)
SEEN_FEATURES = ("was a mention", "was seen")
FEATURES = (*SURFACE_FEATURES, *PLACE_FEATURES, *SEEN_FEATURES)
_SHARE_OF_TEXTS = SURFACE_FEATURES.index("share of texts")


class SpanFeatures:
    """The features of spans over one knowledge base; what was found of a surface is remembered."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._found: dict[str, tuple[float, ...]] = {}
        self._texts: int | None = None  # asked of the store once, not for each surface

    def knowledge_base_changed(self) -> None:
        self._found.clear()
        self._texts = None

    def of_surface(self, surface: str) -> tuple[float, ...]:
        """A number for each of `SURFACE_FEATURES`."""
        found = self._found.get(surface)
        if found is None:
            found = self._look_up(surface)
            if len(surface) <= _LONGEST_NAME:
                if len(self._found) >= _CACHED:
                    self._found.clear()
                self._found[surface] = found
        return found

    def _look_up(self, surface: str) -> tuple[float, ...]:
        meaning, key = self.kb.meaning(surface), key_of(surface)
        folded = self.kb.meaning_of_key(key)
        titles = {title for one in (meaning, folded) for _, _, title in self.kb.entities_named(one, _ENTITIES)}
        occurrences = self.kb.occurrences(surface)
        total = sum(occurrences.values())
        if self._texts is None:
            self._texts = self.kb.texts
        probability = meaning.link_probability() if meaning.entries and self.kb.has_links else None
        return (
            float(bool(meaning.entries)),
            float(meaning.tier) if meaning.entries else _UNKNOWN_TIER,
            log1p(len(meaning.entries)),
            log1p(len(folded.entries)),
            float(any(key_of(without_parenthesis(title) or title) == key for title in titles)),
            log1p(total),
            log((total + 0.5) / max(1, self._texts)),
            occurrences.get(surface.lower(), 0) / (total + 1),
            log1p(meaning.total),
            probability or 0.0,
        )


class TextFeatures:
    """The features of the spans of one text.

    What they share is found once: where a word is as long as the text, as in scripts without spaces, looking at it
    again for each span would take the square of its length.
    """

    def __init__(
        self,
        surfaces: SpanFeatures,
        text: str,
        words: Sequence[Word],
        spans: Sequence[Proposal],
        seen: Callable[[str], Seen],
    ) -> None:
        self._surfaces, self._text, self._seen = surfaces, text, seen
        self._inside, self._outside = nesting(spans)
        self._without_capitals = float(text.islower())
        self._starts, self._ends = [word.start for word in words], [word.end for word in words]
        self._has_capital = [word.text[0].isupper() for word in words]
        self._lower = [word.text.lower() for word in words]
        self._common = [surfaces.of_surface(word.text)[_SHARE_OF_TEXTS] for word in words]
        self._stops = [at for at, character in enumerate(text) if character in _STOPS]
        self._digits = [at for at, character in enumerate(text) if character.isdigit()]

    def rows(self, spans: Iterable[Proposal]) -> list[tuple[float, ...]]:
        """A row a span, with a number for each of `FEATURES`."""
        found = []
        for one in spans:
            surface = self._text[one.start : one.end]
            place = self._place(surface, one)
            found.append((*self._surfaces.of_surface(surface), *place, *_smoothed(self._seen(key_of(surface)))))
        return found

    def _place(self, surface: str, span: Proposal) -> tuple[float, ...]:
        """A number for each of `PLACE_FEATURES`."""
        own = slice(span.first, span.last + 1)
        lower, common = self._lower[own], self._common[own]
        before = self._lower[span.first - 1] if span.first else ""
        after = self._lower[span.last + 1] if span.last + 1 < len(self._lower) else ""
        parted_before = bool(span.first) and _has_one(self._stops, self._ends[span.first - 1], span.start)
        parted_after = _has_one(self._stops, span.end, self._starts[span.last + 1] if after else len(self._text))
        last = lower[-1]
        return (
            float(span.is_name),
            float((span.start, span.end) in self._inside),
            float((span.start, span.end) in self._outside),
            float(len(lower)),
            float(len(surface)),
            float(surface[0].isupper()),
            float(all(self._has_capital[own])),
            float(len(surface) > 1 and surface.isupper()),
            float(not before or parted_before),
            float(lower[0] in _SMALL),
            float(last in _SMALL),
            sum(word in _SMALL for word in lower) / len(lower),
            float(_has_one(self._digits, span.start, span.end)),
            float(before in _ARTICLES),
            float(before in _OWNERS),
            float(before in _PLACES),
            float(after in _PLACES),
            float(after in _COPULAS),
            float(not after),
            float(before in _SMALL),
            float(after in _SMALL),
            float(parted_after),
            float(parted_before),
            float(last.endswith("s")),
            float(last.endswith("ing")),
            float(last.endswith("ed")),
            float(last.endswith("ly")),
            min(common),
            max(common),
            self._without_capitals,
        )


def _has_one(places: Sequence[int], start: int, end: int) -> bool:
    """Whether one of some places, in order, is from start to end."""
    place = bisect_left(places, start)
    return place < len(places) and places[place] < end


def nesting(spans: Sequence[Proposal]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Of spans by start and end, those that stand in a longer name, and those that a shorter name stands in."""
    names = [(one.start, one.end) for one in spans if one.is_name]
    inside, outside = set(), set()
    nearest = 0
    for one in spans:
        own = (one.start, one.end)
        while nearest < len(names) and names[nearest][0] < one.start - _LONGEST_NAME:
            nearest += 1
        for at in range(nearest, len(names)):
            start, end = names[at]
            if start >= one.end or (start > one.start and own in outside):
                break
            if (start, end) == own:
                continue
            if start <= one.start and one.end <= end:
                inside.add(own)
            elif one.start <= start and end <= one.end:
                outside.add(own)
    return inside, outside


def _smoothed(found: Seen) -> tuple[float, float]:
    """The share of its occurrences that were mentions, drawn to a third where there are few; and how many."""
    return (found.linked + 1.0) / (found.total + 3.0), log1p(found.total)
