"""What each kind of task asks of a linear probe: its loss, its answers, and how they are scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec
import numpy

from entlink.evaluation.probes.inputs import Places
from entlink.evaluation.probes.losses import ChoiceLoss, Loss, SigmoidLoss, SoftmaxLoss, group_shares, sigmoid
from entlink.evaluation.probes.scores import (
    Outcome,
    accuracy,
    best_threshold,
    chosen_right,
    label_counts,
    macro_f1,
    micro_f1,
)
from entlink.formats.probes.examples import ProbeExample, ProbeTask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.evaluation.probes.inputs import Integers

    Floats = NDArray[Any]

_UNKNOWN_PRIOR = 1e-6  # of a gold candidate that the source of priors does not know


class Settled(NamedTuple):
    """What was settled on the validation rows, beside the strength."""

    threshold: float | None = None


class Problem(Protocol):
    """A task that is learnt. Its rows are examples; the places of a choice have a row for each candidate."""

    def loss(self, places: Places) -> Loss:
        """Of the training rows."""

    def settle(self, logits: Floats) -> Settled:
        """From the logits of the validation rows."""

    def outcome(self, split: str, logits: Floats, settled: Settled) -> Outcome:
        """What was right in each row of a split."""

    def also(self, split: str, logits: Floats, settled: Settled) -> dict[str, float]:
        """Other scores of a split, by name."""


def problem_of(task: ProbeTask, places: dict[str, Places]) -> Problem:
    """The problem of a task that has training rows."""
    kinds: dict[str, Callable[[ProbeTask, dict[str, Places]], Problem]] = {
        "classification": Classification,
        "typing": Typing,
        "choice": Choice,
    }
    return kinds[task.card.kind](task, places)


class Classification:
    """One label of a pair or of an entity."""

    def __init__(self, task: ProbeTask, places: dict[str, Places]) -> None:
        labels = {label: number for number, label in enumerate(task.labels)}
        self._labels = {
            split: numpy.array([labels[row.labels[0]] for row in rows], numpy.int64)
            for split, rows in task.splits.items()
        }
        self._classes, self._is_f1 = len(labels), task.card.metric == "f1"

    def loss(self, places: Places) -> Loss:
        return SoftmaxLoss(self._labels["train"], self._classes)

    def settle(self, logits: Floats) -> Settled:
        return Settled()

    def outcome(self, split: str, logits: Floats, settled: Settled) -> Outcome:
        said = (logits[:, 0] > 0).astype(numpy.int64) if self._classes == 2 else logits.argmax(axis=1)
        gold = self._labels[split]
        if not self._is_f1:
            return Outcome((said == gold).astype(numpy.float64), accuracy)
        first = numpy.stack([(said == 1) & (gold == 1), said == 1, gold == 1], axis=1)  # of the second label
        return Outcome(first.astype(numpy.float64), micro_f1)

    def also(self, split: str, logits: Floats, settled: Settled) -> dict[str, float]:
        counts = numpy.bincount(self._labels["train"], minlength=self._classes)
        return {"most frequent label": accuracy(self._labels[split] == counts.argmax())}


class Typing:
    """Any number of labels of an entity; a label that no training row has is always missed."""

    def __init__(self, task: ProbeTask, places: dict[str, Places]) -> None:
        labels = {label: number for number, label in enumerate(task.labels)}
        self._right = {split: _label_rows(rows, labels) for split, rows in task.splits.items()}
        self._gold = {
            split: numpy.array([len(row.labels) for row in rows], numpy.float64)
            for split, rows in task.splits.items()
        }

    def loss(self, places: Places) -> Loss:
        return SigmoidLoss(self._right["train"])

    def settle(self, logits: Floats) -> Settled:
        return Settled(best_threshold(sigmoid(logits), self._right["valid"], self._gold["valid"]))

    def outcome(self, split: str, logits: Floats, settled: Settled) -> Outcome:
        return Outcome(self._counts(split, logits, settled), micro_f1)

    def also(self, split: str, logits: Floats, settled: Settled) -> dict[str, float]:
        known = float(self._right[split].sum() / self._gold[split].sum())
        counts = self._counts(split, logits, settled)
        return {"macro F1": macro_f1(counts), "recall at best, by labels seen in training": known}

    def _counts(self, split: str, logits: Floats, settled: Settled) -> Floats:
        assert settled.threshold is not None
        return label_counts(sigmoid(logits), settled.threshold, self._right[split], self._gold[split])


def _label_rows(rows: Sequence[ProbeExample], labels: dict[str, int]) -> Floats:
    found = numpy.zeros((len(rows), len(labels)), numpy.float32)
    for number, row in enumerate(rows):
        found[number, [labels[label] for label in row.labels if label in labels]] = 1
    return found


class Choice:
    """Which candidate a mention means: by prior plus classifier, or by the classifier where there are no priors.

    With priors, each candidate is right or not by itself; without, the candidates of a mention compete.
    """

    def __init__(self, task: ProbeTask, places: dict[str, Places]) -> None:
        self._places = places
        self._priors = {split: _priors(rows) for split, rows in task.splits.items()}
        self._has_priors = any(row.priors for rows in task.splits.values() for row in rows)

    def loss(self, places: Places) -> Loss:
        starts, gold = _of_choice(places)
        if not self._has_priors:
            return ChoiceLoss(starts, gold, len(places.left))
        right = numpy.zeros((len(places.left), 1), numpy.float32)
        right[gold] = 1
        return _PerCandidate(right, starts)

    def settle(self, logits: Floats) -> Settled:
        return Settled()

    def outcome(self, split: str, logits: Floats, settled: Settled) -> Outcome:
        shares = self._shares(split, logits)
        return self._right(split, shares + self._priors[split] if self._has_priors else shares)

    def also(self, split: str, logits: Floats, settled: Settled) -> dict[str, float]:
        starts, _ = _of_choice(self._places[split])
        sizes = numpy.diff(numpy.append(starts, len(logits)))
        found = {"chance": float((1 / sizes).mean())}
        if self._has_priors:
            found["prior alone"] = accuracy(self._right(split, self._priors[split]).rows)
            found["classifier alone"] = accuracy(self._right(split, self._shares(split, logits)).rows)
        return found

    def _shares(self, split: str, logits: Floats) -> Floats:
        if self._has_priors:
            return sigmoid(logits[:, 0])
        return group_shares(logits[:, 0], _of_choice(self._places[split])[0], len(logits))

    def _right(self, split: str, scores: Floats) -> Outcome:
        return Outcome(chosen_right(scores, *_of_choice(self._places[split])), accuracy)


class _PerCandidate(SigmoidLoss):
    """The log loss of each candidate by itself; some of the mentions are all of their candidates."""

    def __init__(self, right: Floats, starts: Integers) -> None:
        super().__init__(right)
        self._ends = numpy.append(starts, len(right))

    def taken(self, rows: Integers) -> _PerCandidate:
        taken = group_rows(self._ends, rows)
        sizes = numpy.diff(self._ends)[rows]
        return _PerCandidate(self._right[taken], numpy.concatenate([[0], numpy.cumsum(sizes)[:-1]]))


def group_rows(ends: Integers, groups: Integers) -> Integers:
    """The rows of some groups, one group after the other; `ends` are where groups begin, and the number of rows."""
    return numpy.concatenate([numpy.arange(ends[group], ends[group + 1]) for group in groups])


def taken_places(places: Places, rows: Integers) -> Places:
    """The places of some of the examples."""
    if places.starts is None or places.gold is None:
        return Places(places.left[rows], None if places.right is None else places.right[rows])
    assert places.right is not None
    ends = numpy.append(places.starts, len(places.left))
    own = group_rows(ends, rows)
    starts = numpy.concatenate([[0], numpy.cumsum(numpy.diff(ends)[rows])[:-1]])
    gold = starts + (places.gold - places.starts)[rows]
    return Places(places.left[own], places.right[own], starts, gold)


def examples_in(places: Places) -> int:
    """How many examples the places are of."""
    return len(places.left if places.starts is None else places.starts)


def _of_choice(places: Places) -> tuple[Integers, Integers]:
    assert places.starts is not None and places.gold is not None
    return places.starts, places.gold


def _priors(rows: Sequence[ProbeExample]) -> Floats:
    """The priors of all candidates; those of a mention add up to 1, and what has none counts almost nothing."""
    found = []
    for row in rows:
        own = numpy.array(
            [_UNKNOWN_PRIOR if one is None else one for one in row.priors or [None] * len(row.candidates)]
        )
        own = numpy.where(own > 0, own, _UNKNOWN_PRIOR)
        found.append(own / own.sum())
    return numpy.concatenate(found)


def limited(task: ProbeTask, most: int) -> ProbeTask:
    """The task with at most so many candidates of a mention, those of the highest prior, and the gold always."""
    if task.card.kind != "choice":
        return task
    splits = {split: tuple(_limited(row, most) for row in rows) for split, rows in task.splits.items()}
    return ProbeTask(task.card, splits)


def _limited(row: ProbeExample, most: int) -> ProbeExample:
    if len(row.candidates) <= most or row.gold is None:
        return row
    order = range(len(row.candidates))
    if row.priors:
        order = sorted(order, key=lambda place: -(row.priors[place] or 0))  # type: ignore[assignment]
    gold = row.gold
    kept = sorted([gold, *[place for place in order if place != gold][: most - 1]])
    return msgspec.structs.replace(
        row,
        candidates=tuple(row.candidates[place] for place in kept),
        priors=tuple(row.priors[place] for place in kept) if row.priors else (),
        gold=kept.index(gold),
    )
