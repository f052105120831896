"""Cards against the real data: checksums and counts, and the first, tenth and last record of every split.

`tests/golden/datasets.toml` is what our readers said. So that it is not only that, the same files are read once more
here by plain means, and every record is compared.
"""

from __future__ import annotations

import csv
import json
import lzma
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from entlink.datasets.catalogue.catalogue import card, dataset
from entlink.datasets.catalogue.checking import check
from entlink.documents import Document
from entlink.errors import InputError
from golden_datasets import FOLDERS, SAMPLES, at_hand, golden
from knowledge_bases import SHARED_DATA

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "datasets.toml").read_text(encoding="utf8"))
SPLITS = [(name, split) for name, splits in GOLDEN.items() for split in splits]
pytestmark = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason=f"the real data sets are not at {SHARED_DATA}")


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Path:
    name = request.node.callspec.params["name"]
    place = SHARED_DATA / FOLDERS[name]
    if not place.is_dir():
        pytest.skip(f"the data of {name} is not at {place}")
    return place


def test_the_golden_file_has_all_that_is_at_hand():
    assert set(at_hand()) <= set(SPLITS), "python tests/helpers/golden_datasets.py > tests/golden/datasets.toml"


@pytest.mark.parametrize(("name", "split"), SPLITS, ids="/".join)
def test_first_tenth_and_last_record(name, split, folder):
    assert golden(name, split) == GOLDEN[name][split]


@pytest.mark.parametrize("name", sorted(set(FOLDERS) - SAMPLES))
def test_files_are_those_of_the_card_and_hold_what_it_says(name, folder):
    about = card(name)
    place = folder / about.splits[0].file if FOLDERS[name] == "" else folder
    report = check(place, about)
    assert report.is_readable
    for file in report.files:
        assert file.told_by == "checksum"
        assert not [warning for warning in file.warnings if "the card" in warning]
        assert (file.counts.outside, file.counts.empty) == (0, 0)
    known = {part.split for file in report.files for part in file.parts}
    assert known == {split.name for split in about.splits if split.sha256}
    assert {part.split for part in report.missing} == {split.name for split in about.splits if not split.sha256}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_sample_is_known_by_its_names(name, folder):
    report = check(folder, card(name))
    assert report.is_readable
    assert all(file.told_by == "name" and "the card of" in file.warnings[0] for file in report.files)


def test_a_missing_split_of_real_data_is_told():
    with pytest.raises(InputError, match="the split test of conel-2"):
        dataset("conel-2", SHARED_DATA / "conel2", "test")


# The same by plain means: what a record is called, its text, and its links in order

NO_ENTITY = "(NoCorrespondingEntity)"
Plain = tuple[str, str, list[tuple[int, int, str | None]]]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    content = path.read_bytes()
    yield from map(json.loads, (lzma.decompress(content) if path.suffix == ".xz" else content).splitlines())


def elevant(path: Path, split: str) -> Iterator[Plain]:
    for row in lines(path):
        links = [(*label["span"], label["entity_id"]) for label in row["labels"]]
        known = [(start, end, id if id.startswith("Q") else None) for start, end, id in links]
        yield str(row["id"]), row["text"], known


def schools(path: Path, split: str) -> Iterator[Plain]:
    for row in lines(path):
        yield row["id"], row["text"], [(one["start"], one["end"], one["entity"]) for one in row["mentions"]]


def zhwiki(path: Path, split: str) -> Iterator[Plain]:
    for row in lines(path):
        if row["split"] == split:
            yield row["id"], row["text"], [(row["start"], row["end"], str(row["gold_id"]))]


def tweeki(path: Path, split: str) -> Iterator[Plain]:
    for row in lines(path):
        ids = [f"Q{link.rpartition('|')[2].strip().lstrip('Q')}" for link in row["link"]]
        links = [(*span, id) for span, id in zip(row["index"], ids, strict=True)]
        yield str(row["id"]), row["sentence"], links


def fever(path: Path, split: str) -> Iterator[Plain]:
    for row in lines(path):
        yield str(row["id"]), row["claim"], []


OFFSETS: list[tuple[str, str, Callable[[Path, str], Iterator[Plain]]]] = [
    ("oke-2015", "train", elevant),
    ("oke-2015", "eval", elevant),
    ("oke-2016", "train", elevant),
    ("oke-2016", "eval", elevant),
    ("derczynski", "all", elevant),
    ("schools-wikipedia", "dev", schools),
    ("schools-wikipedia", "test", schools),
    ("zhwiki-ambiguous", "train", zhwiki),
    ("zhwiki-ambiguous", "dev", zhwiki),
    ("zhwiki-ambiguous", "test", zhwiki),
    ("tweekigold", "all", tweeki),
    ("fever", "paper-dev", fever),
]


@pytest.mark.parametrize(("name", "split", "plain"), OFFSETS)
def test_records_are_what_the_file_says(name, split, plain, folder):
    about = card(name)
    path = about.find(about.split(split), folder)
    found = [
        (each.id, each.text, [(one.span.start, one.span.end, next(iter(one.entities), None)) for one in each.gold])
        for each in dataset(name, folder, split)
        if isinstance(each, Document)
    ]
    assert found == list(plain(path, split))


CONVERSATIONS = [("conel-1", "pe"), ("conel-2", "train"), ("conel-2", "val"), ("conel-2-pemd", "val")]


@pytest.mark.parametrize(("name", "split"), CONVERSATIONS)
def test_dialogues_are_what_the_file_says(name, split, folder):
    about = card(name)
    raw = json.loads(about.find(about.split(split), folder).read_text(encoding="utf8"))
    for document, dialogue in zip(dataset(name, folder, split), raw, strict=True):
        assert document.id == dialogue["dialogue_id"]
        assert [turn.text for turn in document.turns] == [turn["utterance"] for turn in dialogue["turns"]]
        assert surfaces(document) == sorted(annotated(dialogue))


def surfaces(document: Document) -> list[tuple[int, str, str]]:
    """Which turn each gold link stands in, what it covers there, and its entity."""
    found = []
    for gold in document.gold:
        turn = next(at for at, span in enumerate(document.turn_spans) if gold.span.start <= span.end)
        found.append((turn, document.text[gold.span.start : gold.span.end], next(iter(gold.entities), "")))
    return sorted(found)


def annotated(dialogue: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    for at, turn in enumerate(dialogue["turns"]):
        for note in turn.get("el_annotations") or []:
            yield at, note["mention"], note["entity"]
        for note in turn.get("personal_entity_annotations") or []:
            yield at, note["personal_entity_mention"], (note.get("entity") or "").replace(NO_ENTITY, "")


@pytest.mark.parametrize(("name", "split"), [("conel-2-runs", "val-gold"), ("conel-2-runs", "val-crel-w2v")])
def test_rows_are_what_the_file_says(name, split, folder):
    about = card(name)
    rows = defaultdict(list)
    for id, turn, mention, entity in json.loads(about.find(about.split(split), folder).read_text(encoding="utf8")):
        rows[id].append((turn, mention, entity))
    for document in dataset(name, folder, split):
        assert surfaces(document) == sorted(rows.pop(document.id))
    assert not rows


@pytest.mark.parametrize(("name", "split"), [("wikisrs", "similarity")])
def test_pairs_are_what_the_file_says(name, split, folder):
    with (folder / "WikiSRS_similarity.csv").open(encoding="utf8", newline="") as file:
        raw = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = list(dataset(name, folder, split))
    assert [(pair.first, pair.second_name, pair.score) for pair in pairs] == [
        (row["Term1"], row["String2"], float(row["Mean"])) for row in raw
    ]
