"""The sections of the page, in order; one that has nothing to say is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from entlink.evaluation.report.content import Report
from entlink.evaluation.report.drawings import (
    MOST_LINES,
    MOST_ROWS,
    candidates_figure,
    ceilings_figure,
    difference_figure,
    losses_figure,
    score_figures,
)
from entlink.evaluation.report.elements import figures, folded, note, table_element, terms, warning
from entlink.evaluation.report.examples import MOST, run_examples
from entlink.evaluation.report.heat import heat_key
from entlink.evaluation.report.markup import Html, joined, tag
from entlink.evaluation.report.runs import Run, level_of, other_warnings
from entlink.evaluation.report.words import SCORES_MEAN, TASKS_MEAN, conventions_mean
from entlink.evaluation.results import Evaluation


class Section(NamedTuple):
    """A heading with its anchor, and what stands under it."""

    anchor: str
    title: str
    body: Html


def sections(report: Report) -> list[Section]:
    """All that have something to say."""
    makers: Sequence[tuple[str, str, Callable[[Report], list[Html]]]] = (
        ("scores", "Scores", _scores),
        ("conventions", "Conventions side by side", _conventions),
        ("nil", "NIL and accuracy", _nil),
        ("candidates", "Candidates", _candidates),
        ("differences", "Differences between runs", _differences),
        ("slices", "Slices", _slices),
        ("losses", "Where links are lost", _losses),
        ("answers", "Wrong answers", _answers),
        ("kb", "Knowledge base and leaks", _kb),
        ("examples", "Examples", _examples),
        ("reading", "How to read this", _reading),
    )
    made = (Section(anchor, title, joined(make(report))) for anchor, title, make in makers)
    return [section for section in made if section.body]


def _shown(report: Report, *names: str) -> list[Html]:
    return [table_element(report.tables[name]) for name in names if name in report.tables]


def _left_out(runs: Sequence[Run], *, lines: bool = False) -> str:
    """A word on the runs that a plot has no room for."""
    told = f" The plot of lines shows the first {MOST_LINES} runs." if lines and len(runs) > MOST_LINES else ""
    return f"{told} The plots show the first {MOST_ROWS} runs." if len(runs) > MOST_ROWS else told


def _scores(report: Report) -> list[Html]:
    level = level_of(report.runs)
    what = f"Micro F1; the bars are {level} intervals." if level else "Micro F1. There are no intervals."
    plots = figures(*score_figures(report.runs))
    return [plots, note(what, _left_out(report.runs)), *_shown(report, "scores"), _of_best(report, level)]


def _of_best(report: Report, level: str) -> Html:
    if len(report.runs) == 1:
        return Html("")
    if report.apart:
        return note("The best is not marked: the runs cannot be compared, for the reasons at the top.")
    if not level:
        return note("Bold is the best. Without intervals nothing is said of chance.")
    return note(
        "Bold is the best; ≈ marks runs whose interval overlaps the best one's, so that their order may be chance. "
        "Paired differences, further down, tell more."
    )


def _conventions(report: Report) -> list[Html]:
    found = _shown(report, "conventions")
    if not found:
        return []
    if all(_rules_agree(run.evaluation) for run in report.runs):
        return [note("All rules for NIL give the same scores here."), folded("The table all the same", *found)]
    return [note("The same answers, counted by other rules for NIL. Quote a score with its rule."), *found]


def _rules_agree(evaluation: Evaluation) -> bool:
    return len({tuple(task.micro for task in tasks.values()) for tasks in evaluation.conventions.values()}) < 2


def _nil(report: Report) -> list[Html]:
    found = _shown(report, "nil", "nil types") or [note("No gold is NIL, and no run says NIL.")]
    return [*found, *_shown(report, "accuracy")]


def _candidates(report: Report) -> list[Html]:
    runs = [run for run in report.runs if run.evaluation.ranking.recall_at]
    if not runs:
        return []
    lacking = [run.name for run in report.runs if not run.evaluation.ranking.recall_at]
    words = f"Candidates were not written: {', '.join(lacking)}." if lacking else ""
    words += _left_out(runs, lines=True)
    told = [note(words)] if words else []
    return [figures(candidates_figure(runs)), *told, *_shown(report, "candidates", "ranking")]


def _differences(report: Report) -> list[Html]:
    first = report.runs[0].label
    problems = [f"{first} and {pair.other.label}: {pair.problem}." for pair in report.pairs if pair.problem]
    told = [warning("Not compared", problems)]
    rounds = {pair.comparison.rounds for pair in report.pairs if pair.comparison}
    if not rounds:
        return told
    words = note(
        f"Right of 0 is better than {first}. Intervals and p are from {max(rounds):,} resamples and random swaps of "
        f"whole documents: no p is below {1 / (max(rounds) + 1):.4f}. p is not corrected for the number of runs."
    )
    plot = figures(difference_figure(first, report.pairs))
    return [*told, plot, words, *_shown(report, "differences")]


def _slices(report: Report) -> list[Html]:
    if "recall" not in report.tables:
        return []
    one = len(report.runs) == 1
    what = "Recall" if one else "EL recall, a column a run"
    words = note(f"{what}; gold is the number of gold links in the slice. Few of them make a wide interval.")
    folds = [
        folded(f"{name}: all numbers, with intervals", table_element(report.tables[f"slice-{name}"], titled=False))
        for name in report.slices.values
    ]
    return [words, heat_key(), table_element(report.tables["recall"], heat_from=2), *folds]


def _losses(report: Report) -> list[Html]:
    words = "Each lost gold link is laid to the first stage that lost it. Below a number: its share of all gold."
    plots = figures(losses_figure(report.runs), ceilings_figure(report.runs))
    return [plots, note(words, _left_out(report.runs, lines=True)), *_shown(report, "causes", "ceilings")]


def _answers(report: Report) -> list[Html]:
    words = note(
        "A run that predicts far more spans than gold has pays for it in precision. Predictions where nothing was "
        "annotated are left out and count for nothing."
    )
    return [*_shown(report, "wrong", "spans"), words]


def _kb(report: Report) -> list[Html]:
    found = _shown(report, "coverage")
    for run in report.runs:
        coverage, leakage = run.evaluation.coverage, run.evaluation.leakage
        if coverage and coverage.examples:
            found.append(
                note(f"{run.name}: gold that {coverage.kb} does not know, such as {', '.join(coverage.examples)}.")
            )
        if leakage and leakage.examples:
            found.append(note(f"{run.name}: shared texts, such as {', '.join(leakage.examples)}."))
    return [*found, *_shown(report, "leakage")]


def _examples(report: Report) -> list[Html]:
    found = []
    for run in report.runs:
        if folds := list(run_examples(run)):
            title = [tag("h3", run.name)] if len(report.runs) > 1 else []
            found.append(tag("div", *title, *folds, class_="of-run"))
    words = note(f"Chosen by chance, at most {MOST} of each cause. In print, those that are open.")
    return [words, *found] if found else []


def _reading(report: Report) -> list[Html]:
    return [
        tag("h3", "Tasks"),
        terms(TASKS_MEAN),
        tag("h3", "Numbers"),
        terms(SCORES_MEAN),
        tag("h3", "Conventions"),
        terms(conventions_mean()),
    ]


def warnings_of(report: Report) -> Html:
    """What a reader must know before the first number."""
    apart = [*report.apart, "Their scores stand side by side, but which run is better cannot be told."]
    notes = [
        f"{', '.join(names)}: {text}" if len(report.runs) > 1 else text for text, names in _notes(report).items()
    ]
    return joined(
        (
            warning("These runs cannot be compared", apart if report.apart else ()),
            warning("Note", [*other_warnings(report.runs), *notes]),
        )
    )


def _notes(report: Report) -> dict[str, list[str]]:
    """Notes of the runs, each once, with the runs that have it."""
    found: dict[str, list[str]] = {}
    for run in report.runs:
        for text in run.evaluation.notes:
            found.setdefault(text, []).append(run.name)
    return found
