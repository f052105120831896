"""Counts how much of the gold a knowledge base knows, and what is right of that."""

from __future__ import annotations

from collections import Counter

import msgspec

from entlink.documents import Document
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.conventions import Convention, Matching, NilRule
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.items import gold_items, predicted_items
from entlink.evaluation.scoring.metrics import link_counts
from entlink.evaluation.scoring.slices import is_covered


class CoverageCounter:
    """Gold links and entities that are known, and predictions of entities that are not."""

    def __init__(self, identities: Identities, matching: Matching) -> None:
        self._identities, self._convention = identities, Convention(matching, NilRule.DROPPED)
        self.links = self.covered_links = 0
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
        for link in predicted.links:
            if link.entity is not None and self._identities.entity(link.entity) is None:
                self.unknown_predicted[link.entity] += 1
        rest = msgspec.structs.replace(document, gold=tuple(known))
        return link_counts(gold_items(rest), predicted_items(predicted, rest), self._convention)
