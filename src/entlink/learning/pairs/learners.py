"""A network with its loss on a batch, and how it does on examples it was not trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING, Protocol, TypeVar

import torch
from torch import Tensor

from entlink.learning.pairs.batches import MOST_TOKENS, Chosen, Lessons, Material, blocks, padded
from entlink.learning.pairs.losses import batch_softmax, group_binary, group_softmax
from entlink.learning.pairs.types import type_loss

if TYPE_CHECKING:
    from torch import nn

    from entlink.encoders.text.tokens import Tokens
    from entlink.io.progress import Progress
    from entlink.learning.pairs.networks import BiEncoder, CrossEncoder, Rows, Side

_LOOKED_AT_ONCE = 64  # mentions
_ENCODED_AT_ONCE = 1_024  # entities


_Taught = TypeVar("_Taught", bound=Lessons, contravariant=True)


class Learner(Protocol[_Taught]):
    """What the loop trains."""

    @property
    def network(self) -> nn.Module:
        """What has the weights."""

    def prepare(self, material: _Taught, progress: Progress) -> None:
        """Make what the first step would have to make for all others, and tell how far that is."""

    def weigh(self, material: _Taught, chosen: Sequence[Chosen]) -> float:
        """What the loss of these is to be divided by."""

    def loss(self, material: _Taught, chosen: Sequence[Chosen]) -> Tensor:
        """The loss of a batch, as a sum."""

    def figure(self, material: _Taught, progress: Progress, stage: str) -> float:
        """How good it is, from 0 to 1: mostly the share of the examples whose entity scores above all its negatives.

        A tie is no merit.
        """


class CrossLearner:
    """A cross-encoder: every mention is read with its entity and with each of its negatives."""

    def __init__(self, network: CrossEncoder, device: torch.device, *, binary: bool) -> None:
        self.network, self._device, self._binary = network, device, binary

    def prepare(self, material: Material, progress: Progress) -> None:
        """Nothing: it reads every pair anew."""

    def weigh(self, material: Material, chosen: Sequence[Chosen]) -> float:
        if self._binary:
            return sum(material.weights[one.example] * (1 + len(one.negatives)) for one in chosen)
        return sum(material.weights[one.example] for one in chosen)

    def loss(self, material: Material, chosen: Sequence[Chosen]) -> Tensor:
        sizes = torch.tensor([1 + len(one.negatives) for one in chosen], device=self._device)
        weights = torch.tensor([material.weights[one.example] for one in chosen], device=self._device)
        summed = group_binary if self._binary else group_softmax
        return summed(self._scores(material, chosen), sizes, weights)

    def figure(self, material: Material, progress: Progress, stage: str) -> float:
        asked = [Chosen(at, told) for at, told in enumerate(material.negatives) if told]
        right = 0
        for start in range(0, len(asked), _LOOKED_AT_ONCE):
            progress(stage, start, len(asked))
            part = asked[start : start + _LOOKED_AT_ONCE]
            scores = iter(self._scores(material, part).tolist())
            for one in part:
                own, *others = (next(scores) for _ in range(1 + len(one.negatives)))
                right += own > max(others)
        return right / len(asked) if asked else 0.0

    def _scores(self, material: Material, chosen: Sequence[Chosen]) -> Tensor:
        """A score a pair, mention after mention, its own entity first."""
        texts = []
        for one in chosen:
            mention = material.mention(one)
            for entity in (material.own[one.example], *one.negatives):
                texts.append(material.reader.joint(mention, material.entities[entity]))
        return in_blocks(self.network, texts, material.reader.pad_id, self._device)


class BiLearner:
    """A bi-encoder: every mention is compared with the entities of the whole batch, and with all their negatives.

    Where the vectors of entities do not change, it is compared with those of all examples: that is cheap. Where the
    material has types, the losses of types are added, `type_weight` times.
    """

    def __init__(
        self,
        network: BiEncoder,
        device: torch.device,
        scale: float,
        batch: int,
        *,
        fixed_entities: bool = False,
        type_weight: float = 1.0,
    ) -> None:
        self.network, self._device, self._scale, self._batch = network, device, scale, batch
        self._type_weight = type_weight
        self._fixed: dict[int, Tensor] | None = {} if fixed_entities else None  # by the id of their material

    def prepare(self, material: Material, progress: Progress) -> None:
        """The vectors of all entities, where they do not change."""
        if self._fixed is None:
            return
        self.network.towers["entity"].eval()
        made, total = [], len(material.entities)
        with torch.no_grad():
            for start in range(0, total, _ENCODED_AT_ONCE):
                progress("encoding entities", start, total)
                made.append(self._made(material, range(start, min(start + _ENCODED_AT_ONCE, total))))
        self._fixed[id(material)] = self.network.compared(torch.cat(made))

    def weigh(self, material: Material, chosen: Sequence[Chosen]) -> float:
        return sum(material.weights[one.example] for one in chosen)

    def loss(self, material: Material, chosen: Sequence[Chosen]) -> Tensor:
        fixed = self._fixed is not None
        columns = {row: row for row in range(len(material.entities))} if fixed else columns_of(material, chosen)
        mentions, entities = self._mentions(material, chosen), self._entities(material, list(columns))
        scores = self._scale * self._scores(mentions, entities)
        target = torch.tensor([columns[material.own[one.example]] for one in chosen], device=self._device)
        weights = torch.tensor([material.weights[one.example] for one in chosen], device=self._device)
        allowed = comparable(material, chosen, columns).to(self._device)
        loss = batch_softmax(scores, target, allowed, weights)
        if material.types is None:
            return loss
        labels = material.types.of([material.own[one.example] for one in chosen], self._device)
        typed = type_loss(self.network, "mention", mentions, labels, weights)
        typed = typed + type_loss(self.network, "entity", entities[target], labels, weights)
        return loss + self._type_weight * typed

    def figure(self, material: Material, progress: Progress, stage: str) -> float:
        """Those without negatives are compared with the entities of as many others as a batch has.

        Those that have nothing to be compared with do not count: nobody can be wrong about them. Where there are
        types, it is the mean of that and the share of mentions with the right coarse type.
        """
        right = asked = typed = told = done = 0
        for part in looks(material, self._batch):
            progress(stage, done, len(material))
            done += len(part)
            columns = columns_of(material, part)
            others = rivals(material, part, columns)
            mentions, entities = self._mentions(material, part), self._entities(material, list(columns))
            scores = self._scores(mentions, entities).cpu()
            own = scores[range(len(part)), [columns[material.own[one.example]] for one in part]]
            best = scores.masked_fill(~others, float("-inf")).max(1).values
            compared = others.any(1)
            right += int((own > best)[compared].sum())
            asked += int(compared.sum())
            if material.types is not None:
                labels = material.types.of([material.own[one.example] for one in part], self._device)
                types = self.network.type_scores("mention", "coarse", mentions).argmax(1)
                typed += int((types == labels.coarse)[labels.coarse_told > 0].sum())
                told += int(labels.coarse_told.sum())
        links = right / asked if asked else 0.0
        return (links + typed / told) / 2 if told else links

    def _scores(self, mentions: Tensor, entities: Tensor) -> Tensor:
        right = self.network.compared(entities) if self._fixed is None else entities
        return self.network.compared(mentions) @ right.T  # [mentions, entities]

    def _mentions(self, material: Material, chosen: Sequence[Chosen]) -> Tensor:
        read = [material.mention(one) for one in chosen]
        return in_blocks(self._side("mention"), read, material.reader.pad_id, self._device)

    def _entities(self, material: Material, rows: Sequence[int]) -> Tensor:
        """The vectors of entities; where they do not change, those that were prepared, ready to be compared."""
        if self._fixed is None:
            return self._made(material, rows)
        return self._fixed[id(material)][torch.tensor(rows, device=self._device)]

    def _made(self, material: Material, rows: Sequence[int]) -> Tensor:
        read = [material.entities[row] for row in rows]
        return in_blocks(self._side("entity"), read, material.reader.pad_id, self._device)

    def _side(self, side: Side) -> Callable[[Rows], Tensor]:
        return lambda rows: self.network.raw(side, rows)


def columns_of(material: Material, chosen: Sequence[Chosen]) -> dict[int, int]:
    """The entities of a batch, each once, and their columns."""
    wanted = dict.fromkeys(entity for one in chosen for entity in (material.own[one.example], *one.negatives))
    return {entity: column for column, entity in enumerate(wanted)}


def comparable(material: Material, chosen: Sequence[Chosen], columns: dict[int, int]) -> Tensor:
    """Which entities of a batch a mention is told from: none that is right for it, or elsewhere in its document.

    That is by all examples, those of other batches too. What its own negatives name is always among them, unless it
    is right for the mention itself.
    """
    allowed = torch.ones((len(chosen), len(columns)), dtype=torch.bool)
    right_in: dict[str, Tensor] = {}  # as columns, once a document: a long one has thousands
    for row, one in enumerate(chosen):
        document, place = material.documents[one.example], material.places[one.example]
        if document in material.right_in:
            if document not in right_in:
                right_in[document] = _columns_among(material.right_in[document], columns)
            allowed[row, right_in[document]] = False
            allowed[row, [columns[entity] for entity in one.negatives]] = True
        if place in material.right_at:
            allowed[row, _columns_among(material.right_at[place], columns)] = False
        allowed[row, columns[material.own[one.example]]] = True
    return allowed


def looks(material: Material, batch: int) -> list[list[Chosen]]:
    """The batches of a look: the mentions of a document are spread evenly, so that others are among them."""
    counts, seen = Counter(material.documents), Counter[str]()
    places = []
    for at, document in enumerate(material.documents):
        places.append(((seen[document] + 0.5) / counts[document], at))
        seen[document] += 1
    order = [Chosen(at, material.negatives[at]) for _, at in sorted(places)]
    return [order[start : start + batch] for start in range(0, len(order), batch)]


def rivals(material: Material, chosen: Sequence[Chosen], columns: dict[int, int]) -> Tensor:
    """What the entity of each mention is to score above: its negatives, else all that it can be compared with."""
    found = comparable(material, chosen, columns)
    for row, one in enumerate(chosen):
        if one.negatives:
            named = torch.zeros(len(columns), dtype=torch.bool)
            named[[columns[entity] for entity in one.negatives]] = True
            found[row] &= named
        found[row, columns[material.own[one.example]]] = False
    return found


def with_rivals(material: Material, batch: int) -> int:
    """How many mentions a look can judge."""
    parts = looks(material, batch)
    return sum(int(rivals(material, part, columns_of(material, part)).any(1).sum()) for part in parts)


def _columns_among(entities: Set[int], columns: dict[int, int]) -> Tensor:
    """The columns of those of the entities that have one."""
    return torch.tensor([columns[entity] for entity in columns.keys() & entities], dtype=torch.long)


def in_blocks(
    network: Callable[[Rows], Tensor], texts: Sequence[Tokens], pad_id: int, device: torch.device
) -> Tensor:
    """What a network gives for texts, in their order, run in blocks of about one length."""
    rows: list[int] = []
    found: list[Tensor] = []
    for block in blocks([len(text.ids) for text in texts], MOST_TOKENS):
        found.append(network(padded([texts[row] for row in block], pad_id, device)))
        rows += block
    back = torch.empty(len(rows), dtype=torch.long, device=device)
    back[torch.tensor(rows, device=device)] = torch.arange(len(rows), device=device)
    return torch.cat(found)[back]
