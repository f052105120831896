"""The first, tenth and last record of every dataset that is at hand, by hash: real data is not committed.

python tests/helpers/golden_datasets.py > tests/golden/datasets.toml       makes the golden file anew
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from entlink.datasets.catalogue.catalogue import cards, dataset
from entlink.documents import Document
from entlink.formats.documents.lines import encode_document
from knowledge_bases import SHARED_DATA

# Where a dataset stands below the folder of the real data. Of ZESHEL there is a sample only.
FOLDERS = {
    "conel-1": "conel1",
    "conel-1-runs": "conel1",
    "conel-2": "conel2",
    "conel-2-pemd": "conel2",
    "conel-2-runs": "conel2",
    "derczynski": "elevant",
    "fever": "fever",
    "oke-2015": "elevant",
    "oke-2016": "elevant",
    "schools-wikipedia": "schools_wikipedia",
    "tweekigold": "tweekigold",
    "wikisrs": "wikisrs",
    "zeshel": "zeshel_sample",
    "zhwiki-ambiguous": "",
}
SAMPLES = {"zeshel"}


def at_hand() -> Iterator[tuple[str, str]]:
    """The datasets and splits whose files are here."""
    for name, place in FOLDERS.items():
        for split in cards()[name].splits:
            if any((SHARED_DATA / place).rglob(split.file)):
                yield name, split.name


def records(name: str, split: str) -> list[Any]:
    return list(dataset(name, SHARED_DATA / FOLDERS[name], split))


def fingerprint(record: Any) -> dict[str, Any]:
    """A record's id, how many gold links it has, and the hash of its encoded form."""
    is_document = isinstance(record, Document)
    encoded = encode_document(record) if is_document else msgspec.json.encode(record)
    id = record.id if is_document else f"{record.first} {record.second}"
    return {"id": id, "gold": len(record.gold) if is_document else 0, "sha256": hashlib.sha256(encoded).hexdigest()}


def golden(name: str, split: str) -> dict[str, Any]:
    found = records(name, split)
    chosen = {"first": found[0], "tenth": found[9] if len(found) > 9 else None, "last": found[-1]}
    prints = {place: fingerprint(record) for place, record in chosen.items() if record is not None}
    return {"records": len(found), **prints}


def _toml() -> Iterator[str]:
    yield "# Made by `python tests/helpers/golden_datasets.py > tests/golden/datasets.toml`.\n"
    for name, split in at_hand():
        made = golden(name, split)
        yield f"\n[{name}.{split}]\nrecords = {made.pop('records')}\n"
        for place, fields in made.items():
            inner = ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items())
            yield f"{place} = {{ {inner} }}\n"


if __name__ == "__main__":
    sys.stdout.writelines(_toml())
