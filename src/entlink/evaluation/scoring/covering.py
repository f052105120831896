"""Counts how much of the gold a knowledge base knows, and what is right of that."""

from __future__ import annotations

from collections import Counter

import msgspec

from entlink.documents import Document, GoldLink
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.conventions import Convention, Matching, NilRule
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.items import gold_items, predicted_items
from entlink.evaluation.scoring.metrics import link_counts
from entlink.evaluation.scoring.slices import is_covered


class CoverageCounter:
    """Gold links and entities that are known, and predictions of entities that are not."""

    def __init__(self, identities: Identities, matching: Matching) -> None:
        self._identities = identities
        self.convention = Convention(matching, NilRule.DROPPED, identities.match_gold)
        self.links = self.covered_links = self.by_title = 0
        self.ambiguous: Counter[str] = Counter()  # links by a title that several entities have
        self.disambiguations: Counter[str] = Counter()  # links to pages that only list what a name may mean
        self.only_titled = 0  # links that are not covered, and whose title an entity has
        self.entities: set[str] = set()
        self.unknown_entities: set[str] = set()
        self.unknown_predicted: Counter[str] = Counter()

    @property
    def share(self) -> float:
        """Of the gold links, how many are to entities that are known."""
        return self.covered_links / self.links if self.links else 1.0

    def add(self, document: Document, predicted: Document) -> Counts:
        """EL in one document on what is known: the rest of the gold counts as NIL, and answers to it are dropped."""
        known = []
        for gold in document.gold:
            covered = is_covered(gold, self._identities)
            known.append(gold if covered else msgspec.structs.replace(gold, entities=()))
            if gold.is_nil or gold.optional:
                continue
            self.links += 1
            self.covered_links += covered
            (self.entities if covered else self.unknown_entities).add(gold.entities[0])
            self._look_at_title(gold, covered)
        for link in predicted.links:
            if link.entity is not None and self._identities.entity(link.entity) is None:
                self.unknown_predicted[link.entity] += 1
        rest = msgspec.structs.replace(document, gold=tuple(known))
        return link_counts(gold_items(rest), predicted_items(predicted, rest), self.convention)

    def _look_at_title(self, gold: GoldLink, covered: bool) -> None:
        """Whether gold was matched by title, or could have been."""
        title = self._identities.title_of.get(gold.entities[0])
        if not covered:
            self.disambiguations[gold.entities[0]] += self._identities.is_disambiguation(gold)
            self.only_titled += self._identities.titled(gold)
        elif title is not None:
            self.by_title += 1
            self.ambiguous[title] += self._identities.is_ambiguous(title)
