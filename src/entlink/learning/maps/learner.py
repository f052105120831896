"""A map from the vector of a mention to one that is nearer to its entity, and how it learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from entlink.learning.pairs.learners import BiLearner

if TYPE_CHECKING:
    from entlink.io.progress import Progress
    from entlink.learning.pairs.batches import Chosen


class LowRankMap(nn.Module):
    """`v + up(down(v))`, of length 1: before the first step every vector is as it was."""

    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, vectors: Tensor) -> Tensor:
        moved: Tensor = vectors + self.up(self.down(vectors))  # [n, d]
        return nn.functional.normalize(moved, dim=1)


class MapLearner(BiLearner):
    """Every mention is compared with the entities of all examples: their vectors are there already."""

    def __init__(self, network: LowRankMap, device: torch.device, scale: float, batch: int) -> None:
        super().__init__(cast("Any", network), device, scale, batch, fixed_entities=True)

    def prepare(self, material: Any, progress: Progress) -> None:
        """Nothing: all vectors are made."""

    def _mentions(self, material: Any, chosen: Sequence[Chosen]) -> Tensor:
        moved: Tensor = self.network(self._rows(material.mentions, [one.example for one in chosen]))
        return moved

    def _entities(self, material: Any, rows: Sequence[int]) -> Tensor:
        return self._rows(material.entities, rows)

    def _scores(self, mentions: Tensor, entities: Tensor) -> Tensor:
        return mentions @ entities.T

    def _rows(self, vectors: Any, rows: Sequence[int]) -> Tensor:
        return torch.from_numpy(vectors[list(rows)]).to(self._device)
