"""The datasets that entlink can read: a card each, their records, and a check of files against a card."""

from __future__ import annotations

from entlink.datasets.catalogue.catalogue import card, cards, dataset, names
from entlink.datasets.catalogue.checking import check

__all__ = ["card", "cards", "check", "dataset", "names"]
