"""A multimodal network with its loss on a batch, and how it does on examples it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from entlink.learning.pairs.batches import Chosen
from entlink.learning.pairs.losses import group_binary, group_softmax

if TYPE_CHECKING:
    from entlink.io.progress import Progress
    from entlink.learning.multimodal.material import InputTable, PicturedMaterial
    from entlink.learning.multimodal.network import MultimodalNetwork, Side, SideRows
    from entlink.learning.train_config import TrainConfig

_LOOKED_AT_ONCE = 32  # mentions
_ENCODED_AT_ONCE = 512  # rows


class Compared(NamedTuple):
    """Which entities the mentions of a batch are compared with: groups one after the other, the right one first."""

    mentions: list[int]  # by pair, the place in the batch
    entities: list[int]  # by pair, the row of the material
    sizes: list[int]  # of each group


class MultimodalLearner:
    """Each mention is compared with its entity, its other candidates, and the entities of other mentions.

    The loss "softmax" is the contrastive one of the paper; "binary" takes each pair by itself, without the entities
    of other mentions.
    """

    def __init__(self, network: MultimodalNetwork, config: TrainConfig, device: torch.device) -> None:
        self.network, self._device, self._own = network, device, config.multimodal
        self._binary = config.model.loss == "binary"
        self._hidden = config.training.masked

    def prepare(self, material: PicturedMaterial, progress: Progress) -> None:
        """Nothing: what stays as it is was read before."""

    def weigh(self, material: PicturedMaterial, chosen: Sequence[Chosen]) -> float:
        if self._binary:
            return sum(material.weights[one.example] * (1 + len(one.negatives)) for one in chosen)
        return sum(material.weights[one.example] for one in chosen)

    def loss(self, material: PicturedMaterial, chosen: Sequence[Chosen]) -> Tensor:
        compared = pairs_of(material, chosen, 0 if self._binary else self._own.in_batch)
        scores = self._scores(material, chosen, compared)
        sizes = torch.tensor(compared.sizes, device=self._device)
        weights = torch.tensor([material.weights[one.example] for one in chosen], device=self._device)
        return (group_binary if self._binary else group_softmax)(scores, sizes, weights)

    def figure(self, material: PicturedMaterial, progress: Progress, stage: str) -> float:
        """The share of mentions whose entity beats its other candidates; names are hidden as often as in training."""
        parts = [(False, 1 - self._hidden), (True, self._hidden)]
        return sum(share * self._right(material, progress, stage, masked=masked) for masked, share in parts if share)

    def _right(self, material: PicturedMaterial, progress: Progress, stage: str, *, masked: bool) -> float:
        asked = [Chosen(at, told, masked) for at, told in enumerate(material.negatives) if told]
        right = 0
        for start in range(0, len(asked), _LOOKED_AT_ONCE):
            progress(stage, start, len(asked))
            part = asked[start : start + _LOOKED_AT_ONCE]
            compared = pairs_of(material, part, 0)
            scores = iter(self._scores(material, part, compared).tolist())
            for size in compared.sizes:
                own, *others = (next(scores) for _ in range(size))
                right += bool(others) and own > max(others)
        return right / len(asked) if asked else 0.0

    def _scores(self, material: PicturedMaterial, chosen: Sequence[Chosen], compared: Compared) -> Tensor:
        """A score a pair."""
        mentions = self._mentions(material, chosen)
        rows = list(dict.fromkeys(compared.entities))
        place = {row: at for at, row in enumerate(rows)}
        entities = self._disturbed("entity", material.entities.rows(rows, self._device))
        first = torch.tensor(compared.mentions, device=self._device)
        second = torch.tensor([place[row] for row in compared.entities], device=self._device)
        priors = torch.tensor(self._priors(material, chosen, compared), device=self._device)
        if self.network.together:
            product = self._together(mentions, entities, first, second)
        else:
            product = self.network.encode("mention", mentions)[first] * self._encoded(entities)[second]
        scores: Tensor = self.network.scorer(product, priors)
        return scores

    def _encoded(self, entities: SideRows) -> Tensor:
        return self.network.encode("entity", entities)

    def _together(self, mentions: SideRows, entities: SideRows, first: Tensor, second: Tensor) -> Tensor:
        parts = []
        for start in range(0, len(first), _ENCODED_AT_ONCE):
            some = slice(start, start + _ENCODED_AT_ONCE)
            sides = (_taken(mentions, first[some]), _taken(entities, second[some]))
            parts.append(self.network.encoders["pair"](*sides))
        return torch.cat(parts)

    def _mentions(self, material: PicturedMaterial, chosen: Sequence[Chosen]) -> SideRows:
        seen = self._table_rows(material.mentions, material.hidden, chosen)
        if self.network.training and self._own.swap:
            seen = self._swapped(seen)
        return self._disturbed("mention", seen)

    def _table_rows(self, mentions: InputTable, hidden: InputTable | None, chosen: Sequence[Chosen]) -> SideRows:
        if hidden is None or not any(one.masked for one in chosen):
            return mentions.rows([one.example for one in chosen], self._device)
        if all(one.masked for one in chosen):
            return hidden.rows([one.example for one in chosen], self._device)
        shown = [at for at, one in enumerate(chosen) if not one.masked]
        rest = [at for at, one in enumerate(chosen) if one.masked]
        parts = (
            mentions.rows([chosen[at].example for at in shown], self._device),
            hidden.rows([chosen[at].example for at in rest], self._device),
        )
        order = torch.tensor([*shown, *rest], device=self._device).argsort()
        return _joined(*parts, order)

    def _swapped(self, rows: SideRows) -> SideRows:
        """Some mentions with the picture of another one that has a picture."""
        there = rows.has_picture.nonzero()[:, 0]
        if len(there) < 2:
            return rows
        other = there[torch.randint(len(there), (len(rows.first),))]
        chance = torch.rand(len(rows.first), device=self._device) < self._own.swap
        source = torch.where(
            chance & (rows.has_picture > 0), other, torch.arange(len(rows.first), device=self._device)
        )
        return rows._replace(cells=rows.cells[source])

    def _disturbed(self, side: Side, rows: SideRows) -> SideRows:
        """In training, some pictures and texts are left out."""
        if not self.network.training:
            return rows
        count = len(rows.first)
        for drop, name in ((self._own.drop, "picture"), (self._own.drop_text, "text")):
            if drop:
                kept = (torch.rand(count, device=self._device) >= drop).float()
                rows = _left_out(rows, name, kept)
        return rows

    def _priors(self, material: PicturedMaterial, chosen: Sequence[Chosen], compared: Compared) -> list[float]:
        """P(e|m) of each pair; of a name that is hidden, none."""
        if not self._own.prior:
            return [0.0] * len(compared.mentions)
        return [
            0.0 if chosen[at].masked else material.priors[chosen[at].example].get(row, 0.0)
            for at, row in zip(compared.mentions, compared.entities, strict=True)
        ]


def pairs_of(material: PicturedMaterial, chosen: Sequence[Chosen], in_batch: int) -> Compared:
    """The entity of each mention, its own negatives, and the entities of at most `in_batch` others of the batch.

    An entity that is right for the mention itself, or among its negatives, is not taken from others.
    """
    mentions, entities, sizes = [], [], []
    for at, one in enumerate(chosen):
        own, right = material.own[one.example], material.right(one.example)
        negatives = [row for row in one.negatives if row not in right]
        others = (material.own[other.example] for other in (*chosen[at + 1 :], *chosen[:at]))
        taken = {*negatives, *right}
        found = [row for row in dict.fromkeys(others) if row not in taken][:in_batch] if in_batch else []
        group = [own, *negatives, *found]
        mentions += [at] * len(group)
        entities += group
        sizes.append(len(group))
    return Compared(mentions, entities, sizes)


def _left_out(rows: SideRows, name: str, kept: Tensor) -> SideRows:
    """Rows without some of their pictures, or of their texts."""
    if name == "picture":
        return rows._replace(has_picture=rows.has_picture * kept, cells=rows.cells * kept[:, None, None])
    alone = torch.zeros_like(rows.mask)
    alone[:, 0] = 1
    gone = kept == 0
    return rows._replace(
        states=rows.states * kept[:, None, None],
        mask=torch.where(gone[:, None], alone, rows.mask),
        first=torch.where(gone, torch.zeros_like(rows.first), rows.first),
        last=torch.where(gone, torch.ones_like(rows.last), rows.last),
        has_text=rows.has_text * kept,
    )


def _taken(rows: SideRows, places: Tensor) -> SideRows:
    return type(rows)(*(one[places] for one in rows))


def _joined(one: SideRows, other: SideRows, order: Tensor) -> SideRows:
    """The rows of both in an order; the shorter texts are filled up."""
    length = max(one.mask.shape[1], other.mask.shape[1])
    parts = []
    for rows in (one, other):
        more = length - rows.mask.shape[1]
        states = torch.nn.functional.pad(rows.states, (0, 0, 0, more))
        parts.append(rows._replace(states=states, mask=torch.nn.functional.pad(rows.mask, (0, more))))
    return type(one)(*(torch.cat(both)[order] for both in zip(*parts, strict=True)))
