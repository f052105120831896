"""EntELMo's network: a language model in both directions over words read by their characters, and two decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from entlink.encoders.recurrent.words import BYTES
from entlink.learning.entelmo.lstm import ProjectedLstm

if TYPE_CHECKING:
    from entlink.encoders.recurrent.settings import RecurrentShape
    from entlink.learning.entelmo.batches import Batch

_SOFTMAX_STD = 0.02


class WordReader(nn.Module):
    """Bytes of words to vectors: filters, the largest value of each, highway layers, and a projection."""

    def __init__(self, shape: RecurrentShape) -> None:
        super().__init__()
        self.activation = torch.relu if shape.activation == "relu" else torch.tanh
        self.characters = nn.Embedding(BYTES, shape.characters)
        self.filters = nn.ModuleList(nn.Conv1d(shape.characters, count, width) for width, count in shape.filters)
        size = shape.features
        self.highways = nn.ModuleList(nn.Linear(size, 2 * size) for _ in range(shape.highways))
        for layer in self.highways:
            assert isinstance(layer, nn.Linear)
            layer.bias.data[:size] = 2.0  # at first most is carried as it is
        self.projection = nn.Linear(size, shape.projection)

    def forward(self, bytes: Tensor) -> Tensor:
        """[words, bytes] to [words, projection]."""
        read = self.characters(bytes).transpose(1, 2)  # [words, characters, bytes]
        found = torch.cat([self.activation(one(read).amax(dim=2)) for one in self.filters], dim=1)
        for layer in self.highways:
            carry, new = layer(found).chunk(2, dim=1)
            gate = torch.sigmoid(carry)
            found = gate * found + (1 - gate) * torch.relu(new)
        projected: Tensor = self.projection(found)
        return projected


class Layers(NamedTuple):
    """The outputs of the reader and of each layer, a row a token in the order of the batch: forward and backward."""

    forward: list[Tensor]  # each [tokens, projection]
    backward: list[Tensor]

    def top(self) -> Tensor:
        """The last layer of both directions, [tokens, 2 projections]."""
        return torch.cat([self.forward[-1], self.backward[-1]], dim=1)


class BiLm(nn.Module):
    """The language model; its weights are named as in the file that is written for use without torch."""

    def __init__(self, shape: RecurrentShape, dropout: float, *, bf16: bool) -> None:
        super().__init__()
        self.reader = WordReader(shape)
        sizes = (shape.projection, shape.hidden, shape.projection, shape.clip)
        self.forwards = nn.ModuleList(ProjectedLstm(*sizes, bf16=bf16) for _ in range(shape.layers))
        self.backwards = nn.ModuleList(ProjectedLstm(*sizes, bf16=bf16) for _ in range(shape.layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Batch) -> Layers:
        """All layers of all tokens of a batch."""
        read = functional.embedding(batch.forms, self.reader(batch.bytes))  # [tokens, p]
        return Layers(
            self._run(self.forwards, read, batch.forward, batch.sizes),
            self._run(self.backwards, read, batch.backward, batch.sizes),
        )

    def _run(self, layers: nn.ModuleList, read: Tensor, order: Tensor, sizes: list[int]) -> list[Tensor]:
        """One direction: the tokens are packed in its order, and put back."""
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order))
        packed, found = read.index_select(0, order), [read]
        for number, layer in enumerate(layers):
            made = layer(self.dropout(packed), sizes)
            packed = made + packed if number else made
            found.append(packed.index_select(0, back))
        return found


class SampledLayer(nn.Module):
    """A linear layer with a value for each word of the vocabulary, which begins at how frequent each word is."""

    def __init__(self, counts: Tensor, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(len(counts), width) * _SOFTMAX_STD)
        self.bias = nn.Parameter(torch.log((counts + 1) / (counts + 1).sum()).float())


class EntElmo(nn.Module):
    """The language model, its softmax, and the decoders of descriptions and contexts that the variant has.

    `counts` say how often each word of the vocabulary comes.
    """

    def __init__(
        self,
        shape: RecurrentShape,
        counts: Tensor,
        dropout: float,
        *,
        describes: bool,
        tells_contexts: bool,
        bf16: bool = False,
    ) -> None:
        super().__init__()
        self.bf16 = bf16
        self.lm = BiLm(shape, dropout, bf16=bf16)
        self.softmax = SampledLayer(counts, shape.projection)
        self.description = SampledLayer(counts, 2 * shape.projection) if describes else None
        self.context = SampledLayer(counts, 2 * shape.projection) if tells_contexts else None
        self.dropout = nn.Dropout(dropout)
