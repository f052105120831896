"""The scores of a cross-encoder for the first candidates of many mentions, asked for at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from entlink.documents import Document, Entity, Mention
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

Pair = tuple[Document, Mention, Entity]
_KEPT = 200_000  # scores in memory


@runtime_checkable
class PairScorer(Protocol):
    """What scores pairs of a mention and an entity, such as a cross-encoder."""

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """A score a pair: the higher, the likelier is the entity meant."""


class CrossEncoderEvidence:
    """The scores of a cross-encoder for the `top` candidates of each mention that are best by all other evidence.

    `model` is the name or folder of one, or an object. Entities that are gone have no score.
    """

    needs = "the extra retrieval and a model of entlink train cross-encoder"
    gives = ("cross",)
    when = "ranked"

    def __init__(self, kb: KnowledgeBase, *, model: str | Path | PairScorer, top: int = 10) -> None:
        if top < 1:
            raise ConfigError(f"top = {top} does not fit: it counts candidates that are scored, 1 or more")
        if not isinstance(model, (str, Path, PairScorer)):
            raise ConfigError(f"{model!r} names no cross-encoder: give the name of a model, or a folder with one")
        self.kb, self.top = kb, top
        self._kept: dict[object, float] = {}
        self._model = model if isinstance(model, PairScorer) else _loaded(model)

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """Of all mentions at once."""
        entities: dict[str, Entity | None] = {}
        asked: dict[object, Pair] = {}
        lists: list[list[object]] = []
        for document, mention, candidates in shortlists:
            keys: list[object] = [None] * len(candidates)
            for place, candidate in enumerate(candidates[: self.top]):
                if candidate.entity not in entities:
                    entities[candidate.entity] = self.kb.get(candidate.entity)
                entity = entities[candidate.entity]
                if entity is not None:
                    key = keys[place] = _key(document, mention, entity)
                    asked[key] = (document, mention, entity)
            lists.append(keys)
        scores = self._scores(asked)
        return [[{} if key is None else {"cross": scores[key]} for key in keys] for keys in lists]

    def _scores(self, asked: dict[object, Pair]) -> dict[object, float]:
        """The score of each pair; those of the last batches are kept, since tuning ranks the same several times."""
        missing = {key: pair for key, pair in asked.items() if key not in self._kept}
        found = {key: self._kept[key] for key in asked if key not in missing}
        if missing:
            found.update(zip(missing, self._model.score(list(missing.values())), strict=True))
            if len(self._kept) + len(missing) > _KEPT:
                self._kept.clear()
            self._kept.update({key: found[key] for key in missing})
        return found


def _key(document: Document, mention: Mention, entity: Entity) -> object:
    """What the score of a pair depends on, short."""
    text = hash(document.text), len(document.turns)
    return text, mention.span.start, mention.span.end, mention.text, hash((entity.title, entity.description))


def _loaded(model: str | Path) -> PairScorer:
    from entlink.encoders.trained.cross_encoder import load_cross

    return load_cross(model)
