"""Takes pairs of documents one by one and counts; what it holds grows with documents by a few numbers each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from entlink.documents import Document, Record
from entlink.evaluation.aligning import Pair
from entlink.evaluation.examples import Examples
from entlink.evaluation.identities import IdentifierWatch, Identities
from entlink.evaluation.offsets import OffsetWatch
from entlink.evaluation.scoring.blaming import Blamer
from entlink.evaluation.scoring.conventions import Convention, NilRule
from entlink.evaluation.scoring.counts import NOTHING, Counts
from entlink.evaluation.scoring.covering import CoverageCounter
from entlink.evaluation.scoring.document_score import DocumentScore, general_score
from entlink.evaluation.scoring.items import distinct_gold, within_bounds
from entlink.evaluation.scoring.matching import place_of
from entlink.evaluation.scoring.ranking import RIGHT, RIGHT_NIL, WRONG_NIL, Outcome, outcome
from entlink.evaluation.scoring.slices import Slicer
from entlink.evaluation.scoring.slicing import SliceCounter
from entlink.evaluation.scoring.tally import Tally
from entlink.evaluation.scoring.usual_score import usual_score

_CANDIDATES = attrgetter("candidates")
# What stands in the place of a type where gold or an answer has none.
NO_TYPE, AN_ENTITY, NOTHING_SAID = "NIL without a type", "an entity", "nothing"


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
        self.options = options = options or ScorerOptions()
        self._identities = identities
        self.tally = Tally()
        self.groups: list[str | None] = []
        self.outcomes: Counter[Outcome] = Counter()
        self.outside = self.spans = self.gold_spans = 0
        self.nil_types: Counter[tuple[str, str]] = Counter()  # of NIL gold: its type, and what was said
        self.has_candidates = self.has_evidence = False
        examples = Examples(options.examples, options.seed, identities)
        self.blamer = Blamer(options.convention, identities, examples)
        self.slices = SliceCounter(slicers, self.tally, options.convention.nil)
        self.coverage = None if identities is None else CoverageCounter(identities, options.convention.matching)
        self.watches = (OffsetWatch("gold"), OffsetWatch("predictions"))
        self.identifiers = IdentifierWatch()

    def add(self, pair: Pair) -> None:
        """Count one document."""
        gold, predicted = pair
        if self._identities is not None:
            gold, predicted = self._identities.gold(gold), self._identities.links(predicted)
        gold = within_bounds(gold)
        if self.options.convention.matching.is_of_strings:
            gold = distinct_gold(gold, place_of(self.options.convention.matching))
        how = self.options.convention, self.options.rules
        score = usual_score(gold, predicted, *how) or general_score(gold, predicted, *how)
        self._begin(gold, score)
        self._watch(gold, predicted)
        has_candidates = any(map(_CANDIDATES, score.predicted))
        self._count_outcomes(gold, score, has_candidates=has_candidates)
        self.blamer.add(gold, score)
        self.slices.add(gold, score, has_candidates=has_candidates)
        if self.coverage is not None:
            self.tally.add("el_covered", self.coverage.add(gold, predicted))
        elif self.identifiers.is_looking:
            self.identifiers.see(gold, predicted)

    def _begin(self, document: Document, score: DocumentScore) -> None:
        value = document.meta.get(self.options.macro_by or "domain")
        self.tally.begin(document.id)
        self.groups.append(None if value is None else str(value))
        for name, counts in score.counts.items():
            if counts is not NOTHING:
                self.tally.add(name, counts)
        self._count_accuracy(document, score, 0 if score.is_plain else self._typed_nil(document, score))
        self.outside += score.outside
        self.spans += len(score.predicted)
        self.gold_spans += len(document.gold)

    def _typed_nil(self, document: Document, score: DocumentScore) -> int:
        """How many NILs are said with gold's type; all that is said of NIL gold is noted by type."""
        right = 0
        for gold, answer in zip(document.gold, score.answers, strict=True):
            if gold.entities or gold.optional:
                continue
            said = NOTHING_SAID if answer is None else AN_ENTITY if answer.entity else answer.nil_type or NO_TYPE
            self.nil_types[gold.nil_type or NO_TYPE, said] += 1
            right += answer is not None and answer.entity is None and gold.nil_type == answer.nil_type
        return right

    def _count_accuracy(self, document: Document, score: DocumentScore, typed_nil: int) -> None:
        """Right answers over gold mentions, whatever the rule for NIL: over all, and over those to entities."""
        if score.fates is not None:
            fates = score.fates
            nil = fates.get(RIGHT_NIL, 0), fates.get(RIGHT_NIL, 0) + fates.get(WRONG_NIL, 0)
            in_kb = Counts(fates[RIGHT], 0, len(score.right) - nil[1])
            for name, met in (("accuracy", nil[0]), ("accuracy_typed_nil", typed_nil)):
                self.tally.add(name, Counts(in_kb.correct + met, 0, len(score.right)) if nil[1] else in_kb)
            self.tally.add("accuracy_in_kb", in_kb)
            return
        links = zip(document.gold, score.right, strict=True)
        asked = [(bool(gold.entities), is_right) for gold, is_right in links if not gold.optional]
        right = [is_right for has_entity, is_right in asked if has_entity]
        self.tally.add("accuracy_in_kb", Counts(sum(right), 0, len(right)))
        self.tally.add("accuracy", Counts(sum(is_right for _, is_right in asked), 0, len(asked)))
        self.tally.add("accuracy_typed_nil", Counts(sum(right) + typed_nil, 0, len(asked)))

    def _watch(self, gold: Document, predicted: Document) -> None:
        ours, theirs = self.watches
        if ours.is_looking and "lacks" not in gold.meta:
            ours.see(gold.text, [link.span for link in gold.gold])
        if theirs.is_looking and "lacks" not in gold.meta and predicted.meta.get("lacks") != "offsets":
            theirs.see(gold.text, [link.mention.span for link in predicted.links])

    def _count_outcomes(self, document: Document, score: DocumentScore, *, has_candidates: bool) -> None:
        """What became of each gold link that must be found."""
        if score.fates is not None and not has_candidates:
            for fate, times in score.fates.items():
                self.outcomes[fate] += times
        else:
            self.outcomes.update(
                outcome(gold, answer, self.options.evidence)
                for gold, answer in zip(document.gold, score.answers, strict=True)
                if not gold.optional
            )
        self.has_candidates = self.has_candidates or has_candidates
        if has_candidates and self.options.evidence and not self.has_evidence:
            name = self.options.evidence
            self.has_evidence = any(name in one.evidence for link in score.predicted for one in link.candidates)
