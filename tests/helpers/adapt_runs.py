"""What tests of adapting begin with, and how they end it."""

from __future__ import annotations

LEXICAL = """
[[retriever]]
name = "alias"
[[retriever]]
name = "edit-distance"
[[retriever]]
name = "bm25"
[fusion]
name = "weights"
keep = 20
weights = { alias = 0.5, "edit-distance" = 0.25, bm25 = 0.25 }
[ranker]
name = "combination"
weights = { coherence = 0.0 }
"""


class Killed(Exception):  # noqa: N818
    pass


def quiet(stage, done, total):
    pass


def killing(stage_begins, times):
    """Raises at the so-manieth report of a stage."""
    seen = [0]

    def progress(stage, done, total):
        if stage.startswith(stage_begins):
            seen[0] += 1
            if seen[0] == times:
                raise Killed

    return progress
