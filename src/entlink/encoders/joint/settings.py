"""What a joint model must know to read texts again as it did in training, and what its scores are held against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from entlink.encoders.trained.settings import Similarity
from entlink.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path

    from entlink.encoders.models.card import ModelCard

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class JointSettings(msgspec.Struct, frozen=True):
    """How texts become tokens, and scores chances; part of the card of a joint model.

    `text_tokens` are read at once, signs included, and what a turn leaves free of them is filled with at most
    `context_tokens` of what was said before. A span has at most `longest` tokens. `entities` is what makes the
    vectors of entities, `entity_identity` names those vectors, `scale` multiplies their similarity to a span. The
    chance that a span is a mention is the logistic of `slope` times its score plus `shift`, fitted on what was held
    out if it is `calibrated`; `threshold` and `joint_threshold` were best there.
    """

    text_tokens: Annotated[int, msgspec.Meta(ge=8)] = 128
    context_tokens: Annotated[int, msgspec.Meta(ge=0)] = 48
    longest: Annotated[int, msgspec.Meta(ge=1)] = 12
    similarity: Similarity = "cosine"
    scale: float = 20.0
    entities: str = "minilm"
    entity_identity: str = ""
    slope: float = 1.0
    shift: float = 0.0
    calibrated: bool = False
    threshold: Share = 0.5
    joint_threshold: Share = 0.25


def joint_settings(card: ModelCard, folder: Path) -> JointSettings:
    """The settings in the card of a joint model."""
    try:
        return msgspec.convert(card.settings, JointSettings)
    except msgspec.ValidationError as problem:
        raise DamagedError(
            f"{folder}: the settings in the card of the model {card.name!r} cannot be read ({problem}). "
            "Train the model again, or correct its model.json"
        ) from problem
