"""Takes pairs of documents one by one and counts; what it holds grows with documents by a few numbers each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from entlink.documents import Document, Record
from entlink.evaluation.aligning import Pair
from entlink.evaluation.blame import STAGE_OF, Cause, cause_of
from entlink.evaluation.conventions import Convention, NilRule
from entlink.evaluation.counts import Counts
from entlink.evaluation.examples import Examples
from entlink.evaluation.identities import Identities
from entlink.evaluation.items import Gold, Predicted, fits, gold_items, predicted_items
from entlink.evaluation.matching import Edges, edges, most_pairs
from entlink.evaluation.metrics import entity_counts, link_counts, mention_counts, nil_counts, scored
from entlink.evaluation.offsets import OffsetWatch
from entlink.evaluation.ranking import Outcome, outcome
from entlink.evaluation.slices import Slicer, is_covered
from entlink.evaluation.tally import Tally

WRONG_ON_NIL = "an entity where gold is NIL"
WRONG_ENTITY = "another entity than gold's"
WRONG_BOUNDARIES = "it overlaps gold, with other boundaries"
WRONG_PLACE = "there is no gold"
WRONG_NIL = "NIL said"


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
        self.typed_nil = 0
        self.misses: Counter[Cause] = Counter()
        self.wrong: Counter[str] = Counter()
        self.slice_documents: Counter[tuple[str, str]] = Counter()
        self.slice_candidates: Counter[tuple[str, str]] = Counter()
        self.blamed = self.outside = self.overlapping = 0
        self.covered = self.with_candidates = 0
        self.gold_entities: set[str] = set()
        self.uncovered_entities: set[str] = set()
        self.unknown_predicted: Counter[str] = Counter()
        self.examples = Examples(options.examples, options.seed, identities)
        self.watches = {"gold": OffsetWatch("gold"), "predictions": OffsetWatch("predictions")}

    def add(self, pair: Pair) -> None:
        """Count one document."""
        gold_document, predicted_document = pair
        if self.identities is not None:
            gold_document = self.identities.gold(gold_document)
            predicted_document = self.identities.links(predicted_document)
        gold = gold_items(gold_document)
        predicted = predicted_items(predicted_document, gold_document)
        self._begin(gold_document, gold, len(predicted_document.links) - len(predicted))
        self._watch(gold_document, gold, predicted_document, predicted)
        self._count_tasks(gold, predicted)
        met = edges(gold, predicted, self.options.convention.matching)
        answers = _answers(gold, predicted, met)
        self._count_answers(gold_document, gold, predicted, answers)
        self._count_wrong(gold_document, gold, predicted, met)
        self._count_slices(gold_document, gold, answers)
        self._count_coverage(gold, predicted)

    def _begin(self, document: Document, gold: list[Gold], outside: int) -> None:
        field = self.options.macro_by or "domain"
        value = document.meta.get(field)
        self.tally.begin(document.id)
        self.groups.append(None if value is None else str(value))
        self.outside += outside
        self.overlapping += _overlapping(gold)

    def _watch(
        self, gold_document: Document, gold: list[Gold], document: Document, predicted: list[Predicted]
    ) -> None:
        if "lacks" not in gold_document.meta:
            for one in gold:
                self.watches["gold"].see(gold_document.text, one.link.span)
        if "lacks" not in document.meta:
            for other in predicted:
                self.watches["predictions"].see(document.text, other.link.mention.span)

    def _count_tasks(self, gold: list[Gold], predicted: list[Predicted]) -> None:
        convention, add = self.options.convention, self.tally.add
        matching = convention.matching
        add("md", mention_counts(gold, predicted, matching))
        linked = [one for one in gold if one.entities], [one for one in predicted if one.entity is not None]
        add("md_linked", mention_counts(*linked, matching))
        add("nil", nil_counts(gold, predicted, matching))
        add("nil_typed", nil_counts(gold, predicted, matching, typed=True))
        for rule in {convention.nil: None, **dict.fromkeys(self.options.rules)}:
            own = Convention(matching, rule)
            suffix = "" if rule is convention.nil else f":{rule}"
            add(f"ed{suffix}", entity_counts(gold, predicted, own))
            add(f"el{suffix}", link_counts(gold, predicted, own))

    def _count_answers(
        self,
        document: Document,
        gold: list[Gold],
        predicted: list[Predicted],
        answers: list[Predicted | None],
    ) -> None:
        """What became of each gold link that must be found, and why."""
        counts_nil = self.options.convention.nil is NilRule.REQUIRED
        for one, answer in zip(gold, answers, strict=True):
            if one.optional:
                continue
            found = outcome(one, answer, self.options.evidence)
            self.outcomes[found] += 1
            self.with_candidates += answer is not None and bool(answer.link.candidates)
            if one.is_nil and answer is not None and found.is_right:
                self.typed_nil += one.nil_type == answer.nil_type
            if one.is_nil and not counts_nil:
                continue
            self.blamed += 1
            if found.is_right:
                continue
            overlapped = answer is None and any(self._overlap(one, other) for other in predicted)
            cause = cause_of(one, answer, overlapped=overlapped, is_covered=is_covered(one, self.identities))
            if cause is not None:
                self.misses[cause] += 1
                self.examples.offer(str(cause), STAGE_OF[cause], document, one, answer)

    def _count_wrong(self, document: Document, gold: list[Gold], predicted: list[Predicted], met: Edges) -> None:
        """Why each answer that counts and is not right is wrong."""
        _, counted = scored(gold, predicted, self.options.convention)
        if not counted:
            return
        places = {id(one): choices for one, choices in zip(predicted, met, strict=True)}
        for one in counted:
            choices = [gold[number] for number in places.get(id(one), ())]
            if any(fits(other, one) for other in choices):
                continue
            reason = self._reason(one, choices, gold)
            self.wrong[reason] += 1
            if reason in (WRONG_PLACE, WRONG_ON_NIL):
                self.examples.offer(
                    f"wrong: {reason}", "detection" if reason == WRONG_PLACE else "nil", document, None, one
                )

    def _reason(self, one: Predicted, choices: list[Gold], gold: list[Gold]) -> str:
        if one.is_nil:
            return WRONG_NIL
        if any(other.entities for other in choices):
            return WRONG_ENTITY
        if choices:
            return WRONG_ON_NIL
        return WRONG_BOUNDARIES if any(self._overlap(other, one) for other in gold) else WRONG_PLACE

    def _overlap(self, gold: Gold, predicted: Predicted) -> bool:
        """Whether the two are about one piece of text; of strings, whether one is a part of the other."""
        if self.options.convention.matching.is_of_strings:
            ours, theirs = gold.surface, predicted.surface
            return gold.unit == predicted.unit and (ours in theirs or theirs in ours)
        return predicted.start < gold.end and gold.start < predicted.end

    def _count_slices(self, document: Document, gold: list[Gold], answers: list[Predicted | None]) -> None:
        for slicer in self.slicers:
            if slicer.of_documents:
                self._count_document_slice(slicer, document)
            else:
                self._count_gold_slice(slicer, document, gold, answers)

    def _count_document_slice(self, slicer: Slicer, document: Document) -> None:
        columns = self.tally.columns
        for label in slicer.labels(document, None):
            self.slice_documents[slicer.name, label] += 1
            self.tally.add(f"slice-el:{slicer.name}:{label}", columns["el"][-1])
            self.tally.add(f"slice-md:{slicer.name}:{label}", columns["md"][-1])

    def _count_gold_slice(
        self, slicer: Slicer, document: Document, gold: list[Gold], answers: list[Predicted | None]
    ) -> None:
        found: dict[str, list[int]] = {}
        for one, answer in zip(gold, answers, strict=True):
            if one.optional:
                continue
            for label in slicer.labels(document, one):
                sums = found.setdefault(label, [0, 0, 0, 0])
                sums[0] += answer is not None and fits(one, answer)
                sums[1] += answer is not None
                sums[2] += 1
                sums[3] += answer is not None and _has_candidate(one, answer)
        for label, (right, placed, total, candidates) in found.items():
            self.slice_documents[slicer.name, label] += 1
            self.slice_candidates[slicer.name, label] += candidates
            self.tally.add(f"slice-el:{slicer.name}:{label}", Counts(right, placed, total))
            self.tally.add(f"slice-md:{slicer.name}:{label}", Counts(placed, placed, total))

    def _count_coverage(self, gold: list[Gold], predicted: list[Predicted]) -> None:
        if self.identities is None:
            return
        known = []
        for one in gold:
            covered = is_covered(one, self.identities)
            known.append(one if covered else one._replace(entities=()))
            if one.is_nil or one.optional:
                continue
            self.covered += covered
            self.gold_entities.add(one.entities[0])
            if not covered:
                self.uncovered_entities.add(one.entities[0])
        for other in predicted:
            if other.entity is not None and self.identities.entity(other.entity) is None:
                self.unknown_predicted[other.entity] += 1
        rule = Convention(self.options.convention.matching, NilRule.DROPPED)
        self.tally.add("el_covered", link_counts(known, predicted, rule))


def _answers(gold: list[Gold], predicted: list[Predicted], met: Edges) -> list[Predicted | None]:
    """For each gold link the answer at its place: a right one where there is one."""
    found: list[Predicted | None] = [None] * len(gold)
    nothing_optional = [False] * len(gold)
    right = [
        [number for number in choices if fits(gold[number], one)] for one, choices in zip(predicted, met, strict=True)
    ]
    paired = most_pairs(right, nothing_optional)
    for number, place in paired.items():
        found[place] = predicted[number]
    rest = [
        [] if number in paired else [place for place in choices if found[place] is None]
        for number, choices in enumerate(met)
    ]
    for number, place in most_pairs(rest, nothing_optional).items():
        found[place] = predicted[number]
    return found


def _has_candidate(gold: Gold, predicted: Predicted) -> bool:
    return any(one.entity in gold.entities for one in predicted.link.candidates)


def _overlapping(gold: list[Gold]) -> int:
    """How many gold spans overlap one that begins before them, or is the same."""
    reach = count = 0
    for one in sorted(gold, key=lambda item: (item.start, item.end)):
        count += one.start < reach
        reach = max(reach, one.end)
    return count
