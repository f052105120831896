"""The scores of a cross-encoder for the first candidates of many mentions, asked for at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from entlink.documents import Document, Entity, Mention
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase


@runtime_checkable
class PairScorer(Protocol):
    """What scores pairs of a mention and an entity, such as a cross-encoder."""

    def score(self, pairs: Sequence[tuple[Document, Mention, Entity]]) -> list[float]:
        """A score a pair: the higher, the likelier is the entity meant."""


class CrossScores:
    """Scores the first `top` candidates of each mention with `model`: its name or folder, or an object."""

    def __init__(self, kb: KnowledgeBase, model: str | Path | PairScorer, top: int) -> None:
        if top < 1:
            raise ConfigError(f"top = {top} does not fit: it counts candidates that are scored, 1 or more")
        if not isinstance(model, (str, Path, PairScorer)):
            raise ConfigError(f"{model!r} names no cross-encoder: give the name of a model, or a folder with one")
        self.kb, self.top = kb, top
        self._model = model if isinstance(model, PairScorer) else _loaded(model)

    def of(self, shortlists: Sequence[Shortlist]) -> list[list[float | None]]:
        """For each shortlist a score for each of its first candidates; None for an entity that is gone."""
        entities: dict[str, Entity | None] = {}
        pairs: list[tuple[Document, Mention, Entity]] = []
        places: list[list[int | None]] = []
        for document, mention, candidates in shortlists:
            own: list[int | None] = []
            for candidate in candidates[: self.top]:
                if candidate.entity not in entities:
                    entities[candidate.entity] = self.kb.get(candidate.entity)
                entity = entities[candidate.entity]
                own.append(None if entity is None else len(pairs))
                if entity is not None:
                    pairs.append((document, mention, entity))
            places.append(own)
        scores = self._model.score(pairs) if pairs else []
        return [[None if place is None else scores[place] for place in own] for own in places]


def _loaded(model: str | Path) -> PairScorer:
    from entlink.encoders.cross import load_cross

    return load_cross(model)
