"""ZESHEL's mentions: tokens become characters, and documents pass by without being held."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.formats.public import zeshel
from format_samples import answers, error_of, skipping, write_lines

PAGES = [
    {"document_id": "D1", "title": "Mill", "text": "Mill The  mill at 𝄞 Ulm turned . Ulm slept"},
    {"document_id": "D2", "title": "Ulm", "text": "Ulm A town"},
]


def mention(first, last, text, document="D1", corpus="river", **more):
    return {
        "mention_id": f"M{first}",
        "context_document_id": document,
        "label_document_id": "D2",
        "corpus": corpus,
        "start_index": first,
        "end_index": last,
        "text": text,
        "category": "HIGH_OVERLAP",
        **more,
    }


@pytest.fixture
def folder(tmp_path):
    for name in ("mentions", "documents"):
        (tmp_path / name).mkdir()
    write_lines(tmp_path / "documents" / "river.json", PAGES)
    write_lines(tmp_path / "documents" / "hill.json", [{"document_id": "D3", "title": "Hill", "text": "Hill Hut"}])
    return tmp_path


def write_split(folder, *mentions, name="val"):
    return write_lines(folder / "mentions" / f"{name}.json", mentions)


def test_mentions_become_gold_of_their_document(folder):
    path = write_split(folder, mention(8, 8, "Ulm"), mention(1, 4, "The mill at 𝄞"), mention(5, 5, "Ulm"))
    [document] = zeshel.read(path)
    assert (document.id, document.text) == ("D1", PAGES[0]["text"])
    assert document.meta == {"domain": "river", "title": "Mill", "split": "val"}
    assert answers(document) == [("The  mill at 𝄞", ("D2",)), ("Ulm", ("D2",)), ("Ulm", ("D2",))]
    assert [gold.span.start for gold in document.gold] == [5, 20, 33]
    assert document.gold[0].meta == {"category": "HIGH_OVERLAP", "mention_id": "M1", "mention": "The mill at 𝄞"}


def test_the_worlds_are_read_one_after_the_other(folder):
    path = write_split(folder, mention(1, 1, "Hut", "D3", "hill"), mention(0, 0, "Ulm", "D2"), mention(0, 0, "Mill"))
    assert [(one.id, one.meta["domain"]) for one in zeshel.read(path)] == [
        ("D3", "hill"),
        ("D1", "river"),
        ("D2", "river"),
    ]


def test_the_folder_has_all_splits_without_the_one_for_debugging(folder):
    for name in ("debug", "test", "train", "extra", "heldout_train_seen"):
        write_split(folder, mention(0, 0, "Ulm", "D2"), name=name)
    (folder / "mentions" / "notes.jsonl").write_text("not mentions")
    assert [one.meta["split"] for one in zeshel.read(folder)] == ["train", "test", "heldout_train_seen", "extra"]
    assert [one.meta["split"] for one in zeshel.read(str(folder / "mentions" / "debug.json"))] == ["debug"]


def test_compressed_files_are_read(folder):
    for path in (write_split(folder, mention(0, 0, "Ulm", "D2")), folder / "documents" / "river.json"):
        path.with_suffix(".json.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert [one.meta["split"] for one in zeshel.read(folder / "mentions" / "val.json.gz")] == ["val"]
    assert [one.id for one in zeshel.read(folder)] == ["D2"]


@pytest.mark.parametrize(
    ("bad", "parts"),
    [
        (mention(1, 1, "mill"), ["tokens 1 to 1 of 'D1' are 'The', not 'mill'", "count tokens"]),
        (mention(5, 99, "Ulm"), ["tokens 5 to 99 do not lie in the document 'D1' of 10 tokens"]),
        (mention(2, 1, "mill"), ["tokens 2 to 1"]),
        (mention(-1, 1, "mill"), ["tokens -1 to 1"]),
        (mention(10, 14, "mill"), ["seem to be characters"]),
        (mention(21, 24, "Ulm"), ["seem to be UTF-16 units"]),
        (mention(2, 3, "mill"), ["are 'mill at', not 'mill'", "seem to be tokens with the end left out."]),
        (mention(0, 0, "Ulm", "D9"), ["context document 'D9' of mention 'M0' is not in", "river.json"]),
        ({"corpus": "river"}, ["missing required field `context_document_id`"]),
        (mention("0", 0, "Ulm"), ["field start_index"]),
    ],
)
def test_a_bad_mention_is_named_and_can_be_skipped(bad, parts, folder):
    path = write_split(folder, mention(0, 0, "Ulm", "D2"), bad)
    message = error_of(zeshel.read, path)
    assert message.startswith(f"{path}, line 2: ")
    assert all(part in message for part in parts)
    found, told = skipping(zeshel.read, path)
    assert "D2" in [document.id for document in found]
    assert told == [message]


def test_a_world_that_is_missing_is_named(folder):
    path = write_split(folder, mention(0, 0, "Ulm", "D2"), mention(0, 0, "Sea", "D4", "sea"))
    message = error_of(zeshel.read, path)
    assert f"{folder / 'documents' / 'sea.json'}: the documents" in message
    found, told = skipping(zeshel.read, path)
    assert [document.id for document in found] == ["D2"]
    assert told == [message]


def test_a_bad_document_is_named(folder):
    (folder / "documents" / "river.json").write_text('{"document_id": "D1"}\n' + json.dumps(PAGES[1]))
    path = write_split(folder, mention(0, 0, "Ulm", "D2"))
    assert error_of(zeshel.read, path).startswith(f"{folder / 'documents' / 'river.json'}, line 1: ")
    found, _ = skipping(zeshel.read, path)
    assert [document.id for document in found] == ["D2"]


def test_what_is_no_place_of_mentions(folder):
    assert "no files of mentions" in error_of(zeshel.read, folder)
    assert "Pass the path" in error_of(zeshel.read, io.BytesIO(b"{}"))
    assert "no such file" in error_of(zeshel.read, folder / "mentions" / "none.json")


def test_a_mention_may_mean_nothing(folder):
    path = write_split(folder, mention(0, 0, "Ulm", "D2", label_document_id=None, category=None))
    [document] = zeshel.read(path)
    assert document.gold[0].is_nil
    assert document.gold[0].meta == {"mention_id": "M0", "mention": "Ulm"}


def test_candidates_by_mention(tmp_path):
    path = write_lines(tmp_path / "val.json", [{"mention_id": "M1", "tfidf_candidates": ["D2", "D1"]}])
    assert dict(zeshel.read_candidates(path)) == {"M1": ("D2", "D1")}
    (tmp_path / "bad.json").write_text('{"mention_id": "M1"}')
    assert "line 1: Object missing" in error_of(zeshel.read_candidates, tmp_path / "bad.json")


def test_it_is_told_by_its_head_or_its_folders(folder):
    path = write_split(folder, mention(0, 0, "Ulm"))
    assert zeshel.looks_like(path, path.read_bytes())
    assert zeshel.looks_like(folder, b"")
    assert not zeshel.looks_like(folder / "mentions", b"")
    for other in (folder / "documents" / "river.json", write_lines(folder / "c.json", [{"mention_id": "M1"}])):
        assert not zeshel.looks_like(other, other.read_bytes())


def test_memory_does_not_grow_with_the_documents(folder):
    path = write_split(folder, mention(0, 0, "Ulm", "D2"))

    def peak(count):
        pages = ({"document_id": f"X{number}", "title": "t", "text": "word " * 2000} for number in range(count))
        write_lines(folder / "documents" / "river.json", (*PAGES, *pages))
        tracemalloc.start()
        try:
            assert len(list(zeshel.read(path))) == 1
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(400) < peak(20) + 1_000_000


@given(st.text(st.characters(codec="utf8") | st.sampled_from(" \t\n\u3000\xa0\x85\x1c𝄞")))
def test_tokens_are_what_white_space_separates(text):
    spans = zeshel.token_spans(text)
    assert [text[span.start : span.end] for span in spans] == text.split()


@given(st.lists(st.text(st.characters(exclude_categories=("Z", "C")), min_size=1), min_size=1), st.data())
def test_token_indexes_become_exact_offsets(tokens, data):
    gaps = [data.draw(st.sampled_from([" ", "  ", "\n", "\u3000"])) for _ in tokens]
    text = "".join(token + gap for token, gap in zip(tokens, gaps, strict=True))
    first = data.draw(st.integers(0, len(tokens) - 1))
    last = data.draw(st.integers(first, len(tokens) - 1))
    spans = zeshel.token_spans(text)
    assert text[spans[first].start : spans[last].end].split() == tokens[first : last + 1]
    assert spans[first].start == sum(map(len, tokens[:first])) + sum(map(len, gaps[:first]))
