"""Entities of Wikidata for tests, written as its JSON dumps write them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Stated = str | tuple[str, str]  # a value, or a value and its rank


def item(
    id: str,
    labels: Mapping[str, str] | None = None,
    *,
    descriptions: Mapping[str, str] | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
    claims: Mapping[str, Sequence[Stated]] | None = None,
    sitelinks: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """An item; a value is an id, a time such as `+1976-04-01/11`, `novalue`, `somevalue`, or else a text."""
    return {
        "type": "item",
        "id": id,
        "labels": _texts(labels or {}),
        "descriptions": _texts(descriptions or {}),
        "aliases": {code: [_text(code, name) for name in names] for code, names in (aliases or {}).items()},
        "claims": {
            property: [_statement(id, property, number, value) for number, value in enumerate(values)]
            for property, values in (claims or {}).items()
        },
        "sitelinks": {
            site: {"site": site, "title": title, "badges": []} for site, title in (sitelinks or {}).items()
        },
    }


def _texts(texts: Mapping[str, str]) -> dict[str, Any]:
    return {code: _text(code, value) for code, value in texts.items()}


def _text(code: str, value: str) -> dict[str, str]:
    return {"language": code, "value": value}


def _statement(id: str, property: str, number: int, stated: Stated) -> dict[str, Any]:
    value, rank = stated if isinstance(stated, tuple) else (stated, "normal")
    snak: dict[str, Any] = {"snaktype": "value", "property": property}
    if value in ("novalue", "somevalue"):
        snak["snaktype"] = value
    elif value[:1] == "Q" and value[1:].isdecimal():
        known = {"entity-type": "item", "numeric-id": int(value[1:]), "id": value}
        snak |= {"datavalue": {"value": known, "type": "wikibase-entityid"}, "datatype": "wikibase-item"}
    elif value[:1] in ("+", "-"):
        day, _, precision = value.partition("/")
        time = {"time": f"{day}T00:00:00Z", "timezone": 0, "before": 0, "after": 0, "precision": int(precision)}
        time["calendarmodel"] = "http://www.wikidata.org/entity/Q1985727"
        snak |= {"datavalue": {"value": time, "type": "time"}, "datatype": "time"}
    else:
        snak |= {"datavalue": {"value": value, "type": "string"}, "datatype": "string"}
    return {"mainsnak": snak, "type": "statement", "id": f"{id}${property}-{number}", "rank": rank, "references": []}


def dump(entities: Iterable[Mapping[str, Any]]) -> str:
    """The entities as a dump: an array with one of them a line."""
    lines = (json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in entities)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def write_dump(path: Path, entities: Iterable[Mapping[str, Any]]) -> Path:
    """The dump in a file."""
    path.write_text(dump(entities), encoding="utf8")
    return path
