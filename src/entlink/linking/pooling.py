"""Several retrievers as one: each asked in turn until one knows a mention, or all asked and their lists fused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from entlink.documents import Candidate
from entlink.interfaces import Evidence, Fusion, Question, Retriever, Shortlist
from entlink.linking.evidence import scorers_among

Lists = list[list[Sequence[Candidate]]]
Sift = Callable[[Shortlist], Sequence[Candidate]]


def in_turn(retrievers: Sequence[Retriever], questions: Sequence[Question]) -> Lists:
    """The candidates of the first retriever that has any."""
    first, *others = retrievers
    found = [list(lists) for lists in first.retrieve(questions)]
    for retriever in others:
        missing = [
            (at, number)
            for at, lists in enumerate(found)
            for number, candidates in enumerate(lists)
            if not candidates
        ]
        if not missing:
            break
        alone = [Question(questions[at].document, [questions[at].mentions[number]]) for at, number in missing]
        for (at, number), (candidates,) in zip(missing, retriever.retrieve(alone), strict=True):
            found[at][number] = candidates
    return found


class Pooling:
    """All retrievers asked, their candidates pooled and scored by each that can, and fused.

    Before retrievers score what others found, each pool is put in the order of the fusion and cut to its best
    `widest`: an encoder on demand reads the first of them only. `evidence` is asked about pools, too.
    """

    def __init__(
        self,
        retrievers: Mapping[str, Retriever],
        fusion: Fusion,
        *,
        widest: int = 48,
        evidence: Mapping[str, Evidence] | None = None,
    ) -> None:
        self.retrievers, self.fusion, self.widest = dict(retrievers), fusion, widest
        self.scorers = {**scorers_among(retrievers), **(evidence or {})}

    def candidates(self, questions: Sequence[Question], sift: Sift = attrgetter("candidates")) -> Lists:
        """For each question, the fused candidates of each of its mentions; of its pool, what `sift` lets through."""
        pools = iter(self.fusion.fuse([sift(pool) for pool in self.pools(questions)]))
        return [[next(pools) for _ in question.mentions] for question in questions]

    def pools(self, questions: Sequence[Question]) -> list[Shortlist]:
        """What all retrievers together know of each mention, not fused yet."""
        mentions = [(question.document, mention) for question in questions for mention in question.mentions]
        pools: list[dict[str, Candidate]] = [{} for _ in mentions]
        for name, retriever in self.retrievers.items():
            found = (candidates for lists in retriever.retrieve(questions) for candidates in lists)
            others = self._others(name)
            for pool, candidates in zip(pools, found, strict=True):
                _take_in(pool, name, candidates, others)
        self._put_in_order(pools)
        shortlists = [Shortlist(*place, list(pool.values())) for place, pool in zip(mentions, pools, strict=True)]
        for name, scorer in self.scorers.items():
            _score(shortlists, name, scorer, self._others(name))
        return shortlists

    def _others(self, name: str) -> frozenset[str]:
        """The names of the other retrievers: evidence under these is theirs to give."""
        return frozenset(self.retrievers) - {name}

    def _put_in_order(self, pools: list[dict[str, Candidate]]) -> None:
        for pool, fused in zip(pools, self.fusion.fuse([list(pool.values()) for pool in pools]), strict=True):
            # A fusion keeps few; the rest of the pool comes in the order in which it was found.
            order = list(dict.fromkeys([*(one.entity for one in fused), *pool]))[: self.widest]
            found = dict(pool)
            pool.clear()
            pool.update((entity, found[entity]) for entity in order)


def _take_in(pool: dict[str, Candidate], name: str, candidates: Sequence[Candidate], others: frozenset[str]) -> None:
    for candidate in candidates:
        before = pool.get(candidate.entity)
        evidence = _own({**candidate.evidence, name: candidate.score}, others)
        if before is not None:
            evidence = {**evidence, **before.evidence}
        title = candidate.title if before is None else before.title or candidate.title
        pool[candidate.entity] = Candidate(candidate.entity, 0.0, evidence, title)


def _score(shortlists: list[Shortlist], name: str, scorer: Evidence, others: frozenset[str]) -> None:
    """Evidence for what has none of that name yet: one call for all mentions."""
    unknown = [[one for one in shortlist.candidates if name not in one.evidence] for shortlist in shortlists]
    asked = [at for at, candidates in enumerate(unknown) if candidates]
    questions = [Shortlist(*shortlists[at][:2], unknown[at]) for at in asked]
    score = scorer.gives[0]
    for at, told in zip(asked, scorer.gather(questions), strict=True):
        document, mention, candidates = shortlists[at]
        pool = {one.entity: one for one in candidates}
        for one, numbers in zip(unknown[at], told, strict=True):
            if name != score and score in numbers:
                numbers = {name if own == score else own: value for own, value in numbers.items()}
            evidence = {**_own(numbers, others), **one.evidence}
            pool[one.entity] = Candidate(one.entity, one.score, evidence, one.title)
        shortlists[at] = Shortlist(document, mention, list(pool.values()))


def _own(evidence: Mapping[str, float], others: frozenset[str]) -> Mapping[str, float]:
    """Without what other retrievers are called: of two of a kind, the second calls its score as the first does."""
    if others.isdisjoint(evidence):
        return evidence
    return {name: value for name, value in evidence.items() if name not in others}
