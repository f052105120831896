"""What to train and how, as read from TOML: a preset in the box, or a file of the user's own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from entlink.encoders.multimodal.settings import EntityText, Fusion, Input, Pooling
from entlink.encoders.trained.settings import PairPooling, PairSettings, Similarity
from entlink.errors import ConfigError

_Config = TypeVar("_Config", bound=msgspec.Struct)
_PRESETS = Path(__file__).parent / "presets"
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
AtLeastZero = Annotated[int, msgspec.Meta(ge=0)]
Above = Annotated[float, msgspec.Meta(gt=0)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # what fits into the files that it is written to


class ModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is trained: a tower of BERT from `base` on, how it reads, and what its loss is.

    `base` is a model of the store, a folder in the layout of Hugging Face, or the folder of a trained model to go on
    from. `dimension` 0 leaves the vectors of a bi-encoder as the tower gives them; `scale` multiplies its cosines
    before the softmax. The embeddings and the first `frozen_layers` layers are not trained, which is faster; 0 trains
    all. With `fixed_entities` only the tower of mentions is trained, towards vectors of entities that stay as the
    base gives them: each is made once, so that a step takes a fraction of the time. A bi-encoder that is `typed`
    (TyDE) learns the types of mentions and entities with the rest: the coarse one, and the `fine_types` that most
    entities have; the losses of both count `type_weight` times. `loss` is of a cross-encoder.
    Of a joint model, `entities` is the encoder whose vectors of entities it learns to reach; it reads `text_tokens`
    at once, and fills what a turn leaves free with at most `context_tokens` of earlier ones; a mention has at most
    `longest` tokens. A map changes the vectors that the encoder `base` has of mentions; `dimension` is its rank.
    A multimodal model has a table of its own; `base` reads its texts and stays as it is.
    """

    kind: Literal["bi-encoder", "cross-encoder", "joint", "map", "multimodal"]
    base: str = "minilm"
    mention_tokens: Annotated[int, msgspec.Meta(ge=8)] = 64
    entity_tokens: Annotated[int, msgspec.Meta(ge=8)] = 64
    markers: tuple[str, str, str] = ("[unused0]", "[unused1]", "[unused2]")
    pooling: PairPooling = "mean"
    similarity: Similarity = "cosine"
    separate: bool = False
    fixed_entities: bool = False
    dimension: AtLeastZero = 0
    scale: Above = 20.0
    typed: bool = False
    fine_types: AtLeastOne = 10_000
    type_weight: Above = 0.2
    loss: Literal["softmax", "binary"] = "softmax"
    dropout: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.1
    frozen_layers: AtLeastZero = 0
    entities: str = "minilm"
    text_tokens: Annotated[int, msgspec.Meta(ge=8)] = 128
    context_tokens: AtLeastZero = 48
    longest: AtLeastOne = 12

    @property
    def pairs(self) -> PairSettings:
        """What the trained model must know to read as in training."""
        return PairSettings(
            self.mention_tokens, self.entity_tokens, self.markers, self.pooling, self.similarity, self.separate
        )


class MultimodalConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a multimodal model is: how text and picture of a mention, and of an entity, meet.

    `fusion` says how: in one stream (UNITER), each in transformers of its own first (UNITER*), by cross-attention
    (LXMERT), by modality attention (MMEL18), by concatenation (MMEL20), or with mention and entity read together
    (BLINK). `own_layers` come before text and picture meet, `layers` after; where they meet at once, all of them are
    joint. `pooling` is that of the name. Texts are states of the first `base_layers` layers of the base, 0 for its
    word-piece embeddings; with `entity_text` "vectors" an entity has one vector, of the knowledge base's index, in
    the place of its text. Pictures are read by the encoder `pictures` as a map of `cells`; those of entities are in
    `picture_folder`. With `shortcuts` the means of text and picture are compared beside what the network makes of
    them: few examples need that. `prior` adds P(e|m). `without` leaves inputs out, in training and at work. The loss
    of a mention compares its entity with those of at most `in_batch` other mentions, too. Of the pictures, a share
    `drop` is left out of each step, of the texts `drop_text`, and a share `swap` of the mentions has the picture of
    another mention.
    """

    fusion: Fusion = "single-stream"
    pooling: Pooling = "first-last"
    base_layers: AtLeastZero = 0
    entity_text: EntityText = "text"
    pictures: str = "efficientnet-lite0"
    picture_folder: str = ""
    cells: AtLeastOne = 49
    width: AtLeastOne = 128
    heads: AtLeastOne = 4
    own_layers: AtLeastZero = 1
    layers: AtLeastZero = 1
    shortcuts: bool = True
    prior: bool = True
    without: tuple[Input, ...] = ()
    in_batch: AtLeastZero = 31
    drop: Share = 0.1
    drop_text: Share = 0.0
    swap: Share = 0.0


class TrainingConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it is trained.

    A step is `batch` mentions `accumulate` times over. `steps` 0 are those of `epochs`. The learning rate rises over
    the share `warmup` of the steps and falls to 0 over the rest; that of the layers of types, which are new, is
    `type_rate` times as high; `decay` is that of the weights, `clip` the longest
    gradient. Every `evaluate_every` steps (0: at the end of an epoch) at most `held_out` held-out mentions are looked
    at, and after `patience` times without a better figure (0: never) training ends. `negatives` are mined for a
    mention, of which each is kept with `keep_rate` whenever the mention comes up; with `masked` the name itself is
    hidden, so that what stands around it must tell. A checkpoint is written with
    each look, every `checkpoint_every` steps and every five minutes (0: with looks only). `precision` bf16 is for
    processors that know it; `export` is that of the model written. A joint model learns from the turns of `speakers`,
    if some are named, and takes those of others for context only.
    """

    epochs: AtLeastOne = 1
    steps: AtLeastZero = 0
    batch: AtLeastOne = 16
    accumulate: AtLeastOne = 1
    learning_rate: Above = 3e-5
    type_rate: Above = 10.0
    warmup: Share = 0.1
    decay: Annotated[float, msgspec.Meta(ge=0)] = 0.01
    clip: Above = 1.0
    evaluate_every: AtLeastZero = 0
    patience: AtLeastZero = 0
    held_out: AtLeastOne = 500
    seed: Seed = 0
    negatives: AtLeastZero = 7
    mine: Literal["names", "vectors", "linker"] = "names"
    keep_rate: Share = 1.0
    masked: Share = 0.0
    device: str = "cpu"
    precision: Literal["fp32", "bf16"] = "fp32"
    export: Literal["int8", "fp32"] = "int8"
    checkpoint_every: AtLeastZero = 200
    speakers: tuple[str, ...] = ()


class TrainConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model and its training."""

    model: ModelConfig
    training: TrainingConfig = TrainingConfig()
    multimodal: MultimodalConfig = MultimodalConfig()


def preset_names() -> list[str]:
    """The configurations in the box."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml"))


def read_train_config(spec: str | Path, settings: Mapping[str, str] | None = None) -> TrainConfig:
    """The configuration of a preset or a TOML file; `settings` such as {"training.epochs": "3"} are laid over it."""
    parts: dict[str, type[msgspec.Struct]] = {
        "model": ModelConfig,
        "training": TrainingConfig,
        "multimodal": MultimodalConfig,
    }
    return checked(read_settings(spec, _PRESETS, settings, TrainConfig, parts))


def read_settings(
    spec: str | Path,
    presets: Path,
    settings: Mapping[str, str] | None,
    kind: type[_Config],
    parts: Mapping[str, type[msgspec.Struct]],
) -> _Config:
    """A configuration of a TOML file, or one of the folder `presets` by its name, with settings laid over it."""
    names = sorted(path.stem for path in presets.glob("*.toml"))
    path = presets / f"{spec}.toml" if str(spec) in names else Path(spec)
    if not path.is_file():
        raise ConfigError(f"{spec}: no such file, and no configuration in the box. Those are {', '.join(names)}")
    try:
        read = tomllib.loads(path.read_text(encoding="utf8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: this is not TOML ({problem}). Correct it") from problem
    for key, value in (settings or {}).items():
        _lay(read, key, value, parts)
    try:
        return msgspec.convert(read, kind)
    except msgspec.ValidationError as problem:
        raise ConfigError(f"{path}: {problem}. Correct it; docs/training.md lists the settings") from problem


def checked(config: TrainConfig) -> TrainConfig:
    """The configuration, if its parts fit together."""
    model = config.model
    if model.kind != "multimodal" and config.multimodal != MultimodalConfig():
        raise ConfigError(f"the settings of multimodal do not fit a {model.kind}. Leave them out")
    if model.kind == "joint":
        _check_joint(config)
    elif model.kind == "multimodal":
        _check_multimodal(config)
    elif model.kind == "map":
        _check_map(config)
    elif config.training.speakers:
        raise ConfigError(f"training.speakers does not fit a {model.kind}: it learns from mentions, not from turns")
    elif model.kind == "cross-encoder":
        towers = ("dimension", "separate", "fixed_entities", "typed")
        for name, given in ((name, getattr(model, name)) for name in towers):
            if given:
                raise ConfigError(f"model.{name} = {given} does not fit a cross-encoder, which reads both at once")
    elif model.loss != "softmax":
        raise ConfigError(
            f"model.loss = {model.loss!r} does not fit a bi-encoder: its loss is the softmax of a batch"
        )
    elif model.typed and model.fixed_entities:
        raise ConfigError(
            "model.typed = true does not fit model.fixed_entities = true: types are learnt of both sides. "
            "Leave one out"
        )
    elif model.fixed_entities and (not model.separate or model.dimension):
        raise ConfigError(
            "model.fixed_entities = true keeps the vectors of entities as they are: set model.separate to true and "
            "model.dimension to 0 with it"
        )
    return config


def _check_map(config: TrainConfig) -> None:
    model, training = config.model, config.training
    unfit = {"separate": model.separate, "fixed_entities": model.fixed_entities, "loss": model.loss != "softmax"}
    for name, given in unfit.items():
        if given:
            raise ConfigError(
                f"model.{name} = {getattr(model, name)} does not fit a map, which leaves the encoder as it is"
            )
    if training.masked or training.speakers:
        raise ConfigError(
            "training.masked and training.speakers do not fit a map: the encoder reads as it always does"
        )


def _check_multimodal(config: TrainConfig) -> None:
    model, own = config.model, config.multimodal
    for name in ("dimension", "separate", "fixed_entities", "typed", "frozen_layers"):
        if getattr(model, name):
            raise ConfigError(f"model.{name} = {getattr(model, name)} does not fit a multimodal model. Leave it out")
    if config.training.speakers:
        raise ConfigError(
            "training.speakers does not fit a multimodal model: it learns from mentions, not from turns"
        )
    if own.width % own.heads:
        raise ConfigError(
            f"multimodal.width = {own.width} does not fit {own.heads} heads: it must be a multiple. Set it to "
            f"{own.heads * max(1, own.width // own.heads)}"
        )
    for side in ("mention", "entity"):
        if {f"{side}-text", f"{side}-picture"} <= set(own.without):
            raise ConfigError(f"multimodal.without leaves out text and picture of each {side}. Keep one of them")


def _check_joint(config: TrainConfig) -> None:
    model, training = config.model, config.training
    for name in ("dimension", "separate", "fixed_entities", "typed"):
        if getattr(model, name):
            raise ConfigError(
                f"model.{name} = {getattr(model, name)} does not fit a joint model: its vectors are those of "
                f"model.entities ({model.entities!r}), which stay as they are"
            )
    if model.loss != "softmax":
        raise ConfigError(f"model.loss = {model.loss!r} does not fit a joint model: it has a loss of its own")
    if training.masked or training.keep_rate < 1:
        raise ConfigError(
            "training.masked and training.keep_rate do not fit a joint model: its names are always to be seen, and a "
            "mention is compared with all entities. Leave them out"
        )


def _lay(read: dict[str, Any], key: str, value: str, parts: Mapping[str, type[msgspec.Struct]]) -> None:
    """Set one value; a part of a part is named as in model.shape.hidden."""
    part, *inner = key.split(".")
    if part not in parts or not all(inner) or not inner:
        parts_named = " or ".join(f"{one}.NAME" for one in parts)
        raise ConfigError(f"{key!r} is no setting. Write it as {parts_named}")
    *inner, name = inner
    kind: Any = parts[part]
    place = read.setdefault(part, {})
    for step in inner:
        kind = _part_of(kind, step, key)
        place = place.setdefault(step, {}) if isinstance(place, dict) else None
    if name not in kind.__struct_fields__:
        raise ConfigError(f"there is no setting {key!r}. There is {', '.join(kind.__struct_fields__)}")
    if isinstance(place, dict):
        place[name] = _parsed(value)


def _part_of(kind: Any, step: str, key: str) -> Any:
    found = next((field.type for field in msgspec.structs.fields(kind) if field.name == step), None)
    if not (isinstance(found, type) and issubclass(found, msgspec.Struct)):
        raise ConfigError(f"there is no setting {key!r}: {step!r} has no settings within it")
    return found


def _parsed(value: str) -> Any:
    """A value as TOML has it; what is none is text, so that names need no quotes."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
