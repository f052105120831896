"""The documents of a study by their domain: which there are, and how their gold lies to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

import msgspec

from entlink.documents import Document, GoldLink
from entlink.errors import InputError
from entlink.evaluation.identities import Identities
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies.data import StudyData, no_gold
from entlink.studies.domains import Assign, Domains
from entlink.studies.unfamiliar.results import DomainFacts
from entlink.text.nearest import did_you_mean

_NO_DOMAIN, _UNKNOWN, _NOT_WANTED = "without a domain", "of a domain that no entity has", "of other domains"
_NO_GOLD = "of domains without gold of their own"


class Placed(NamedTuple):
    """A document with its gold as its domain sees it: `outside` are the places of gold that became NIL by that."""

    document: Document
    outside: frozenset[int]


class Shelf:
    """Documents by domain in an open file, so that a linker is open for one domain at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: dict[str, list[tuple[int, int]]] = {}
        self._encoder, self._decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Placed)

    def put(self, name: str, placed: Placed) -> None:
        data = self._encoder.encode(placed)
        self._places.setdefault(name, []).append((self._file.tell(), len(data)))
        self._file.write(data)

    def take(self, name: str) -> Iterator[Placed]:
        """The documents of a domain, in the order in which they came; not while others are put."""
        for start, length in self._places.get(name, ()):
            self._file.seek(start)
            yield self._decoder.decode(self._file.read(length))


class DomainData:
    """Parts documents by domain, in one pass; `limit` takes the first of each domain only."""

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
        self._wanted, self._limit = tuple(wanted), limit
        self.left_out: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()

    def part(self, shelf: Shelf, kb: KnowledgeBase, progress: Progress | None = None) -> list[DomainFacts]:
        """Put every document on the shelf as its domain sees it; returns the domains that have gold of their own."""
        counts: dict[str, Counter[str]] = {}
        for number, (name, document) in enumerate(self._documents(), 1):
            own = counts.setdefault(name, Counter())
            own["documents"] += 1
            for gold in document.gold:
                if not gold.optional:
                    own["gold"] += 1
                    own[self._place(gold, name)] += 1
            shelf.put(name, self._placed(document, name))
            if progress is not None and number % 50 == 0:
                progress("looking at the data", number, 0)
        self._check(counts)
        without = sum(own["documents"] for own in counts.values() if not own["inside"])
        if without:
            self.left_out[_NO_GOLD] = without
        return [self._facts(name, counts[name], kb) for name in sorted(counts) if counts[name]["inside"]]

    def _documents(self) -> Iterator[tuple[str, Document]]:
        taken: Counter[str] = Counter()
        for document, path in self.data:
            name = self._assign(document, path)
            if name is None:
                self.left_out[_NO_DOMAIN] += 1
            elif name not in self.domains:
                self.left_out[_UNKNOWN] += 1
                self._unknown[name] += 1
            elif self._wanted and name not in self._wanted:
                self.left_out[_NOT_WANTED] += 1
            elif self._limit is None or taken[name] < self._limit:
                taken[name] += 1
                yield name, document

    def _facts(self, name: str, counts: Counter[str], kb: KnowledgeBase) -> DomainFacts:
        types = self.domains.types(name)
        return DomainFacts(name, len(types), len(kb.keys_of_types(types)), **counts)

    def _check(self, counts: dict[str, Counter[str]]) -> None:
        if not any(own["gold"] for own in counts.values()):
            raise self._nothing(counts)
        having = [name for name, own in counts.items() if own["inside"]]
        for name in self._wanted:
            if name not in having:
                others = did_you_mean(name, sorted(having)) if having else ""
                raise InputError(f"no document has gold of the domain {name!r}{others}")
        if not having:
            raise InputError(
                "no document has gold of its own domain. Check how domains are told (--domain-by, --domain-depth)"
            )

    def _nothing(self, counts: dict[str, Counter[str]]) -> InputError:
        if self._unknown:
            name = self._unknown.most_common(1)[0][0]
            near = self.domains.near(name)
            return InputError(
                f"the documents are of domains that no entity has, such as {name!r}{near}. Tell them by another way "
                "(--domain-by)"
            )
        if self.left_out[_NOT_WANTED] and self._wanted:
            return InputError(f"no document has gold of the domain {self._wanted[0]!r}: none belongs to it")
        if self.left_out[_NO_DOMAIN] and not counts and any(document.gold for document, _ in self.data):
            return InputError("no document has a domain. Tell it by another way (--domain-by)")
        return no_gold(self.data.files)

    def notes(self) -> list[str]:
        """What is odd about the domains of the documents."""
        return [
            f"{count:,} documents are of the domain {name!r}, which no entity has{self.domains.near(name)}"
            for name, count in self._unknown.most_common(1)
        ]

    def _placed(self, document: Document, name: str) -> Placed:
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
