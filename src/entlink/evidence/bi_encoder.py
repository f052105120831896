"""How near a candidate is to a mention, and how well their types go together, by a trained bi-encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from entlink.documents import Candidate
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.encoders.trained.bi_encoder import TrainedDual
    from entlink.interfaces import Vectors


class BiEncoderEvidence:
    """The similarity of each candidate to the mention; by one that knows types (TyDE), scores of these, too.

    `model` is the name or folder of a bi-encoder, or an object. With `types` "dot" the scores of coarse and of fine
    types are dot products, as in paper 5: they may be below 0. With "probability" they are made of probabilities,
    from 0 up: of coarse types the chance that both are of one, of fine ones how many both have.
    """

    needs = "the extra retrieval and a model of entlink train bi-encoder; for types, with model.typed = true"
    gives = ("bi-encoder", "coarse-types", "fine-types")

    def __init__(
        self, kb: KnowledgeBase, *, model: str | Path | TrainedDual, types: Literal["dot", "probability"] = "dot"
    ) -> None:
        from entlink.encoders.extras import require_retrieval

        require_retrieval("evidence of a bi-encoder")
        from entlink.encoders.trained.typed import TypedDual, load_pair_dual
        from entlink.kb.indexes.vectors.store import EntityVectors

        self.kb, self.types = kb, types
        self._dual = load_pair_dual(model) if isinstance(model, (str, Path)) else model
        self._typed = self._dual if isinstance(self._dual, TypedDual) else None
        self._entities = EntityVectors(kb, self._dual)

    def knowledge_base_changed(self) -> None:
        self._entities.forget()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        asked = [one for one in shortlists if one.candidates]
        vectors = iter(self._dual.encode_mentions([(one.document, one.mention) for one in asked]))
        return [self._told(next(vectors), one.candidates) if one.candidates else [] for one in shortlists]

    def _told(self, mention: Vectors, candidates: Sequence[Candidate]) -> list[Mapping[str, float]]:
        keys = [self.kb.key(one.entity) for one in candidates]
        places = [place for place, key in enumerate(keys) if key is not None]
        rows = self._entities.of([key for key in keys if key is not None])
        columns = [self._dual.compare(mention, rows).tolist()]
        if self._typed is not None:
            columns.append(self._typed.compare_types("coarse", mention, rows, self.types).tolist())
            columns.append(self._typed.compare_types("fine", mention, rows, self.types).tolist())
        told: list[Mapping[str, float]] = [{} for _ in candidates]
        for place, *numbers in zip(places, *columns, strict=True):
            told[place] = dict(zip(self.gives, numbers, strict=False))  # of types only where there are some
        return told
