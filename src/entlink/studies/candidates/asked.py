"""The gold mentions that retrieval is asked for, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from entlink.documents import Document, GoldLink
from entlink.evaluation.scoring.slices import Slicer, is_covered
from entlink.interfaces import Question
from entlink.studies.data import StudyData, gold_mention
from entlink.studies.timing import Labels


class Batch(NamedTuple):
    """Questions about some documents, and the gold and slices of each of their mentions in one row."""

    questions: list[Question]
    gold: list[GoldLink]
    labels: list[Labels]


class GoldMentions:
    """The gold mentions of the data in batches; what is not asked for is counted."""

    def __init__(self, data: StudyData, slices: Sequence[Slicer], batch_size: int) -> None:
        self.data, self._slices, self._size = data, slices, batch_size
        self.left_out: Counter[str] = Counter()
        self.documents = self.mentions = self.batches = 0

    def __iter__(self) -> Iterator[Batch]:
        self.left_out.clear()
        self.documents = self.mentions = self.batches = 0
        batch = Batch([], [], [])
        for document, _ in self.data:
            self.documents += 1
            labels = self._labels(document)
            wanted = [place for place, gold in enumerate(document.gold) if self._is_wanted(gold)]
            if wanted:
                gold = [document.gold[place] for place in wanted]
                batch.questions.append(Question(document, [gold_mention(document, one) for one in gold]))
                batch.gold.extend(gold)
                batch.labels.extend(labels[place] for place in wanted)
            if len(batch.questions) >= self._size:
                yield self._counted(batch)
                batch = Batch([], [], [])
        if batch.gold:
            yield self._counted(batch)

    def _counted(self, batch: Batch) -> Batch:
        self.batches += 1
        self.mentions += len(batch.gold)
        return batch

    def _is_wanted(self, gold: GoldLink) -> bool:
        if gold.is_nil:
            self.left_out["NIL"] += 1
        elif gold.optional:
            self.left_out["optional"] += 1
        elif not is_covered(gold, self.data.identities):
            self.left_out["not in the knowledge base"] += 1
        else:
            return True
        return False

    def _labels(self, document: Document) -> list[Labels]:
        found: list[list[tuple[str, str]]] = [[] for _ in document.gold]
        for slicer in self._slices:
            if slicer.of_document is not None:
                of_all = slicer.of_document(document)
                values: Sequence[tuple[str, ...]] | None = [of_all] * len(found)
            else:
                values = slicer.of_gold(document) if slicer.of_gold is not None else None
            for own, labels in zip(found, values or (), strict=False):
                own.extend((slicer.name, label) for label in labels)
        return [*found]
