"""What a model trained on mentions and entities must know to read them again as it did in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from entlink.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path

    from entlink.encoders.models.card import ModelCard

Similarity = Literal["cosine", "dot"]
PairPooling = Literal["mean", "cls", "span"]
Length = Annotated[int, msgspec.Meta(ge=8)]  # a few words beside the signs and markers


class PairSettings(msgspec.Struct, frozen=True):
    """How mentions and entities become tokens, and tokens a vector; part of the card of a trained model.

    `mention_tokens` and `entity_tokens` count all that is read of a side, signs and markers included; a cross-encoder
    reads both at once. `markers` stand before and after the mention, and after the title. `pooling` "span" takes the
    tokens of the mention, and of the title. `similarity` and `separate` (a tower for each side) hold for a dual.
    """

    mention_tokens: Length = 64
    entity_tokens: Length = 64
    markers: tuple[str, str, str] = ("[unused0]", "[unused1]", "[unused2]")
    pooling: PairPooling = "mean"
    similarity: Similarity = "cosine"
    separate: bool = False


def pair_settings(card: ModelCard, folder: Path) -> PairSettings:
    """The settings in the card of a trained model."""
    try:
        return msgspec.convert(card.settings, PairSettings)
    except msgspec.ValidationError as problem:
        raise DamagedError(
            f"{folder}: the settings in the card of the model {card.name!r} cannot be read ({problem}). "
            "Export the model again, or correct its model.json"
        ) from problem
