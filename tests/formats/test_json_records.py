"""JSON lines and lists as typed records, and the keys a file begins with."""

from __future__ import annotations

import gzip
import io
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import SourceError
from entlink.formats.json_records import converted, first_keys, json_items, read_json_lines
from entlink.io.inputs import failing
from entlink.text.spans import Place
from format_samples import error_of, skipping


class Row(msgspec.Struct):
    id: int
    names: list[str] = []


def read_rows(source, **options):
    return read_json_lines(source, Row, lambda row, fields, place: (place.line, row.id, sorted(fields)), **options)


def read_items(source, on_error="stop", on_problem=None):
    return json_items(source, Row, failing(on_error, on_problem))


def test_lines_have_their_numbers_and_all_fields():
    file = io.BytesIO(b'\xef\xbb\xbf{"id": 1}\n\n{"id": 2, "more": []}')
    assert list(read_rows(file)) == [(1, 1, ["id"]), (3, 2, ["id", "more"])]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b'{"id": "x"}', ["field id", "Expected `int`, got `str`", "docs/formats.md"]),
        (b'{"id": 1, "names": ["a", 2]}', ["field names[1]"]),
        (b"{}", ["missing required field `id`"]),
        (b"[1]", ["Expected `object`"]),
        (b'{"id": 1', ["bad or cut off", "one whole JSON object"]),
        (b'{"id": Infinity}', ["Infinity is no number in JSON", "leave the field out"]),
        (b'{"id": 1, "x": "\xff"}', ["byte 16", "0xff", "not valid UTF-8", "Convert"]),
        (b'{"id": 1, "x": ' + b"[" * 100_000, ["nested too deeply"]),
    ],
)
def test_a_bad_line_is_named_and_can_be_skipped(line, parts, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id": 1}\n' + line + b'\n{"id": 3}\n')
    message = error_of(read_rows, path)
    assert message.startswith(f"{path}, line 2: ")
    assert all(part in message for part in parts)
    found, told = skipping(read_rows, path)
    assert [id for _, id, _ in found] == [1, 3]
    assert told == [message]


def test_a_list_is_read_item_by_item(tmp_path):
    path = tmp_path / "rows.json.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf[{"id": 1}, {"id": null}, {"id": 3, "names": ["\xff"]}, {"id": 4}]'))
    assert "item 1: field id" in error_of(read_items, path)
    found, told = skipping(read_items, path)
    assert [row.id for _, row in found] == [1, 4]
    assert [message.partition(": ")[0] for message in told] == [f"{path}, item 1", f"{path}, item 2"]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b'{"id": 1}', "not a JSON list"),
        (b'[{"id": 1}', "bad or cut off"),
        (b'[{"id": NaN}]', "NaN is no number in JSON"),
        (b"[" * 100_000, "bad or cut off"),
        (gzip.compress(b'[{"id": 1}]', mtime=0)[:-9], "the compressed data"),
    ],
)
def test_a_file_that_is_no_list(content, part, tmp_path):
    path = tmp_path / ("rows.json.gz" if content.startswith(b"\x1f") else "rows.json")
    path.write_bytes(content)
    message = error_of(read_items, path)
    assert message.startswith(str(path))
    assert part in message


def test_a_part_of_a_record_is_named():
    with pytest.raises(SourceError, match=r"f, line 2: field rows\[1\]\.names\[0\]: Expected `str`"):
        converted({"id": 1, "names": [0]}, Row, "rows[1]", Place("f", 2))


@pytest.mark.parametrize(
    ("head", "keys"),
    [
        (b'{"a": 1, "b": {"c": 2}, "d": [{"e": 1}]}\n{"f": 1}', {"a", "b", "d"}),
        (b'\xef\xbb\xbf  {"a" : "x\\"y\\\\", "b": 1}', {"a", "b"}),
        (b'{"a": "not \\"b\\": {", "c": "cut } \\"d\\": ', {"a", "c"}),
        (b'{"a": "cut \\', {"a"}),
        (b'{"a": 1, "cu', {"a"}),
        (b"[1]", set()),
        (b"word", set()),
        (b"", set()),
    ],
)
def test_the_keys_a_file_begins_with(head, keys):
    assert first_keys(head) == keys


values = st.recursive(
    st.text() | st.integers() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc"), values), st.booleans())
def test_the_keys_of_any_object(row, ascii):
    assert first_keys(json.dumps(row, ensure_ascii=ascii).encode(errors="replace")) == set(row)


@given(st.dictionaries(st.text("abc"), values), st.integers(0))
def test_a_cut_object_shows_some_of_its_keys(row, size):
    assert first_keys(json.dumps(row).encode()[:size]) <= set(row)
