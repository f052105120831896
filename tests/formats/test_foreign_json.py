"""JSON of other programs: lines, lists and objects over many lines; and what a head of it shows."""

from __future__ import annotations

import io
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import SourceError
from entlink.formats.foreign import _repaired, beginnings, decoded, json_items, json_values, rows_of
from entlink.io.inputs import failing
from entlink.text.spans import Place

FAIL = failing("stop", None)
json_objects = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab"\\{}[],:é', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"{', max_size=2), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: isinstance(value, list | dict))


def values_of(content: bytes, reader=json_items):
    return [(place.line, json.loads(value)) for place, value in reader(io.BytesIO(content), FAIL)]


def test_lines_are_values():
    assert values_of(b'\xef\xbb\xbf{"a": 1}\n\n{"a": 2}\r\n') == [(1, {"a": 1}), (3, {"a": 2})]


def test_a_value_over_many_lines_is_one():
    pretty = json.dumps({"a": {"b": [1, 2]}}, indent=2).encode()
    assert values_of(pretty) == [(0, {"a": {"b": [1, 2]}})]


@pytest.mark.parametrize("indent", [None, 2])
def test_the_items_of_a_list(indent):
    content = json.dumps([{"a": 1}, {"a": 2}], indent=indent).encode()
    assert values_of(content) == [(1, {"a": 1}), (2, {"a": 2})]
    assert len(values_of(content, json_values)) == 1


def test_a_list_with_an_item_a_line():
    assert values_of(b'[{"a": 1},\n{"a": 2}]\n') == [(1, {"a": 1}), (2, {"a": 2})]


def test_a_bad_item_is_named():
    [(place, _), *_] = json_items(io.BytesIO(b"[1, 2]"), FAIL)
    assert str(place.error("it is bad", "Mend it")) == "item 1: it is bad. Mend it"


def test_a_bad_list_is_passed_over():
    problems = []
    items = list(json_items(io.BytesIO(b'[1, 2\n"x"]'), failing("skip", problems.append)))
    assert items == []
    assert "bad or cut off" in str(problems[0])


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (b'{"a": "x"}', "field a: Expected `int`, got `str`"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"a": 1', "the JSON is bad or cut off"),
        (b'{"a": NaN}', "NaN is no number in JSON. Write a number"),
        (b'{"a": 1, "b": "\xff"}', "the JSON is not valid UTF-8"),
        (b'{"a": 1, "b": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_json(value, part):
    decoder = msgspec.json.Decoder(dict[str, object]) if b'"b"' in value else msgspec.json.Decoder(dict[str, int])
    if value.startswith(b'{"a": "x"'):
        decoder = msgspec.json.Decoder(msgspec.defstruct("Row", [("a", int)]))
    with pytest.raises(SourceError) as caught:
        decoded(value, decoder, Place("f.json", 3))
    assert str(caught.value).startswith("f.json, line 3: ")
    assert part in str(caught.value)


def test_the_head_of_lines():
    assert beginnings(b'\xef\xbb\xbf {"a": 1}\n\n{"a": 2}\n{"a"') == ({"a": 1}, {"a": 2})
    assert rows_of(b'[{"a": 1}, 2, {"b": 1}]\n') == [{"a": 1}, {"b": 1}]


@pytest.mark.parametrize("head", [b"", b"  ", b"a,b\n", b"\xff\xfe", b"@prefix"])
def test_the_head_of_something_else(head):
    assert beginnings(head) == ()


def test_a_head_that_is_cut_off():
    assert beginnings(b'{"text": "a } b", "ents": [{"start": 1, "end') == ({"text": "a } b", "ents": [{"start": 1}]},)
    assert beginnings(b'{"a": 1, "b": "x}') == ({"a": 1},)


@given(json_objects, st.data())
def test_any_head_can_be_closed(value, data):
    whole = json.dumps(value, ensure_ascii=False).encode()
    cut = data.draw(st.integers(1, len(whole)))
    seen = json.loads(_repaired(whole[:cut]))
    assert type(seen) is type(value)
    if cut == len(whole):
        assert seen == value
