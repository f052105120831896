"""A joint model with its loss on a batch of texts, and how it does on texts it was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy
import torch
from torch import Tensor
from torch.nn import functional

from entlink.encoders.joint.spans import apart
from entlink.learning.joint.network import SpanRows
from entlink.learning.pairs.batches import MOST_TOKENS, Chosen, blocks, padded

if TYPE_CHECKING:
    from entlink.interfaces import Vectors
    from entlink.io.progress import Progress
    from entlink.learning.joint.material import GoldSpan, JointMaterial
    from entlink.learning.joint.network import JointNetwork

_LOOKED_AT_ONCE = 64  # rows
EntityVectors = Callable[[Sequence[str], "Progress"], "Vectors"]
Scored = tuple[float, bool]  # of a span that stays: its score, and whether it is right


class JointLearner:
    """Whether every span is a mention, and among the entities of all examples, which one a mention means.

    The vectors of entities do not change: `vectors` makes them once. So a mention is compared with those of the whole
    batch, its own negatives, and all others, at next to no cost.
    """

    def __init__(self, network: JointNetwork, device: torch.device, scale: float, vectors: EntityVectors) -> None:
        self.network, self._device, self._scale, self._make = network, device, scale, vectors
        self._entities: dict[int, Tensor] = {}  # by the id of their material

    def prepare(self, material: JointMaterial, progress: Progress) -> None:
        """The vectors of all entities."""
        made = self._make(material.entity_ids, progress)
        self._entities[id(material)] = torch.from_numpy(made).to(self._device)

    def weigh(self, material: JointMaterial, chosen: Sequence[Chosen]) -> float:
        return sum(material.weights[one.example] for one in chosen)

    def loss(self, material: JointMaterial, chosen: Sequence[Chosen]) -> Tensor:
        """The loss of all spans as mentions, and of all mentions as entities; a text is a unit."""
        summed = torch.zeros((), device=self._device)
        rows = [one.example for one in chosen]
        for block in blocks([int(material.windows.lengths[row]) for row in rows], MOST_TOKENS):
            summed = summed + self._block_loss(material, [rows[at] for at in block])
        return summed

    def figure(self, material: JointMaterial, progress: Progress, stage: str) -> float:
        """The best F1 that any threshold gives: a span is right if it is gold and its entity beats its negatives."""
        found: list[Scored] = []
        for start in range(0, len(material), _LOOKED_AT_ONCE):
            progress(stage, start, len(material))
            rows = list(range(start, min(start + _LOOKED_AT_ONCE, len(material))))
            for block in blocks([int(material.windows.lengths[row]) for row in rows], MOST_TOKENS):
                found += self._judged(material, [rows[at] for at in block])
        return best_f1(found, material.mentions)[0]

    def _block_loss(self, material: JointMaterial, rows: Sequence[int]) -> Tensor:
        hidden = self._hidden(material, rows)
        spans, own = self._spans(material, rows)
        scores = self.network.scores(hidden, spans)
        target, counts = _targets(material, rows, own)
        weights = torch.tensor([material.weights[row] for row in rows], device=self._device)
        each = functional.binary_cross_entropy_with_logits(scores, target.to(self._device), reduction="none")
        summed = (each * counts.to(self._device) * weights[spans.row]).sum()
        taught = [(at, one) for at, row in enumerate(rows) for one in material.gold[row] if one.right]
        if not taught:
            return summed
        unlikely = -self._likely(material, hidden, rows, taught)
        return summed + (unlikely * weights[[at for at, _ in taught]]).sum()

    def _likely(
        self, material: JointMaterial, hidden: Tensor, rows: Sequence[int], taught: list[tuple[int, GoldSpan]]
    ) -> Tensor:
        """The logarithm of the chance that each mention means one of its entities, among all that it is told from."""
        scores = self._similar(material, hidden, rows, taught) * self._scale
        right = torch.zeros_like(scores, dtype=torch.bool)
        allowed = _compared(material, rows, taught, scores.shape[1]).to(self._device)
        for number, (_, one) in enumerate(taught):
            right[number, list(one.right)] = True
        none = float("-inf")
        return scores.masked_fill(~right, none).logsumexp(1) - scores.masked_fill(~allowed, none).logsumexp(1)

    def _judged(self, material: JointMaterial, rows: Sequence[int]) -> list[Scored]:
        """The spans of some rows that stay where they overlap, with their scores, and whether they are right."""
        hidden = self._hidden(material, rows)
        spans, own = self._spans(material, rows)
        scores = iter(self.network.scores(hidden, spans).tolist())
        taught = [(at, one) for at, row in enumerate(rows) for one in material.gold[row] if one.right]
        missed = self._missed(material, hidden, rows, taught)
        found: list[Scored] = []
        for at, row in enumerate(rows):
            places = [(int(first), int(last)) for first, last in own[at].tolist()]
            told = [next(scores) for _ in places]
            gold = {(one.first, one.last): one for one in material.gold[row]}
            for number, winner in apart(places, told):
                one = gold.get(places[number])
                if winner is None and not (one is not None and one.optional):
                    found.append((told[number], one is not None and (at, one.first, one.last) not in missed))
        return found

    def _missed(
        self, material: JointMaterial, hidden: Tensor, rows: Sequence[int], taught: list[tuple[int, GoldSpan]]
    ) -> set[tuple[int, int, int]]:
        """The mentions whose entities do not beat their negatives, or all others where they have none."""
        if not taught:
            return set()
        scores = self._similar(material, hidden, rows, taught).cpu()
        allowed = _compared(material, rows, taught, scores.shape[1])
        missed = set()
        for number, (at, one) in enumerate(taught):
            others = allowed[number].clone()
            if one.wrong:
                others[:] = False
                others[list(one.wrong)] = True
            others[list(one.right)] = False
            rest = scores[number][others]
            if len(rest) and not bool(scores[number, list(one.right)].max() > rest.max()):
                missed.add((at, one.first, one.last))
        return missed

    def _similar(
        self, material: JointMaterial, hidden: Tensor, rows: Sequence[int], taught: list[tuple[int, GoldSpan]]
    ) -> Tensor:
        """How like each mention is to each entity of the material."""
        shift = [material.windows[row].first for row in rows]
        places = [(at, one.first + shift[at], one.last + shift[at]) for at, one in taught]
        row, first, last = torch.tensor(places, device=self._device).T
        return self.network.vectors(hidden, SpanRows(row, first, last)) @ self._entities[id(material)].T

    def _hidden(self, material: JointMaterial, rows: Sequence[int]) -> Tensor:
        hidden: Tensor = self.network(
            padded([material.windows[row] for row in rows], material.reader.pad_id, self._device)
        )
        return hidden

    def _spans(self, material: JointMaterial, rows: Sequence[int]) -> tuple[SpanRows, list[numpy.ndarray]]:
        """All spans of the rows where they stand in the block, and of each row as its own tokens."""
        own = [material.spans(row) for row in rows]
        numbers = numpy.repeat(numpy.arange(len(rows)), [len(one) for one in own])
        shift = numpy.array([material.windows[row].first for row in rows], numpy.int64)
        placed = numpy.concatenate(own) + shift[numbers][:, None]
        row, first, last = (
            torch.from_numpy(numpy.ascontiguousarray(one)).to(self._device) for one in (numbers, *placed.T)
        )
        return SpanRows(row, first, last), own


def _targets(material: JointMaterial, rows: Sequence[int], own: Sequence[numpy.ndarray]) -> tuple[Tensor, Tensor]:
    """Which spans are mentions, and which count: all but those that may be found or not."""
    longest = material.reader.settings.longest
    targets, counts = [], []
    for row, spans in zip(rows, own, strict=True):
        target, count = numpy.zeros(len(spans), numpy.float32), numpy.ones(len(spans), numpy.float32)
        keys = spans[:, 0] * (longest + 1) + spans[:, 1] - spans[:, 0]  # they come in this order
        for one in material.gold[row]:
            at = int(numpy.searchsorted(keys, one.first * (longest + 1) + one.last - one.first))
            (count if one.optional else target)[at] = 0.0 if one.optional else 1.0
        targets.append(target)
        counts.append(count)
    return torch.from_numpy(numpy.concatenate(targets)), torch.from_numpy(numpy.concatenate(counts))


def _compared(material: JointMaterial, rows: Sequence[int], taught: list[tuple[int, GoldSpan]], count: int) -> Tensor:
    """Which entities each mention is told from: its own, and none that is right elsewhere in its text.

    What its own negatives name is always among them.
    """
    allowed = torch.ones((len(taught), count), dtype=torch.bool)
    for number, (at, one) in enumerate(taught):
        elsewhere = {id for other in material.gold[rows[at]] for id in other.right}
        allowed[number, list(elsewhere - set(one.wrong) - set(one.right))] = False
    return allowed


def best_f1(found: Sequence[Scored], gold: int) -> tuple[float, float]:
    """The best F1 of any threshold on the scores, and that threshold: the lowest score that is still taken."""
    best, threshold, right = 0.0, float("inf"), 0
    order = sorted(found, key=lambda one: -one[0])
    for taken, (score, is_right) in enumerate(order, 1):
        right += is_right
        ties_follow = taken < len(order) and order[taken][0] == score
        f1 = 2 * right / (taken + gold) if taken + gold else 0.0
        if not ties_follow and f1 > best:
            best, threshold = f1, score
    return best, threshold
