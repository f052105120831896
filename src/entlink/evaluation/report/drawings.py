"""Which numbers go into which plot, and what each plot says to those who do not see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from entlink.evaluation.report.differences import Paired
from entlink.evaluation.report.elements import figure, legend
from entlink.evaluation.report.loss_tables import CEILINGS, STAGES, shares_of
from entlink.evaluation.report.markup import Html, joined
from entlink.evaluation.report.plots import Bar, Line, Stack, interval_plot, line_plot, stacked_plot
from entlink.evaluation.report.runs import Run
from entlink.evaluation.report.score_tables import TASKS
from entlink.evaluation.report.table import signed

MOST_ROWS = 60
MOST_LINES = 16


def score_figures(runs: Sequence[Run]) -> list[Html]:
    """Micro F1 with its interval, a plot a task."""
    found = []
    for name, title in TASKS.items():
        bars = []
        for run in runs[:MOST_ROWS]:
            micro = run.evaluation.task(name).micro
            bars.append(Bar(run.label, f"{micro.f1:.3f}", micro.f1, micro.intervals.f1 if micro.intervals else None))
        plot = interval_plot(f"f1-{name}", _told(f"{title}, micro F1", bars), bars)
        found.append(figure(title, plot))
    return found


def difference_figure(first: str, pairs: Sequence[Paired]) -> Html:
    """By how much EL differs from the first run's."""
    bars = []
    for pair in pairs[:MOST_ROWS]:
        if pair.comparison is not None:
            one = pair.comparison.tasks["el"][2]
            said = f"{signed(one.difference)}, p {one.p:.4f}"
            bars.append(Bar(pair.other.label, said, one.difference, one.interval))
    title = f"EL micro F1, difference from {first}"
    return figure(title, interval_plot("differences-el", _told(title, bars), bars, around_zero=True))


def _told(title: str, rows: Iterable[Bar | Stack]) -> str:
    return f"{title}: " + "; ".join(f"{row.name} {row.said}" for row in rows)


def candidates_figure(runs: Sequence[Run]) -> Html:
    """Recall among the first K candidates."""
    runs = runs[:MOST_LINES]
    places = sorted({k for run in runs for k in run.evaluation.ranking.recall_at})
    lines = [Line(run.label, [run.evaluation.ranking.recall_at.get(k) for k in places]) for run in runs]
    names = [str(k) for k in places]
    return figure("Recall@K", line_plot("recall-at-k", _read_out("Recall@K", names, lines), names, lines))


def ceilings_figure(runs: Sequence[Run]) -> Html:
    """What each stage left reachable."""
    title = "Ceilings: recall if later stages were perfect"
    known = [run.evaluation.blame.ceilings for run in runs]
    stages = [stage for stage in CEILINGS if any(getattr(one, stage) is not None for one in known)]
    lines = [
        Line(run.label, [getattr(run.evaluation.blame.ceilings, stage) for stage in stages])
        for run in runs[:MOST_LINES]
    ]
    return figure(title, line_plot("ceilings", _read_out(title, stages, lines), stages, lines))


def _read_out(title: str, places: Sequence[str], lines: Iterable[Line]) -> str:
    told = []
    for line in lines:
        known = [
            f"{place} {value:.3f}" for place, value in zip(places, line.values, strict=True) if value is not None
        ]
        told.append(f"{line.name} {', '.join(known)}")
    return f"{title}: {'; '.join(told)}"


def losses_figure(runs: Sequence[Run]) -> Html:
    """The share of gold that each stage lost."""
    title, stacks = "Share of gold links lost, by stage", []
    for run in runs[:MOST_ROWS]:
        blame = run.evaluation.blame
        parts = shares_of(blame, blame.stages)
        lengths = {number: parts[stage].share for number, stage in enumerate(STAGES) if stage in parts}
        stacks.append(Stack(run.label, f"{sum(blame.misses.values()):,} lost", lengths))
    used = {number for stack in stacks for number in stack.lengths}
    colours = {stage: number for number, stage in enumerate(STAGES) if number in used}
    return figure(title, joined((stacked_plot("losses", _told(title, stacks), stacks), legend(colours))))
