"""The documents of a study by their domain: which there are, and how their gold lies to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from entlink.documents import Document, GoldLink
from entlink.errors import InputError
from entlink.evaluation.identities import Identities
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.registry import did_you_mean
from entlink.studies.data import Progress, StudyData, no_gold
from entlink.studies.domains import Assign, Domains
from entlink.studies.unfamiliar_results import DomainFacts

_MOST = 100  # domains that a linker is open for at once
_NO_DOMAIN, _UNKNOWN, _NOT_WANTED = "without a domain", "of a domain that no entity has", "of other domains"
_NO_GOLD = "of domains without gold of their own"


class Placed(NamedTuple):
    """A document with its gold as its domain sees it: `outside` are the places of gold that became NIL by that."""

    document: Document
    outside: frozenset[int]


class DomainData:
    """Documents by domain, read anew at each iteration; `limit` takes the first of each domain only."""

    def __init__(
        self,
        data: StudyData,
        domains: Domains,
        assign: Assign,
        *,
        wanted: Sequence[str] = (),
        limit: int | None = None,
    ) -> None:
        self.data, self.domains, self._assign = data, domains, assign
        self._asked, self._limit = tuple(wanted), limit
        self.wanted: frozenset[str] | None = frozenset(wanted) or None
        self.left_out: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._without_gold: frozenset[str] = frozenset()

    def __iter__(self) -> Iterator[tuple[str, Document]]:
        self.left_out.clear()
        self._unknown.clear()
        taken: Counter[str] = Counter()
        for document, path in self.data:
            name = self._assign(document, path)
            if name is None:
                self.left_out[_NO_DOMAIN] += 1
            elif name not in self.domains:
                self.left_out[_UNKNOWN] += 1
                self._unknown[name] += 1
            elif self.wanted is not None and name not in self.wanted:
                self.left_out[_NOT_WANTED if name not in self._without_gold else _NO_GOLD] += 1
            elif self._limit is None or taken[name] < self._limit:
                taken[name] += 1
                yield name, document

    def survey(self, kb: KnowledgeBase, progress: Progress | None = None) -> list[DomainFacts]:
        """Count each domain's documents and gold, once; from then on only domains with gold of their own come."""
        counts: dict[str, Counter[str]] = {}
        for number, (name, document) in enumerate(self, 1):
            own = counts.setdefault(name, Counter())
            own["documents"] += 1
            for gold in document.gold:
                if not gold.optional:
                    own["gold"] += 1
                    own[self._place(gold, name)] += 1
            if progress is not None and number % 50 == 0:
                progress("looking at the data", number, 0)
        self._check(counts)
        self._without_gold = frozenset(name for name, own in counts.items() if not own["inside"])
        self.wanted = frozenset(counts) - self._without_gold
        return [self._facts(name, counts[name], kb) for name in sorted(self.wanted)]

    def _facts(self, name: str, counts: Counter[str], kb: KnowledgeBase) -> DomainFacts:
        types = self.domains.types(name)
        return DomainFacts(name, len(types), len(kb.keys_of_types(types)), **counts)

    def _check(self, counts: dict[str, Counter[str]]) -> None:
        if not any(own["gold"] for own in counts.values()):
            raise self._nothing(counts)
        having = [name for name, own in counts.items() if own["inside"]]
        for name in self._asked:
            if name not in having:
                others = did_you_mean(name, sorted(having)) if having else ""
                raise InputError(f"no document has gold of the domain {name!r}{others}")
        if not having:
            raise InputError(
                "no document has gold of its own domain. Check how domains are told (--domain-by, --domain-depth)"
            )
        if len(having) > _MOST:
            raise InputError(
                f"the data has {len(having):,} domains, and {_MOST} can be studied at once. Join them with "
                "--domain-depth 1, or choose some with --domain"
            )

    def _nothing(self, counts: dict[str, Counter[str]]) -> InputError:
        if self._unknown:
            name = self._unknown.most_common(1)[0][0]
            near = self.domains.near(name)
            return InputError(
                f"the documents are of domains that no entity has, such as {name!r}{near}. Tell them by another way "
                "(--domain-by)"
            )
        if self.left_out[_NOT_WANTED] and self._asked:
            return InputError(f"no document belongs to the domain {self._asked[0]!r}")
        if self.left_out[_NO_DOMAIN] and not counts and any(document.gold for document, _ in self.data):
            return InputError("no document has a domain. Tell it by another way (--domain-by)")
        return no_gold(self.data.files)

    def place(self, document: Document, name: str) -> Placed:
        """The document as its domain sees it: gold outside of the domain is NIL."""
        gold, outside = [], set()
        for number, link in enumerate(document.gold):
            entities = tuple(one for one in link.entities if self._is_inside(one, name))
            if link.entities and not entities:
                outside.add(number)
            gold.append(link if entities == link.entities else msgspec.structs.replace(link, entities=entities))
        return Placed(
            msgspec.structs.replace(document, gold=tuple(gold), mentions=None, links=()), frozenset(outside)
        )

    def _is_inside(self, id: str, name: str) -> bool:
        entity = self._identities.entity(id)
        return entity is not None and name in self.domains.of_types(entity.types)

    def _place(self, gold: GoldLink, name: str) -> str:
        if gold.is_nil:
            return "nil"
        if any(self._is_inside(one, name) for one in gold.entities):
            return "inside"
        known = any(self._identities.entity(one) is not None for one in gold.entities)
        return "elsewhere" if known else "unknown"

    @property
    def _identities(self) -> Identities:
        return self.data.identities
