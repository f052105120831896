"""What of documents with gold a model that finds mentions learns from: turns that were annotated, gold of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink.evaluation.items import bounds_of
from entlink.personal.gold_phrases import PERSONAL

if TYPE_CHECKING:
    from entlink.documents import Document, GoldLink


def annotated_turns(document: Document) -> frozenset[int]:
    """The turns in which somebody looked for mentions. Elsewhere, that there is no gold teaches nothing."""
    bounds = bounds_of(document)
    told = None if bounds is None else bounds.turns
    return frozenset(range(len(document.turns))) if told is None else told


def is_name(gold: GoldLink) -> bool:
    """Whether gold is of a name or a concept. What a speaker calls "my dog" is found by other means."""
    return not gold.meta.get(PERSONAL)
