"""Which candidates are of the kind that stands where the mention does: in "(Spanish: …" it is languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from entlink.documents import Candidate
from entlink.errors import MissingExtraError
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

try:
    import numpy  # noqa: F401
except ImportError as problem:
    raise MissingExtraError("telling what stands between the same words", "retrieval") from problem

from entlink.candidates.slot_model import read_slots, slot_of


class SlotsRetriever:
    """Finds nothing by itself: of what others found, it scores those like what stands between the same two words.

    `model` is the folder that `entlink adapt` made. Entities that were added since score as the best of the
    others does.
    """

    def __init__(self, kb: KnowledgeBase, *, model: str | Path) -> None:
        self.kb = kb
        self._model = read_slots(Path(model))

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        return [[() for _ in question.mentions] for question in questions]

    def rescore(self, shortlists: Sequence[Shortlist]) -> list[Sequence[float]]:
        """The logarithm of how many times oftener such entities stand there than elsewhere, less one; 0 or more."""
        return [
            self._model.scores(
                slot_of(one.document.text, one.mention.span), [candidate.entity for candidate in one.candidates]
            )
            for one in shortlists
        ]
