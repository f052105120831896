"""Evaluations and comparisons as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from entlink_cli.terminal.output import columns, number_of

if TYPE_CHECKING:
    from entlink.evaluation.intervals.comparing import Comparison
    from entlink.evaluation.intervals.resampling import Interval, Intervals
    from entlink.evaluation.leakage import Leakage
    from entlink.evaluation.results import Evaluation, Macro, Micro, Task

LABELS = {"md": "MD", "md_linked": "MD, with an entity", "ed": "ED", "el": "EL"}
_SLICES_SHOWN = 24
_SHOWN_AT = (1, 10, 64)


def summary(found: Evaluation) -> list[str]:
    """What was measured, on a screen."""
    return [
        *_head(found),
        "",
        *_scores(found),
        *_conventions(found),
        "",
        *columns(_facts(found)),
        *_slices(found),
        *_notes(found),
    ]


def _head(found: Evaluation) -> Iterator[str]:
    against = f" against {found.gold.name}" if found.gold else ""
    size = f"{number_of(found.documents, 'document')}, {number_of(found.md.micro.gold, 'gold mention')}"
    yield f"{found.name}{against}: {size}"
    chosen = f" ({found.convention.chosen})" if found.convention.chosen else ""
    yield f"convention: {found.convention.name}{chosen}"
    yield f"  {found.convention.description}"


def _scores(found: Evaluation) -> list[str]:
    macro = found.el.macro
    head = ("", "precision", "recall", "F1", f"macro F1 over {number_of(macro.groups, macro.over)}")
    return columns([head, *(_row(label, found.task(name)) for name, label in LABELS.items())])


def _row(label: str, task: Task) -> tuple[str, ...]:
    return (label, *_measures(task.micro), _score(task.macro.f1, task.macro.intervals, "f1"))


def _measures(scores: Micro | Macro) -> Iterator[str]:
    for measure in ("precision", "recall", "f1"):
        yield _score(getattr(scores, measure), scores.intervals, measure)


def _score(value: float, intervals: Intervals | None, measure: str) -> str:
    return f"{value:.3f}{_interval(getattr(intervals, measure) if intervals else None)}"


def _interval(interval: Interval | None) -> str:
    return f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""


def _conventions(found: Evaluation) -> list[str]:
    if not found.conventions:
        return []
    rows: list[tuple[str, ...]] = [("by rule for NIL", "ED F1", "EL precision", "EL recall", "EL F1")]
    for name, tasks in found.conventions.items():
        el = tasks["el"].micro
        f1 = _score(el.f1, el.intervals, "f1")
        rows.append((name, f"{tasks['ed'].micro.f1:.3f}", f"{el.precision:.3f}", f"{el.recall:.3f}", f1))
    return ["", *columns(rows)]


def _facts(found: Evaluation) -> Iterator[tuple[str, str]]:
    ranking, blame, saliency = found.ranking, found.blame, found.saliency
    in_kb = f"{ranking.accuracy_in_kb:.3f}{_interval(ranking.accuracy_in_kb_interval)} of {ranking.in_kb:,} entities"
    yield "accuracy", f"{in_kb}, {ranking.accuracy:.3f}{_interval(ranking.accuracy_interval)} with NIL"
    if ranking.mentions > ranking.in_kb or found.nil.predicted:
        nil = f"F1 {found.nil.f1:.3f}{_interval_of(found.nil)}"
        yield "NIL", f"{nil}, of the right type {found.nil_typed.f1:.3f}{_interval_of(found.nil_typed)}"
    if found.nil_types:
        typed = f"{ranking.accuracy_typed_nil:.3f}{_interval(ranking.accuracy_typed_nil_interval)}"
        yield "typed NIL", f"accuracy {typed}; {'; '.join(_nil_types(found))}"
    if ranking.recall_at:
        at = ", ".join(f"R@{k} {ranking.recall_at[k]:.3f}" for k in _SHOWN_AT)
        yield "candidates", f"{at}, MRR {ranking.mrr or 0.0:.3f}"
    if blink := ranking.blink:
        yield (
            "BLINK's columns",
            f"retriever {blink.retriever_accuracy:.3f}, R@{blink.k} {blink.recall:.3f}, "
            f"normalised {blink.normalised:.3f}, unnormalised {blink.unnormalised:.3f}",
        )
    if blame.stages:
        yield "lost by", ", ".join(f"{stage} {count:,}" for stage, count in blame.stages.items())
    yield "ceilings", ", ".join(_ceilings(found))
    if blame.wrong:
        yield "wrong because", "; ".join(f"{reason} {count:,}" for reason, count in blame.wrong.items())
    ratio = f", {saliency.ratio:.2f} times" if saliency.ratio is not None else ""
    each = f"{saliency.predicted_per_document:.2f} predicted, {saliency.gold_per_document:.2f} gold{ratio}"
    yield "spans a document", each
    yield from _with_kb(found)


def _nil_types(found: Evaluation) -> Iterator[str]:
    """What was said of NIL gold, by its type."""
    for wanted, said in found.nil_types.items():
        yield f"{wanted} → {', '.join(f'{answer} {count:,}' for answer, count in said.items())}"


def _ceilings(found: Evaluation) -> Iterator[str]:
    ceilings = found.blame.ceilings
    for stage in ("coverage", "detection", "candidates", "ranking", "final"):
        value = getattr(ceilings, stage)
        if value is not None:
            yield f"{stage} {value:.3f}"


def _with_kb(found: Evaluation) -> Iterator[tuple[str, str]]:
    if coverage := found.coverage:
        known = f"{coverage.kb} knows {coverage.covered_links:,} of {coverage.links:,} gold links"
        f1 = f"EL F1 on those {coverage.el.f1:.3f}{_interval_of(coverage.el)}"
        yield "coverage", f"{known}; {f1}, by {coverage.convention}"
    if leaks := found.leakage:
        yield "leaks", f"of {number_of(leaks.documents, 'document')} {' and '.join(_leaks(leaks))}"
        if leaks.training_documents:
            yield "by heart", f"{leaks.answers:.3f} of the gold stands in training with the same name and entity"


def _leaks(leaks: Leakage) -> Iterator[str]:
    if leaks.training_documents:
        same = f"{leaks.same_texts:,} with the same text"
        yield f"{leaks.with_passages_of_training:,} share a passage with training ({same})"
    if leaks.with_passages_of_kb is not None:
        yield f"{leaks.with_passages_of_kb:,} share a passage with the knowledge base"


def _interval_of(scores: Micro) -> str:
    return _interval(scores.intervals.f1 if scores.intervals else None)


def _slices(found: Evaluation) -> list[str]:
    if not found.slices:
        return []
    rows = [("slice", "value", "gold", "MD recall", "EL recall")]
    rows += [
        (
            one.slice,
            one.value,
            f"{one.gold:,}",
            f"{one.md_recall:.3f}",
            _score(one.el_recall, one.intervals, "recall"),
        )
        for one in found.slices[:_SLICES_SHOWN]
    ]
    more = len(found.slices) - _SLICES_SHOWN
    return ["", *columns(rows), *([f"… and {more} more: --json and report show all"] if more > 0 else [])]


def _notes(found: Evaluation) -> list[str]:
    return ["", *(f"note: {one}" for one in found.notes)] if found.notes else []


def comparison(found: Comparison) -> list[str]:
    """Two runs side by side."""
    rows: list[tuple[str, ...]] = [("", "", "A", "B", "B − A", "p")]
    for task, label in LABELS.items():
        for one in found.tasks[task]:
            first = label if one.measure == "precision" else ""
            gap = f"{one.difference:+.3f}{_interval(one.interval)}"
            rows.append((first, one.measure, f"{one.a:.3f}", f"{one.b:.3f}", gap, f"{one.p:.4f}"))
    balance = found.balance["el"]
    return [
        f"A {found.a}, B {found.b}: {number_of(found.documents, 'document')}, {found.convention}",
        "",
        *columns(rows),
        "",
        f"EL is better in A in {number_of(balance.a_better, 'document')}, in B in {balance.b_better:,}, "
        f"equal in {balance.equal:,}",
        f"p: how often chance alone makes as large a difference ({found.rounds:,} random swaps of documents)",
        *([f"note: {found.documents} documents tell little of chance: take more"] if found.documents < 10 else []),
    ]
