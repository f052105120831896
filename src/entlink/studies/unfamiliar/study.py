"""Linking against an unfamiliar knowledge base: each domain against its own part of it, by several systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from entlink.documents import Document, Record
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.conventions import Convention, GoldMatch
from entlink.evaluation.scoring.counts import NOTHING, Counts, micro
from entlink.evaluation.scoring.items import gold_items, predicted_items
from entlink.evaluation.scoring.metrics import entity_counts, link_counts, mention_counts
from entlink.evaluation.scoring.ranking import Outcome, blink_columns, rank_of
from entlink.interfaces import Question, Shortlist
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.linker import Linker
from entlink.linking.registry import find
from entlink.studies.data import NOT_THERE, StudyData, check_kb, gold_mention, published_figures
from entlink.studies.domain_data import DomainData, Placed, Shelf
from entlink.studies.domains import Domains, assigner
from entlink.studies.systems import K, System, default_systems, why_missing
from entlink.studies.unfamiliar.results import (
    TASKS,
    TASKS_MEAN,
    DomainFacts,
    DomainScores,
    Given,
    Outside,
    SystemScores,
    UnfamiliarStudy,
)

_CONVENTION = Convention()
_PAPER, _TABLES = "conversational_el", ("2", "3", "5")


class UnfamiliarOptions(Record, frozen=True):
    """How to study an unfamiliar knowledge base.

    `by` tells a document's domain: by `type` (of most of its gold), `page` (its id names an entity), `file`, or
    `meta:FIELD`; None is `meta:domain` where the first document has it, else `type`. `depth` joins the types that
    begin alike. `domains` keeps to some. `detector` takes the place of each system's own. `limit` takes the first
    documents of each domain. `match_gold` says whether titles lead to entities, too.
    """

    by: str | None = None
    domains: tuple[str, ...] = ()
    depth: int = 0
    detector: str | None = None
    limit: int | None = None
    match_gold: GoldMatch = GoldMatch.IDENTIFIER
    format: str | None = None


class _Bench:
    """One system in one domain."""

    def __init__(self, name: str, linker: Linker, *, is_end_to_end: bool) -> None:
        self.name, self.linker, self._is_end_to_end = name, linker, is_end_to_end
        self._given: Counter[str] = Counter()
        self._outcomes: Counter[Outcome] = Counter()
        self._ends = dict.fromkeys(TASKS, NOTHING)
        self._waiting: list[Placed] = []

    def add(self, placed: Placed) -> None:
        self._waiting.append(placed)
        if len(self._waiting) >= self.linker.batch_size:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            batch, self._waiting = self._waiting, []
            self._ask(batch)
            if self._is_end_to_end:
                self._link(batch)

    def _ask(self, batch: Sequence[Placed]) -> None:
        """Given the gold spans: retrieve, rank, decide."""
        places = [
            (placed, number)
            for placed in batch
            for number, gold in enumerate(placed.document.gold)
            if not gold.optional
        ]
        questions = [
            Question(
                one.document, [gold_mention(one.document, gold) for gold in one.document.gold if not gold.optional]
            )
            for one in batch
        ]
        found = [candidates for lists in self.linker.retrieve(questions) for candidates in lists]
        mentions = [(question.document, mention) for question in questions for mention in question.mentions]
        shortlists = [Shortlist(*place, candidates) for place, candidates in zip(mentions, found, strict=True)]
        ranked = self.linker.rank(shortlists)
        decided = self.linker.nil.decide(
            [Shortlist(*place, candidates) for place, candidates in zip(mentions, ranked, strict=True)]
        )
        for (placed, number), candidates, ordered, link in zip(places, found, ranked, decided, strict=True):
            gold = placed.document.gold[number]
            answer = link.entity if link.score >= self.linker.min_score else None
            if number in placed.outside:
                self._given["outside"] += 1
                self._given["linked outside"] += answer is not None
            elif gold.entities:
                self._given["mentions"] += 1
                self._given["answered"] += answer is not None
                self._given["correct"] += answer in gold.entities
                rank = rank_of(gold, ordered)
                self._outcomes[Outcome(False, False, rank == 1, rank, rank_of(gold, candidates))] += 1

    def _link(self, batch: Sequence[Placed]) -> None:
        """End to end."""
        linked = self.linker.link_all([one.document for one in batch])
        for (document, outside), answer in zip(batch, linked, strict=True):
            gold, predicted = gold_items(document), predicted_items(answer, document)
            counts = {
                "md": mention_counts(gold, predicted, _CONVENTION.matching),
                "ed": entity_counts(gold, predicted, _CONVENTION),
                "el": link_counts(gold, predicted, _CONVENTION),
            }
            self._ends = {task: micro([self._ends[task], counts[task]]) for task in TASKS}
            said = {(one.start, one.end) for one in predicted if one.entity is not None}
            lost = [gold[number] for number in outside if not gold[number].optional]
            self._given["linked outside, end to end"] += sum((one.start, one.end) in said for one in lost)

    def scores(self) -> DomainScores:
        given = self._given
        ends: dict[str, Counts] | None = self._ends if self._is_end_to_end else None
        linked = given["linked outside, end to end"] if self._is_end_to_end else None
        return DomainScores(
            self.name,
            Given(given["correct"], given["answered"], given["mentions"]),
            blink_columns(self._outcomes, K),
            Outside(given["outside"], given["linked outside"], linked),
            ends,
        )


def study_unfamiliar_kb(
    kb: str | Path,
    data: Sequence[str | Path],
    systems: Sequence[System] | None = None,
    options: UnfamiliarOptions | None = None,
    *,
    command: str = "",
    progress: Progress | None = None,
) -> UnfamiliarStudy:
    """Link each document against the part of a knowledge base that is its domain, by each system, and score that.

    `systems` None are `default_systems`. The data is read once, and waits in a
    temporary file, so that one linker for one domain is open at a time.
    """
    options = options or UnfamiliarOptions()
    if options.detector:
        find("detector", options.detector)  # an unknown name is told before anything runs
    systems = default_systems(kb) if systems is None else systems
    with KnowledgeBase.open(kb) as base:
        check_kb(base)
        documents = StudyData(data, Identities(base, options.match_gold), format=options.format)
        by = options.by or _way(documents)
        domains = Domains(base, options.depth)
        domains.check(options.domains)
        parted = DomainData(
            documents,
            domains,
            assigner(by, domains, documents.identities),
            wanted=options.domains,
            limit=options.limit,
        )
        with TemporaryFile() as file:
            shelf = Shelf(file)
            facts = parted.part(shelf, base, progress)
            run = _Run(base, shelf, {one: domains.types(one.name) for one in facts}, options.detector, progress)
            scores = [run.scores(system) for system in systems]
        published = published_figures(_PAPER, _TABLES)
        convention = msgspec.structs.replace(_CONVENTION, gold=options.match_gold)
        return UnfamiliarStudy(
            facts=documents.facts(base, run.encoders),
            by=by,
            depth=options.depth,
            detector=options.detector or "each system's own",
            convention=convention.name,
            description=f"{convention.describe()} {TASKS_MEAN}.",
            domains=facts,
            left_out={reason: count for reason, count in parted.left_out.items() if count},
            systems=scores,
            notes=[*parted.notes(), *run.notes, *_notes(scores), *([] if published else [NOT_THERE])],
            published=published,
            command=command,
        )


def _way(documents: StudyData) -> str:
    first: Document | None = next((document for document, _ in documents), None)
    return "meta:domain" if first is not None and first.meta.get("domain") else "type"


class _Run:
    """Runs systems over documents by domain, one domain after the other."""

    def __init__(
        self,
        kb: KnowledgeBase,
        shelf: Shelf,
        domains: Mapping[DomainFacts, Sequence[str]],
        detector: str | None,
        progress: Progress | None,
    ) -> None:
        self._kb, self._shelf, self._domains = kb, shelf, domains
        self._detector, self._progress = detector, progress
        self._total = sum(one.documents for one in domains)
        self.encoders: dict[str, str] = {}
        self.notes: list[str] = []

    def scores(self, system: System) -> SystemScores:
        why, notes = why_missing(system, self._kb)
        self.notes += notes
        if why:
            return SystemScores(system.name, why)
        found: list[DomainScores] = []
        done = 0
        for domain, types in self._domains.items():
            linker = system.load(self._kb.folder, types, self._detector)
            try:
                self.encoders |= {f"{system.name}, {stage}": one for stage, one in system.encoders(linker).items()}
                bench = _Bench(domain.name, linker, is_end_to_end=system.is_end_to_end)
                for placed in self._shelf.take(domain.name):
                    bench.add(placed)
                    done += 1
                    if self._progress is not None:
                        self._progress(system.name, done, self._total)
                bench.flush()
                found.append(bench.scores())
            finally:
                linker.kb.close()
        return SystemScores.of(system.name, found)


def _notes(systems: Sequence[SystemScores]) -> list[str]:
    return [f"{one.name} has no scores: {one.why}" for one in systems if one.why]
