"""Known and new entities: a knowledge base in which the new ones were never seen, and what to train and test with."""

from __future__ import annotations

from entlink.datasets.known.split import SplitOptions, SplitReport, split

__all__ = ["SplitOptions", "SplitReport", "split"]
