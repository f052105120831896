"""Two runs over the same gold: how far apart they are, and whether chance could have done it."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Record
from entlink.errors import InputError
from entlink.evaluation.intervals.resampling import Difference, differences
from entlink.evaluation.results import TASKS, Evaluation
from entlink.evaluation.scoring.tally import Column
from entlink.version import __version__

_SHOWN = 3


class Balance(Record, frozen=True, omit_defaults=False):
    """In how many documents each run has the better F1."""

    a_better: int
    b_better: int
    equal: int


class Comparison(Record, frozen=True, omit_defaults=False):
    """B against A, task by task. `p` of a difference is of a paired permutation test over documents."""

    a: str
    b: str
    version: str
    documents: int
    convention: str
    tasks: dict[str, list[Difference]]
    balance: dict[str, Balance]
    rounds: int
    seed: int
    command: str = ""


def compare(
    a: Evaluation, b: Evaluation, *, rounds: int = 10_000, seed: int = 0, level: float = 0.95, command: str = ""
) -> Comparison:
    """How much B scores above A, with intervals and tests; both must be of the same gold and convention."""
    if problem := differing(a, b):
        raise InputError(_different(a, b, problem))
    order_a, order_b = _same_documents(a, b)
    columns = {task: (_ordered(a, task, order_a), _ordered(b, task, order_b)) for task in TASKS}
    first, second = columns["md"]
    if first.gold != second.gold:
        raise InputError(_different(a, b, "the gold of the two differs: it must be the same file, read the same way"))
    return Comparison(
        a.name,
        b.name,
        __version__,
        a.documents,
        a.convention.name,
        {task: differences(*pair, rounds=rounds, seed=seed, level=level) for task, pair in columns.items()},
        {task: _balance(*pair) for task, pair in columns.items()},
        rounds,
        seed,
        command,
    )


def differing(a: Evaluation, b: Evaluation) -> str:
    """Why two evaluations cannot be compared, or nothing: another convention, other gold, read another way."""
    if a.convention.name != b.convention.name:
        return f"their conventions differ ({a.convention.name}; {b.convention.name})"
    if a.gold and b.gold and a.gold.sha256 != b.gold.sha256:
        return f"they are not of the same gold ({a.gold.name}, {b.gold.name}: the files differ)"
    for name in ("kb", "without"):
        ours, theirs = a.settings.get(name), b.settings.get(name)
        if ours != theirs:
            return f"they were scored with different settings ({name}: {ours or 'none'}; {theirs or 'none'})"
    return ""


def _same_documents(a: Evaluation, b: Evaluation) -> tuple[Sequence[int], Sequence[int]]:
    """The order of ids in which both are the same."""
    ours, theirs = a.per_document.ids, b.per_document.ids
    if ours == theirs:
        return range(len(ours)), range(len(theirs))
    if set(ours) != set(theirs):
        only = sorted(set(ours) ^ set(theirs))
        names = ", ".join(map(repr, only[:_SHOWN]))
        raise InputError(_different(a, b, f"{len(only)} documents are in one of them only ({names})"))
    return _sorted_places(ours), _sorted_places(theirs)


def _sorted_places(ids: Sequence[str]) -> list[int]:
    return sorted(range(len(ids)), key=lambda number: ids[number])


def _different(a: Evaluation, b: Evaluation, problem: str) -> str:
    return f"{a.name} and {b.name} cannot be compared: {problem}. Evaluate both against one gold file, in one way"


def _ordered(run: Evaluation, task: str, order: Sequence[int]) -> Column:
    column, found = run.per_document.column(task), Column()
    for number in order:
        found.add(column[number])
    return found


def _balance(a: Column, b: Column) -> Balance:
    gaps = [other.f1 - one.f1 for one, other in zip(a, b, strict=True)]
    return Balance(sum(gap < 0 for gap in gaps), sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps))
