"""Linkers on gold and on its few-shot part, whose most popular entity is wrong (tables 3 to 5 and 12 of paper 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.errors import ConfigError, MissingExtraError
from entlink.evaluation.few_shot import FewShot, Popularity, SetCounter, loss_of
from entlink.evaluation.few_shot import Loss as Why
from entlink.evaluation.identities import Identities
from entlink.evaluation.intervals.resampling import Interval, intervals
from entlink.evaluation.runner import EvaluationOptions, evaluate
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.items import surface_of
from entlink.evaluation.scoring.ranking import rank_of
from entlink.evaluation.scoring.relations import Relations
from entlink.evaluation.scoring.scorer import NO_TYPE
from entlink.evaluation.scoring.tally import Column
from entlink.evaluation.summary import NO_INTERVALS
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.linker import load
from entlink.studies.data import NOT_THERE, StudyData, check_kb, no_gold, published_figures
from entlink.studies.domain_data import Placed, Shelf
from entlink.studies.few_shot.results import (
    AT,
    KS,
    PARTS,
    SAID_NIL,
    Estimate,
    FewShotOptions,
    FewShotStudy,
    Part,
    PartScores,
    SystemScores,
)
from entlink.studies.systems import ConfiguredSystem, own_linker, why_missing

_PAPER, _TABLES = "hansel", ("3", "4", "5", "12", "text")
Linked = Callable[[], Iterator[Document]]


def study_few_shot(
    kb: str | Path,
    data: Sequence[str | Path],
    systems: Sequence[ConfiguredSystem] | None = None,
    options: FewShotOptions | None = None,
    *,
    command: str = "",
    progress: Progress | None = None,
) -> FewShotStudy:
    """Link the gold spans by the alias table and by each system; score all gold, and its few-shot part.

    `systems` None is the linker beside the knowledge base, else zero-shot. The documents wait in a temporary file.
    """
    options = options or FewShotOptions()
    systems = [ConfiguredSystem(*own_linker(kb))] if systems is None else systems
    names = [AT, *(system.name for system in systems)]
    if len(set(names)) < len(names):
        raise ConfigError(f"each system needs a name of its own, and {AT} is the alias table's")
    with ExitStack() as stack:
        base = stack.enter_context(KnowledgeBase.open(kb))
        check_kb(base)
        documents = StudyData(data, Identities(base, options.match_gold), format=options.format, limit=options.limit)
        shelf = Shelf(stack.enter_context(TemporaryFile()))
        run = _Run(base, documents, shelf, options, progress)
        scores = [run.alias_table(), *map(run.system, systems)]
        published = published_figures(_PAPER, _TABLES)
        return FewShotStudy(
            facts=documents.facts(base, run.encoders),
            options=options,
            counts={part: run.counters[part].counts() for part in PARTS},
            systems=scores,
            notes=[*dict.fromkeys(run.notes), *([] if published else [NOT_THERE])],
            published=published,
            command=command,
        )


class _Run:
    """The documents on their shelf, and what is asked of each system."""

    def __init__(
        self, kb: KnowledgeBase, data: StudyData, shelf: Shelf, options: FewShotOptions, progress: Progress | None
    ) -> None:
        self._kb, self._shelf, self._options, self._progress = kb, shelf, options, progress
        self._identities = data.identities
        self._popularity = Popularity(kb)
        self._few_shot = FewShot(data.identities, self._popularity)
        self._relations = Relations(kb.get, kb.types)
        self.counters = {part: SetCounter() for part in PARTS}
        self.encoders: dict[str, str] = {}
        self.notes: list[str] = []
        self._documents = self._take(data)

    def _take(self, data: StudyData) -> int:
        """Put the documents on the shelf, with the gold that must be found; returns how many."""
        count = 0
        for document, _ in data:
            asked = tuple(gold for gold in document.gold if not gold.optional)
            if not asked:
                continue
            document = msgspec.structs.replace(document, gold=asked, mentions=None, links=())
            count += 1
            self._shelf.put("", Placed(document, frozenset()))
            for part in PARTS:
                self.counters[part].add(self._part(document, part))
        if not count:
            raise no_gold(data.files)
        return count

    def _gold(self) -> Iterator[Document]:
        return (placed.document for placed in self._shelf.take(""))

    def _part(self, document: Document, part: Part) -> Document:
        return document if part == "all gold" else self._few_shot.part(document)

    # Systems

    def alias_table(self) -> SystemScores:
        """The most popular entity of each name."""
        return self._scores(AT, lambda: map(self._popularity.links, self._gold()), has_lists=True)

    def system(self, system: ConfiguredSystem) -> SystemScores:
        """A linker, given the spans of the gold."""
        why, notes = why_missing(system, self._kb)
        self.notes += notes
        if why:
            self.notes.append(f"{system.name} has no scores: {why}")
            return SystemScores(system.name, why)
        linker = load(self._kb.folder, config=system.config, mentions="gold")
        with linker.kb, TemporaryFile() as file:
            found = system.encoders(linker)
            self.encoders |= {f"{system.name}, {stage}": one for stage, one in found.items()}
            shelf = Shelf(file)
            for number, document in enumerate(linker.link_all(self._gold()), 1):
                shelf.put("", Placed(document, frozenset()))
                if self._progress is not None:
                    self._progress(system.name, number, self._documents)
            return self._scores(system.name, lambda: (placed.document for placed in shelf.take("")))

    def _scores(self, name: str, linked: Linked, *, has_lists: bool = False) -> SystemScores:
        found = {part: self._part_scores(linked, part, has_lists=has_lists) for part in PARTS}
        return SystemScores(name, parts={part: scores for part, scores in found.items() if scores is not None})

    def _part_scores(self, linked: Linked, part: Part, *, has_lists: bool) -> PartScores | None:
        if not self.counters[part].counts().mentions.total:
            return None
        how = self._options
        options = EvaluationOptions(slices=(), rounds=how.rounds, level=how.level, seed=how.seed, examples=0)
        # Both sides are read in step from a file of their own.
        gold, answers = self._answered(linked, part), self._answered(linked, part)
        found = evaluate((msgspec.structs.replace(one, links=()) for one in gold), answers, options)
        self.notes += [note for note in found.notes if note == NO_INTERVALS]
        ranking = found.ranking
        recall = {1: Estimate(ranking.accuracy_in_kb, ranking.accuracy_in_kb_interval)}
        if has_lists:
            recall = {k: self._recall_at(k, part) for k in KS}
        typed = Estimate(ranking.accuracy_typed_nil, ranking.accuracy_typed_nil_interval)
        losses, relations = self._errors(self._answered(linked, part))
        lost = losses[Why.UNRESOLVED] + losses[Why.ABSENT]
        if part == "all gold" and lost:
            self.notes.append(f"gold entities that the knowledge base lacks: {lost:,} of {ranking.in_kb:,}")
        return PartScores(
            ranking.mentions,
            ranking.in_kb,
            recall,
            Estimate(ranking.accuracy, ranking.accuracy_interval),
            typed if found.nil_types.keys() - {NO_TYPE} else None,
            dict(losses),
            dict(relations),
        )

    def _answered(self, linked: Linked, part: Part) -> Iterator[Document]:
        """The documents with gold of the part, and an answer to each: what a linker left out is NIL."""
        for document in linked():
            wanted = self._part(document, part)
            if wanted.gold:
                said = {link.mention.span: link for link in document.links}
                spans = dict.fromkeys(gold.span for gold in wanted.gold)
                links = tuple(said.get(span) or _nil(span) for span in spans)
                yield msgspec.structs.replace(wanted, links=links)

    def _recall_at(self, k: int, part: Part) -> Estimate:
        """AT@K."""
        column = Column()
        for document in self._gold():
            asked = [gold for gold in self._part(document, part).gold if gold.entities]
            ranks = [rank_of(gold, self._popularity.ranked(surface_of(document, gold))) for gold in asked]
            column.add(Counts(sum(rank is not None and rank <= k for rank in ranks), 0, len(asked)))
        return Estimate(column.total().recall, self._interval(column))

    def _interval(self, column: Column) -> Interval | None:
        how = self._options
        if not how.rounds:
            return None
        try:
            return intervals(column, rounds=how.rounds, seed=how.seed, level=how.level).recall
        except MissingExtraError:
            return None

    # Errors

    def _errors(self, documents: Iterable[Document]) -> tuple[Counter[str], Counter[str]]:
        """Why gold entities were lost; and of those that were among the ten, what was said in their place."""
        losses: Counter[str] = Counter()
        relations: Counter[str] = Counter()
        for document in documents:
            said = {link.mention.span: link for link in document.links}
            for gold in document.gold:
                entity = said[gold.span].entity
                if not gold.entities or entity in gold.entities:
                    continue
                why = loss_of(gold, self._popularity.ranked(surface_of(document, gold)), self._identities)
                losses[why] += 1
                if why == Why.NOT_CHOSEN:
                    relations[SAID_NIL if entity is None else self._relation(gold, entity)] += 1
        return losses, relations

    def _relation(self, gold: GoldLink, said: str) -> str:
        known = (entity for entity in gold.entities if self._identities.entity(entity) is not None)
        return self._relations.between(next(known), said)


def _nil(span: Span) -> Link:
    return Link(Mention(span, ""), None, 0.0)
