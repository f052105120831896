"""Telling what files are and what is in them, on files made by hand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from entlink.datasets.catalogue.catalogue import card, records_of
from entlink.datasets.catalogue.checking import Part, check
from entlink.datasets.catalogue.counts import Tally
from entlink.datasets.catalogue.dataset_card import DatasetCard, Split
from entlink.documents import Document, GoldLink, Span
from entlink.errors import SourceError
from entlink.formats.public.wikisrs import EntityPair

ROWS = [
    {
        "id": "a",
        "text": "Mercury is near the Sun.",
        "gold": [
            {"start": 0, "end": 7, "entity": "planet"},
            {"start": 16, "end": 23, "entities": ["sun", "star"]},
            {"start": 20, "end": 23, "entity": "sun", "optional": True},
        ],
        "meta": {"part": "one"},
    },
    {
        "id": "b",
        "text": "Zork.",
        "gold": [{"start": 0, "end": 4, "entity": None}],
        "links": [{"start": 0, "end": 4, "text": "Zork", "entity": "planet"}],
        "meta": {"part": "two"},
    },
]


def write(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def made(*splits: Split) -> DatasetCard:
    """A card of files in entlink's own format."""
    return msgspec.structs.replace(card("fever"), name="made", reader="jsonl", splits=splits)


@pytest.fixture
def folder(tmp_path) -> Path:
    write(tmp_path / "data" / "train.jsonl", ROWS)
    write(tmp_path / "data" / "test.jsonl", ROWS[:1])
    (tmp_path / "data" / "README").write_text("Read me.")
    (tmp_path / "data" / ".hidden.jsonl").write_text("{")
    return tmp_path / "data"


@pytest.fixture
def about(folder) -> DatasetCard:
    return made(
        Split(name="train", file="train.jsonl", sha256=sha256(folder / "train.jsonl"), records=2, gold=4),
        Split(name="test", file="test.jsonl"),
        Split(name="dev", file="dev.jsonl"),
    )


def test_files_of_a_folder_are_known_and_counted(folder, about):
    report = check(folder, about)
    test, train = report.files
    assert (train.told_by, train.parts, train.format) == ("checksum", (Part("made", "train"),), "jsonl")
    assert (test.told_by, test.parts) == ("name", (Part("made", "test"),))
    assert (train.checksum, test.checksum) == ("same", "unknown")
    assert train.sha256 == sha256(folder / "train.jsonl")
    assert msgspec.structs.asdict(train.counts) == {
        "records": 2,
        "gold": 4,
        "nil": 1,
        "alternatives": 1,
        "optional": 1,
        "entities": 3,
        "overlapping": 1,
        "outside": 0,
        "duplicates": 0,
        "empty": 0,
        "links": 1,
    }
    assert (train.bad, train.problems, train.warnings, test.warnings) == (0, (), (), ())
    assert report.missing == (Part("made", "dev"),)
    assert report.others == 1
    assert report.is_readable


def test_a_renamed_file_is_known_by_its_checksum(folder, about):
    renamed = (folder / "train.jsonl").rename(folder / "whatever.txt")
    (file,) = check(renamed, about).files
    assert (file.told_by, file.parts) == ("checksum", (Part("made", "train"),))


def test_a_file_is_known_from_within_its_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (file,) = check("test.jsonl", made(Split(name="test", file="data/test.jsonl"))).files
    assert (file.told_by, file.parts) == ("name", (Part("made", "test"),))


def test_an_altered_file_is_a_warning(folder, about):
    write(folder / "train.jsonl", [*ROWS, {"id": "c", "text": "More."}])
    report = check(folder / "train.jsonl", about)
    (file,) = report.files
    assert (file.told_by, file.checksum, file.parts) == ("name", "other", (Part("made", "train"),))
    assert file.warnings == (
        "the checksum is not that of the card: another version, or an altered file",
        "the card of made says 2 records, and here are 3",
    )
    assert report.is_readable


def test_a_file_that_is_asked_to_be_a_dataset_is_read_as_it(folder, about):
    other = write(folder / "mine.jsonl", ROWS)
    (file,) = check(other, msgspec.structs.replace(about, splits=about.splits[1:])).files
    assert (file.told_by, file.parts, file.counts.records) == ("caller", (), 2)


def test_a_bad_record_is_told_with_file_and_line_and_the_rest_is_read(folder, about):
    path = folder / "test.jsonl"
    path.write_text(json.dumps(ROWS[0]) + '\n{"id": "x", "text": 5}\nnot json\n' + json.dumps(ROWS[1]) + "\n")
    report = check(path, about)
    (file,) = report.files
    assert not report.is_readable
    assert (file.counts.records, file.bad) == (2, 2)
    assert file.problems[0].startswith(f"{path}, line 2: field text: Expected `str`")
    assert file.problems[1].startswith(f"{path}, line 3: ")


def test_a_file_without_records_cannot_be_read(folder, about):
    (folder / "test.jsonl").write_bytes(b"\n\n")
    report = check(folder / "test.jsonl", about)
    assert not report.is_readable
    assert report.files[0].problems == (f"{folder / 'test.jsonl'}: there is no record in it. Check how it was made",)


def test_a_file_that_is_cut_off_cannot_be_read(folder, about):
    import lzma

    packed = lzma.compress(b"".join(json.dumps(row).encode() + b"\n" for row in ROWS * 500))
    path = folder / "dev.jsonl"
    path.write_bytes(packed[: len(packed) // 2])
    report = check(path, about)
    assert not report.is_readable
    assert "cut off" in report.files[0].problems[-1]


def test_nothing_of_a_dataset_is_an_error_that_says_what_to_do(folder, about, tmp_path):
    absent = msgspec.structs.replace(about, splits=(about.splits[2], Split(name="x", file="y.jsonl")))
    with pytest.raises(SourceError, match=r"no file of made is here\. Its files are called dev\.jsonl, y\.jsonl; `"):
        check(folder, absent)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="no file of made is here"):
        check(tmp_path / "empty", about)
    with pytest.raises(SourceError, match="no such file or folder"):
        check(tmp_path / "nowhere", about)


def test_parts_that_share_a_file_are_told_by_meta_and_counted_together(folder):
    shared = made(
        Split(name="one", file="train.jsonl", records=1, gold=3, only={"part": "one"}),
        Split(name="two", file="train.jsonl", records=1, gold=1, only={"part": "two"}),
    )
    (file,) = check(folder / "train.jsonl", shared).files
    assert file.parts == (Part("made", "one"), Part("made", "two"))
    assert file.warnings == ()
    documents = [Document("a", "", meta={"part": "one"}), Document("b", "", meta={"part": "two"}), Document("c", "")]
    rest = Split(name="rest", file="train.jsonl", only={"part": ""})
    for split, id in zip((*shared.splits, rest), "abc", strict=True):
        assert [each.id for each in records_of(split, iter(documents))] == [id]


def test_two_splits_with_the_same_content_are_both_named(folder):
    digest = sha256(folder / "train.jsonl")
    twice = made(*(Split(name=name, file=f"{name}.jsonl", sha256=digest, records=2) for name in ("train", "again")))
    (file,) = check(folder / "train.jsonl", twice).files
    assert (file.parts, file.warnings) == ((Part("made", "train"), Part("made", "again")), ())


def test_progress_is_told(folder, about):
    told = []
    check(folder, about, progress=lambda *step: told.append(step))
    assert ("checksums", 0, 3) in told
    assert ("train.jsonl", 0, 2) in told


def test_an_unknown_format_is_told(folder):
    with pytest.raises(SourceError, match=r"no format 'jsonk'\. Did you mean 'jsonl'\?"):
        check(folder, format="jsonk")


# What is odd


def tallied(*documents: Document) -> Tally:
    tally = Tally()
    for document in documents:
        tally.add(document)
    return tally


def gold(*spans: tuple[int, int]) -> tuple[GoldLink, ...]:
    return tuple(GoldLink(Span(*span), ("e",)) for span in spans)


def test_spans_that_do_not_fit_ids_that_stand_twice_and_empty_texts():
    tally = tallied(
        Document("a", "Mercury", gold=gold((0, 7), (3, 9), (2, 2), (5, 3), (-1, 2))),
        Document("a", " \n"),
        Document("b", ""),
    )
    counts = tally.counts
    assert (counts.gold, counts.outside, counts.duplicates, counts.empty) == (5, 4, 1, 2)
    assert tally.warnings() == [
        "gold spans that do not fit their text: 4 (record 1, 'a': the span 3-9 lies outside; "
        "record 1, 'a': the span 2-2 is empty; record 1, 'a': the span 5-3 ends before it starts; …)",
        "records with an id that came before: 1 (record 2, 'a')",
        "records without a text: 2 (record 2, 'a'; record 3, 'b')",
    ]


@pytest.mark.parametrize(
    ("spans", "overlapping"),
    [
        ([], 0),
        ([(0, 2), (2, 4)], 0),
        ([(0, 4), (1, 2), (3, 4)], 2),
        ([(0, 4), (0, 4)], 1),
        ([(5, 6), (0, 3), (2, 5)], 1),
    ],
)
def test_overlapping_gold(spans, overlapping):
    assert tallied(Document("a", "Mercury", gold=gold(*spans))).counts.overlapping == overlapping


def test_of_pairs_entities_are_counted():
    tally = Tally()
    for first, second in (("a", "b"), ("b", "c")):
        tally.add(EntityPair(first, second, first, second, 50.0, 1.0))
    assert (tally.counts.records, tally.counts.entities, tally.warnings()) == (2, 3, [])


def test_of_a_list_of_links_texts_and_offsets_are_not_asked():
    tally = tallied(Document("a", "", gold=gold((0, 7), (0, 9)), meta={"lacks": "text"}))
    assert (tally.counts.gold, tally.warnings(), tally.counts.overlapping) == (2, [], 0)
