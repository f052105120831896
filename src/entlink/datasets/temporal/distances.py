"""How unlike two names are: the share of characters to be changed."""

from __future__ import annotations

from entlink.datasets.temporal.options import exact
from entlink.text.titles import spaced


def edits(mention: str, title: str) -> tuple[int, int]:
    """Levenshtein's distance of a mention and a title as readers see it, and the length of the longer."""
    from rapidfuzz.distance import Levenshtein

    shown = spaced(title)
    return Levenshtein.distance(mention, shown), max(len(mention), len(shown), 1)


def edit_distance(mention: str, title: str) -> float:
    """From 0, the same, to 1, nothing in common: 16 ÷ 17 for `host` and `Sacramental_bread`."""
    distance, longer = edits(mention, title)
    return distance / longer


class Nearness:
    """Says of two mentions whether their distance is below a bound."""

    def __init__(self, bound: float) -> None:
        self._part, self._whole = exact(bound)

    def may_be(self, shorter: int, longer: int) -> bool:
        """Whether mentions of these lengths can be near: so many characters are missing at least."""
        return (longer - shorter) * self._whole < self._part * max(longer, 1)

    def __call__(self, one: str, other: str) -> bool:
        from rapidfuzz.distance import Levenshtein

        most = (self._part * max(len(one), len(other), 1) - 1) // self._whole  # the largest that is below the bound
        return most >= 0 and Levenshtein.distance(one, other, score_cutoff=most) <= most
