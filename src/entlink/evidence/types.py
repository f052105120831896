"""How well the types of a candidate fit: those that a tagger asks for, and those of the entities around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from entlink.documents import Candidate
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

_NEAREST = 8  # other mentions that are looked at
# What taggers call a coarse type, as in OntoNotes and CoNLL.
_LABELS = {"PERSON": "PER", "GPE": "LOC", "FAC": "LOC", "ORGANIZATION": "ORG", "LOCATION": "LOC"}


class TypesEvidence:
    """How far a candidate's types agree with those around it, and with the type that its mention has.

    `type_agreement` is the share of types, those above them too, that it has in common with the leader of another
    mention: the mean of the nearest eight. `type_asked` is there where the mention has a type, as a tagger or the
    document gives it: 1 for a candidate with that coarse type or type (by id or name), else 0. A candidate without
    types has neither number.
    """

    needs = "a knowledge base with types"
    gives = ("type_agreement", "type_asked")
    when = "ranked"

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._asked: dict[str, frozenset[str]] = {}

    def knowledge_base_changed(self) -> None:
        self._asked.clear()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """The mentions of a document come one after the other, their candidates best first."""
        told: list[Sequence[Mapping[str, float]]] = []
        for _, group in groupby(shortlists, key=lambda one: id(one.document)):
            own = list(group)
            leaders = [self._types(one.candidates[0]) if one.candidates else frozenset() for one in own]
            for number, one in enumerate(own):
                around = list(_around(leaders, number))
                told.append([self._numbers(candidate, one.mention.type, around) for candidate in one.candidates])
        return told

    def _numbers(
        self, candidate: Candidate, asked: str | None, around: Sequence[frozenset[str]]
    ) -> Mapping[str, float]:
        types = self._types(candidate)
        if not types:
            return {}
        numbers = {"type_agreement": sum(_in_common(types, one) for one in around) / len(around) if around else 0.0}
        if asked is not None:
            coarse = self.kb.types.coarse(candidate.entity)
            fits = coarse in (asked, _LABELS.get(asked)) or not types.isdisjoint(self._types_asked(asked))
            numbers["type_asked"] = float(fits)
        return numbers

    def _types(self, candidate: Candidate) -> frozenset[str]:
        return self.kb.types.all_types(candidate.entity)

    def _types_asked(self, asked: str) -> frozenset[str]:
        found = self._asked.get(asked)
        if found is None:
            found = self._asked[asked] = self.kb.types.kinds_of([asked])
        return found


def _around(leaders: Sequence[frozenset[str]], number: int) -> Iterator[frozenset[str]]:
    """The types of the leaders of the nearest other mentions, as far as they have any."""
    order = sorted(range(len(leaders)), key=lambda other: abs(other - number))
    yield from (leaders[other] for other in order[1 : _NEAREST + 1] if leaders[other])


def _in_common(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)
