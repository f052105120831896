"""Counts the parts of the gold that are scored apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from entlink.documents import Document
from entlink.evaluation.scoring.conventions import NilRule, is_asked_for
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.document_score import DocumentScore
from entlink.evaluation.scoring.ranking import rank_of
from entlink.evaluation.scoring.slices import Labels, Slicer
from entlink.evaluation.scoring.tally import Tally

Fate = tuple[Labels, bool, bool, bool]  # of a gold link: its labels, right or not, found or not, among the candidates


class SliceCounter:
    """Counts by slice and value, in columns of a tally: `slice-el:NAME:VALUE` and `slice-md:NAME:VALUE`."""

    def __init__(self, slicers: Sequence[Slicer], tally: Tally, rule: NilRule) -> None:
        self.slicers, self._tally, self._rule = list(slicers), tally, rule
        self.documents: Counter[tuple[str, str]] = Counter()
        self.candidates: Counter[tuple[str, str]] = Counter()
        self._labelled: dict[str, list[tuple[int, Labels]]] = {}  # by slice: documents that have labels as a whole

    def add(self, document: Document, score: DocumentScore, *, has_candidates: bool) -> None:
        """Count one document; `has_candidates` says whether its predictions come with any."""
        for slicer in self.slicers:
            if slicer.of_document is not None:
                if labels := slicer.of_document(document):
                    self._labelled.setdefault(slicer.name, []).append((len(self._tally.documents) - 1, labels))
            elif slicer.of_gold is not None and document.gold and (score.has_details or not slicer.needs_details):
                of_gold = slicer.of_gold(document)
                if of_gold is not None:
                    asked = self._of_asked(slicer, of_gold, document, score)
                    self._count_gold(slicer.name, _alike(asked, document, score, has_candidates))

    def _of_asked(
        self, slicer: Slicer, labels: Sequence[Labels], document: Document, score: DocumentScore
    ) -> Sequence[Labels]:
        """Gold that EL does not ask for is in no slice, but for NIL in the slice that tells it apart."""
        if score.is_plain:
            return labels
        if slicer.name == "kb":
            return [() if gold.optional else own for own, gold in zip(labels, document.gold, strict=True)]
        return [
            own if is_asked_for(gold, self._rule) else () for own, gold in zip(labels, document.gold, strict=True)
        ]

    def has_labels(self, name: str) -> bool:
        """Whether anything was in a slice so far."""
        return name in self._labelled or any(slice == name for slice, _ in self.documents)

    def close(self) -> None:
        """No more documents come: what was labelled as a whole is added up."""
        columns = {task: self._tally.columns[task] for task in ("el", "md")}
        for name, labelled in self._labelled.items():
            for number, labels in labelled:
                for label in labels:
                    self.documents[name, label] += 1
                    for task, column in columns.items():
                        self._tally.columns[f"slice-{task}:{name}:{label}"].put(number, column[number])

    def _count_gold(self, name: str, fates: Iterable[tuple[Fate, int]]) -> None:
        found: dict[str, list[int]] = {}
        for (labels, is_right, is_placed, has_candidate), times in fates:
            for label in labels:
                sums = found.setdefault(label, [0, 0, 0, 0])
                sums[0] += times * is_right
                sums[1] += times * is_placed
                sums[2] += times
                sums[3] += times * has_candidate
        for label, (right, placed, total, candidates) in found.items():
            self.documents[name, label] += 1
            self.candidates[name, label] += candidates
            self._tally.add(f"slice-el:{name}:{label}", Counts(right, placed, total))
            self._tally.add(f"slice-md:{name}:{label}", Counts(placed, placed, total))


def _alike(
    labels: Sequence[Labels], document: Document, score: DocumentScore, has_candidates: bool
) -> Iterable[tuple[Fate, int]]:
    """Most links of a document are alike in label and fate: what is alike comes once, with how often it is."""
    if not has_candidates and labels.count(labels[0]) == len(labels):
        missed = score.answers.count(None) if score.placed is None else score.placed.count(False)
        right = score.right.count(True)
        fates = ((True, True, right), (False, True, len(labels) - missed - right), (False, False, missed))
        return [((labels[0], is_right, is_placed, is_right), times) for is_right, is_placed, times in fates if times]
    placed = score.placed or [answer is not None for answer in score.answers]
    among = _among_candidates(document, score) if has_candidates else score.right
    return Counter(zip(labels, score.right, placed, among, strict=True)).items()


def _among_candidates(document: Document, score: DocumentScore) -> list[bool]:
    return [
        is_right or (answer is not None and rank_of(gold, answer.candidates) is not None)
        for gold, answer, is_right in zip(document.gold, score.answers, score.right, strict=True)
    ]
