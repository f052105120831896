"""From counts to scores: what a scorer has counted becomes an `Evaluation`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from entlink.documents import Record
from entlink.errors import ConfigError, MissingExtraError
from entlink.evaluation.intervals.resampling import Interval, Intervals, intervals, macro_intervals, require_numpy
from entlink.evaluation.leakage import Leakage
from entlink.evaluation.results import (
    TASKS,
    Blame,
    ConventionName,
    Coverage,
    Evaluation,
    Macro,
    Micro,
    PerDocument,
    Ranking,
    Saliency,
    Slice,
    Task,
)
from entlink.evaluation.scoring import ranking
from entlink.evaluation.scoring.blame import STAGE_OF, ceilings
from entlink.evaluation.scoring.conventions import NilRule
from entlink.evaluation.scoring.counts import macro
from entlink.evaluation.scoring.covering import CoverageCounter
from entlink.evaluation.scoring.scorer import Scorer
from entlink.evaluation.scoring.tally import Column
from entlink.version import __version__

NO_INTERVALS = "there are no intervals: pip install 'entlink[eval]'"
_MOST_VALUES = 40
_FEW_DOCUMENTS = 10
_UNKNOWN_SHOWN = 5


class Resampling(Record, frozen=True):
    """How intervals are drawn; no rounds, no intervals."""

    rounds: int = 1000
    seed: int = 0
    level: float = 0.95


class Summariser:
    """Makes the parts of an evaluation from one scorer's counts."""

    def __init__(self, scorer: Scorer, resampling: Resampling) -> None:
        scorer.slices.close()
        scorer.tally.close(*TASKS, "nil", "nil_typed", "accuracy", "accuracy_in_kb")
        scorer.blamer.close(has_candidates=scorer.has_candidates)
        self._scorer, self._tally, self._resampling = scorer, scorer.tally, resampling
        self.notes: list[str] = []
        self._has_intervals = resampling.rounds > 0 and self._can_draw()
        self.over = scorer.options.macro_by or ("domain" if any(scorer.groups) else "document")
        self.groups = None if self.over == "document" else scorer.groups
        self._check_groups()

    def _can_draw(self) -> bool:
        try:
            require_numpy()
        except MissingExtraError:
            self.notes.append(NO_INTERVALS)
            return False
        return True

    def _check_groups(self) -> None:
        """Documents without the field are in no group, and so not in macro scores."""
        if self.groups is None:
            return
        without = self.groups.count(None)
        if without == len(self.groups):
            raise ConfigError(f"no document has the field {self.over!r} in its meta, to take macro scores over")
        if without:
            self.notes.append(f"documents without the field {self.over!r}: {without}; they are not in macro scores")

    def task(self, name: str) -> Task:
        """A task, micro and macro."""
        column = self._tally.columns[name]
        groups = column if self.groups is None else self._tally.grouped(name, self.groups).values()
        drawn = self._macro_intervals(column) if self._has_intervals else None
        means = Macro(*macro(groups), self.over, len(groups), drawn)
        return Task(self._convention(name), self.micro(name), means)

    def _convention(self, name: str) -> str:
        """Mention detection has no rule for NIL; a further rule stands behind the task's name."""
        chosen = self._scorer.options.convention
        task, _, rule = name.partition(":")
        if task == "md":
            return f"{chosen.matching}, all spans"
        if task == "md_linked":
            return f"{chosen.matching}, spans with an entity"
        return chosen.with_nil(NilRule(rule)).name if rule else chosen.name

    def micro(self, name: str) -> Micro:
        column = self._tally.columns[name]
        return Micro.of(column.total(), self._intervals(column))

    def _intervals(self, column: Column) -> Intervals | None:
        if not self._has_intervals:
            return None
        how = self._resampling
        return intervals(column, rounds=how.rounds, seed=how.seed, level=how.level)

    def _macro_intervals(self, column: Column) -> Intervals:
        how = self._resampling
        return macro_intervals(column, self.groups, rounds=how.rounds, seed=how.seed, level=how.level)

    def conventions(self) -> dict[str, dict[str, Task]]:
        """ED and EL by each further rule for NIL, side by side with the chosen one."""
        chosen, rules = self._scorer.options.convention, self._scorer.options.rules
        if not rules:
            return {}
        names = {rule: "" if rule is chosen.nil else f":{rule}" for rule in dict.fromkeys((chosen.nil, *rules))}
        return {
            chosen.with_nil(rule).name: {task: self.task(f"{task}{suffix}") for task in ("ed", "el")}
            for rule, suffix in names.items()
        }

    def ranking(self) -> Ranking:
        """Accuracy, recall@K and the rest, over gold mentions."""
        outcomes = self._scorer.outcomes
        entities = ranking.of_entities(outcomes)
        total, in_kb = outcomes.total(), sum(entities.values())
        known = self._scorer.has_candidates
        typed = self._tally.columns["accuracy_typed_nil"].total()
        return Ranking(
            ranking.accuracy(outcomes),
            ranking.accuracy(entities),
            typed.correct / typed.gold if typed.gold else 0.0,
            total,
            in_kb,
            {k: ranking.recall_at(outcomes, k) for k in ranking.KS} if known else {},
            {k: ranking.accuracy_at(outcomes, k) for k in ranking.KS} if known else {},
            ranking.reciprocal_rank(outcomes) if known else None,
            ranking.blink_columns(outcomes) if known else None,
            self._recall_interval("accuracy"),
            self._recall_interval("accuracy_in_kb"),
            self.task("accuracy_in_kb").macro.recall,
            self._recall_interval("accuracy_typed_nil"),
        )

    def nil_types(self) -> dict[str, dict[str, int]]:
        """What was said of NIL gold, by its type; the most frequent first."""
        found: dict[str, dict[str, int]] = {}
        for (wanted, said), count in sorted(self._scorer.nil_types.items(), key=lambda item: (-item[1], item[0])):
            found.setdefault(wanted, {})[said] = count
        return found

    def _recall_interval(self, name: str) -> Interval | None:
        drawn = self._intervals(self._tally.columns[name])
        return None if drawn is None else drawn.recall

    def slices(self) -> list[Slice]:
        """Every value of every slice, the largest first within one; rare values are left out and told."""
        found: dict[str, list[Slice]] = {}
        for (name, value), documents in self._scorer.slices.documents.items():
            found.setdefault(name, []).append(self._slice(name, value, documents))
        rows: list[Slice] = []
        for name in dict.fromkeys(slicer.name for slicer in self._scorer.slices.slicers):
            values = sorted(found.get(name, []), key=lambda one: (-one.gold, one.value))
            if len(values) > _MOST_VALUES:
                self.notes.append(f"slice {name}: {len(values)} values, the {_MOST_VALUES} with most gold are shown")
            rows += values[:_MOST_VALUES]
        return rows

    def _slice(self, name: str, value: str, documents: int) -> Slice:
        column = self._tally.columns[f"slice-el:{name}:{value}"]
        el, md = column.total(), self._tally.columns[f"slice-md:{name}:{value}"].total()
        whole = next(slicer.of_document is not None for slicer in self._scorer.slices.slicers if slicer.name == name)
        candidates = self._scorer.slices.candidates.get((name, value))
        known = self._scorer.has_candidates and candidates is not None and el.gold
        return Slice(
            name,
            value,
            el.gold,
            documents,
            md.recall,
            el.recall,
            self._intervals(column),
            el.precision if whole else None,
            el.f1 if whole else None,
            (candidates or 0) / el.gold if known else None,
        )

    def blame(self) -> Blame:
        """Misses by cause and by stage, wrong answers by reason, ceilings and examples."""
        scorer = self._scorer
        stages: dict[str, int] = {}
        for cause, count in scorer.blamer.misses.most_common():
            stages[STAGE_OF[cause]] = stages.get(STAGE_OF[cause], 0) + count
        return Blame(
            dict(scorer.blamer.misses.most_common()),
            stages,
            dict(scorer.blamer.wrong.most_common()),
            ceilings(
                scorer.blamer.blamed,
                scorer.blamer.misses,
                coverage=None if scorer.coverage is None else scorer.coverage.share,
                has_candidates=scorer.has_candidates,
            ),
            scorer.blamer.examples.all(),
        )

    def saliency(self) -> Saliency:
        """Predicted spans a document against gold."""
        scorer, documents = self._scorer, max(1, len(self._tally.documents))
        ratio = scorer.spans / scorer.gold_spans if scorer.gold_spans else None
        return Saliency(scorer.gold_spans / documents, scorer.spans / documents, ratio, scorer.outside)

    def coverage(self, kb: str) -> Coverage | None:
        """How much of the gold a knowledge base knows."""
        counted = self._scorer.coverage
        if counted is None:
            return None
        return Coverage(
            kb,
            counted.convention.name,
            counted.links,
            counted.covered_links,
            len(counted.entities | counted.unknown_entities),
            len(counted.entities),
            sorted(counted.unknown_entities)[:_UNKNOWN_SHOWN],
            self.micro("el_covered"),
        )

    def warnings(self) -> list[str]:
        """What a reader of the scores should know."""
        scorer = self._scorer
        told = [verdict for watch in scorer.watches if (verdict := watch.verdict())]
        if scorer.blamer.overlapping:
            told.append(f"gold spans that overlap another: {scorer.blamer.overlapping}; each counts")
        if scorer.outside:
            told.append(f"predictions where nothing was annotated: {scorer.outside}; they are left out")
        if scorer.coverage is not None:
            told += self._of_coverage(scorer.coverage)
        if self._has_intervals and len(self._tally.documents) < _FEW_DOCUMENTS:
            count = len(self._tally.documents)
            told.append(f"intervals are drawn over documents, and {count} tell little of chance: take more")
        if not scorer.spans:
            told.append("the predictions have no links at all where gold was annotated")
        return told + self._mismatch()

    def _of_coverage(self, counted: CoverageCounter) -> Iterator[str]:
        """What looking identifiers up left open, or may have got wrong."""
        if unknown := counted.unknown_predicted:
            what = "predictions of what is no entity of the knowledge base"
            yield f"{what}: {unknown.total()} ({_some(unknown)})"
        if pages := +counted.disambiguations:
            what = "gold links to disambiguation pages, which are no entities"
            yield f"{what}: {pages.total()} ({_some(pages)}); they count as not covered"
        if counted.only_titled:
            yield (
                f"gold links that are not covered, though an entity has their title: {counted.only_titled}; it may "
                "be a namesake. If titles mean the same here as in the gold, --match-gold title counts them"
            )
        if ambiguous := +counted.ambiguous:
            yield (
                f"gold links matched by a title that several entities have: {ambiguous.total()} of "
                f"{counted.by_title} ({_some(ambiguous)}); some may be matched with a namesake"
            )

    def _mismatch(self) -> list[str]:
        """Entities that agree but for underscores or case, or never do: most likely two kinds of identifiers."""
        if loose := self._scorer.blamer.loosely_right:
            return [
                f"answers that differ from gold only in underscores, case or the address before a title: {loose}"
                "; they count as wrong. `entlink evaluate --kb` looks both up in a knowledge base first"
            ]
        apart = self._scorer.identifiers.apart()
        if apart is None:
            return []
        ours, theirs = apart
        return [
            f"gold and predictions have no identifier in common (gold {ours!r}, predictions {theirs!r}): if they use "
            "different identifiers, no link can be right. Give --kb NAME.kb, which looks both up in a knowledge base"
        ]


def _some(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)[:_UNKNOWN_SHOWN]))


def summarise(
    scorer: Scorer,
    *,
    name: str = "run",
    resampling: Resampling | None = None,
    kb: str = "",
    leaks: Leakage | None = None,
    notes: Sequence[str] = (),
    chosen: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Evaluation:
    """All that was measured."""
    resampling = resampling or Resampling()
    make = Summariser(scorer, resampling)
    tally = scorer.tally
    return Evaluation(
        name=name,
        version=__version__,
        documents=len(tally.documents),
        convention=ConventionName.of(scorer.options.convention, chosen),
        md=make.task("md"),
        md_linked=make.task("md_linked"),
        ed=make.task("ed"),
        el=make.task("el"),
        nil=make.micro("nil"),
        nil_typed=make.micro("nil_typed"),
        nil_types=make.nil_types(),
        conventions=make.conventions(),
        ranking=make.ranking(),
        slices=make.slices(),
        blame=make.blame(),
        saliency=make.saliency(),
        coverage=make.coverage(kb),
        leakage=leaks,
        notes=[*notes, *make.warnings(), *make.notes],
        settings={
            "seed": resampling.seed,
            "rounds": resampling.rounds,
            "level": resampling.level,
            **(settings or {}),
        },
        per_document=PerDocument(
            tally.documents,
            [] if make.groups is None else [group or "" for group in make.groups],
            {task: tuple(map(list, tally.columns[task].rows())) for task in TASKS},  # type: ignore[misc]
        ),
    )
