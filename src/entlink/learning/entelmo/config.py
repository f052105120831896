"""What EntELMo is trained as: sizes, losses and lengths, read from TOML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from entlink.encoders.recurrent.settings import RecurrentShape, checked_shape
from entlink.errors import ConfigError
from entlink.learning.train_config import TrainingConfig, read_settings

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Variant = Literal["full", "baseline", "without-ctx", "etn"]
PRESETS = Path(__file__).parent / "presets"
# What belongs to models of mentions and entities.
_UNFIT = ("accumulate", "type_rate", "negatives", "mine", "keep_rate", "masked", "speakers", "device", "export")


class EntElmoModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is trained.

    `variant` says which losses are added to that of the language model: `full` has l_desc (the description from the
    mention in its context) and l_ctx (the context from the description), `without-ctx` the first alone, `etn` the
    first and only the mention from the description, `baseline` none. The `vocabulary` most frequent words are
    predicted, against `samples` drawn ones. Of a text to be reconstructed at most `bag_words` words are taken, by
    chance. Contexts are cut to `context_tokens` words around their mention, descriptions to `description_tokens`.
    """

    kind: Literal["entelmo"]
    variant: Variant = "full"
    shape: RecurrentShape = RecurrentShape()
    vocabulary: Annotated[int, msgspec.Meta(ge=8)] = 20_000
    samples: AtLeastOne = 1_024
    bag_words: AtLeastOne = 50
    context_tokens: Annotated[int, msgspec.Meta(ge=4)] = 64
    description_tokens: AtLeastOne = 100
    dropout: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.1

    @property
    def describes(self) -> bool:
        """Whether descriptions are reconstructed from mentions (l_desc)."""
        return self.variant != "baseline"

    @property
    def tells_contexts(self) -> bool:
        """Whether contexts, or their mentions, are reconstructed from descriptions (l_ctx, l_etn)."""
        return self.variant in ("full", "etn")


class EntElmoConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model and its training; of `training`, what concerns mentions and negatives does not apply."""

    model: EntElmoModel
    training: TrainingConfig = TrainingConfig()


def preset_names() -> list[str]:
    """The configurations in the box."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def read_entelmo_config(spec: str | Path = "entelmo", settings: Mapping[str, str] | None = None) -> EntElmoConfig:
    """The configuration of a preset or a TOML file; `settings` such as {"model.variant": "etn"} are laid over it."""
    config = read_settings(
        spec, PRESETS, settings, EntElmoConfig, {"model": EntElmoModel, "training": TrainingConfig}
    )
    return checked(config)


def checked(config: EntElmoConfig) -> EntElmoConfig:
    """The configuration, if its parts fit together."""
    checked_shape(config.model.shape)
    usual = TrainingConfig()
    for name in _UNFIT:
        if getattr(config.training, name) != getattr(usual, name):
            raise ConfigError(f"training.{name} does not fit EntELMo, which learns from whole texts. Leave it out")
    return config
