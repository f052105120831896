"""The datasets entlink can read: a card each, in `cards/`, and their records."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.catalogue.dataset_card import DatasetCard, Split
from entlink.datasets.catalogue.records import DatasetRecord, read_records
from entlink.documents import Document
from entlink.errors import InputError
from entlink.text.nearest import nearest_question


@cache
def cards() -> dict[str, DatasetCard]:
    """All cards by name, in the order of the alphabet."""
    texts = _texts(files(__package__).joinpath("cards"))
    found = [msgspec.convert(tomllib.loads(text), DatasetCard) for text in texts]
    return {card.name: card for card in sorted(found, key=lambda card: card.name)}


def _texts(folder: Traversable) -> Iterator[str]:
    """The files of a folder and of those in it."""
    for each in folder.iterdir():
        if each.is_dir():
            yield from _texts(each)
        else:
            yield each.read_text("utf8")


def names() -> list[str]:
    """The names of all datasets."""
    return list(cards())


def card(name: str) -> DatasetCard:
    """The card of a dataset."""
    if name not in cards():
        raise InputError(
            f"there is no dataset {name!r}. {nearest_question(name, cards())}`entlink datasets list` shows them all"
        )
    return cards()[name]


def dataset(name: str, folder: str | Path, split: str) -> Iterator[DatasetRecord]:
    """The records of a part of a dataset that is in a folder: documents with gold, pairs of entities, or others."""
    about = card(name)
    part = about.split(split)
    return records_of(part, read_records(about.reader, about.find(part, Path(folder))))


def records_of(split: Split, records: Iterator[DatasetRecord]) -> Iterator[DatasetRecord]:
    """Those of a file's records that belong to the split."""
    if not split.only:
        return records
    return (each for each in records if isinstance(each, Document) and _says(each.meta, split.only))


def _says(meta: Mapping[str, Any], only: Mapping[str, str]) -> bool:
    return all(meta.get(key, "") == value for key, value in only.items())
