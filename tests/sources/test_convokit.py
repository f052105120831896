"""Corpora of ConvoKit, in the layout of today and in the older one, and what can be wrong with them."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import SourceError
from entlink.sources import json_array
from entlink.sources.convokit import Corpus, Utterance, find_corpora
from entlink.sources.json_array import array_items

NEW = {
    "id": "b",
    "conversation_id": "a",
    "text": "Hello 😀",
    "speaker": "ann",
    "meta": {"subreddit": "Ships", "score": 3},
    "reply-to": "a",
    "timestamp": 1420070400,
    "vectors": [],
}
OLD = {
    "id": "b",
    "root": "a",
    "text": "Hello 😀",
    "user": "ann",
    "meta": {"subreddit": "Ships"},
    "reply_to": "a",
    "timestamp": "1420070400.0",
}
SAME = Utterance("b", "a", "a", "ann", 1420070400, "Hello 😀", "Ships", 1)


def write_lines(folder: Path, *rows: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "utterances.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf8")
    return folder


def write_array(folder: Path, *rows: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "utterances.json").write_text(json.dumps(rows, indent=1), encoding="utf8")
    return folder


def read(folder: Path, on_error="stop") -> tuple[list[Utterance], list[str]]:
    (corpus,) = find_corpora(folder)
    reading = corpus.reading(on_error)
    return list(corpus.utterances(reading)), reading.problems


def test_both_layouts_are_the_same_corpus(tmp_path):
    assert read(write_lines(tmp_path / "new", NEW))[0] == [SAME]
    assert read(write_lines(tmp_path / "mixed", OLD))[0] == [SAME]
    (old,) = read(write_array(tmp_path / "old", OLD))[0]
    assert (old.number, old.id, old.parent, old.time) == (0, "b", "a", SAME.time)


def test_the_newer_layout_counts_where_both_are_there(tmp_path):
    write_array(tmp_path, OLD, OLD)
    assert read(write_lines(tmp_path, NEW))[0] == [SAME]


def test_a_root_has_no_parent_whatever_says_so(tmp_path):
    rows = [{**NEW, "id": str(n), "reply-to": value} for n, value in enumerate([None, ""])]
    utterances = read(write_lines(tmp_path, *rows))[0]
    assert [one.parent for one in utterances] == [None, None]


def test_ids_may_be_numbers_and_texts_null(tmp_path):
    (one,) = read(write_lines(tmp_path, {**NEW, "id": 7, "reply-to": 5, "text": None}))[0]
    assert (one.id, one.parent, one.text) == ("7", "5", "")


def test_packed_files_and_folders_of_corpora_are_found(tmp_path):
    write_lines(tmp_path / "all" / "subreddit-Ships", NEW)
    packed = tmp_path / "all" / "x" / "Boats.corpus"
    packed.mkdir(parents=True)
    (packed / "utterances.jsonl.gz").write_bytes(gzip.compress(json.dumps(NEW).encode()))
    corpora = find_corpora(tmp_path / "all")
    assert [(corpus.name, corpus.subreddit) for corpus in corpora] == [
        ("subreddit-Ships", "Ships"),
        ("Boats.corpus", "Boats"),
    ]
    assert all(len(list(corpus.utterances(corpus.reading("stop")))) == 1 for corpus in corpora)


def test_the_subreddit_is_said_by_the_utterance_then_by_the_corpus(tmp_path):
    folder = write_lines(tmp_path / "c", NEW, {**NEW, "meta": {}}, {**NEW, "meta": None})
    assert [one.subreddit for one in read(folder)[0]] == ["Ships", None, None]
    (folder / "corpus.json").write_text('{"subreddit": "Boats", "num_posts": 1}')
    assert [one.subreddit for one in read(folder)[0]] == ["Ships", "Boats", "Boats"]
    (folder / "corpus.json").write_text('{"subreddit": ')
    with pytest.raises(SourceError, match=r"corpus\.json: the JSON is bad.*Fetch"):
        find_corpora(folder)
    (folder / "corpus.json").write_text('{"meta": ' + "[" * 100_000)
    with pytest.raises(SourceError, match=r"corpus\.json: the JSON is bad.*Fetch"):
        find_corpora(folder)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"speaker": None}, "field 'speaker' is missing or null"),
        ({"speaker": "  "}, "field 'speaker' is empty"),
        ({"id": None}, "field 'id' is missing"),
        ({"conversation_id": None}, "field 'conversation_id' is missing"),
        ({"timestamp": None}, "field 'timestamp' is missing"),
        ({"timestamp": "soon"}, "'timestamp' is 'soon'.*seconds since 1970"),
        ({"timestamp": 1420070400000}, "not milliseconds"),
        ({"text": 3}, "not as expected"),
        ({"meta": []}, "not as expected"),
    ],
)
def test_a_bad_field_is_told_with_its_line_or_skipped(tmp_path, change, told):
    folder = write_lines(tmp_path, {**NEW, "id": "first"}, {**NEW, **change}, NEW)
    with pytest.raises(SourceError, match=f"utterances.jsonl, line 2: .*{told}"):
        read(folder)
    utterances, problems = read(folder, "skip")
    assert [one.id for one in utterances] == ["first", "b"]
    assert len(problems) == 1


@pytest.mark.parametrize("field", ["id", "conversation_id", "text", "speaker", "reply-to", "timestamp"])
def test_a_missing_field_is_named(tmp_path, field):
    row = {key: value for key, value in NEW.items() if key != field}
    with pytest.raises(SourceError, match=f"line 1: field '{field}' is missing.*skip"):
        read(write_lines(tmp_path, row))


def test_cut_off_lines_and_other_encodings_are_told(tmp_path):
    folder = write_lines(tmp_path, NEW, json.dumps(NEW)[:40])
    with pytest.raises(SourceError, match=r"line 2: the JSON is bad"):
        read(folder)
    (folder / "utterances.jsonl").write_bytes(json.dumps(NEW).encode() + b"\n" + '{"id": "é"}\n'.encode("latin-1"))
    with pytest.raises(SourceError, match=r"line 2: byte 8 .* is not valid UTF-8. Convert the file"):
        read(folder)
    assert [one.id for one in read(folder, "skip")[0]] == ["b"]


def test_bad_items_of_an_array_are_told_or_skipped(tmp_path):
    folder = write_array(tmp_path, OLD, {**OLD, "user": None}, {**OLD, "text": 7}, OLD)
    with pytest.raises(SourceError, match=r"utterances\.json, item 1: field 'speaker'"):
        read(folder)
    utterances, problems = read(folder, "skip")
    assert [one.number for one in utterances] == [0, 3]
    assert ["item 1" in problems[0], "item 2" in problems[1]] == [True, True]


def test_a_cut_off_array_gives_what_came_before(tmp_path):
    folder = write_array(tmp_path, OLD, OLD)
    file = folder / "utterances.json"
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(SourceError, match=r"item 1: the file is cut off; 1 objects were read"):
        read(folder)
    assert len(read(folder, "skip")[0]) == 1


def test_places_without_a_corpus_are_told(tmp_path):
    with pytest.raises(SourceError, match="no such file or folder"):
        find_corpora(tmp_path / "none")
    with pytest.raises(SourceError, match=r"no ConvoKit corpus here.*zip"):
        find_corpora(tmp_path)
    zipped = tmp_path / "utterances.jsonl"
    zipped.write_bytes(b"PK\x03\x04....")
    with pytest.raises(SourceError, match=r"zip archive. Unpack it"):
        list(Corpus(zipped).utterances(Corpus(zipped).reading("stop")))


# Arrays

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\{}[], 😀', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=5)


def items(content: bytes) -> list[tuple[int, bytes]]:
    return list(array_items(io.BufferedReader(io.BytesIO(content)), Path("u.json")))


@given(OBJECTS, st.integers(1, 9), st.booleans(), st.sampled_from([None, 2]))
def test_the_objects_of_any_array_at_any_size_of_chunk(objects, chunk, ascii, indent):
    before, json_array._CHUNK = json_array._CHUNK, chunk
    try:
        found = items(json.dumps(objects, ensure_ascii=ascii, indent=indent).encode())
    finally:
        json_array._CHUNK = before
    assert [json.loads(item) for _, item in found] == objects
    assert [number for number, _ in found] == list(range(len(objects)))


@given(OBJECTS, st.data())
def test_an_array_that_is_cut_off_anywhere_is_told(objects, data):
    content = json.dumps(objects).encode()
    end = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(SourceError, match=r"cut off|not a JSON array"):
        items(content[:end])


@pytest.mark.parametrize("content", [b"", b"{}", b'[1, {"a": 2}]', b"[[]]", b'["{}"]'])
def test_what_is_no_array_of_objects_is_told(content):
    with pytest.raises(SourceError, match=r"not a JSON array|not an object"):
        items(content)


def test_an_object_without_end_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(json_array, "MAX_LINE", 100)
    monkeypatch.setattr(json_array, "_CHUNK", 64)
    with pytest.raises(SourceError, match="longer than 100 bytes"):
        items(b'[{"a": "' + b"x" * 1000)
