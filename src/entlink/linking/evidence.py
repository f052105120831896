"""The evidence of a linker: which kinds it has, when each is asked, and where its numbers go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from entlink.documents import Candidate
from entlink.errors import ConfigError, MissingExtraError, MissingModelError
from entlink.interfaces import Evidence, Ranker, Rescorer, Shortlist
from entlink.linking.config import Stage, free_name, make_stage

Numbers = Mapping[str, float]


def make_evidence(stages: Sequence[Stage], ranker: Ranker, kb: object) -> list[Evidence]:
    """The evidence that a configuration names, and beside it what the ranker weighs by default.

    One whose model or extra is missing is left out, with a warning if the configuration names it, unless the ranker
    cannot do without it.
    """
    needed: Sequence[str] = getattr(ranker, "needed_evidence", ())
    named = {stage.get("name") for stage in stages}
    own = [{"name": name} for name in (*needed, *getattr(ranker, "wanted_evidence", ())) if name not in named]
    made: list[Evidence] = []
    for stage in (*own, *stages):
        try:
            made.append(make_stage("evidence", stage, kb))
        except (MissingModelError, MissingExtraError) as problem:
            if stage["name"] in needed:
                raise
            if stage in stages:
                import logging

                logging.getLogger(__name__).warning("ranking goes on without %s: %s", stage["name"], problem)
    return made


class Gathering:
    """Evidence by when it is asked; the first number of each goes under a name that is not `taken` yet."""

    def __init__(self, stages: Iterable[Evidence], taken: Iterable[str] = (), *, has_pools: bool = False) -> None:
        self.of_pools: dict[str, Evidence] = {}
        self._of_lists: dict[str, Evidence] = {}
        self._of_ranked: dict[str, Evidence] = {}
        used = [*taken]
        by_time = {
            "pool": self.of_pools if has_pools else self._of_lists,
            "shortlist": self._of_lists,
            "ranked": self._of_ranked,
        }
        for stage in stages:
            when = getattr(stage, "when", "shortlist")
            if not isinstance(stage, Evidence) or when not in by_time or not stage.gives:
                raise ConfigError(
                    f"{type(stage).__name__} is not evidence: it needs a method gather, the names of its numbers in "
                    f"gives, and, if it has a when, one of {', '.join(by_time)} in it"
                )
            name = free_name(stage.gives[0], used)
            used.append(name)
            by_time[when][name] = stage

    def ranked(self, ranker: Ranker, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        """The candidates of each shortlist with all evidence, best first.

        Some evidence looks at the order that the ranker gives by the rest: it ranks again with each of those.
        """
        if self._of_lists or self._of_ranked:
            shortlists = with_numbers(shortlists, self._of_lists, frozenset(self._of_ranked))
        found = ranker.rank(shortlists)
        for name, stage in self._of_ranked.items():
            lists = [Shortlist(one[0], one[1], best) for one, best in zip(shortlists, found, strict=True)]
            found = ranker.rank(with_numbers(lists, {name: stage}))
        return found


def with_numbers(
    shortlists: Sequence[Shortlist], stages: Mapping[str, Evidence], stale: frozenset[str] = frozenset()
) -> list[Shortlist]:
    """The shortlists with the numbers of these kinds of evidence, and without `stale` ones of an earlier ranking."""
    told = [_numbers(name, stage, shortlists) for name, stage in stages.items()]
    return [
        Shortlist(
            document,
            mention,
            [_with(one, own, stale) for one, *own in zip(candidates, *numbers, strict=True)],
        )
        for (document, mention, candidates), *numbers in zip(shortlists, *told, strict=True)
    ]


def _numbers(name: str, stage: Evidence, shortlists: Sequence[Shortlist]) -> list[Sequence[Numbers]]:
    told = stage.gather(shortlists)
    score = stage.gives[0]
    if name == score:
        return told
    return [[{name if own == score else own: value for own, value in one.items()} for one in each] for each in told]


def _with(candidate: Candidate, numbers: Iterable[Numbers], stale: frozenset[str]) -> Candidate:
    evidence = dict(candidate.evidence)
    if not stale.isdisjoint(evidence):
        evidence = {name: value for name, value in evidence.items() if name not in stale}
    for own in numbers:
        evidence.update(own)
    return Candidate(candidate.entity, candidate.score, evidence, candidate.title)


class Rescored:
    """A retriever with a method `rescore`, from before there was `Evidence`."""

    def __init__(self, name: str, retriever: Rescorer) -> None:
        from warnings import warn

        warn(
            f"{type(retriever).__name__} has a method rescore: give it gather and gives instead (Evidence in "
            "entlink.interfaces)",
            DeprecationWarning,
            stacklevel=2,
        )
        self.gives, self._name, self._retriever = (name,), name, retriever

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Numbers]]:
        return [[{self._name: score} for score in scores] for scores in self._retriever.rescore(shortlists)]


def scorers_among(retrievers: Mapping[str, Any]) -> dict[str, Evidence]:
    """The retrievers that can score what others found."""
    found: dict[str, Evidence] = {}
    for name, retriever in retrievers.items():
        if isinstance(retriever, Evidence):
            found[name] = retriever
        elif isinstance(retriever, Rescorer):
            found[name] = Rescored(name, retriever)
    return found
