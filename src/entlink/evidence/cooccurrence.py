"""How often a mention and a candidate's name stand together in the descriptions of the knowledge base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p

from entlink.documents import Candidate
from entlink.errors import MissingExtraError
from entlink.interfaces import Shortlist
from entlink.kb.indexes.cooccurrence.postings import need_numpy
from entlink.kb.indexes.cooccurrence.search import Company
from entlink.kb.knowledge_base import KnowledgeBase

_CACHED = 100_000


class CooccurrenceEvidence:
    """The logarithm of the number of paragraphs that hold the surface, outside of any name, and a candidate's title.

    It tells who is meant by a surface that is nobody's name: "Dutch" is most often beside the Netherlands. Without
    the index of co-occurrence (`entlink kb index --company`) it says nothing.
    """

    needs = "the extra retrieval and an index: entlink kb index --company"
    gives = ("company",)

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._company = _company(kb)
        self._keys: dict[str, int | None] = {}

    def knowledge_base_changed(self) -> None:
        self._keys.clear()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        company = self._company
        if company is None or not company.is_there():
            return [[{} for _ in one.candidates] for one in shortlists]
        return [
            [{"company": value} for value in self._values(company, one.mention.text, one.candidates)]
            for one in shortlists
        ]

    def _values(self, company: Company, surface: str, candidates: Sequence[Candidate]) -> list[float]:
        keys = [self._key(one.entity) for one in candidates]
        known = [key for key in keys if key is not None]
        counts = dict(zip(known, company.of(surface, known), strict=True))
        return [0.0 if key is None else log1p(counts[key]) for key in keys]

    def _key(self, id: str) -> int | None:
        if id not in self._keys:
            if len(self._keys) >= _CACHED:
                self._keys.clear()
            self._keys[id] = self.kb.key(id)
        return self._keys[id]


def _company(kb: KnowledgeBase) -> Company | None:
    """None without the library for it: whoever wanted to make the index has been told."""
    try:
        need_numpy()
    except MissingExtraError:
        return None
    return Company(kb)
