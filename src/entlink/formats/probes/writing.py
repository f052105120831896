"""A probing task to a folder, whole or not at all; descriptions that many rows share are written once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from entlink.errors import InputError
from entlink.formats.probes.examples import ProbeCard, ProbeEntity, ProbeExample
from entlink.io.atomic import whole_folder

CARD, ENTITIES = "task.toml", "entities.jsonl"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def write_task(folder: Path | str, card: ProbeCard, splits: Mapping[str, Iterable[ProbeExample]]) -> ProbeCard:
    """Write a task, one file a split, and return its card with the sizes; a folder that was there is replaced.

    The rows may be streams. Titles and descriptions of entities with an id go to `entities.jsonl`.
    """
    encoder = msgspec.json.Encoder()
    table: dict[str, tuple[str, str]] = {}
    sizes = {}
    with whole_folder(Path(folder)) as partial:
        for split, rows in splits.items():
            sizes[split] = 0
            with (partial / f"{split}.jsonl").open("wb") as file:
                for row in rows:
                    file.write(encoder.encode(_without_shared(row, table)) + b"\n")
                    sizes[split] += 1
        if table:
            lines = ({"id": id, "title": title, "description": text} for id, (title, text) in table.items())
            (partial / ENTITIES).write_bytes(b"".join(encoder.encode(line) + b"\n" for line in lines))
        card = msgspec.structs.replace(card, sizes=sizes)
        (partial / CARD).write_text(card_text(card), encoding="utf8")
    return card


def _without_shared(row: ProbeExample, table: dict[str, tuple[str, str]]) -> ProbeExample:
    entities, candidates = (tuple(_shared(one, table) for one in side) for side in (row.entities, row.candidates))
    return msgspec.structs.replace(row, entities=entities, candidates=candidates)


def _shared(entity: ProbeEntity, table: dict[str, tuple[str, str]]) -> ProbeEntity:
    """The same without title and description, if those of its id are in the table."""
    if not entity.entity or not (entity.title or entity.description):
        return entity
    if table.setdefault(entity.entity, (entity.title, entity.description)) != (entity.title, entity.description):
        return entity  # another text for the same id stays in its row
    return msgspec.structs.replace(entity, title="", description="")


def card_text(card: ProbeCard) -> str:
    """The card as TOML, in the order of its fields; tables come last."""
    fields: dict[str, Any] = msgspec.to_builtins(card)
    plain = {key: value for key, value in fields.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in fields.items() if isinstance(value, dict) and value}
    lines = [f"{key} = {_toml(value)}" for key, value in plain.items()]
    for key, table in tables.items():
        lines += ["", f"[{key}]", *(f"{_key(name)} = {_toml(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _toml(name)


def _toml(value: object) -> str:
    """A value of TOML: a string is written as JSON does, whose escapes TOML shares."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if isinstance(value, str):
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    raise InputError(f"{value!r} cannot stand in the card of a task. Use text, numbers, true or false")
