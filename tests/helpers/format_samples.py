"""What the tests of dataset formats share: hand-written files, what was wrong with them, the real data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from entlink.documents import Document, GoldLink
from entlink.errors import InputError
from knowledge_bases import SHARED_DATA


def real(place: str) -> Path:
    """A file or folder of the real data; where it is absent the test is skipped."""
    path = SHARED_DATA / place
    if not path.exists():
        pytest.skip(f"the real data is not at {path}")
    return path


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf8")
    return path


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf8")
    return path


def error_of(read: Callable[..., Iterable[Any]], path: Path) -> str:
    """The message of the error that stops the reading."""
    with pytest.raises(InputError) as caught:
        list(read(path))
    return str(caught.value)


def skipping(read: Callable[..., Iterable[Any]], path: Path) -> tuple[list[Any], list[str]]:
    """What is read where bad records are passed over, and what was told of them."""
    told: list[str] = []
    found = list(read(path, on_error="skip", on_problem=lambda error: told.append(str(error))))
    return found, told


def covered(document: Document, gold: GoldLink) -> str:
    return document.text[gold.span.start : gold.span.end]


def answers(document: Document) -> list[tuple[str, tuple[str, ...]]]:
    """Each gold link as what it covers and what it means."""
    return [(covered(document, gold), gold.entities) for gold in document.gold]
