"""A linker saved as a folder: its configuration, and a card that says where its settings come from.

`entlink.load` takes the folder, and finds by itself the one beside a knowledge base: `shop.linker` beside `shop.kb`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from entlink.errors import ConfigError
from entlink.linking.config import (
    LINKER_FILE,
    LinkerConfig,
    linker_beside,
    read_config,
    read_found,
    with_encoder,
    with_paths_inside,
)
from entlink.version import __version__

CARD_FILE = "card.json"


class LinkerCard(msgspec.Struct, omit_defaults=True):
    """`card.json`: which settings were chosen how. `steps` has one entry a command that wrote to the folder."""

    entlink: str = __version__
    kb: str = ""
    steps: list[dict[str, Any]] = []


def read_card(folder: Path) -> LinkerCard:
    """The card of a saved linker; an empty one where there is none yet."""
    try:
        return msgspec.json.decode((folder / CARD_FILE).read_bytes(), type=LinkerCard)
    except FileNotFoundError:
        return LinkerCard()
    except msgspec.MsgspecError as problem:
        raise ConfigError(
            f"{folder / CARD_FILE}: cannot be read ({problem}). Mend it, or remove it: then a new one is begun"
        ) from problem


def save_linker(folder: Path, config: LinkerConfig, step: Mapping[str, Any], kb: str = "") -> None:
    """Write the configuration, and add a step to the card: what was chosen, on what, with which figures.

    Both files are whole or as they were; the card comes first, so that no setting is there without its reason.
    Models inside of the folder are told by their path from there (`./bi-encoder`).
    """
    from entlink.io.atomic import write_whole

    folder.mkdir(parents=True, exist_ok=True)
    card = read_card(folder)
    written = LinkerCard(__version__, kb or card.kb, [*card.steps, dict(step)])
    write_whole(folder / CARD_FILE, msgspec.json.format(msgspec.json.encode(written)) + b"\n")
    write_whole(folder / LINKER_FILE, config_text(with_paths_inside(config, folder)).encode())


def starting_config(given: str | Path | None, kb: str | Path) -> LinkerConfig:
    """The configuration that is given; else of the linker beside the knowledge base; else `zero-shot`.

    An encoder that it leaves open is the one that is chosen now, so that what is fitted to it is saved with it.
    """
    beside = linker_beside(kb)
    if given is None and (beside / LINKER_FILE).exists():
        return read_found(beside)
    return with_chosen_encoder(read_config(given or "zero-shot"), kb)


def with_chosen_encoder(config: LinkerConfig, kb: str | Path) -> LinkerConfig:
    """The configuration with the encoder that reads the knowledge base, where it is left open."""
    from entlink.kb.indexes.vectors.choice import choose_encoder
    from entlink.kb.knowledge_base import KnowledgeBase

    if with_encoder(config, "") == config:
        return config
    with KnowledgeBase.open(kb, names=False) as opened:
        return with_encoder(config, choose_encoder(opened).wanted)


def config_text(config: LinkerConfig) -> str:
    """A configuration as TOML; what is as by default is left out."""
    fields = msgspec.to_builtins(config)
    default = msgspec.to_builtins(LinkerConfig())
    changed = {name: value for name, value in fields.items() if value != default[name]}
    plain = [f"{_key(name)} = {_value(value)}" for name, value in changed.items() if not _is_table(value)]
    tables = [line for name, value in changed.items() if _is_table(value) for line in _tables(name, value)]
    return "\n".join([*plain, *tables]).strip() + "\n"


def _is_table(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _tables(name: str, value: Any) -> list[str]:
    head = f"[{_key(name)}]" if isinstance(value, dict) else f"[[{_key(name)}]]"
    lines = []
    for table in [value] if isinstance(value, dict) else value:
        lines += ["", head, *(f"{_key(key)} = {_value(one)}" for key, one in table.items() if one is not None)]
    return lines


def _key(name: str) -> str:
    """Quoted always but for plain words, as TOML wants it."""
    return name if name.isascii() and name.replace("-", "").replace("_", "").isalnum() else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
