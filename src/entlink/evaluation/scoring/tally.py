"""Counts by document, column by column: what intervals and paired tests are drawn from."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence

from entlink.evaluation.scoring.counts import Counts


class Column:
    """The counts of one measure in each document."""

    __slots__ = ("correct", "gold", "predicted")

    def __init__(self) -> None:
        self.correct, self.predicted, self.gold = array("q"), array("q"), array("q")

    def add(self, counts: Counts) -> None:
        self.correct.append(counts[0])
        self.predicted.append(counts[1])
        self.gold.append(counts[2])

    def put(self, number: int, counts: Counts) -> None:
        """Add the counts of the document of that number; none before it comes later."""
        if len(self.gold) < number:
            self.pad(number)
        self.add(counts)

    def pad(self, length: int) -> None:
        """Documents in which there was nothing to count."""
        if length > len(self.gold):
            nothing = bytes(8 * (length - len(self.gold)))
            for values in (self.correct, self.predicted, self.gold):
                values.frombytes(nothing)

    def __getitem__(self, number: int) -> Counts:
        return Counts(self.correct[number], self.predicted[number], self.gold[number])

    def __iter__(self) -> Iterator[Counts]:
        return map(Counts, self.correct, self.predicted, self.gold)

    def __len__(self) -> int:
        return len(self.gold)

    def total(self) -> Counts:
        return Counts(sum(self.correct), sum(self.predicted), sum(self.gold))

    def rows(self) -> tuple[array[int], array[int], array[int]]:
        return self.correct, self.predicted, self.gold


class Tally:
    """Columns by name, all of one length once `close` is called; `documents` are the ids."""

    def __init__(self) -> None:
        self.documents: list[str] = []
        self.columns: defaultdict[str, Column] = defaultdict(Column)  # what was never counted is nothing

    def begin(self, document: str) -> None:
        """What is added from now on is of this document."""
        self.documents.append(document)

    def add(self, name: str, counts: Counts) -> None:
        """Count something in the document at hand."""
        column = self.columns[name]
        column.put(len(self.documents) - 1, counts)

    def close(self, *names: str) -> None:
        """No more documents come; columns with these names are there from now on, if only of nothing."""
        for name in names:
            self.columns[name].pad(len(self.documents))
        for column in self.columns.values():
            column.pad(len(self.documents))

    def grouped(self, name: str, groups: Sequence[str | None]) -> dict[str, Counts]:
        """A column added up by group; `groups` names each document's, or None where it is in none."""
        found: dict[str, list[int]] = {}
        column = self.columns[name]
        for group, correct, predicted, gold in zip(
            groups, column.correct, column.predicted, column.gold, strict=True
        ):
            if group is None:
                continue
            sums = found.setdefault(group, [0, 0, 0])
            sums[0] += correct
            sums[1] += predicted
            sums[2] += gold
        return {group: Counts(*sums) for group, sums in found.items()}
