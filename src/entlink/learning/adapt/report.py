"""What became of adapting a linker, stage by stage."""

from __future__ import annotations

from typing import Any

import msgspec


class StageFigures(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stage: the accuracy on what is held back before and after it, and whether what it made was kept.

    Stages that do not change the order of candidates have no accuracy. `note` says why one was left out, or what it
    did in a few words; `figures` are its own.
    """

    name: str
    before: float | None = None
    after: float | None = None
    kept: bool = True
    seconds: float = 0.0
    note: str = ""
    figures: dict[str, Any] = {}

    def told(self) -> str:
        """In a line: what became of it, its scores, how long it took, and why."""
        scores = (
            "" if self.before is None else f", accuracy {_shown(self.before)} before and {_shown(self.after)} after"
        )
        note = f": {self.note}" if self.note else ""
        return f"{self.name} {'kept' if self.kept else 'not kept'} after {self.seconds:.0f} seconds{scores}{note}"


class AdaptReport(msgspec.Struct, frozen=True):
    """The linker that was made, and how it came about; `before` and `after` are accuracies on what is held back."""

    folder: str
    kb: str
    examples: dict[str, int]
    held_back: int
    before: float
    after: float
    seconds: float
    stages: list[StageFigures]


def table(report: AdaptReport) -> tuple[list[tuple[str, ...]], str]:
    """Rows for people to read, and a line on the whole."""
    rows: list[tuple[str, ...]] = [("stage", "before", "after", "minutes", "", "")]
    for one in report.stages:
        kept = "" if one.before is None else "kept" if one.kept else "left out"
        rows.append((one.name, _shown(one.before), _shown(one.after), f"{one.seconds / 60:.1f}", kept, one.note))
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in report.examples.items())
    told = (
        f"examples: {kinds}; of {report.held_back:,} held back, {report.before:.3f} were right before and "
        f"{report.after:.3f} are now; {report.seconds / 60:.0f} minutes"
    )
    return rows, told


def _shown(accuracy: float | None) -> str:
    return "" if accuracy is None else f"{accuracy:.3f}"
