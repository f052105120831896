"""The domains of a knowledge base, and to which of them a document belongs.

A domain is a type of entities, or the beginning of one: with a depth of 1, `Geography.Asia` is of the domain
`Geography`. An entity with several types may be of several domains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from entlink.documents import Document
from entlink.errors import ConfigError, InputError
from entlink.evaluation.files import run_name
from entlink.evaluation.identities import Identities
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.nearest import did_you_mean

WAYS = ("type", "page", "file", "meta:FIELD")
Assign = Callable[[Document, Path], str | None]
_SHOWN = 12


class Domains:
    """The domains of a knowledge base by name, each with its types; `depth` 0 takes types as they are."""

    def __init__(self, kb: KnowledgeBase, depth: int = 0) -> None:
        self.depth = depth
        self._types: dict[str, list[str]] = {}
        for type, _ in kb.type_counts():
            self._types.setdefault(self.of_type(type), []).append(type)
        if not self._types:
            raise InputError(
                f"{kb.folder}: no entity has a type, so that there are no domains. Build the knowledge base from a "
                "source with types (of ZESHEL, of articles with types), or give them in a column"
            )

    def __contains__(self, name: str) -> bool:
        return name in self._types

    def types(self, name: str) -> tuple[str, ...]:
        """The types that make up a domain."""
        return tuple(sorted(self._types[name]))

    def of_type(self, type: str) -> str:
        return ".".join(type.split(".")[: self.depth]) if self.depth else type

    def of_types(self, types: Sequence[str]) -> list[str]:
        """The domains of an entity with these types, in their order."""
        return list(dict.fromkeys(map(self.of_type, types)))

    def check(self, names: Sequence[str]) -> None:
        """A domain that nobody has is most likely misspelt."""
        for name in names:
            if name not in self:
                raise ConfigError(f"no entity has the domain {name!r}{self.near(name)}")

    def near(self, name: str) -> str:
        """The end of a message about a domain that nobody has."""
        known = sorted(self._types, key=lambda one: (-len(self._types[one]), one))
        told = did_you_mean(name, known)
        return told if len(known) <= _SHOWN or "did you mean" in told else f"; there are {len(known):,} others"


def assigner(by: str, domains: Domains, identities: Identities) -> Assign:
    """The function that tells the domain of a document by one of `WAYS`, or None where it has none."""
    if by == "file":
        return lambda document, path: run_name(path)
    if by.startswith("meta:") and by[5:]:
        field = by[5:]
        return lambda document, path: _text(document.meta.get(field))
    if by == "type":
        return lambda document, path: _majority(document, domains, identities)
    if by == "page":
        return lambda document, path: _of_page(document, domains, identities)
    raise ConfigError(f"a document's domain cannot be told by {by!r}{did_you_mean(by, list(WAYS))}")


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def _majority(document: Document, domains: Domains, identities: Identities) -> str | None:
    """The domain that most of the gold has; of several, the first by name."""
    counts: Counter[str] = Counter()
    for gold in document.gold:
        entity = next((found for one in gold.entities if (found := identities.entity(one))), None)
        counts.update(domains.of_types(entity.types) if entity else ())
    return min(counts, key=lambda name: (-counts[name], name)) if counts else None


def _of_page(document: Document, domains: Domains, identities: Identities) -> str | None:
    """The first domain of the entity whose page the document is from: its id, up to the last #."""
    page = document.id.rpartition("#")[0] or document.id
    entity = identities.entity(page)
    return domains.of_types(entity.types)[0] if entity and entity.types else None
