"""The networks: a BERT that reads a mention or an entity, and one that reads both at once.

In the shapes n is rows (texts), t tokens of the longest of them, h the width of the BERT, d the width of a vector.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from entlink.encoders.trained.settings import PairPooling
from entlink.encoders.trained.type_names import TypeKind

if TYPE_CHECKING:
    from entlink.encoders.trained.type_names import TypeNames

Side = Literal["mention", "entity"]


class Rows(NamedTuple):
    """Texts of about the same length as tokens, and where in each the name stands."""

    ids: Tensor  # [n, t]
    mask: Tensor  # [n, t], 1 where there is a token
    first: Tensor  # [n]
    last: Tensor  # [n], the token after the name


class Tower(nn.Module):
    """A BERT without its pooler, and a pooling of our own; with `bf16` the BERT alone computes in half precision.

    What comes after it must tell candidates apart that are close to each other, and takes next to no time.
    """

    def __init__(
        self,
        config: dict[str, Any],
        pooling: PairPooling,
        dropout: float = 0.0,
        frozen_layers: int = 0,
        *,
        bf16: bool = False,
    ) -> None:
        super().__init__()
        shape = {key: value for key, value in config.items() if key not in ("architectures", "model_type", "dtype")}
        # On a CPU the plain attention is quicker than the fused one at the lengths mentions have.
        kept = {
            "hidden_dropout_prob": dropout,
            "attention_probs_dropout_prob": dropout,
            "attn_implementation": "eager",
        }
        make: Any = BertModel
        self.bert = make(BertConfig(**{**shape, **kept}), add_pooling_layer=False)
        self.pooling, self.bf16 = pooling, bf16
        self._frozen: list[nn.Module] = []
        if frozen_layers:
            self._frozen = [self.bert.embeddings, *self.bert.encoder.layer[:frozen_layers]]
        for part in self._frozen:
            part.requires_grad_(False)

    def train(self, mode: bool = True) -> Tower:
        """What is not trained is not perturbed either."""
        super().train(mode)
        for part in self._frozen:
            part.eval()
        return self

    def hidden(self, rows: Rows) -> Tensor:
        """A vector a token."""
        with torch.autocast(rows.ids.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            read = self.bert(input_ids=rows.ids, attention_mask=rows.mask)
        hidden: Tensor = read.last_hidden_state.float()  # [n, t, h]
        return hidden

    def forward(self, rows: Rows) -> Tensor:
        hidden = self.hidden(rows)  # [n, t, h]
        if self.pooling == "cls":
            return hidden[:, 0]  # [n, h]
        taken = rows.mask.bool()  # [n, t]
        if self.pooling == "span":
            place = torch.arange(rows.ids.shape[1], device=rows.ids.device)  # [t]
            taken = (place >= rows.first[:, None]) & (place < rows.last[:, None])
        share = taken.float() / taken.sum(1, keepdim=True)  # [n, t]
        return torch.einsum("nt,nth->nh", share, hidden)


class BiEncoder(nn.Module):
    """Mentions and entities as vectors of one space, by one tower or by two.

    Where there are `types`, layers on the vectors say of each side what type it is: that is TyDE.
    """

    def __init__(
        self, towers: dict[str, Tower], width: int, dimension: int, *, cosine: bool, types: TypeNames | None = None
    ) -> None:
        super().__init__()
        self.towers = nn.ModuleDict(towers)  # "shared", or "mention" and "entity"
        self.heads = nn.ModuleDict()
        if dimension:
            self.heads["mention"], self.heads["entity"] = nn.Linear(width, dimension), nn.Linear(width, dimension)
        self.type_heads = nn.ModuleDict()
        if types is not None:
            for side, kind in product(get_args(Side), get_args(TypeKind)):
                self.type_heads[f"{side}_{kind}"] = nn.Linear(dimension or width, len(getattr(types, kind)))
        self._cosine = cosine

    def raw(self, side: Side, rows: Rows) -> Tensor:
        """The vectors as they come, of any length: what types are told from."""
        tower = self.towers["shared" if "shared" in self.towers else side]
        vectors: Tensor = tower(rows)  # [n, h]
        return self.heads[side](vectors) if side in self.heads else vectors  # [n, d]

    def compared(self, vectors: Tensor) -> Tensor:
        """The vectors in the form whose products are the similarity."""
        return nn.functional.normalize(vectors, dim=1) if self._cosine else vectors

    def forward(self, side: Side, rows: Rows) -> Tensor:
        return self.compared(self.raw(side, rows))

    def type_scores(self, side: Side, kind: TypeKind, vectors: Tensor) -> Tensor:
        """What each type scores for raw vectors of a side, before the softmax or the logistic."""
        scores: Tensor = self.type_heads[f"{side}_{kind}"](vectors)  # [n, types]
        return scores


class CrossEncoder(nn.Module):
    """A number for a mention read together with an entity."""

    def __init__(self, tower: Tower, width: int) -> None:
        super().__init__()
        self.tower = tower
        self.score = nn.Linear(width, 1)

    def forward(self, rows: Rows) -> Tensor:
        pooled = self.tower(rows)  # [n, h]
        scores: Tensor = self.score(pooled)  # [n, 1]
        return scores[:, 0]  # [n]
