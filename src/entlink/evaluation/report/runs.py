"""The runs of a report: each with a name of its own, and what keeps them from being compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

from entlink.evaluation.results import Evaluation

_MOST_NAMED = 6
_LONGEST = 29


class Run(NamedTuple):
    """An evaluation under a name that no other run has; the label is the name cut to the width of a column."""

    name: str
    evaluation: Evaluation
    label: str


def named_runs(evaluations: Sequence[Evaluation]) -> list[Run]:
    """The evaluations; those of one name are numbered."""
    names = _told_apart([" ".join(one.name.split()) or "(no name)" for one in evaluations])
    labels = _told_apart([_short(name) for name in names])
    return [Run(*facts) for facts in zip(names, evaluations, labels, strict=True)]


def _told_apart(names: Sequence[str]) -> list[str]:
    """The names, with a number behind each that comes more than once."""
    often, taken = Counter(names), set(names)
    found = []
    for name in names:
        found.append(_free(name, taken) if often[name] > 1 else name)
        taken.add(found[-1])
    return found


def _free(name: str, taken: set[str]) -> str:
    return next(other for number in count(1) if (other := f"{name} #{number}") not in taken)


def _short(name: str) -> str:
    """Names of runs often differ at their ends, so the middle goes."""
    if len(name) <= _LONGEST:
        return name
    kept = (_LONGEST - 1) // 2
    return f"{name[:kept]}…{name[-kept:]}"


def same_gold(a: Evaluation, b: Evaluation) -> bool:
    """Whether two runs were scored on the same documents with the same gold, as far as can be told."""
    if a.gold and b.gold and a.gold.sha256 != b.gold.sha256:
        return False
    ours, theirs = (sorted(_documents(one, with_gold=_share_matching(a, b))) for one in (a, b))
    return ours == theirs


def _share_matching(a: Evaluation, b: Evaluation) -> bool:
    """Whether gold is counted alike: sets of strings are smaller than lists of spans."""
    return a.convention.matching == b.convention.matching


def _documents(run: Evaluation, *, with_gold: bool) -> list[tuple[str, int]]:
    gold = run.per_document.counts["md"][2] if with_gold else [0] * len(run.per_document.ids)
    return list(zip(run.per_document.ids, gold, strict=True))


def why_apart(runs: Sequence[Run]) -> list[str]:
    """Why the scores of the runs cannot be set against each other; nothing where they can."""
    told = []
    golds = _alike(runs, lambda one, other: same_gold(one.evaluation, other.evaluation))
    if len(golds) > 1:
        told.append(f"The runs are not of the same gold: {_listed(golds, _gold_name)}.")
    rules = _alike(runs, lambda one, other: one.evaluation.convention.name == other.evaluation.convention.name)
    if len(rules) > 1:
        told.append(
            f"The runs are scored by different conventions: {_listed(rules, lambda one: one.convention.name)}."
        )
    return told


def other_warnings(runs: Sequence[Run]) -> list[str]:
    """What else differs between the runs and may explain a difference of scores."""
    told = []
    versions = _alike(runs, lambda one, other: one.evaluation.version == other.evaluation.version)
    if len(versions) > 1:
        told.append(f"The runs were scored by different versions: {_listed(versions, lambda one: one.version)}.")
    bare = [run.name for run in runs if run.evaluation.el.micro.intervals is None]
    if bare and len(bare) < len(runs):
        told.append(f"Without intervals: {_names(bare)}. Evaluate with --rounds to have them.")
    return told


def level_of(runs: Sequence[Run]) -> str:
    """The level of the intervals for people, such as 95 %; several where runs differ, nothing without intervals."""
    levels = sorted({one.f1.level for run in runs if (one := run.evaluation.el.micro.intervals)})
    return " and ".join(f"{100 * level:g} %" for level in levels)


def _alike(runs: Sequence[Run], is_same: Callable[[Run, Run], bool]) -> list[list[Run]]:
    """The runs in groups of which each is the same as its group's first."""
    groups: list[list[Run]] = []
    for run in runs:
        for group in groups:
            if is_same(group[0], run):
                group.append(run)
                break
        else:
            groups.append([run])
    return groups


def _listed(groups: Sequence[Sequence[Run]], label: Callable[[Evaluation], str]) -> str:
    return "; ".join(f"{label(group[0].evaluation)} ({_names([run.name for run in group])})" for group in groups)


def _names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _gold_name(run: Evaluation) -> str:
    documents = f"{run.documents:,} document{'s' if run.documents != 1 else ''}"
    if run.gold is None:
        return f"gold without a file, {documents}"
    return f"{run.gold.name} {run.gold.sha256[:12]}".strip() + f", {documents}"
