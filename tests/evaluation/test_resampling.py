"""Intervals and tests of differences are scipy's, whatever the order of documents, and cover as often as they say."""

from __future__ import annotations

import random
import sys
from itertools import product

import numpy as np
import pytest
from scipy import stats

from entlink.documents import Document
from entlink.errors import MissingExtraError
from entlink.evaluation import Counts, Evaluation, EvaluationOptions, evaluate
from entlink.evaluation.intervals.resampling import MEASURES, Interval, differences, intervals, macro_intervals
from entlink.evaluation.scoring.tally import Column
from worked import TEXT, gold, link

ROUNDS = 8000


def column(rows) -> Column:
    found = Column()
    for row in rows:
        found.add(Counts(*map(int, row)))
    return found


def made(size: int, seed: int, *, quality: float = 0.6, most: int = 9) -> np.ndarray:
    """Counts of documents: quality differs from document to document, and so does how much is predicted."""
    generator = np.random.default_rng(seed)
    wanted = generator.integers(1, most, size)
    shares = generator.beta(4 * quality, 4 * (1 - quality), size)
    correct = generator.binomial(wanted, shares)
    return np.column_stack([correct, correct + generator.integers(0, 4, size), wanted])


def ratios(correct, predicted, wanted) -> dict[str, np.ndarray]:
    """Where nothing was predicted nor wanted the score is 1; elsewhere a share of nothing is 0."""
    empty = predicted + wanted == 0
    parts = {"precision": (correct, predicted), "recall": (correct, wanted), "f1": (2 * correct, predicted + wanted)}
    return {
        name: np.where(empty, 1.0, above / np.where(below == 0, 1, below)) for name, (above, below) in parts.items()
    }


def micro_of(measure: str):
    return lambda *columns, axis: ratios(*(one.sum(axis=axis) for one in columns))[measure]


def check(own: Interval, columns, statistic, level: float = 0.95) -> None:
    """Of scipy's resamples as many lie below the interval, and above it, as the level says, but for chance.

    Scores of few documents come in steps, so that shares are compared and not bounds.
    """
    found = stats.bootstrap(
        tuple(columns),
        statistic,
        n_resamples=ROUNDS,
        batch=2000,
        vectorized=True,
        paired=True,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    drawn, outside = found.bootstrap_distribution, (1 - level) / 2
    chance = 4 * np.sqrt(2 * outside * (1 - outside) / ROUNDS)
    for below, up_to in (
        (drawn < own.low - 1e-9, drawn <= own.low + 1e-9),
        (drawn > own.high + 1e-9, drawn >= own.high - 1e-9),
    ):
        assert below.mean() - chance <= outside <= up_to.mean() + chance
    assert own.level == level


SETS = {
    "many": made(80, 1),
    "few": made(9, 2, quality=0.8),
    "poor": made(40, 3, quality=0.15),
    "large documents": made(25, 4, most=60),
    "some empty": np.vstack([made(20, 5), np.zeros((5, 3), dtype=int)]),
    "alike": np.repeat([[1, 2, 2], [2, 2, 4]], 30, axis=0),
}


@pytest.mark.parametrize("name", SETS)
def test_micro_intervals_are_scipys(name):
    rows = SETS[name]
    found = intervals(column(rows), rounds=ROUNDS)
    for measure in MEASURES:
        check(getattr(found, measure), rows.T.astype(float), micro_of(measure))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_levels_are_scipys(level):
    rows = SETS["many"]
    own = intervals(column(rows), rounds=ROUNDS, level=level).f1
    check(own, rows.T.astype(float), micro_of("f1"), level)


def macro_of(measure: str, groups: int):
    """The mean over those groups that were drawn."""

    def statistic(correct, predicted, wanted, group, axis):
        scores = []
        for one in range(groups):
            own = group == one
            sums = [(column * own).sum(axis=axis) for column in (correct, predicted, wanted)]
            scores.append(np.where(own.any(axis=axis), ratios(*sums)[measure], np.nan))
        return np.nanmean(scores, axis=0)

    return statistic


@pytest.mark.parametrize("measure", MEASURES)
def test_macro_intervals_over_groups_are_scipys(measure):
    rows = np.vstack([made(30, 6, quality=0.9), made(12, 7, quality=0.3), made(4, 8, quality=0.5)])
    groups = np.repeat([0, 1, 2], [30, 12, 4])
    own = getattr(macro_intervals(column(rows), [f"g{one}" for one in groups], rounds=ROUNDS), measure)
    check(own, [*rows.T.astype(float), groups], macro_of(measure, 3))


@pytest.mark.parametrize("measure", MEASURES)
def test_macro_intervals_over_documents_are_scipys_of_a_mean(measure):
    rows = SETS["some empty"]
    own = getattr(macro_intervals(column(rows), None, rounds=ROUNDS), measure)
    check(own, [ratios(*rows.T)[measure]], np.mean)


RIVALS = {
    "much better": (made(40, 11, quality=0.4), made(40, 11, quality=0.8)),
    "a little better": (made(60, 12, quality=0.55), made(60, 12, quality=0.62)),
    "few": (made(8, 14), made(8, 15)),
}


def same_gold(pair) -> tuple[np.ndarray, np.ndarray]:
    """Two runs over one gold: no more is right than is wanted."""
    first, second = pair
    second = second.copy()
    second[:, 2] = first[:, 2]
    second[:, 0] = np.minimum(second[:, 0], second[:, 2])
    return first, second


def gap_of(measure: str):
    def statistic(*columns, axis):
        sums = [one.sum(axis=axis) for one in columns]
        return ratios(*sums[3:])[measure] - ratios(*sums[:3])[measure]

    return statistic


@pytest.mark.parametrize("name", RIVALS)
def test_differences_have_scipys_intervals(name):
    first, second = same_gold(RIVALS[name])
    found = {one.measure: one for one in differences(column(first), column(second), rounds=ROUNDS)}
    columns = np.hstack([first, second]).T.astype(float)
    for measure in MEASURES:
        own = found[measure]
        assert own.difference == pytest.approx(float(gap_of(measure)(*columns, axis=-1)))
        assert own.a == pytest.approx(float(micro_of(measure)(*columns[:3], axis=-1)))
        assert own.b == pytest.approx(float(micro_of(measure)(*columns[3:], axis=-1)))
        check(own.interval, columns, gap_of(measure))


def swapped_p(first: np.ndarray, second: np.ndarray, measure: str, rounds: float) -> float:
    """scipy's paired permutation test; it gets the documents' numbers, and looks their counts up."""
    rows, size = np.vstack([first, second]), len(first)

    def statistic(one, other, axis):
        sums = [rows[places.astype(int)].sum(axis=axis - 1 if axis < 0 else axis) for places in (one, other)]
        scores = [ratios(*np.moveaxis(each, -1, 0))[measure] for each in sums]
        return scores[1] - scores[0]

    places = np.arange(size), np.arange(size, 2 * size)
    found = stats.permutation_test(
        places,
        statistic,
        permutation_type="samples",
        n_resamples=rounds,
        vectorized=True,
        batch=1000,
        rng=np.random.default_rng(3),
    )
    return float(found.pvalue)


@pytest.mark.parametrize("name", RIVALS)
def test_p_is_that_of_scipys_permutation_test(name):
    first, second = same_gold(RIVALS[name])
    own = {one.measure: one.p for one in differences(column(first), column(second), rounds=ROUNDS)}
    for measure in MEASURES:
        assert own[measure] == pytest.approx(swapped_p(first, second, measure, ROUNDS - 1), abs=0.025)


def test_p_of_a_few_documents_is_the_share_of_all_swaps():
    """Seven documents can be swapped in 128 ways: those that make as large a difference are counted one by one."""
    first, second = same_gold((made(7, 21, quality=0.4), made(7, 22, quality=0.7)))
    rows = np.stack([first, second])
    gaps = []
    for swaps in product([0, 1], repeat=7):
        a, b = (rows[[one ^ side for one in swaps], range(7)].sum(axis=0) for side in (0, 1))
        gaps.append(float(ratios(*b)["f1"] - ratios(*a)["f1"]))
    exact = sum(abs(gap) >= abs(gaps[0]) - 1e-12 for gap in gaps) / len(gaps)
    own = differences(column(first), column(second), rounds=20_000)[2]
    assert 0.02 < exact < 0.98
    assert own.p == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_p_where_every_document_is_better_by_as_much(size):
    """Only all swapped or none makes as large a difference: two of 2ⁿ ways."""
    found = differences(column([[1, 5, 5]] * size), column([[4, 5, 5]] * size), rounds=20_000)
    assert [one.p for one in found] == pytest.approx([2 / 2**size] * 3, abs=0.01)


def test_a_run_does_not_differ_from_itself():
    rows = SETS["some empty"]
    for one in differences(column(rows), column(rows), rounds=500):
        assert (one.difference, one.interval.low, one.interval.high, one.p) == (0.0, 0.0, 0.0, 1.0)
        assert one.a == one.b


def test_a_difference_is_turned_round_with_the_runs():
    first, second = same_gold(RIVALS["a little better"])
    there = differences(column(first), column(second), rounds=ROUNDS)
    back = differences(column(second), column(first), rounds=ROUNDS)
    for one, other in zip(there, back, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert (one.a, one.b) == (other.b, other.a)
        assert one.p == pytest.approx(other.p, abs=0.025)
        assert one.interval.low == pytest.approx(-other.interval.high, abs=0.01)


def test_p_is_never_nothing():
    """The swap that was seen is one of them: with 99 rounds no p is below a hundredth."""
    worse, better = np.tile([0, 5, 5], (200, 1)), np.tile([5, 5, 5], (200, 1))
    assert {one.p for one in differences(column(worse), column(better), rounds=99)} == {0.01}


def test_the_order_of_documents_changes_nothing():
    first, second = same_gold(RIVALS["a little better"])
    groups = [f"g{number % 4}" for number in range(len(first))]
    order = list(range(len(first)))
    random.Random(5).shuffle(order)
    mixed, mixed_groups = (first[order], second[order]), [groups[place] for place in order]
    assert intervals(column(first)) == intervals(column(mixed[0]))
    assert macro_intervals(column(first), groups) == macro_intervals(column(mixed[0]), mixed_groups)
    assert macro_intervals(column(first), None) == macro_intervals(column(mixed[0]), None)
    assert differences(column(first), column(second), rounds=500) == differences(*map(column, mixed), rounds=500)


def test_a_seed_fixes_the_draws_and_another_one_changes_them():
    rows, groups = SETS["many"], [f"g{number % 4}" for number in range(80)]
    ways = [
        lambda seed: intervals(column(rows), seed=seed),
        lambda seed: macro_intervals(column(rows), groups, seed=seed),
        lambda seed: macro_intervals(column(rows), None, seed=seed),
        lambda seed: differences(column(rows), column(made(80, 30)), seed=seed, rounds=300),
    ]
    for way in ways:
        assert way(1) == way(1)
        assert way(1) != way(2)


def test_so_many_rounds_are_drawn():
    """Of one round the interval is a point, and p is one of two: the swap made as large a difference, or did not."""
    rows = SETS["many"]
    for found in (intervals(column(rows), rounds=1), macro_intervals(column(rows), ["a", "b"] * 40, rounds=1)):
        assert all(getattr(found, measure).low == getattr(found, measure).high for measure in MEASURES)
    first, second = same_gold(RIVALS["much better"])
    assert {one.p for one in differences(column(first), column(second), rounds=1)} <= {0.5, 1.0}
    assert {one.p for one in differences(column(first), column(second), rounds=3)} == {0.25}


def test_rounds_in_several_pieces_are_as_many(monkeypatch):
    """What does not fit the memory at once is drawn piece by piece: no round is lost or drawn twice."""
    from entlink.evaluation.intervals import resampling

    first, second = same_gold(RIVALS["a little better"])
    whole = differences(column(first), column(second), rounds=997)
    monkeypatch.setattr(resampling, "_CELLS_AT_ONCE", 1000)
    pieces = differences(column(first), column(second), rounds=997)
    assert [round(one.p * 998) for one in pieces] == pytest.approx([one.p * 998 for one in pieces])
    for one, other in zip(whole, pieces, strict=True):
        assert one.p == pytest.approx(other.p, abs=0.06)
        assert one.interval.low == pytest.approx(other.interval.low, abs=0.02)
    assert sum(resampling._chunks(np.arange(60), 997)) == 997


def test_a_wider_level_is_a_wider_interval():
    rows = column(SETS["many"])
    widths = [
        found.f1.high - found.f1.low for found in (intervals(rows, level=level) for level in (0.5, 0.8, 0.95, 0.99))
    ]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_documents_that_are_alike_leave_nothing_to_chance():
    found = intervals(column([[2, 4, 3]] * 20))
    assert (found.precision.low, found.precision.high) == (0.5, 0.5)
    assert (found.recall.low, found.recall.high) == pytest.approx((2 / 3, 2 / 3))
    assert (found.f1.low, found.f1.high) == pytest.approx((4 / 7, 4 / 7))


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """In two hundred made-up sets the 95 % interval holds the true score in between 88 and 99 of a hundred."""
    generator = np.random.default_rng(7)
    size, simulations = 60, 200
    # A document wants 1 to 8 links, each found with a chance of its own around .6; 0 to 3 more are predicted.
    truth = {"recall": 0.6, "precision": 0.6 * 4.5 / (0.6 * 4.5 + 1.5), "f1": 2 * 0.6 * 4.5 / (0.6 * 4.5 + 1.5 + 4.5)}
    held = dict.fromkeys(MEASURES, 0)
    for number in range(simulations):
        wanted = generator.integers(1, 9, size)
        correct = generator.binomial(wanted, generator.beta(6, 4, size))
        rows = column(np.column_stack([correct, correct + generator.integers(0, 4, size), wanted]))
        found = intervals(rows, rounds=400, seed=number)
        for measure in MEASURES:
            own = getattr(found, measure)
            held[measure] += own.low <= truth[measure] <= own.high
    assert all(0.88 * simulations <= count <= 0.99 * simulations for count in held.values()), held


def test_p_is_small_about_as_seldom_as_it_says_where_the_runs_are_equally_good():
    """Under the null hypothesis p below .1 comes in about a tenth of the sets."""
    generator = np.random.default_rng(8)
    small, simulations = 0, 200
    for number in range(simulations):
        wanted = generator.integers(1, 9, 30)
        shares = generator.beta(6, 4, 30)
        runs = []
        for _ in range(2):
            correct = generator.binomial(wanted, shares)
            runs.append(column(np.column_stack([correct, correct + generator.integers(0, 4, 30), wanted])))
        small += differences(*runs, rounds=300, seed=number)[2].p <= 0.1
    assert 0.04 * simulations <= small <= 0.17 * simulations


@pytest.fixture
def without_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)  # the import fails, as where it is not installed


@pytest.mark.usefixtures("without_numpy")
@pytest.mark.parametrize(
    "draw",
    [
        lambda rows: intervals(rows),
        lambda rows: macro_intervals(rows, ["a"]),
        lambda rows: differences(rows, rows),
    ],
)
def test_without_numpy_the_extra_is_named(draw):
    with pytest.raises(MissingExtraError, match=r"entlink\[eval\]"):
        draw(column([[1, 1, 1]]))


def evaluated(rounds: int) -> Evaluation:
    wanted = Document("d", TEXT, gold=(gold("Paris", "paris"),))
    return evaluate(
        [wanted], [Document("d", TEXT, links=(link("Paris", "paris"),))], EvaluationOptions(rounds=rounds)
    )


@pytest.mark.usefixtures("without_numpy")
def test_without_numpy_there_are_scores_and_a_note():
    found = evaluated(rounds=10)
    assert (found.el.micro.f1, found.el.micro.intervals, found.el.macro.intervals) == (1.0, None, None)
    assert "there are no intervals: pip install 'entlink[eval]'" in found.notes


def test_without_rounds_there_are_no_intervals_and_no_note():
    found = evaluated(rounds=0)
    assert found.el.micro.intervals is None
    assert not any("intervals" in note for note in found.notes)
