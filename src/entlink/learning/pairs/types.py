"""The types of entities as numbers, which a bi-encoder with types (TyDE) learns with the links."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy
import torch
from torch import Tensor
from torch.nn import functional

from entlink.encoders.trained.type_names import TypeNames
from entlink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.pairs.networks import BiEncoder, Side

_UNKNOWN = -1


def type_names(kb: KnowledgeBase, most: int) -> TypeNames:
    """The types of a knowledge base: all coarse ones, and the fine ones that most entities have."""
    names = TypeNames(tuple(kb.types.coarse_counts()), tuple(kb.types.fine_counts())[:most])
    if not names.coarse or not names.fine:
        raise InputError(
            f"{kb.folder}: none of its entities has a type, so model.typed = true has nothing to learn. Build it "
            "from a source with types (a column `types`, subjects, or Wikidata's claims), or leave model.typed out"
        )
    return names


def begin_at_frequencies(network: BiEncoder, kb: KnowledgeBase, names: TypeNames) -> None:
    """Let new layers of types begin with how frequent each type is: to learn that most are rare would take long."""
    coarse, fine = kb.types.coarse_counts(), kb.types.fine_counts()
    total = sum(coarse.values())
    biases = {
        "coarse": [log(_share(coarse, name, total)) for name in names.coarse],
        "fine": [log(share / (1 - share)) for share in (_share(fine, name, total) for name in names.fine)],
    }
    for name, head in network.type_heads.items():
        head.bias.data.copy_(torch.tensor(biases[name.rpartition("_")[2]]))  # type: ignore[operator]


def _share(counts: Mapping[str, int], name: str, total: int) -> float:
    return (min(counts.get(name, 0), total) + 1) / (total + 2)  # neither none nor all


class Labels(NamedTuple):
    """The types of some entities: of an entity without known types of a kind, that row is not `told`."""

    coarse: Tensor  # [n], the number of the type
    coarse_told: Tensor  # [n], 1 or 0
    fine: Tensor  # [n, types], 1 where the entity has the type
    fine_told: Tensor  # [n], 1 or 0


class TypeLabels:
    """The types of entities by row, as many as `ids`; types that are not among the names count for nothing."""

    def __init__(self, kb: KnowledgeBase, names: TypeNames, ids: Sequence[str]) -> None:
        coarse = {name: at for at, name in enumerate(names.coarse)}
        fine = {name: at for at, name in enumerate(names.fine)}
        self._width = len(fine)
        self._coarse = torch.tensor([coarse.get(kb.types.coarse(id) or "", _UNKNOWN) for id in ids])
        found = [[fine[name] for name in kb.types.fine(id) if name in fine] for id in ids]
        self._counts = torch.tensor([len(own) for own in found])
        self._ends = self._counts.cumsum(0)
        self._fine = torch.from_numpy(numpy.fromiter((one for own in found for one in own), numpy.int64))

    def check(self, kb: KnowledgeBase, names: TypeNames) -> None:
        """An error where there is nothing to learn."""
        if not (self._counts.any() or (self._coarse != _UNKNOWN).any()):
            raise InputError(
                "no entity of the examples has a type that the model knows, so model.typed = true has nothing to "
                f"learn. The model knows {', '.join(names.coarse[:5])} and others; {kb.folder} has other types or "
                "none. Take a base without types, or leave model.typed out"
            )

    def of(self, rows: Sequence[int], device: torch.device) -> Labels:
        """The types of the entities in these rows."""
        places = torch.tensor(rows)
        coarse, counts = self._coarse[places], self._counts[places]
        fine = torch.zeros((len(rows), self._width))
        starts = (self._ends[places] - counts).tolist()
        for row, (start, count) in enumerate(zip(starts, counts.tolist(), strict=True)):
            fine[row, self._fine[start : start + count]] = 1.0
        told = ((coarse != _UNKNOWN).float(), (counts > 0).float())
        return Labels(*(part.to(device) for part in (coarse.clamp(min=0), told[0], fine, told[1])))


def type_loss(network: BiEncoder, side: Side, vectors: Tensor, labels: Labels, weights: Tensor) -> Tensor:
    """How unlikely the types of entities are by one side, as a sum over mentions.

    Coarse ones by the softmax, fine ones each by itself. What is not told costs nothing.
    """
    coarse = functional.cross_entropy(
        network.type_scores(side, "coarse", vectors), labels.coarse, reduction="none"
    )  # [n]
    fine = functional.binary_cross_entropy_with_logits(
        network.type_scores(side, "fine", vectors), labels.fine, reduction="none"
    ).sum(1)  # [n]
    return ((coarse * labels.coarse_told + fine * labels.fine_told) * weights).sum()
