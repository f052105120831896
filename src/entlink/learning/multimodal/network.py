"""The networks of a multimodal model: an encoder for each side, or one that reads both, and the layers that score.

In the shapes n is rows (mentions or entities), t states of the longest text, c cells of a picture, h and w their
widths, d the width of the network, v that of a vector: d, or three times d with shortcuts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from entlink.encoders.multimodal.settings import MultimodalSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

Side = Literal["mention", "entity"]
SIDES: tuple[Side, Side] = ("mention", "entity")
# Of cosines before the first step: of fused vectors, means of texts, and means of pictures. Pictures begin low: where
# they weighed as much as texts, few steps did not teach that a name in the text says more.
_SCALES = (1.0, 10.0, 1.0)
_ALONE, _PRIOR_SCALE = 10.0, 5.0  # of fused vectors without shortcuts, and of P(e|m)
_WIDER = 4  # times, the middle of a transformer layer


class SideRows(NamedTuple):
    """Texts and pictures of one side; what is absent has zeros, and a mask of its first place alone."""

    states: Tensor  # [n, t, h]
    mask: Tensor  # [n, t], 1 where there is a state
    first: Tensor  # [n]
    last: Tensor  # [n], the state after the name
    cells: Tensor  # [n, c, w]
    has_text: Tensor  # [n], 1 or 0
    has_picture: Tensor  # [n], 1 or 0


class Directions(NamedTuple):
    """A projection of texts or pictures: the directions in which they differ most, around their mean."""

    weight: Tensor  # [d, h] or [d, w]
    bias: Tensor  # [d]


class Attention(nn.Module):
    """Attention of `heads`, from states to themselves or to those of another stream."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, states: Tensor, others: Tensor, mask: Tensor) -> Tensor:
        """States [n, t, d] look at others [n, s, d] where the mask [n, s] is 1."""
        n, t, d = states.shape
        split = (n, -1, self.heads, d // self.heads)
        query, key, value = (
            layer(rows).view(split).transpose(1, 2)
            for layer, rows in ((self.query, states), (self.key, others), (self.value, others))
        )
        seen = mask.bool()[:, None, None, :]  # [n, 1, 1, s]
        found = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        out: Tensor = self.out(found.transpose(1, 2).reshape(n, t, d))
        return out


class Layer(nn.Module):
    """A layer of a transformer; norms come before its parts."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention, self.before = Attention(width, heads), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, _WIDER * width), nn.Linear(_WIDER * width, width)
        self.between, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        normed = self.before(states)
        states = states + self.dropout(self.attention(normed, normed, mask))
        active = functional.gelu(self.up(self.between(states)))
        added: Tensor = states + self.dropout(self.down(active))
        return added


class CrossLayer(nn.Module):
    """Text looks at the picture and the picture at the text, then each at itself."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.to_picture, self.to_text = Attention(width, heads), Attention(width, heads)
        self.text_norm, self.picture_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.text, self.picture = Layer(width, heads, dropout), Layer(width, heads, dropout)

    def forward(self, text: Tensor, picture: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        words, cells = self.text_norm(text), self.picture_norm(picture)
        whole = torch.ones_like(picture[:, :, 0])  # [n, c]
        text = text + self.to_picture(words, cells, whole)
        picture = picture + self.to_text(cells, words, mask)
        return self.text(text, mask), self.picture(picture, whole)


class Entry(nn.Module):
    """The states of a text and the cells of a picture as rows of one width; what is absent has a learned row."""

    def __init__(self, settings: MultimodalSettings, side: Side) -> None:
        super().__init__()
        width = settings.width
        self.text, self.text_norm = nn.Linear(settings.side_width(side), width), nn.LayerNorm(width)
        self.picture, self.picture_norm = nn.Linear(settings.picture_width, width), nn.LayerNorm(width)
        self.kinds = nn.Parameter(torch.randn(2, width) * 0.02)  # text, picture
        self.places = nn.Parameter(torch.randn(settings.cells, width) * 0.02)
        self.absent = nn.Parameter(torch.randn(2, width) * 0.02)  # text, picture

    def forward(self, rows: SideRows) -> tuple[Tensor, Tensor]:
        has_text, has_picture = rows.has_text[:, None, None], rows.has_picture[:, None, None]  # [n, 1, 1]
        text = self.text_norm(self.text(rows.states)) + self.kinds[0]  # [n, t, d]
        picture = self.picture_norm(self.picture(rows.cells)) + self.places + self.kinds[1]  # [n, c, d]
        text = text * has_text + self.absent[0] * (1 - has_text)
        return text, picture * has_picture + self.absent[1] * (1 - has_picture)


class Pooling(nn.Module):
    """The states of the name to one row."""

    def __init__(self, settings: MultimodalSettings) -> None:
        super().__init__()
        self.kind, width = settings.pooling, settings.width
        self.wide = nn.Linear(2 * width if self.kind == "first-last" else width, width)
        self.narrow = nn.Linear(width, width)

    def forward(self, text: Tensor, rows: SideRows) -> Tensor:
        row = torch.arange(len(text), device=text.device)
        if self.kind == "average":
            place = torch.arange(text.shape[1], device=text.device)  # [t]
            taken = ((place >= rows.first[:, None]) & (place < rows.last[:, None])).float()  # [n, t]
            pooled = torch.einsum("nt,ntd->nd", taken / taken.sum(1, keepdim=True), text)
        elif self.kind == "first":
            pooled = text[row, rows.first]
        else:
            pooled = torch.cat([text[row, rows.first], text[row, rows.last - 1]], dim=1)  # [n, 2d]
        narrowed: Tensor = self.narrow(functional.gelu(self.wide(pooled)))  # [n, d]
        return narrowed


class Shortcuts(nn.Module):
    """The mean text and the mean cell of a side, each by a layer of its own; what is absent has a learned row."""

    def __init__(self, settings: MultimodalSettings, side: Side) -> None:
        super().__init__()
        self.text = nn.Linear(settings.side_width(side), settings.width)
        self.picture = nn.Linear(settings.picture_width, settings.width)
        self.absent = nn.Parameter(torch.zeros(2, settings.width))  # text, picture

    def forward(self, rows: SideRows) -> Tensor:
        share = rows.mask / rows.mask.sum(1, keepdim=True)  # [n, t]
        text = unit(self.text(torch.einsum("nt,nth->nh", share, rows.states)))  # [n, d]
        picture = unit(self.picture(rows.cells.mean(1)))
        has_text, has_picture = rows.has_text[:, None], rows.has_picture[:, None]
        text = text * has_text + self.absent[0] * (1 - has_text)
        picture = picture * has_picture + self.absent[1] * (1 - has_picture)
        return torch.cat([text, picture], dim=1)  # [n, 2d]


class SideEncoder(nn.Module):
    """Text and picture of a mention, or of an entity, to one vector."""

    def __init__(self, settings: MultimodalSettings, side: Side, dropout: float) -> None:
        super().__init__()
        self.fusion, width = settings.fusion, settings.width

        def stack(count: int) -> nn.ModuleList:
            return nn.ModuleList(Layer(width, settings.heads, dropout) for _ in range(count))

        self.entry, self.pooling = Entry(settings, side), Pooling(settings)
        own, layers = settings.own_layers, settings.layers
        if self.fusion == "single-stream":
            self.both = stack(own + layers)
        elif self.fusion == "separate-first":
            self.own_text, self.own_picture, self.both = stack(own), stack(own), stack(layers)
        elif self.fusion == "cross-attention":
            self.own_text, self.own_picture = stack(own), stack(own)
            self.cross = nn.ModuleList(CrossLayer(width, settings.heads, dropout) for _ in range(layers))
        elif self.fusion == "modality-attention":
            self.own_text, self.gate = stack(own + layers), nn.Linear(2 * width, 2)
        else:  # concatenation
            self.mix, self.mixed = nn.Linear(2 * width, width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.short = Shortcuts(settings, side) if settings.shortcuts else None

    def forward(self, rows: SideRows) -> Tensor:
        text, picture = self.entry(rows)
        fused = unit(self._fused(text, picture, rows))
        return fused if self.short is None else torch.cat([fused, self.short(rows)], dim=1)  # [n, v]

    def _fused(self, text: Tensor, picture: Tensor, rows: SideRows) -> Tensor:
        if self.fusion in ("modality-attention", "concatenation"):
            return self._simply(text, picture, rows)
        whole = torch.ones_like(picture[:, :, 0])  # [n, c]
        if self.fusion != "single-stream":
            text, picture = run(self.own_text, text, rows.mask), run(self.own_picture, picture, whole)
        if self.fusion == "cross-attention":
            for layer in self.cross:
                text, picture = layer(text, picture, rows.mask)
        else:
            both = run(self.both, torch.cat([text, picture], 1), torch.cat([rows.mask, whole], 1))
            text = both[:, : text.shape[1]]
        pooled: Tensor = self.pooling(self.norm(text), rows)
        return pooled

    def _simply(self, text: Tensor, picture: Tensor, rows: SideRows) -> Tensor:
        if self.fusion == "modality-attention":
            text = run(self.own_text, text, rows.mask)
        words, seen = self.pooling(self.norm(text), rows), picture.mean(1)  # [n, d]
        both = torch.cat([words, seen], dim=1)  # [n, 2d]
        if self.fusion == "concatenation":
            mixed: Tensor = self.mixed(functional.gelu(self.mix(both)))
            return mixed
        gate: Tensor = self.gate(both).softmax(1)  # [n, 2]
        weighed: Tensor = gate[:, :1] * words + gate[:, 1:] * seen
        return weighed


class TogetherEncoder(nn.Module):
    """A mention and an entity read at once, as BLINK's cross-encoder does, to one vector of the pair."""

    def __init__(self, settings: MultimodalSettings, dropout: float) -> None:
        super().__init__()
        width = settings.width
        self.entries = nn.ModuleDict({side: Entry(settings, side) for side in SIDES})
        self.poolings = nn.ModuleDict({side: Pooling(settings) for side in SIDES})
        count = settings.own_layers + settings.layers
        self.both = nn.ModuleList(Layer(width, settings.heads, dropout) for _ in range(count))
        self.norm, self.mix = nn.LayerNorm(width), nn.Linear(2 * width, width)
        self.shorts: nn.ModuleDict | None = None
        if settings.shortcuts:
            self.shorts = nn.ModuleDict({side: Shortcuts(settings, side) for side in SIDES})

    def forward(self, mentions: SideRows, entities: SideRows) -> Tensor:
        """Row by row: the mention of a row with the entity of that row."""
        parts, masks = [], []
        for side, rows in zip(SIDES, (mentions, entities), strict=True):
            text, picture = self.entries[side](rows)
            parts += [text, picture]
            masks += [rows.mask, torch.ones_like(picture[:, :, 0])]
        states = self.norm(run(self.both, torch.cat(parts, 1), torch.cat(masks, 1)))
        split = states.split([part.shape[1] for part in parts], dim=1)
        pooled = [self.poolings["mention"](split[0], mentions), self.poolings["entity"](split[2], entities)]
        mixed = unit(self.mix(torch.cat(pooled, dim=1)))
        if self.shorts is None:
            return mixed  # [n, d]
        return torch.cat([mixed, self.shorts["mention"](mentions) * self.shorts["entity"](entities)], dim=1)  # [n, v]


class Scorer(nn.Module):
    """A number for the product of two vectors and P(e|m): a sum of dot products, and a perceptron over it all.

    Before the first step the perceptron gives 0, so that training starts from the dot products.
    """

    def __init__(self, settings: MultimodalSettings) -> None:
        super().__init__()
        self.width = settings.width
        wide = settings.vector_width
        self.parts = wide // settings.width
        self.sum = nn.Linear(self.parts + 1, 1, bias=False)
        self.wide, self.narrow = nn.Linear(wide + 1, settings.width), nn.Linear(settings.width, 1)
        with torch.no_grad():
            scales = _SCALES if settings.shortcuts else (_ALONE,)
            self.sum.weight.copy_(torch.tensor([[*scales, _PRIOR_SCALE]]))
            nn.init.zeros_(self.narrow.weight)

    def forward(self, product: Tensor, prior: Tensor) -> Tensor:
        """Products [..., v] and priors [...] to scores [...]."""
        dots = product.view(*product.shape[:-1], self.parts, self.width).mean(-1)
        summed = self.sum(torch.cat([dots, prior[..., None]], -1))
        hidden = functional.relu(self.wide(torch.cat([product, prior[..., None]], -1)))
        scores: Tensor = summed + self.narrow(hidden)  # [..., 1]
        return scores[..., 0]


class MultimodalNetwork(nn.Module):
    """Both sides with the scorer; of a model that reads them together, one encoder for both."""

    def __init__(self, settings: MultimodalSettings, dropout: float) -> None:
        super().__init__()
        self.together = settings.fusion == "read-together"
        self.encoders: nn.ModuleDict
        if self.together:
            self.encoders = nn.ModuleDict({"pair": TogetherEncoder(settings, dropout)})
        else:
            self.encoders = nn.ModuleDict({side: SideEncoder(settings, side, dropout) for side in SIDES})
        self.scorer = Scorer(settings)

    def encode(self, side: Side, rows: SideRows) -> Tensor:
        """The vectors of a side [n, v]."""
        vectors: Tensor = self.encoders[side](rows)
        return vectors

    def start_alike(self, text: Directions | None, picture: Directions | None) -> None:
        """Both sides begin with the same weights, and their shortcuts with these projections of texts and pictures.

        So products of the two sides mean something before the first step: the likeness of texts, and of pictures.
        """
        modules = dict(self.encoders.named_modules())
        mentions = {name: module for name, module in modules.items() if SIDES[0] in name.split(".")}
        with torch.no_grad():
            for name, module in mentions.items():
                other = modules[name.replace(*SIDES)]
                for one, same in zip(module.parameters(False), other.parameters(False), strict=True):
                    if one.shape == same.shape:
                        same.copy_(one)
            for short in (module for module in modules.values() if isinstance(module, Shortcuts)):
                for layer, found in ((short.text, text), (short.picture, picture)):
                    if found is not None and layer.weight.shape == found.weight.shape:
                        layer.weight.copy_(found.weight)
                        layer.bias.copy_(found.bias)


def run(layers: nn.ModuleList | Sequence[nn.Module], states: Tensor, mask: Tensor) -> Tensor:
    """States through layers, one after the other."""
    for layer in layers:
        states = layer(states, mask)
    return states


def unit(rows: Tensor) -> Tensor:
    """Rows whose numbers are 1 in the mean of their squares, so that the mean of a product is a cosine."""
    length = torch.linalg.vector_norm(rows, dim=-1, keepdim=True).clamp_min(1e-6)
    scaled: Tensor = rows * (rows.shape[-1] ** 0.5 / length)
    return scaled
