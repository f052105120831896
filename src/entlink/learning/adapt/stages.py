"""The stages of adapting a linker, one after the other: each is measured, and kept only if it helps."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic

import msgspec

from entlink.documents import Document, Mention, Span
from entlink.errors import InputError, MissingExtraError, MissingModelError
from entlink.interfaces import DualEncoder, Question
from entlink.learning.adapt.lessons import BI_ENCODER
from entlink.learning.adapt.names import SHORTENED, found_again, with_short_names
from entlink.learning.adapt.report import StageFigures
from entlink.learning.adapt.senses import SENSES, learn_senses, linked_uses, sense_encoder, shared_words, unmeasured
from entlink.learning.adapt.settings import MAP, SHARE, WEIGHTS_WITH_LINKS, weights_without_links
from entlink.learning.adapt.training import FOR_THE_REST, TrainingTools
from entlink.learning.adapt.weights import (
    START_WEIGHTS,
    fitted_weights,
    ranked_by_evidence,
    scored,
    surest_lost,
    with_ranker,
    with_weights,
)
from entlink.learning.own_texts.cases import PLAIN, Case, Parts, read_cases, write_cases
from entlink.learning.own_texts.links import link_pairs
from entlink.learning.own_texts.pairs import Wanted, self_pairs
from entlink.learning.senses.contested import contested_cases
from entlink.linking.config import LinkerConfig, Stage, read_config, retriever_names
from entlink.linking.saved import with_chosen_encoder
from entlink.ranking.combination import DEFAULT_WEIGHTS

FEWEST_EXAMPLES = 100
# Entities: to read the texts of more, or cut their names, takes too long; `kb index --company --short` does it.
_MOST_FOR_NAMES = 500_000
FLAT = 50_000  # entities: of more, vectors are made on demand
_FOR_EXAMPLES, _FEWEST_FOR_EXAMPLES = 0.2, 0.05  # of the minutes, indexes included, and however long those took
_USES_A_MINUTE = 600  # of shared words
_FOR_SENSES, _READ_FOR_SENSES = 0.06, 20_000  # of the minutes, and texts of entities
_LINKS, _LINKED_PAGES = 12_000, 20_000  # to learn from, and pages to read them in, at most
_CALIBRATED_ON = 1_000
_LOST = 0.005  # of the held-back cases that are right: no more may become NIL; they are less like names than others
# Of the threshold of NIL by own texts: those to come are less like them, and less sure. Chosen on `mentions_dev`.
_LENIENT = 0.4
_DEMAND, _TOKENS_AROUND = 20, 20
_USUAL_MINUTES = 60.0
_MOST_SCALE = 2.0


class Stages(TrainingTools):
    """The stages over one knowledge base; `state` has the linker so far and is written after each."""

    def run(self) -> None:
        """All that are not done yet."""
        stages: dict[str, Callable[[], StageFigures]] = {
            "indexes": self._indexes,
            "examples": self._examples,
            "start": self._start,
            "names": self._names,
            "evidence": self._evidence,
            SENSES: self._senses,
            BI_ENCODER: self._bi_encoder,
            "weights": self._last_weights,
            "NIL": self._nil,
        }
        done = {one.name for one in self.state.stages}
        for name, stage in stages.items():
            if name in done:
                continue
            began, before = monotonic(), self.state.config
            self.folder.log(f"{name} begun")
            try:
                found = msgspec.structs.replace(stage(), seconds=round(monotonic() - began, 1))
                self.state.stages.append(found)
                self.folder.log(found.told())
            except BaseException as problem:
                self.state.config = before  # a stage that is done again begins with what it began with
                self.folder.log(f"{name} broken off ({type(problem).__name__}): {problem}")
                raise
            finally:
                self.state.seconds = self._spent()
                self.folder.write(self.state)

    # Indexes and examples

    def _indexes(self) -> StageFigures:
        from entlink.kb.indexes.making import make_search_indexes
        from entlink.kb.indexes.short_names import has_short_names

        self._progress("making the index of words", 0, 0)
        with self._linker(self.state.config) as linker:
            count = len(linker.kb)
            linker.retrieve([Question(Document("any", "a word"), [Mention(Span(2, 6), "word")])])
        if count <= _MOST_FOR_NAMES:
            make_search_indexes(self.kb, cooccurrence=True, short=True, progress=self._progress)
        if has_short_names(self.kb):
            self.state.config = with_short_names(self.state.config)
        note = self._index_vectors() if count <= FLAT else f"{count:,} entities: vectors are made on demand"
        return StageFigures("indexes", note=note)

    def _index_vectors(self) -> str:
        from entlink.kb.indexes.making import make_search_indexes

        for stage in self.state.config.retriever:
            try:
                if stage.get("name") == "dense":
                    make_search_indexes(self.kb, vectors=[self._dual_of(stage)], progress=self._progress)
            except (MissingModelError, MissingExtraError, InputError) as problem:
                return f"without vectors: {problem}"
        return ""

    def _dual_of(self, stage: Stage) -> DualEncoder:
        """The encoder of a retriever."""
        from entlink.encoders.identities import AUTO
        from entlink.kb.indexes.vectors.choice import dual_for
        from entlink.kb.knowledge_base import KnowledgeBase

        settings = {name: stage[name] for name in ("description", "context") if name in stage}
        with KnowledgeBase.open(self.kb, names=False) as kb:
            return dual_for(kb, stage.get("encoder", AUTO), **settings)

    def _examples(self) -> StageFigures:
        times = self.options.minutes / _USUAL_MINUTES
        wanted = Wanted().scaled(min(_MOST_SCALE, max(1.0, times)))
        plain = round(wanted.plain * min(1.0, times))  # their entities have to be encoded in that time, too
        seed, progress = self.options.seed, self._progress
        total = self.options.minutes * 60
        seconds = max(_FEWEST_FOR_EXAMPLES * total, _FOR_EXAMPLES * total - self._spent())
        cases: list[Case] = []
        with self._linker(self.state.config) as linker:
            if linker.kb.has_hyperlinks:
                cases = link_pairs(linker, _LINKS, _LINKED_PAGES, seed, progress, plain=plain, seconds=seconds)
            if not self._are_enough(cases):
                wanted = msgspec.structs.replace(wanted, plain=plain)
                cases = self_pairs(linker, wanted, seed, progress, seconds=seconds)
        if not self._are_enough(cases):
            pages = len({one.source for one in cases if one.kind != PLAIN})
            raise InputError(
                f"{self.kb}: its texts give {_measurable(cases)} examples only, of {pages} pages, and "
                f"{FEWEST_EXAMPLES} of several are needed. Build it with longer descriptions (--descriptions full), "
                "or link with zero-shot"
            )
        write_cases(self.folder.cases, cases)
        kinds = dict(Counter(one.kind for one in cases))
        self.state.examples, self.state.held_back = kinds, len(self._parts.held_back)
        told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        sizes = {part: len(getattr(self._parts, part)) for part in Parts._fields}
        return StageFigures("examples", note=told, figures=sizes)

    def _are_enough(self, cases: Sequence[Case]) -> bool:
        """Whether there are enough to learn from, and some of other pages to tune with and to measure on."""
        return _measurable(cases) >= FEWEST_EXAMPLES and all(self._parted(cases))

    # Weights

    def _start(self) -> StageFigures:
        """The linker as it was, by what it finds itself."""
        config = with_weights(read_config(self.options.config), self._alone)
        with self._linker(config) as linker:
            cases = found_again(linker, self._parts.held_back, self._progress)
            found = scored(linker, cases, self._progress)
        figures = {"balanced": found.balanced}
        return StageFigures("start", after=found.accuracy, note=self.options.config, figures=figures)

    def _names(self) -> StageFigures:
        """Names cut short, which the examples were found with already."""
        if SHORTENED not in retriever_names(self.state.config.retriever):
            note = "left alone: no index of names cut short, or no fusion by weights"
            return StageFigures("names", kept=False, note=note)
        before = {**DEFAULT_WEIGHTS, **self._given_weights}
        found = self._weighed("names", self.state.config, self._alone, before=before)
        if not found.kept:
            self.state.config = with_chosen_encoder(read_config(self.options.config), self.kb)
            self._find_again()
        return found

    def _find_again(self) -> None:
        """The examples as the linker without names cut short finds them."""
        cases = read_cases(self.folder.cases)
        with self._linker(self.state.config) as linker:
            again = iter(found_again(linker, [one for one in cases if one.kind != PLAIN], self._progress))
        write_cases(self.folder.cases, [one if one.kind == PLAIN else next(again) for one in cases])
        del self._parts

    def _evidence(self) -> StageFigures:
        """The company that names keep, and weights that go with it; where there are links, fitted to them."""
        weights = {**START_WEIGHTS, **(WEIGHTS_WITH_LINKS if self._has_links else {}), **self._given_weights}
        found = self._weighed("evidence", with_weights(self.state.config, weights), {})
        if not self._has_links:
            return found
        config = self.state.config
        fit = self._fitted("evidence", config)
        if found.kept and fit.figures["balanced"] < found.figures["balanced"]:
            self.state.config = config
            return found
        return fit

    def _senses(self) -> StageFigures:
        """Which of the entities that share a word is meant, from the words around it."""
        return self._learnt(SENSES, self._with_senses)

    def _with_senses(self) -> tuple[LinkerConfig, str]:
        from entlink.kb.knowledge_base import KnowledgeBase

        others = [one for one in self.state.config.evidence if one.get("name") != SENSES]
        config = msgspec.structs.replace(
            self.state.config, evidence=[*others, {"name": SENSES, "model": f"./{SENSES}"}]
        )
        encoder, seed = sense_encoder(config), self.options.seed
        uses = linked_uses(self._parts) if self._has_links else unmeasured(self._contested(), self._parts)
        words = shared_words(uses, round(_USES_A_MINUTE * self.options.minutes), seed)
        with KnowledgeBase.open(self.kb) as kb:
            told = learn_senses(kb, encoder, words, self.folder.linker / SENSES, seed, self._progress)
        return with_weights(config, weights_without_links(SENSES, config)), told

    def _contested(self) -> list[Case]:
        """Uses of words that entities share, kept for the bi-encoder to learn from, too."""
        seconds = _FOR_SENSES * self.options.minutes * 60
        with self._linker(self.state.config) as linker:
            uses = contested_cases(linker, _READ_FOR_SENSES, self.options.seed, self._progress, seconds)
        write_cases(self.folder.uses, uses)
        return uses

    # Models

    def _bi_encoder(self) -> StageFigures:
        return self._learnt(BI_ENCODER, self._with_bi_encoder)

    def _with_bi_encoder(self) -> tuple[LinkerConfig, str]:
        """Its similarity as evidence, and, if it was trained with hidden names, that without the name."""
        from entlink.encoders.trained.bi_encoder import load_trained_dual

        folder = self.folder.linker / BI_ENCODER
        told = self._trained(folder)
        stages = [{"name": "dense", "encoder": f"./{BI_ENCODER}", "search": "never", "demand": _DEMAND}]
        training = self._training()
        if training.model.kind != MAP and training.training.masked > 0:
            dual = load_trained_dual(folder)
            if dual.knows_a_mask:
                stages.append({**stages[0], "hidden": min(_TOKENS_AROUND, dual.mention_tokens)})
        config = self.state.config
        config = msgspec.structs.replace(config, retriever=[*config.retriever, *stages])
        own = retriever_names(config.retriever)[-len(stages) :]
        return with_weights(config, {name: 0.0 for name in own if name != "dense"}), told

    def _learnt(self, name: str, learn: Callable[[], tuple[LinkerConfig, str]]) -> StageFigures:
        """What was learnt, kept if the linker is better with it; what hinders it is noted, and others go on."""
        try:
            config, told = learn()
            found = (
                self._fitted(name, config, note=told)
                if self._has_links
                else self._weighed(
                    name, config, {**weights_without_links(name, config), **self._given_weights}, note=told
                )
            )
        except (InputError, MissingExtraError, MissingModelError) as problem:
            found = StageFigures(name, kept=False, note=f"left out: {problem}")
        if not found.kept:
            shutil.rmtree(self.folder.linker / name, ignore_errors=True)
        return found

    def _last_weights(self) -> StageFigures:
        """Once all is decided, what was held back to decide by is fitted to as well: it is as much again."""
        if not self._has_links:
            return StageFigures("weights", kept=False, note="left alone: without hyperlinks they are not fitted")
        cases = [*self._parts.tune, *self._parts.held_back]
        with self._linker(self.state.config) as linker:
            weights, bias = fitted_weights(linker, cases, self._progress)
        self.state.config = with_ranker(self.state.config, weights=weights, bias=bias)
        note = f"fitted to {len(cases):,} links, those held back among them"
        return StageFigures("weights", note=note, figures={"weights": weights})

    # NIL

    def _nil(self) -> StageFigures:
        from entlink.learning.fit.calibration import CalibrationOptions, calibrate
        from entlink.nil import CalibratedNil

        options = CalibrationOptions(
            mentions=_CALIBRATED_ON, nil_share=self.options.nil_share, seed=self.options.seed
        )
        try:
            with self._linker(self.state.config) as linker:
                again = found_again(linker, self._parts.held_back, self._progress)
                cases = ranked_by_evidence(linker, again, self._progress)

                def lenient(nil: CalibratedNil) -> float:
                    return _LENIENT * min(nil.threshold, surest_lost(nil, cases, _LOST))

                config, found = calibrate(linker, self.state.config, options, self._progress, lenient)
        except InputError as problem:
            return StageFigures("NIL", kept=False, note=f"left out: {problem}")
        kept = (found.after.accuracy, -found.after.ece) > (found.before.accuracy, -found.before.ece)
        if kept:
            self.state.config = config
        told = (
            f"right decisions {found.before.accuracy:.3f} to {found.after.accuracy:.3f}, calibration error "
            f"{found.before.ece:.3f} to {found.after.ece:.3f}{'' if kept else ': left out'}"
        )
        return StageFigures("NIL", kept=kept, note=told, figures=msgspec.to_builtins(found))


def seconds_to_train(minutes: float, indexing: float, *, links: bool) -> float:
    """About how many seconds of the minutes are left to train in, where indexes take so many."""
    total = 60 * minutes
    before = max(_FOR_EXAMPLES * total, indexing + _FEWEST_FOR_EXAMPLES * total)
    left = total * (1 - FOR_THE_REST) - before
    return min(left, SHARE * total) if links else left


def _measurable(cases: Sequence[Case]) -> int:
    return sum(one.kind != PLAIN for one in cases)
