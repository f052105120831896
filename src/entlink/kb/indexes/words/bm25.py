"""BM25 over the postings of some terms: the best rows of all, or the scores of given ones.

The terms that can add most are looked at first. As soon as no row without them can come among the best, the postings
of the others, which are the long ones, are only looked up for the rows that are left. What comes out is what scoring
every row would give, the lower row first where two score alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from entlink.kb.indexes.search_rows import Mask
    from entlink.kb.indexes.words.postings import Counts, Lengths, Postings, Rows

    Scores = NDArray[numpy.float64]

_SLACK = 1e-9  # sums in another order may differ in their last digits
_TINY = 1e-300  # lest nothing be divided by nothing where a row has no terms
_DENSE = 8  # rows a posting: with fewer, an array over all rows is quicker than merging


class Wanted(NamedTuple):
    """A term of a query: its postings, and the most it can add to a score."""

    postings: Postings
    most: float


class Scorer:
    """Scores rows of the given lengths by BM25, where a row is `mean` terms long on average."""

    def __init__(self, lengths: Lengths, mean: float, k1: float, b: float) -> None:
        self._lengths = lengths
        self._base, self._slope = k1 * (1 - b) + _TINY, k1 * b / (mean or 1.0)

    def best(self, terms: Sequence[Wanted], limit: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """The best rows that hold any of the terms and that the mask lets through, best first."""
        import numpy

        terms = [term for term in terms if len(term.postings.rows)]
        terms.sort(key=lambda term: -term.most)
        rows, scores = numpy.empty(0, numpy.uint32), numpy.empty(0, numpy.float64)
        if not terms or limit < 1:
            return rows, scores
        rest = sum(term.most for term in terms)
        least = 0.0  # what a row must have to be among the best
        for term in terms[:-1]:
            if least > rest:
                scores += self._of(term, rows)[0]
            else:
                rows, scores = self._merged(rows, scores, term, mask)
            rest -= term.most
            if len(rows) >= limit:
                least = float(numpy.partition(scores, len(scores) - limit)[len(scores) - limit]) - _SLACK
                hopeful = scores >= least - rest
                rows, scores = rows[hopeful], scores[hopeful]
        rows, scores = self._with_last(rows, scores, terms[-1], limit, mask, closed=least > rest)
        return _cut(rows, scores, limit)

    def at(self, terms: Sequence[Wanted], rows: Rows) -> tuple[Scores, Counts]:
        """The scores of given rows, and the smallest count that any term has in each."""
        import numpy

        scores = numpy.zeros(len(rows), numpy.float64)
        counts = numpy.full(len(rows), numpy.iinfo(numpy.uint16).max if terms else 0, numpy.uint16)
        for term in sorted(terms, key=lambda term: -term.most):
            more, counted = self._of(term, rows)
            scores += more
            numpy.minimum(counts, counted, out=counts)
        return scores, counts

    def _of(self, term: Wanted, rows: Rows) -> tuple[Scores, Counts]:
        """What a term adds to the scores of given rows, and its count in each."""
        import numpy

        held, counts = term.postings
        if not len(held):
            return numpy.zeros(len(rows)), numpy.zeros(len(rows), numpy.uint16)
        places = held.searchsorted(rows)
        numpy.minimum(places, len(held) - 1, out=places)
        found = counts[places] * (held[places] == rows)
        return self._scores(term.most, rows, found), found

    def _scores(self, most: float, rows: Rows, counts: Counts) -> Scores:
        import numpy

        scores = counts.astype(numpy.float64)
        norms = self._lengths[rows].astype(numpy.float64)
        norms *= self._slope
        norms += self._base
        norms += scores
        scores /= norms
        scores *= most
        return scores

    def _all(self, term: Wanted, mask: Mask | None) -> tuple[Rows, Scores]:
        rows, counts = term.postings
        if mask is not None:
            allowed = mask[rows]
            rows, counts = rows[allowed], counts[allowed]
        return rows, self._scores(term.most, rows, counts)

    def _merged(self, rows: Rows, scores: Scores, term: Wanted, mask: Mask | None) -> tuple[Rows, Scores]:
        """The rows so far and those of a further term, in order."""
        import numpy

        more, added = self._all(term, mask)
        if not len(rows):
            return more, added
        if (len(rows) + len(more)) * _DENSE > len(self._lengths):
            sums = numpy.zeros(len(self._lengths))
            sums[rows] = scores
            sums[more] += added
            union = sums.nonzero()[0].astype(numpy.uint32)
            return union, sums[union]
        if len(rows) < len(more):
            rows, scores, more, added = more, added, rows, scores
        places = rows.searchsorted(more)
        is_new = rows[numpy.minimum(places, len(rows) - 1)] != more
        scores[places[~is_new]] += added[~is_new]
        places = places[is_new]
        return numpy.insert(rows, places, more[is_new]), numpy.insert(scores, places, added[is_new])

    def _with_last(
        self, rows: Rows, scores: Scores, term: Wanted, limit: int, mask: Mask | None, *, closed: bool
    ) -> tuple[Rows, Scores]:
        """The rows so far with what the last term adds; of those it brings in, the best alone."""
        import numpy

        if len(rows):
            scores += self._of(term, rows)[0]
        if closed:
            return rows, scores
        more, added = self._all(term, mask)
        if len(rows) and len(more):
            places = numpy.minimum(more.searchsorted(rows), len(more) - 1)
            added[places[more[places] == rows]] = 0.0
        best, added = _cut(more, added, limit)
        best, added = best[added > 0], added[added > 0]
        both = numpy.concatenate((rows, best))
        order = both.argsort(kind="stable")
        return both[order], numpy.concatenate((scores, added))[order]


def _cut(rows: Rows, scores: Scores, limit: int) -> tuple[Rows, Scores]:
    """The best of rows that come in order, best first; of those that score alike, the first."""
    import numpy

    if len(rows) > limit:
        place = len(rows) - limit
        least = numpy.partition(scores, place)[place]
        above = (scores > least).nonzero()[0]
        level = (scores == least).nonzero()[0][: limit - len(above)]
        kept = numpy.concatenate((above, level))
        kept.sort()
        rows, scores = rows[kept], scores[kept]
    order = (-scores).argsort(kind="stable")
    return rows[order], scores[order]
