"""Takes pairs of documents one by one and counts; what it holds grows with documents by a few numbers each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import attrgetter

import msgspec

from entlink.documents import Document, GoldLink, Link, Record
from entlink.evaluation.aligning import Pair
from entlink.evaluation.blame import STAGE_OF, cause_of
from entlink.evaluation.conventions import Convention, NilRule
from entlink.evaluation.counts import NOTHING, Counts
from entlink.evaluation.document_score import DocumentScore, general_score
from entlink.evaluation.examples import Examples
from entlink.evaluation.identities import Identities
from entlink.evaluation.items import distinct_gold, gold_items, predicted_items, within_bounds
from entlink.evaluation.matching import place_of
from entlink.evaluation.metrics import link_counts
from entlink.evaluation.offsets import OffsetWatch
from entlink.evaluation.ranking import Outcome, outcome, rank_of
from entlink.evaluation.slices import Slicer, is_covered
from entlink.evaluation.surroundings import Surroundings
from entlink.evaluation.tally import Tally
from entlink.evaluation.usual_score import usual_score

WRONG_ON_NIL = "an entity where gold is NIL"
WRONG_ENTITY = "another entity than gold's"
WRONG_BOUNDARIES = "it overlaps gold, with other boundaries"
WRONG_PLACE = "there is no gold"
WRONG_NIL = "NIL said"
WRONG_AGAIN = "said again what is right once"


_CANDIDATES = attrgetter("candidates")


class ScorerOptions(Record, frozen=True):
    """How to score.

    `rules` are further rules for NIL to score by, side by side. `evidence` names the retriever's number for BLINK's
    columns. `macro_by` is the field of meta whose values macro scores are means over.
    """

    convention: Convention = Convention()
    rules: tuple[NilRule, ...] = ()
    macro_by: str | None = None
    evidence: str | None = None
    examples: int = 8
    seed: int = 0


class Scorer:
    """Counts of all kinds; `summary.summarise` makes scores of them."""

    def __init__(
        self,
        options: ScorerOptions | None = None,
        slicers: Sequence[Slicer] = (),
        identities: Identities | None = None,
    ) -> None:
        options = options or ScorerOptions()
        self.options, self.identities, self.slicers = options, identities, list(slicers)
        self.tally = Tally()
        self.groups: list[str | None] = []
        self.outcomes: Counter[Outcome] = Counter()
        self.misses: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.slice_documents: Counter[tuple[str, str]] = Counter()
        self.slice_candidates: Counter[tuple[str, str]] = Counter()
        self.typed_nil = self.blamed = self.outside = self.overlapping = 0
        self.covered = self.with_candidates = self.spans = self.gold_spans = 0
        self.gold_entities: set[str] = set()
        self.uncovered_entities: set[str] = set()
        self.unknown_predicted: Counter[str] = Counter()
        self.examples = Examples(options.examples, options.seed, identities)
        self.watches = (OffsetWatch("gold"), OffsetWatch("predictions"))

    def add(self, pair: Pair) -> None:
        """Count one document."""
        gold, predicted = pair
        if self.identities is not None:
            gold, predicted = self.identities.gold(gold), self.identities.links(predicted)
        gold = within_bounds(gold)
        if self.options.convention.matching.is_of_strings:
            gold = distinct_gold(gold, place_of(self.options.convention.matching))
        how = self.options.convention, self.options.rules
        score = usual_score(gold, predicted, *how) or general_score(gold, predicted, *how)
        self._begin(gold, score)
        self._watch(gold, predicted)
        self._count_outcomes(gold, score)
        self._blame(gold, score)
        for slicer in self.slicers:
            if slicer.of_document is not None:
                self._count_document_slice(slicer.name, slicer.of_document(gold), score)
            elif slicer.needs_details and not score.has_details:
                continue
            elif slicer.of_gold is not None and gold.gold and (labels := slicer.of_gold(gold)) is not None:
                self._count_gold_slice(slicer.name, self._of_counted(slicer, labels, gold, score), gold, score)
        if self.identities is not None:
            self._count_coverage(gold, predicted, self.identities)

    def _begin(self, document: Document, score: DocumentScore) -> None:
        value = document.meta.get(self.options.macro_by or "domain")
        self.tally.begin(document.id)
        self.groups.append(None if value is None else str(value))
        for name, counts in score.counts.items():
            if counts is not NOTHING:
                self.tally.add(name, counts)
        self.outside += score.outside
        self.spans += len(score.predicted)
        self.gold_spans += len(document.gold)

    def _watch(self, gold: Document, predicted: Document) -> None:
        ours, theirs = self.watches
        if ours.is_looking and "lacks" not in gold.meta:
            ours.see(gold.text, [link.span for link in gold.gold])
        if theirs.is_looking and "lacks" not in predicted.meta:
            theirs.see(predicted.text, [link.mention.span for link in predicted.links])

    def _count_outcomes(self, document: Document, score: DocumentScore) -> None:
        """What became of each gold link that must be found."""
        has_candidates = any(map(_CANDIDATES, score.predicted))
        if score.fates is not None and not has_candidates:
            for fate, times in score.fates.items():
                self.outcomes[fate] += times
        else:
            self.outcomes.update(
                outcome(gold, answer, self.options.evidence)
                for gold, answer in zip(document.gold, score.answers, strict=True)
                if not gold.optional
            )
        self.with_candidates += has_candidates
        if not score.is_plain:
            self.typed_nil += sum(
                answer is not None and answer.entity is None and gold.nil_type == answer.nil_type
                for gold, answer in zip(document.gold, score.answers, strict=True)
                if not (gold.entities or gold.optional)
            )

    def _blame(self, document: Document, score: DocumentScore) -> None:
        """Why each gold link that counts was lost, and why each answer that counts is wrong."""
        by_strings = self.options.convention.matching.is_of_strings
        around = Surroundings(document, score, by_strings=by_strings)
        if not by_strings:
            self.overlapping += around.gold.overlapping()
        links = zip(document.gold, score.answers, score.right, strict=True)
        lost = [(gold, answer) for gold, answer, is_right in links if not is_right]
        self.blamed += len(document.gold)
        if not score.is_plain:
            self.blamed -= self._counted(document).count(False)
            lost = [(gold, answer) for gold, answer in lost if self._is_counted(gold)]
        shown: dict[str, tuple[GoldLink, Link | None]] = {}
        for gold, answer in lost:
            overlapped = answer is None and around.has_answer(gold)
            cause = cause_of(gold, answer, overlapped=overlapped, is_covered=is_covered(gold, self.identities))
            self.misses[cause] += 1
            if cause not in shown:  # one of a cause and document is enough to show
                shown[cause] = gold, answer
        for cause, (gold, answer) in shown.items():
            self.examples.offer(cause, STAGE_OF[cause], document, gold, answer)
        self._blame_answers(document, score, around)

    def _blame_answers(self, document: Document, score: DocumentScore, around: Surroundings) -> None:
        near = [around.has_gold(link) for link in score.astray]
        for reason, count in (
            (WRONG_ENTITY, score.confused),
            (WRONG_ON_NIL, len(score.on_nil)),
            (WRONG_NIL, score.nil),
            (WRONG_AGAIN, score.repeated),
            (WRONG_BOUNDARIES, sum(near)),
            (WRONG_PLACE, len(near) - sum(near)),
        ):
            if count:
                self.wrong[reason] += count
        if score.on_nil:
            self.examples.offer(f"wrong: {WRONG_ON_NIL}", "nil", document, None, score.on_nil[0])
        if not all(near):
            self.examples.offer(f"wrong: {WRONG_PLACE}", "detection", document, None, score.astray[near.index(False)])

    def _counted(self, document: Document) -> list[bool]:
        """Which gold EL asks for: no optional one, and NIL only where the rule wants it."""
        return [self._is_counted(gold) for gold in document.gold]

    def _is_counted(self, gold: GoldLink) -> bool:
        return not gold.optional and (bool(gold.entities) or self.options.convention.nil is NilRule.REQUIRED)

    def _of_counted(
        self, slicer: Slicer, labels: Sequence[Sequence[str]], document: Document, score: DocumentScore
    ) -> Sequence[Sequence[str]]:
        """Gold that EL does not ask for is in no slice, but for NIL in the slice that tells it apart."""
        if score.is_plain:
            return labels
        if slicer.name == "kb":
            return [() if gold.optional else own for own, gold in zip(labels, document.gold, strict=True)]
        return [own if counts else () for own, counts in zip(labels, self._counted(document), strict=True)]

    def _count_document_slice(self, name: str, labels: Sequence[str], score: DocumentScore) -> None:
        for label in labels:
            self.slice_documents[name, label] += 1
            self.tally.add(f"slice-el:{name}:{label}", score.counts["el"])
            self.tally.add(f"slice-md:{name}:{label}", score.counts["md"])

    def _count_gold_slice(
        self, name: str, labels: Sequence[Sequence[str]], document: Document, score: DocumentScore
    ) -> None:
        found: dict[str, list[int]] = {}
        for (own, is_right, is_placed, has_candidate), times in self._alike(labels, document, score):
            for label in own:
                sums = found.setdefault(label, [0, 0, 0, 0])
                sums[0] += times * is_right
                sums[1] += times * is_placed
                sums[2] += times
                sums[3] += times * has_candidate
        for label, (right, answered, total, candidates) in found.items():
            self.slice_documents[name, label] += 1
            self.slice_candidates[name, label] += candidates
            self.tally.add(f"slice-el:{name}:{label}", Counts(right, answered, total))
            self.tally.add(f"slice-md:{name}:{label}", Counts(answered, answered, total))

    def _alike(
        self, labels: Sequence[Sequence[str]], document: Document, score: DocumentScore
    ) -> Iterable[tuple[tuple[Sequence[str], bool, bool, bool], int]]:
        """Most links of a document are alike in label and fate: what is alike comes once, with how often it is."""
        if not self.with_candidates and labels.count(labels[0]) == len(labels):
            missed = score.answers.count(None) if score.placed is None else score.placed.count(False)
            right = score.right.count(True)
            fates = ((True, True, right), (False, True, len(labels) - missed - right), (False, False, missed))
            return [((labels[0], is_right, is_placed, False), times) for is_right, is_placed, times in fates if times]
        placed = score.placed or [answer is not None for answer in score.answers]
        has_candidate = self._has_candidate(document, score)
        return Counter(zip(labels, score.right, placed, has_candidate, strict=True)).items()

    def _has_candidate(self, document: Document, score: DocumentScore) -> Iterable[bool]:
        if not self.with_candidates:
            return repeat(False, len(score.answers))
        return [
            answer is not None and rank_of(gold, answer.candidates) is not None
            for gold, answer in zip(document.gold, score.answers, strict=True)
        ]

    def _count_coverage(self, document: Document, predicted: Document, identities: Identities) -> None:
        """What the knowledge base knows of the gold, and the score on that: the rest counts as NIL, dropped."""
        known = []
        for gold in document.gold:
            covered = is_covered(gold, identities)
            known.append(gold if covered else msgspec.structs.replace(gold, entities=()))
            if gold.is_nil or gold.optional:
                continue
            self.covered += covered
            self.gold_entities.add(gold.entities[0])
            if not covered:
                self.uncovered_entities.add(gold.entities[0])
        for link in predicted.links:
            if link.entity is not None and identities.entity(link.entity) is None:
                self.unknown_predicted[link.entity] += 1
        rest = msgspec.structs.replace(document, gold=tuple(known))
        rule = Convention(self.options.convention.matching, NilRule.DROPPED)
        self.tally.add("el_covered", link_counts(gold_items(rest), predicted_items(predicted, rest), rule))
