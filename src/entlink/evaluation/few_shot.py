"""Few-shot gold: mentions whose most popular entity is not the right one, as Hansel's few-shot part has them.

AT is the alias table: the entities of a name by P(e|m), the most popular first, whatever stands around the mention.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.documents import Candidate, Document, GoldLink, Link, Mention, Record
from entlink.errors import InputError
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.items import surface_of
from entlink.evaluation.scoring.slices import is_covered

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase

MOST_POPULAR = 100  # entities of a name: AT@100
_MOST_REMEMBERED = 100_000
# Identifiers of Freebase, addresses, and those with their scheme before them.
_OF_ANOTHER_SCHEME = re.compile(r"/[mg]/|[a-z][\w.+-]*:")


class Popularity:
    """The alias table of a knowledge base, asked for a name once."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._known: dict[str, tuple[Candidate, ...]] = {}

    def ranked(self, surface: str) -> tuple[Candidate, ...]:
        """The entities of a name, the most popular first; their scores are P(e|m)."""
        found = self._known.get(surface)
        if found is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            meaning = self._kb.meaning(surface)
            total = meaning.total or 1
            found = self._known[surface] = tuple(
                Candidate(id, entry.support / total, title=title)
                for entry, id, title in self._kb.entities_named(meaning, MOST_POPULAR)
            )
        return found

    def links(self, document: Document) -> Document:
        """The document with the most popular entity of each gold mention as its link, NIL where there is none."""
        links = []
        for gold in document.gold:
            surface = surface_of(document, gold)
            ranked = self.ranked(surface)
            first = ranked[0] if ranked else None
            links.append(
                Link(
                    Mention(gold.span, surface),
                    None if first is None else first.entity,
                    0.0 if first is None else first.score,
                    candidates=ranked,
                )
            )
        return msgspec.structs.replace(document, links=tuple(links))

    def is_right(self, gold: GoldLink, surface: str) -> bool:
        """AT@1: whether the most popular entity is gold, or for NIL whether the name has none."""
        ranked = self.ranked(surface)
        return bool(ranked) and ranked[0].entity in gold.entities if gold.entities else not ranked


class FewShot:
    """Keeps of documents the gold that AT@1 gets wrong."""

    def __init__(self, identities: Identities, popularity: Popularity) -> None:
        self._identities, self._popularity = identities, popularity

    def part(self, document: Document) -> Document:
        """The document with such gold only, under the identifiers that it came with."""
        mapped = self._identities.gold(document).gold
        kept = tuple(
            gold
            for gold, known in zip(document.gold, mapped, strict=True)
            if not self._popularity.is_right(known, _name_of(document, gold))
        )
        return document if len(kept) == len(document.gold) else msgspec.structs.replace(document, gold=kept)


def _name_of(document: Document, gold: GoldLink) -> str:
    name = surface_of(document, gold)
    if not name:
        where = f"document {document.id!r}: the gold at {gold.span.start}-{gold.span.end}"
        raise InputError(f"{where} has no text, so that nobody knows its name. Take gold in a format with texts")
    return name


# How much there is


class Split(Record, frozen=True, omit_defaults=False):
    """Counts of what is in the knowledge base of the annotators, of NIL, and of both together."""

    in_kb: int
    nil: int
    total: int


class SetCounts(Record, frozen=True, omit_defaults=False):
    """The size of a set as table 12 of the Hansel paper has it; a document may have both kinds of gold."""

    mentions: Split
    distinct_mentions: Split
    documents: Split
    entities: int


class SetCounter:
    """Counts gold that is not optional; of names, documents and entities it keeps a number each."""

    def __init__(self) -> None:
        self._mentions = (0, 0)
        self._surfaces: tuple[set[int], set[int]] = (set(), set())
        self._documents = (0, 0, 0)
        self._entities: set[int] = set()

    def add(self, document: Document) -> None:
        asked = [gold for gold in document.gold if not gold.optional]
        nil = sum(gold.is_nil for gold in asked)
        self._mentions = self._mentions[0] + len(asked) - nil, self._mentions[1] + nil
        for gold in asked:
            self._surfaces[gold.is_nil].add(hash(surface_of(document, gold)))
            self._entities.update(map(hash, gold.entities[:1]))
        known, without, both = self._documents
        self._documents = known + (nil < len(asked)), without + (nil > 0), both + bool(asked)

    def counts(self) -> SetCounts:
        known, nil = self._surfaces
        return SetCounts(
            Split(*self._mentions, sum(self._mentions)),
            Split(len(known), len(nil), len(known | nil)),
            Split(*self._documents),
            len(self._entities),
        )


# Why gold was lost: appendix F


class Loss:
    """Why an entity was not found, in the order in which it is asked."""

    UNRESOLVED = "identifier not resolved"
    ABSENT = "not in the knowledge base"
    NOT_AMONG = "not among the alias table's ten"
    NOT_CHOSEN = "not chosen"


LOSSES = (Loss.UNRESOLVED, Loss.ABSENT, Loss.NOT_AMONG, Loss.NOT_CHOSEN)


def loss_of(gold: GoldLink, ranked: Sequence[Any], identities: Identities) -> str:
    """Why this gold, whose link is wrong, was lost; `ranked` are the candidates of the alias table.

    An entity that the knowledge base lacks is one without a page in its language, where that is what it was made of.
    An identifier of another scheme, such as a mid of Freebase, that leads to nothing is not resolved.
    """
    if not is_covered(gold, identities):
        return Loss.UNRESOLVED if all(map(_OF_ANOTHER_SCHEME.match, gold.entities)) else Loss.ABSENT
    among = any(one.entity in gold.entities for one in ranked[:10])
    return Loss.NOT_CHOSEN if among else Loss.NOT_AMONG
