"""What a knowledge base and the words around it tell of a span: numbers with a name each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, log1p
from typing import NamedTuple

from entlink.kb.folding import key_of
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names import without_parenthesis
from entlink.mentions.proposals import Proposal, Word

_CACHED = 200_000
_BEARERS = 10
_LONGEST_NAME = 200  # characters
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


class Surroundings(NamedTuple):
    """The words before and after a span, in lower case, and whether a sign parts it from them."""

    before: str
    after: str
    parted_before: bool
    parted_after: bool


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


class SpanFeatures:
    """The features of spans over one knowledge base; what was found of a surface is remembered."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._found: dict[str, tuple[float, ...]] = {}

    def knowledge_base_changed(self) -> None:
        self._found.clear()

    def rows(
        self,
        text: str,
        words: Sequence[Word],
        spans: Sequence[Proposal],
        seen: Callable[[str], Seen],
    ) -> list[tuple[float, ...]]:
        """A row a span, with a number for each of `FEATURES`."""
        names = [(one.start, one.end) for one in spans if one.is_name]
        longer, shorter = _nesting(spans, names)
        cased = not text.islower()
        return [
            (
                *self._surface(text[one.start : one.end]),
                *self._place(text, words, one, (one.start, one.end) in longer, (one.start, one.end) in shorter),
                float(not cased),
                *_seen(seen(key_of(text[one.start : one.end]))),
            )
            for one in spans
        ]

    def _surface(self, surface: str) -> tuple[float, ...]:
        found = self._found.get(surface)
        if found is None:
            if len(self._found) >= _CACHED:
                self._found.clear()
            found = self._found[surface] = self._look_up(surface)
        return found

    def _look_up(self, surface: str) -> tuple[float, ...]:
        meaning, key = self.kb.meaning(surface), key_of(surface)
        folded = self.kb.meaning_of_key(key)
        titles = {title for one in (meaning, folded) for _, _, title in self.kb.bearers(one, _BEARERS)}
        occurrences = self.kb.occurrences(surface)
        total = sum(occurrences.values())
        probability = meaning.link_probability() if meaning.entries and self.kb.has_links else None
        return (
            float(bool(meaning.entries)),
            float(meaning.tier) if meaning.entries else _UNKNOWN_TIER,
            log1p(len(meaning.entries)),
            log1p(len(folded.entries)),
            float(any(key_of(without_parenthesis(title) or title) == key for title in titles)),
            log1p(total),
            log((total + 0.5) / max(1, self.kb.texts)),
            occurrences.get(surface.lower(), 0) / (total + 1),
            log1p(meaning.total),
            probability or 0.0,
        )

    def _place(
        self, text: str, words: Sequence[Word], span: Proposal, inside: bool, outside: bool
    ) -> tuple[float, ...]:
        own = [word.text for word in words[span.first : span.last + 1]]
        lower = [word.lower() for word in own]
        surface, around = text[span.start : span.end], _around(text, words, span)
        common = [self._surface(word)[6] for word in own]
        last = lower[-1]
        return (
            float(span.is_name),
            float(inside),
            float(outside),
            float(len(own)),
            float(len(surface)),
            float(surface[0].isupper()),
            float(all(word[0].isupper() for word in own)),
            float(len(surface) > 1 and surface.isupper()),
            float(not around.before or around.parted_before),
            float(lower[0] in _SMALL),
            float(last in _SMALL),
            sum(word in _SMALL for word in lower) / len(lower),
            float(any(character.isdigit() for character in surface)),
            float(around.before in _ARTICLES),
            float(around.before in _OWNERS),
            float(around.before in _PLACES),
            float(around.after in _PLACES),
            float(around.after in _COPULAS),
            float(not around.after),
            float(around.before in _SMALL),
            float(around.after in _SMALL),
            float(around.parted_after),
            float(around.parted_before),
            float(last.endswith("s")),
            float(last.endswith("ing")),
            float(last.endswith("ed")),
            float(last.endswith("ly")),
            min(common),
            max(common),
        )


def _around(text: str, words: Sequence[Word], span: Proposal) -> Surroundings:
    before = words[span.first - 1] if span.first else None
    after = words[span.last + 1] if span.last + 1 < len(words) else None
    left = text[before.end : span.start] if before else ""
    right = text[span.end : after.start if after else len(text)]
    return Surroundings(
        before.text.lower() if before else "",
        after.text.lower() if after else "",
        not _STOPS.isdisjoint(left),
        not _STOPS.isdisjoint(right),
    )


def _nesting(
    spans: Sequence[Proposal], names: Sequence[tuple[int, int]]
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The spans that stand in a longer name, and those that a shorter name stands in."""
    inside, outside = set(), set()
    at = 0
    for one in spans:
        while at < len(names) and names[at][0] < one.start - _LONGEST_NAME:
            at += 1
        for start, end in names[at:]:
            if start >= one.end:
                break
            if (start, end) == (one.start, one.end):
                continue
            if start <= one.start and one.end <= end:
                inside.add((one.start, one.end))
            elif one.start <= start and end <= one.end:
                outside.add((one.start, one.end))
    return inside, outside


def _seen(found: Seen) -> tuple[float, float]:
    """The share of its occurrences that were mentions, drawn to a third where there are few; and how many."""
    return (found.linked + 1.0) / (found.total + 3.0), log1p(found.total)
