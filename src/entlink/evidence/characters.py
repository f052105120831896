"""How well the characters around a mention fit a candidate, in scripts that write without spaces: without a model."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log, log1p, sqrt
from typing import NamedTuple

from entlink.documents import Candidate, Entity
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.folding import SPACELESS
from entlink.text.scripts import simplified
from entlink.text.titles import without_parenthesis

_RUN = re.compile(rf"[{SPACELESS}]+|[^\W_{SPACELESS}]+")
_SPACELESS = re.compile(f"[{SPACELESS}]")
_DESCRIPTION = 300  # characters
_SAMPLE = 500  # entities, whose descriptions say how rare characters are: of more, the order is no better
_CACHED = 2_000  # entities, of some 60 KB each at most


class _Grams(NamedTuple):
    """The single characters of a text, and its pairs of neighbours with its words of other scripts."""

    single: frozenset[str]
    pairs: frozenset[str]


class _Described(NamedTuple):
    grams: _Grams
    parenthesis: frozenset[str]


class CharactersEvidence:
    """What the passage around a mention and a candidate's title and description share, rare characters more.

    `characters` is of single ones, `pairs` of two neighbours and of words in other scripts; both are logarithms.
    `parenthesis` is the share of the closing parenthesis of the title that is in the passage: 电影 of 英雄 (电影).
    All is compared in simplified characters, so that the script of a description says nothing. `reach` characters on
    either side of a mention are read. Passages without a script that writes without spaces have none of these.
    """

    gives = ("characters", "pairs", "parenthesis")

    def __init__(self, kb: KnowledgeBase, *, reach: int = 80) -> None:
        if reach < 1:
            raise ConfigError(f"reach = {reach} does not fit: it counts characters, 1 or more")
        self.kb, self.reach = kb, reach
        self._described: dict[str, _Described] = {}
        self._rarity: _Rarity | None = None

    def knowledge_base_changed(self) -> None:
        self._described.clear()
        self._rarity = None

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        return [self._of(one) for one in shortlists]

    def _of(self, shortlist: Shortlist) -> Sequence[Mapping[str, float]]:
        text, span = shortlist.document.text, shortlist.mention.span
        before, after = text[max(0, span.start - self.reach) : span.start], text[span.end : span.end + self.reach]
        if _SPACELESS.search(before) is None and _SPACELESS.search(after) is None:
            return [{} for _ in shortlist.candidates]
        if self._rarity is None:
            self._rarity = _Rarity(self.kb)
        around, own = _grams(f"{before}\n{after}"), _grams(shortlist.mention.text)
        passage = _Grams(around.single - own.single, around.pairs - own.pairs)
        return [self._fit(passage, own, one) for one in shortlist.candidates]

    def _fit(self, passage: _Grams, own: _Grams, candidate: Candidate) -> Mapping[str, float]:
        described, weigh = self._described_as(candidate.entity), self._weigh
        found = {
            name: log1p(5.0 * weigh(near & said) / sqrt(5.0 + len(said)))
            for name, near, said in zip(self.gives, passage, described.grams, strict=False)
        }
        parenthesis = described.parenthesis.difference(*own)
        if parenthesis:
            found["parenthesis"] = weigh(parenthesis.intersection(passage[0] | passage[1])) / weigh(parenthesis)
        return found

    def _weigh(self, grams: Iterable[str]) -> float:
        assert self._rarity is not None
        return sum(map(self._rarity, grams))

    def _described_as(self, id: str) -> _Described:
        described = self._described.get(id)
        if described is None:
            if len(self._described) >= _CACHED:
                self._described.clear()
            described = self._described[id] = self._describe(id)
        return described

    def _describe(self, id: str) -> _Described:
        entity = self.kb.recent.of_id(id)
        if entity is None:
            return _Described(_grams(""), frozenset())
        bare = without_parenthesis(entity.title)
        parenthesis = _grams("" if bare is None else entity.title[len(bare) :])
        return _Described(_grams(_told(entity)), parenthesis.single | parenthesis.pairs)


class _Rarity:
    """How much sharing something says: from 0, what all of a sample of descriptions have, to 1, what none has."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._times: Counter[str] = Counter()
        self._sampled = 0
        for key in range(1, kb.last_key + 1, max(1, kb.last_key // _SAMPLE)):
            entity = kb.entity(key)
            if entity is not None:
                self._sampled += 1
                for grams in _grams(_told(entity)):
                    self._times.update(grams)

    def __call__(self, gram: str) -> float:
        all = self._sampled + 1.0
        return log(all / (self._times[gram] + 0.5)) / log(all / 0.5)


def _told(entity: Entity) -> str:
    return f"{entity.title}\n{(entity.description or '')[:_DESCRIPTION]}"


def _grams(text: str) -> _Grams:
    """Those of a text in simplified characters."""
    single: set[str] = set()
    pairs: set[str] = set()
    for run in _RUN.findall(simplified(unicodedata.normalize("NFKC", text).casefold())):
        if _SPACELESS.match(run) is None:
            pairs.add(run)
        else:
            single.update(run)
            pairs.update(map("".join, pairwise(run)))
    return _Grams(frozenset(single), frozenset(pairs))
