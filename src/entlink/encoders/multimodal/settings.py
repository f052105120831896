"""What a multimodal model must know to read mentions and entities again as it did in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, get_args

import msgspec

from entlink.encoders.trained.settings import PairSettings
from entlink.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path

    from entlink.encoders.models.card import ModelCard

Input = Literal["mention-text", "mention-picture", "entity-text", "entity-picture"]
INPUTS: tuple[Input, ...] = get_args(Input)
Fusion = Literal[
    "single-stream", "separate-first", "cross-attention", "modality-attention", "concatenation", "read-together"
]
Pooling = Literal["first-last", "first", "average"]
EntityText = Literal["text", "vectors"]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Whole = Annotated[int, msgspec.Meta(ge=0)]


class MultimodalSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The shape of a multimodal model and how its inputs are made; part of its card.

    `fusion` is how text and picture meet. `own_layers` transformers come before they meet, `layers` after; `width` is
    that of all of them, with `heads`. Texts are states of the first `base_layers` layers of a BERT, 0 for its
    embeddings. A picture has `cells` rows of `picture_width` numbers, made by the encoder `pictures` of the identity
    `picture_identity`. `uses` are the inputs that were there in training, and `entity_vectors` names the vectors that
    an entity has in the place of its text. With `shortcuts` the vector of a side has the means of its inputs beside
    the fused vector.
    """

    pairs: PairSettings
    fusion: Fusion = "single-stream"
    pooling: Pooling = "first-last"
    base_layers: Whole = 0
    text_width: Positive
    entity_width: Positive
    entity_text: EntityText = "text"
    entity_vectors: str = ""
    pictures: str = ""
    picture_identity: str = ""
    picture_folder: str = ""
    cells: Positive = 9
    picture_width: Positive
    width: Positive = 128
    heads: Positive = 4
    own_layers: Whole = 1
    layers: Whole = 1
    shortcuts: bool = True
    prior: bool = True
    uses: tuple[Input, ...] = INPUTS

    @property
    def vector_width(self) -> int:
        """How wide the vector of a side is: the fused one, and with shortcuts those of text and picture."""
        return self.width * (3 if self.shortcuts else 1)

    def side_width(self, side: Literal["mention", "entity"]) -> int:
        """How wide a state of the text of a side is."""
        return self.text_width if side == "mention" else self.entity_width


def multimodal_settings(card: ModelCard, folder: Path) -> MultimodalSettings:
    """The settings in the card of a multimodal model."""
    try:
        return msgspec.convert(card.settings, MultimodalSettings)
    except msgspec.ValidationError as problem:
        raise DamagedError(
            f"{folder}: the settings in the card of the model {card.name!r} cannot be read ({problem}). "
            "Train the model again"
        ) from problem
