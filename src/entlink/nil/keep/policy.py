"""One decision per proposal: how likely this span with this entity is a link that somebody wants."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from math import exp
from pathlib import Path

from entlink.documents import Candidate, Document, Link, Mention
from entlink.interfaces import Shortlist, What
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.nil.by_type import Share
from entlink.nil.keep.features import KeepFeatures, spelling_of

WEIGHTS_FILE = Path(__file__).parent / "weights.json"
FIRST_LOOK, WITHOUT_ENCODER, WITH_ENCODER = "at first look", "without an encoder", "with an encoder"
TERMS = "terms"  # words without a capital where all of them are wanted
_PINNED = "pinned"
_SIMILARITY = "similarity"
_CACHED = 100_000
_LOOKED_AT = 3  # candidates at first look
_CHANCE = 0.3  # at first look, where what may be a link counts more than what is none
_SHOWN = 0.5  # a lower threshold asks for links that are unlikely
_MANY = 5_000  # entities


class KeepPolicy:
    """The probability of a link is the logistic of a sum of features; overlaps go to the likelier links.

    Names with a capital, words in lower case and scripts without case have weights of their own, and so has evidence
    with an encoder's similarity. With `what` "all", terms such as "pizza" are wanted, too. Of mentions that overlap,
    those stay that have the largest sum of (probability - `threshold`). Mentions that a document gives are all linked
    to their best candidate. The weights are made by `reproductions/fit_everyday.py`.
    """

    def __init__(self, kb: KnowledgeBase, *, threshold: Share = 0.5, what: What = "terms") -> None:
        self.kb, self.threshold, self.what = kb, threshold, what
        self._features = KeepFeatures(kb)
        self._hopeless: dict[str, bool] = {}
        self._are_few = len(kb) < _MANY

    def knowledge_base_changed(self) -> None:
        self._hopeless.clear()
        self._are_few = len(self.kb) < _MANY
        self._features.knowledge_base_changed()

    def decide(self, shortlists: Sequence[Shortlist]) -> list[Link]:
        links = []
        for shortlist, features in self.rows(shortlists):
            _, mention, candidates = shortlist
            if features is None:
                links.append(Link(mention, None, 1.0, True, mention.type))
                continue
            best = candidates[0]
            is_pinned = best.evidence.get(_PINNED)
            form = WITH_ENCODER if _SIMILARITY in best.evidence else WITHOUT_ENCODER
            score = 1.0 if is_pinned else self._probability(form, mention.text, features)
            links.append(Link(mention, best.entity, score, True, None, best.title, tuple(candidates)))
        return links

    def is_hopeless(self, surface: str, candidates: Sequence[Candidate]) -> bool:
        """Whether a surface is hardly ever a link, wherever it is: then nothing more need be known of it.

        Of few entities all are looked at: that takes no time.
        """
        if self.threshold < _SHOWN or self._are_few:
            return False
        found = self._hopeless.get(surface)
        if found is None:
            if len(self._hopeless) >= _CACHED:
                self._hopeless.clear()
            found = self._hopeless[surface] = bool(candidates) and self._has_no_chance(surface, candidates)
        return found

    def _has_no_chance(self, surface: str, candidates: Sequence[Candidate]) -> bool:
        if any(one.evidence.get(_PINNED) for one in candidates):
            return False
        looks = (self._features.at_first_look(surface, one) | {"bias": 1.0} for one in candidates[:_LOOKED_AT])
        return max(self._probability(FIRST_LOOK, surface, one) for one in looks) < _CHANCE

    def _probability(self, form: str, surface: str, features: Mapping[str, float]) -> float:
        spelling = spelling_of(surface)
        weights = keep_weights()[form][TERMS if self.what == "all" and spelling == "lower" else spelling]
        return _logistic(sum(weights[name] * value for name, value in features.items() if name in weights))

    def rows(self, shortlists: Sequence[Shortlist]) -> Iterator[tuple[Shortlist, dict[str, float] | None]]:
        """Each shortlist with its features; None where there is no candidate."""
        for _, group in groupby(shortlists, key=lambda one: id(one.document)):
            proposals = list(group)
            inside, around = _nesting([one.mention for one in proposals])
            for number, one in enumerate(proposals):
                if not one.candidates:
                    yield one, None
                    continue
                features = self._features.of(
                    one.document, one.mention, one.candidates, inside=number in inside, around=number in around
                )
                yield one, features | {"bias": 1.0}

    def settle(self, document: Document, links: Sequence[Link]) -> Sequence[Link]:
        given = {one.span for one in document.mentions or ()}
        if given and all(one.mention.span in given for one in links):
            return links
        return likeliest_set([one for one in links if one.entity and one.score >= self.threshold], self.threshold)


def likeliest_set(links: Sequence[Link], threshold: float) -> list[Link]:
    """The links of which none overlaps another with the largest sum of (score - threshold)."""
    by_end = sorted(links, key=lambda one: (one.mention.span.end, one.mention.span.start))
    ends = [one.mention.span.end for one in by_end]
    best = [0.0]  # of the first n links
    taken: list[tuple[bool, int]] = []  # whether the n-th is in it, and how many links end before it starts
    for number, one in enumerate(by_end):
        before = bisect_right(ends, one.mention.span.start, 0, number)
        gain = best[before] + one.score - threshold
        taken.append((gain >= best[number], before))
        best.append(max(gain, best[number]))
    kept, number = [], len(by_end)
    while number:
        is_taken, before = taken[number - 1]
        if is_taken:
            kept.append(by_end[number - 1])
        number = before if is_taken else number - 1
    return kept[::-1]


@cache
def keep_weights() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """The weights in the box: by what is known, by spelling, then by feature."""
    import msgspec

    return msgspec.json.decode(WEIGHTS_FILE.read_bytes(), type=dict[str, dict[str, dict[str, float]]])


def _nesting(mentions: Sequence[Mention]) -> tuple[set[int], set[int]]:
    """The numbers of mentions, sorted by start, that are inside a longer one, and of those around a shorter one."""
    inside, around = set(), set()
    for number, one in enumerate(mentions):
        for other in range(number + 1, len(mentions)):
            span = mentions[other].span
            if span.start >= one.span.end:
                break
            if span == one.span:
                continue
            if span.end <= one.span.end:
                inside.add(other)
                around.add(number)
            elif span.start == one.span.start:
                inside.add(number)
                around.add(other)
    return inside, around


def _logistic(number: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(number, -500.0), 500.0)))
