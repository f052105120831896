"""How far chance alone could have moved a score: bootstrap intervals and a paired permutation test, over documents.

Documents with the same counts cannot be told apart by a score, so that a resample is drawn as how often each distinct
row of counts comes: the same distribution, and no slower for a million documents than for a thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from entlink.documents import Record
from entlink.errors import InputError, MissingExtraError
from entlink.evaluation.scoring.tally import Column

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Integers = np.ndarray[Any, np.dtype[np.int64]]

Measure = Literal["precision", "recall", "f1"]
MEASURES: tuple[Measure, ...] = ("precision", "recall", "f1")
_CELLS_AT_ONCE = 4_000_000


class Interval(Record, frozen=True):
    """From `low` to `high`: where the score falls in `level` of the resamples."""

    low: float
    high: float
    level: float = 0.95


class Intervals(Record, frozen=True):
    """An interval of each score."""

    precision: Interval
    recall: Interval
    f1: Interval


class Difference(Record, frozen=True):
    """How much B scores above A, its interval, and how often chance alone makes as large a difference (`p`)."""

    measure: str
    a: float
    b: float
    difference: float
    interval: Interval
    p: float


def require_numpy() -> Any:
    """numpy, or an error that says how to get it."""
    try:
        import numpy
    except ImportError:
        raise MissingExtraError("drawing intervals and testing differences", "eval") from None
    return numpy


def _checked(rounds: int, level: float, documents: int) -> Any:
    """numpy, if there is something to draw, and a way to draw it."""
    if rounds < 1 or not 0.0 < level < 1.0:
        raise InputError(f"intervals need a round or more, and a level between 0 and 1, not {rounds} and {level}")
    if not documents:
        raise InputError("there are no documents to draw intervals over")
    return require_numpy()


def intervals(column: Column, *, rounds: int = 1000, seed: int = 0, level: float = 0.95) -> Intervals:
    """Percentile bootstrap intervals of micro scores."""
    np = _checked(rounds, level, len(column))
    rows, counts = _distinct(np, *column.rows())
    parts = [
        _scores(np, weights @ rows, of_nothing=np.nan)
        for weights in _draws(np, counts, rounds, np.random.default_rng(seed))
    ]
    return _intervals(np, np.concatenate(parts), level)


def macro_intervals(
    column: Column, groups: Sequence[str | None] | None, *, rounds: int = 1000, seed: int = 0, level: float = 0.95
) -> Intervals:
    """The same of macro scores: over documents, or over groups, of which a document may have none (None).

    A group that a resample misses is left out of its mean.
    """
    np = _checked(rounds, level, len(column))
    if groups is None:
        return _document_intervals(np, column, rounds, seed, level)
    names, places = np.unique(np.asarray([group or "" for group in groups]), return_inverse=True)
    grouped = [number for number, name in enumerate(names) if name]
    rows, counts = _distinct(np, places, *column.rows())
    owners, values = rows[:, 0], rows[:, 1:]
    parts = []
    for weights in _draws(np, counts, rounds, np.random.default_rng(seed)):
        scores = np.full((len(weights), len(names), 3), np.nan)
        for group in grouped:
            own = weights[:, owners == group]
            is_drawn = own.sum(axis=1) > 0
            scores[is_drawn, group] = _scores(np, own[is_drawn] @ values[owners == group])
        is_grouped = ~np.isnan(scores[:, :, 0]).all(axis=1)  # not where only documents of no group were drawn
        parts.append(np.nanmean(scores[is_grouped], axis=1))
    return _intervals(np, np.concatenate(parts), level)


def _document_intervals(np: Any, column: Column, rounds: int, seed: int, level: float) -> Intervals:
    """Where each document is a group of its own, a macro score is a mean over documents."""
    rows, counts = _distinct(np, *column.rows())
    scores = _scores(np, rows)
    draws = _draws(np, counts, rounds, np.random.default_rng(seed))
    return _intervals(np, np.concatenate([weights @ scores / len(column) for weights in draws]), level)


def differences(
    a: Column, b: Column, *, rounds: int = 10_000, seed: int = 0, level: float = 0.95
) -> list[Difference]:
    """Of two runs over the same documents, in the same order: the difference of each micro score, and its test.

    In the test the two runs' answers are swapped document by document at random.
    """
    np = _checked(rounds, level, len(a))
    rows, counts = _distinct(np, *a.rows(), *b.rows())
    totals = counts @ rows
    seen = _scores(np, totals[3:]) - _scores(np, totals[:3])
    generator = np.random.default_rng(seed)
    resampled = np.concatenate(
        [
            _scores(np, (sums := weights @ rows)[:, 3:]) - _scores(np, sums[:, :3])
            for weights in _draws(np, counts, rounds, generator)
        ]
    )
    as_large = np.zeros(3)
    for swapped in _swaps(np, counts, rounds, generator):
        moved = swapped @ (rows[:, :3] - rows[:, 3:])
        gap = _scores(np, totals[3:] + moved) - _scores(np, totals[:3] - moved)
        as_large += (np.abs(gap) >= np.abs(seen) - 1e-12).sum(axis=0)
    bounds = _bounds(np, resampled, level)
    first, second = a.total().scores, b.total().scores
    return [
        Difference(
            measure,
            first[place],
            second[place],
            float(seen[place]),
            bounds[place],
            float((as_large[place] + 1) / (rounds + 1)),
        )
        for place, measure in enumerate(MEASURES)
    ]


def _distinct(np: Any, *columns: Any) -> tuple[Integers, Integers]:
    """The distinct rows of the columns side by side, and how many documents have each."""
    table = np.column_stack([np.asarray(column, dtype=np.int64) for column in columns])
    rows, counts = np.unique(table, axis=0, return_counts=True)
    return rows, counts


def _chunks(counts: Integers, rounds: int) -> list[int]:
    size = max(1, _CELLS_AT_ONCE // max(1, len(counts)))
    return [min(size, rounds - done) for done in range(0, rounds, size)]


def _draws(np: Any, counts: Integers, rounds: int, generator: Any) -> list[Integers]:
    """How often each row comes in each resample."""
    total = int(counts.sum())
    if not total:
        return [np.zeros((rounds, 0), dtype=np.int64)]
    shares = counts / total
    return [generator.multinomial(total, shares, size=size) for size in _chunks(counts, rounds)]


def _swaps(np: Any, counts: Integers, rounds: int, generator: Any) -> list[Integers]:
    """Of the documents with each row, how many have their two runs swapped."""
    return [generator.binomial(counts, 0.5, size=(size, len(counts))) for size in _chunks(counts, rounds)]


def _scores(np: Any, sums: Any, *, of_nothing: float = 1.0) -> Floats:
    """Precision, recall and F1 of rows of (correct, predicted, gold), by the rules of `Counts`.

    `of_nothing` is the score where nothing was asked or answered: in a resample that draws nothing of a slice, none.
    """
    sums = np.asarray(sums, dtype=np.float64)
    correct, predicted, gold = sums[..., 0], sums[..., 1], sums[..., 2]
    nothing = np.where(predicted + gold == 0, of_nothing, 0.0)
    scores = [
        np.divide(part, whole, out=np.array(nothing), where=whole > 0)
        for part, whole in ((correct, predicted), (correct, gold), (2 * correct, predicted + gold))
    ]
    result: Floats = np.stack(scores, axis=-1)
    return result


def _bounds(np: Any, scores: Floats, level: float) -> list[Interval]:
    edge = 100 * (1 - level) / 2
    drawn = ~np.isnan(scores).any(axis=1)
    scores = scores[drawn] if drawn.any() else np.ones((1, 3))
    low, high = np.percentile(scores, [edge, 100 - edge], axis=0)
    return [Interval(float(low[place]), float(high[place]), level) for place in range(3)]


def _intervals(np: Any, scores: Floats, level: float) -> Intervals:
    return Intervals(*_bounds(np, scores, level))
