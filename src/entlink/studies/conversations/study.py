"""Linking in conversations: several systems on several sets, beside published scores (table 4 of paper 1).

A set whose conversations have a domain is also linked domain by domain, as the Reddit half of its table 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from entlink.documents import Document
from entlink.errors import ConfigError, InputError
from entlink.evaluation.identities import Identities
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.scoring.conventions import Convention, Matching
from entlink.evaluation.scoring.items import predicted_items
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.linker import Linker
from entlink.studies.conversations.domains import by_domain
from entlink.studies.conversations.results import (
    MATCHINGS,
    ConversationOptions,
    ConversationStudy,
    SetByDomain,
    SetFacts,
    SetScores,
)
from entlink.studies.conversations.runs import Run, RunSource, read_runs
from entlink.studies.conversations.scoring import Answers, SetScorer
from entlink.studies.conversations.sets import ConversationSet, SetSource, published_names, set_sources
from entlink.studies.data import NOT_THERE, Facts, check_kb, published_figures
from entlink.studies.domain_data import Placed, Shelf
from entlink.studies.settings import MISSING
from entlink.studies.systems import ConfiguredSystem, System, own_linker, why_missing
from entlink.version import __version__

_PAPER, _ENDS, _CONVERSATIONS = "conversational_el", "2", "4"


def study_conversations(
    kb: str | Path,
    data: Sequence[str | Path | SetSource],
    systems: Sequence[System] | None = None,
    runs: Sequence[RunSource] = (),
    options: ConversationOptions | None = None,
    *,
    command: str = "",
    progress: Progress | None = None,
) -> ConversationStudy:
    """Link the conversations of each set by each system, and score that and the runs of others, in both conventions.

    `data` are files, or `NAME=FILE`. `systems` None is the linker beside the knowledge base, else zero-shot; where
    there are runs, none. All sets, runs and systems are looked at before anything is linked.
    """
    options = options or ConversationOptions()
    if systems is None:
        systems = [] if runs else [ConfiguredSystem(*own_linker(kb))]
    with KnowledgeBase.open(kb) as base:
        check_kb(base)
        study = _Study(base, _sources(data), options, progress)
        others = read_runs(runs, study.sets)
        _check_names(systems, others)
        study.prepare(systems)
        for run in others:
            study.score_run(run)
        for system in systems:
            study.score_system(system)
        domains = study.by_domain(systems)
        figures = _published(study.facts, domains)
        return ConversationStudy(
            facts=study.all_facts(),
            options=options,
            conventions={str(one): Convention(one, gold=options.match_gold).describe() for one in MATCHINGS},
            sets=study.facts,
            results=study.results,
            domains=domains,
            notes=list(dict.fromkeys([*study.notes, *_unpublished(figures, study.facts, domains)])),
            published=figures,
            command=command,
        )


def _sources(data: Sequence[str | Path | SetSource]) -> list[SetSource]:
    if not data:
        raise InputError("there is no set to study. Give files of conversations with gold")
    given = [one for one in data if isinstance(one, SetSource)]
    return [*given, *set_sources([one for one in data if not isinstance(one, SetSource)])]


def _check_names(systems: Sequence[System], runs: Sequence[Run]) -> None:
    """Two rows of one name could not be told apart."""
    rows = [(run.name, run.set) for run in runs]
    names = [system.name for system in systems]
    for name in names:
        if names.count(name) > 1 or name in {run for run, _ in rows}:
            raise ConfigError(f"two systems are called {name!r}. Give each its own name")
    for name, set in rows:
        if rows.count((name, set)) > 1:
            raise ConfigError(f"two runs on the set {set!r} are called {name!r}. Give each its own name")


class _Study:
    """The sets with what has been found so far."""

    def __init__(
        self,
        kb: KnowledgeBase,
        sources: Sequence[SetSource],
        options: ConversationOptions,
        progress: Progress | None,
    ) -> None:
        self._kb, self._options, self._progress = kb, options, progress
        self._identities = Identities(kb, options.match_gold)
        self.sets = [ConversationSet(source, options) for source in sources]
        self.facts = [data.facts(self._identities) for data in self.sets]
        self._scorers = {
            data.name: SetScorer(data, kb, self._identities, options, has_covered=facts.covered > 0)
            for data, facts in zip(self.sets, self.facts, strict=True)
        }
        self._why: dict[str, str] = {}
        self._encoders: dict[str, str] = {}
        self.results: list[SetScores] = []
        self.notes: list[str] = [*_of_sets(self.facts)]

    def all_facts(self) -> Facts:
        files = [file.facts() for data in self.sets for file in data.files]
        kb, match_gold = self._kb, self._options.match_gold
        return Facts(kb.folder.name, len(kb), kb.manifest().built, __version__, files, self._encoders, match_gold)

    def prepare(self, systems: Sequence[System]) -> None:
        """Open every linker once: what is wrong with the last one must not be told after hours of the first."""
        for system in systems:
            why, notes = why_missing(system, self._kb)
            self.notes += notes
            if not why:
                why = self._try(system)
            self._why[system.name] = why
            if why:
                self.notes.append(f"{system.name} has no scores: {why}")

    def _try(self, system: System) -> str:
        try:
            linker = system.load(self._kb.folder, ())
        except MISSING as problem:
            return str(problem)
        with linker.kb:
            found = system.encoders(linker)
            if linker.conversations.as_whole:
                self.notes.append(f"{system.name} links a conversation as a whole: it sees later turns, too")
        self._encoders |= {f"{system.name}, {stage}": one for stage, one in found.items()}
        return ""

    def score_run(self, run: Run) -> None:
        """Score what another system said; a list of strings has no places to compare."""
        data = next(one for one in self.sets if one.name == run.set)
        matchings = (Matching.STRING,) if run.lacks_offsets else MATCHINGS
        found = self._score(data, lambda: run.answers(data), matchings, as_written=run.as_written)
        self._add(msgspec.structs.replace(found, system=run.name, kind="run", notes=(*run.notes, *found.notes)))

    def score_system(self, system: System) -> None:
        """Link every set by a system, and score that."""
        why = self._why[system.name]
        if why:
            for data in self.sets:
                self.results.append(SetScores(system=system.name, set=data.name, kind="linker", why=why))
            return
        linker = system.load(self._kb.folder, ())
        with linker.kb:
            for data, facts in zip(self.sets, self.facts, strict=True):
                with TemporaryFile() as file:
                    shelf = Shelf(file)
                    self._link(system.name, linker, data, facts.conversations, shelf)
                    found = self._score(data, partial(_kept, shelf), MATCHINGS)
                self._add(msgspec.structs.replace(found, system=system.name))

    def _link(self, name: str, linker: Linker, data: ConversationSet, total: int, shelf: Shelf) -> None:
        """Link a set, a turn after the other, and keep the links of the turns that count."""
        for number, (linked, gold) in enumerate(zip(linker.link_all(_to_link(data)), data, strict=True), 1):
            own = tuple(item.link for item in predicted_items(linked, gold))
            shelf.put("", Placed(msgspec.structs.replace(linked, links=own), frozenset()))
            if self._progress is not None:
                self._progress(f"{name}, {data.name}", number, total)

    def _score(
        self, data: ConversationSet, answers: Answers, matchings: Sequence[Matching], *, as_written: bool = False
    ) -> SetScores:
        scorer = self._scorers[data.name]
        found = [scorer.score(answers, matching, as_written=as_written) for matching in matchings]
        return SetScores(
            system="",
            set=data.name,
            kind="linker",
            scores=tuple(one for scores, _, _ in found for one in scores),
            blame=tuple(blame for _, blame, _ in found),
            notes=tuple(dict.fromkeys(note for _, _, notes in found for note in notes)),
        )

    def _add(self, found: SetScores) -> None:
        self.results.append(found)
        self.notes += [f"{found.system}, {found.set}: {note}" for note in found.notes]

    def by_domain(self, systems: Sequence[System]) -> list[SetByDomain]:
        """The sets that have domains, linked domain by domain."""
        ready = [system for system in systems if not self._why[system.name]]
        if not self._options.domains or not ready:
            return []
        found = []
        for data in self.sets:
            study, note = by_domain(self._kb, data, ready, self._options, self._progress)
            if study is not None:
                found.append(SetByDomain(data.name, study))
                self.notes += study.notes
            self.notes += [note] if note else []
        return found


def _to_link(data: Iterable[Document]) -> Iterator[Document]:
    """The conversations as a linker is to see them, without a word about what is right."""
    for document in data:
        yield msgspec.structs.replace(document, gold=(), mentions=None, links=())


def _kept(shelf: Shelf) -> Iterator[Document]:
    return (placed.document for placed in shelf.take(""))


def _of_sets(facts: Iterable[SetFacts]) -> Iterator[str]:
    for one in facts:
        for why, count in one.left_out.items():
            yield f"{one.name}: {count:,} {why} left out"
        if not one.covered:
            yield f"{one.name}: the knowledge base has none of the gold entities, so that there is no covered gold"


def _published(facts: Sequence[SetFacts], domains: Sequence[SetByDomain]) -> tuple[PublishedFigure, ...]:
    """The published figures of these sets, and those on Reddit where domains were studied."""
    names = {one.name for one in facts}
    return tuple(
        figure
        for figure in published_figures(_PAPER, (_ENDS, _CONVERSATIONS))
        if (figure.where["dataset"] in names if figure.table == _CONVERSATIONS else domains)
        and figure.where["dataset"] != "wikia"
    )


def _unpublished(
    figures: Sequence[PublishedFigure], facts: Sequence[SetFacts], domains: Sequence[SetByDomain]
) -> list[str]:
    if figures:
        return []
    if not published_figures(_PAPER, (_CONVERSATIONS,)):
        return [NOT_THERE]
    known = ", ".join(published_names())
    return [f"nothing is published of these sets; to see published rows beside, name a set {known} (NAME=FILE)"]
