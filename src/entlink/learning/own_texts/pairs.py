"""Examples that a knowledge base gives of itself: mentions in its own texts, and what they mean.

From its hyperlinks where it keeps them; else from what its texts say: see `entlink.learning.own_texts.kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.documents import Candidate
from entlink.io.progress import Progress
from entlink.learning.own_texts.cases import Case, plain_case
from entlink.learning.own_texts.kinds import ALIKE, IN_COMPANY, SPOKEN_OF, Proposals, Together
from entlink.learning.own_texts.linking import ranked
from entlink.learning.own_texts.texts import OwnTexts, read_texts
from entlink.ranking.combination import OF_COMPANY, CombinationRanker

if TYPE_CHECKING:
    from entlink.interfaces import Shortlist
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.own_texts.mentions import SelfMention
    from entlink.linking.linker import Linker

_KEPT = 20  # candidates of a case
_FIRST_OF_SHORT, _FIRST_OF_OWN, _FIRST_OF_PAGE = 10, 3, 6  # among which the entity must be
_NEAR = 2.5  # of the ranker's sum: candidates so near the best one lead with it
_ABOVE_BIAS = 2.0  # what the sum of a sure candidate has more than the bias
_ASKED_FOR_ONE = 6  # proposals asked about for each example wanted, at most
_AT_ONCE = 1_024
_FEWEST_OF_KIND = 100
_NAMES = 0.18  # of as many as all others are: 15 % of all
_SCARCE = 1_000  # examples: where there are fewer, what texts say of their own entity is taken, too


class Wanted(msgspec.Struct, frozen=True):
    """How many examples of each kind, from the texts of how many entities at most."""

    short: int = 3_500
    own: int = 4_000
    page: int = 3_000
    name: int = 1_800
    plain: int = 90_000
    entities: int = 60_000

    def scaled(self, scale: float) -> Wanted:
        """As many times as many, and never too few to measure with."""
        fields = {name: max(200, round(getattr(self, name) * scale)) for name in self.__struct_fields__}
        return Wanted(**fields)


def self_pairs(
    linker: Linker, wanted: Wanted, seed: int, progress: Progress, *, seconds: float | None = None
) -> list[Case]:
    """Examples from the knowledge base's own texts, with the linker's candidates for them.

    After `seconds` there are no more of a kind than are needed to measure with; each kind has its share of them.
    """
    began = monotonic()
    texts = read_texts(linker.kb, wanted.entities, seed, progress)
    if not texts.passages:
        return []
    together = counts_together(linker.kb)
    proposals = Proposals(linker.kb, texts, together, seed)
    page = _Page(linker, texts, together)
    kinds = [
        _Kind("short", proposals.short(), _among(_FIRST_OF_SHORT), wanted.short, 0.2),
        _Kind("own", proposals.own(), _among(_FIRST_OF_OWN), wanted.own, 0.55),
        _Kind("page", proposals.page(), page.judge, wanted.page, 0.9),
        _Kind("name", proposals.name(), _among(_KEPT), wanted.name, 1.0),
    ]
    cases: list[Case] = []
    until: float | None = None
    read = monotonic() - began
    for kind in kinds:
        if kind.name == "name":  # so that the plain case is not unlearnt, and does not outweigh the others
            kind = kind._replace(most=min(kind.most, max(_FEWEST_OF_KIND, round(len(cases) * _NAMES))))
        until = None if seconds is None else began + read + (seconds - read) * kind.until
        cases += _kept(linker, kind, until, progress)
    if len(cases) < _SCARCE and (until is None or monotonic() < until):
        itself = _Kind("itself", proposals.itself(), _among(_FIRST_OF_SHORT), _SCARCE - len(cases), 1.0)
        cases += _kept(linker, itself, until, progress)
    return cases + [plain_case(one) for one in islice(proposals.plain(), wanted.plain)]


class _Kind(NamedTuple):
    """A kind of examples: proposals, who tells what they mean, how many are wanted, and the share of time by then."""

    name: str
    mentions: Iterator[SelfMention]
    judge: Callable[[SelfMention, Shortlist], str | None]
    most: int
    until: float


def _kept(linker: Linker, kind: _Kind, until: float | None, progress: Progress) -> list[Case]:
    """The proposals whose meaning is sure, until there are enough, or the time is up and there are some."""
    cases: list[Case] = []
    asked = 0
    while asked < _ASKED_FOR_ONE * kind.most and (some := list(islice(kind.mentions, _AT_ONCE))):
        for mention, shortlist in zip(some, ranked(linker, some, lambda *_: None), strict=True):
            asked += 1
            progress(f"finding examples ({kind.name})", len(cases), kind.most)
            entity = kind.judge(mention, shortlist)
            if entity is not None:
                candidates = shortlist.candidates[:_KEPT]
                source = mention.source or ""
                cases.append(Case(kind.name, source, mention.document, mention.mention, entity, candidates))
            late = until is not None and monotonic() > until
            if len(cases) >= (min(_FEWEST_OF_KIND, kind.most) if late else kind.most):
                return cases
    return cases


def _among(first: int) -> Callable[[SelfMention, Shortlist], str | None]:
    """What is proposed, if it is among the first candidates."""

    def judge(mention: SelfMention, shortlist: Shortlist) -> str | None:
        found = any(one.entity == mention.entity for one in shortlist.candidates[:first])
        return mention.entity if found else None

    return judge


class _Page:
    """Tells what a word means from what its text speaks of: the only leading candidate that it does speak of."""

    def __init__(self, linker: Linker, texts: OwnTexts, together: Together) -> None:
        self._texts, self._together = texts, together
        ranker = linker.ranker
        assert isinstance(ranker, CombinationRanker)
        self._bias = ranker.bias
        self._weights = {
            name: weight for name, weight in ranker.weights.items() if weight > 0 and name not in OF_COMPANY
        }

    def judge(self, mention: SelfMention, shortlist: Shortlist) -> str | None:
        surface, first = mention.mention.text, shortlist.candidates[:_FIRST_OF_PAGE]
        if not first:
            return None
        spoken_of = self._texts.spoken_of[mention.source or ""]
        company = [self._together(surface, one.entity) for one in first]
        sums = [one.evidence["sum"] for one in first]
        here = [place for place, one in enumerate(first) if spoken_of[one.entity] and sums[place] > max(sums) - _NEAR]
        if len(here) != 1:
            return None
        best = first[here[0]]
        alike = best.evidence.get("spelling", 0.0) > ALIKE or company[here[0]] >= IN_COMPANY
        sure = sums[here[0]] >= self._enough(first)
        return best.entity if alike and sure and spoken_of[best.entity] >= SPOKEN_OF else None

    def _enough(self, candidates: Sequence[Candidate]) -> float:
        """The sum that makes a candidate sure; less where there is no encoder to add to it."""
        there = set().union(*(one.evidence for one in candidates))
        at_hand = sum(weight for name, weight in self._weights.items() if name in there)
        return (self._bias + _ABOVE_BIAS) * at_hand / sum(self._weights.values())


def counts_together(kb: KnowledgeBase) -> Together:
    """In how many paragraphs a surface and an entity's name stand together; 0 without the index of it."""
    from entlink.kb.indexes.cooccurrence.search import Company

    company = Company(kb)
    keys: dict[str, int | None] = {}

    def together(surface: str, entity: str) -> int:
        if entity not in keys:
            keys[entity] = kb.key(entity)
        key = keys[entity]
        return company.of(surface, [key])[0] if key is not None else 0

    return together
