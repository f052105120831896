"""Whether a linker that was found beside a knowledge base, and not named by anybody, keeps to its own folder.

What lies there may have come with the knowledge base from elsewhere. Models of the store are the user's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.errors import ConfigError
from entlink.linking.config import MODELS, LinkerConfig, Stage
from entlink.linking.registry import BUILT_IN

# Cards of models that name another model: the encoder that they were trained with.
_CARDS = ("model.json", "detector.json", "senses.json")
_ENCODERS = ("encoder", "entities")


def check_keeps_inside(config: LinkerConfig, folder: Path) -> None:
    """A ConfigError that names what the linker in `folder` would load from outside of it, if there is any."""
    outside = list(dict.fromkeys(_outside(config, folder.resolve())))
    if outside:
        raise ConfigError(
            f"{folder}: this linker was found beside the knowledge base, and would load from outside its folder: "
            f"{'; '.join(outside)}. If you trust it, name it (--config {folder}), or give --trust (in Python, "
            "trust=True)"
        )


def _outside(config: LinkerConfig, folder: Path) -> Iterator[str]:
    for kind, stage in stages_of(config):
        name = str(stage.get("name"))
        if name not in BUILT_IN[kind]:
            yield f"the {kind} {name!r} of another package"
        for setting, value in stage.items():
            if setting in MODELS and isinstance(value, str):
                yield from (f"[{kind}] {name}, {setting} = {one!r}" for one in _led_out(value, folder))
    personal = config.conversation.personal
    if isinstance(personal, str):
        yield from (f"[conversation] personal = {one!r}" for one in _led_out(personal, folder))


def stages_of(config: LinkerConfig) -> Iterator[tuple[str, Stage]]:
    """Every stage of a configuration, with its kind."""
    yield "detector", config.detector
    yield from (("retriever", stage) for stage in config.retriever)
    if config.fusion is not None:
        yield "fusion", config.fusion
    yield from (("evidence", stage) for stage in config.evidence)
    yield "ranker", config.ranker
    yield "nil", config.nil
    yield "nil_type", config.nil_type


def _led_out(model: str, folder: Path) -> Iterator[str]:
    """The model if it is a path to elsewhere; of one in the folder, the encoders elsewhere that its cards name."""
    path = Path(model)
    if os.sep not in model and not path.exists():
        return  # the name of a model in the store, or of a package
    if not path.resolve().is_relative_to(folder):
        yield model
        return
    for card in _CARDS:
        for encoder in _encoders(path / card):
            yield from _led_out(encoder, folder)


def _encoders(card: Path) -> Iterator[str]:
    """What a card names; one that cannot be read is told when the model is loaded."""
    try:
        read: Any = msgspec.json.decode(card.read_bytes())
    except (OSError, msgspec.DecodeError):
        return
    for table in (read, read.get("settings")) if isinstance(read, dict) else ():
        if isinstance(table, dict):
            yield from (one for name in _ENCODERS if isinstance(one := table.get(name), str))
