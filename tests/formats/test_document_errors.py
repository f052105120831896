"""Bad rows: each error names the file, the line, the field or document, and what to do."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from entlink.documents import Document, Link, Mention, Span, Turn
from entlink.errors import InputError, SourceError, SpanError
from entlink.formats.documents.lines import check_mentions, decode_document, encode_document, read_documents
from entlink.io import inputs

TURNS = [{"text": "Hi Ann"}, {"text": "Bob"}]


def error_of(line, kind):
    line = line if isinstance(line, bytes) else json.dumps(line).encode()
    with pytest.raises(kind) as caught:
        decode_document(line, file="d.jsonl", line_number=4)
    assert type(caught.value) is kind
    message = str(caught.value)
    assert message.startswith("d.jsonl, line 4: ")
    return message


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ({"id": 1}, ["neither a text nor turns"]),
        ({"text": "a", "turns": []}, ["both a text and turns"]),
        ({"text": 5}, ["field text", "Expected `str`, got `int`", "document-format.md"]),
        ({"text": None}, ["field text", "got `null`"]),
        ({"id": 1.5, "text": "a"}, ["field id"]),
        ({"text": "a", "meta": []}, ["field meta"]),
        ({"text": "a", "x": 1, "mentions": [{"start": "0", "end": 1}]}, ["field mentions[0].start"]),
        ({"text": "a", "links": [{"start": 0}]}, ["field links[0]", "missing required field `end`"]),
        ({"text": "a", "x": 1, "meta": {"x": 2}}, ["field x stands both"]),
        (
            {"text": "a", "gold": [{"start": 0, "end": 1, "entity": "a", "entities": ["b"]}]},
            ["gold[0] has both"],
        ),
        (
            {"text": "a", "mentions": [{"start": 0, "end": 1, "turn": 0}]},
            ["mentions[0].turn", "Leave it out"],
        ),
        ({"turns": TURNS, "links": [{"start": 0, "end": 1}]}, ["links[0].turn is missing", "2 turns"]),
        ([1], ["Expected `object`, got `array`"]),
        (b"", ["cut off"]),
        (b'{"text": "a', ["cut off", "one whole JSON object"]),
        (b'{"text": "a", "meta": {"x": NaN}}', ["NaN is no number in JSON. Write a number, or leave the field out"]),
        (b'{"text": "NaN", "x": [-Infinity]}', ["-Infinity is no number in JSON"]),
        (b'{"text": "NaN and Infinity', ["cut off", "one whole JSON object"]),
        (b'{"text": "say \\"NaN\\"" x', ["cut off"]),
        (b'{"text": "a"} {', ["trailing characters"]),
        (b'{"text": "\xff"}', ["byte 10 of the line, 0xff, is not valid UTF-8", "Convert"]),
        (b'{"x": "\xff", "text": "a"}', ["not valid UTF-8"]),
        (b'{"text": "\\ud800"}', ["surrogate"]),
        (b'{"x": "\\ud800", "text": "a"}', ["surrogate"]),
        (b'{"text": "a", "x": ' + b"[" * 100_000, ["nested too deeply"]),
    ],
)
def test_bad_rows(row, parts):
    message = error_of(row, SourceError)
    for part in parts:
        assert part in message


@pytest.mark.parametrize("field", ["mentions", "gold", "links"])
@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [(3, 1, "ends before it starts"), (2, 2, "is empty"), (-1, 2, "lies outside"), (2, 6, "lies outside")],
)
def test_spans_that_do_not_fit(field, start, end, problem):
    message = error_of({"id": "d7", "text": "abcde", field: [{"start": start, "end": end}]}, SpanError)
    assert f"document 'd7': {field}[0]: the span {start}-{end} {problem}" in message
    assert "has 5 characters" in message and "Offsets count characters" in message


def test_spans_that_do_not_fit_their_turn():
    outside = {"id": "c", "turns": TURNS, "mentions": [{"turn": 1, "start": 2, "end": 4}]}
    assert "turn 1 has 3 characters" in error_of(outside, SpanError)
    no_turn = {"id": "c", "turns": TURNS, "mentions": [{"turn": 2, "start": 0, "end": 1}]}
    assert "mentions[0] is in turn 2. The conversation has 2 turns" in error_of(no_turn, SpanError)


def test_given_mentions_must_not_overlap():
    spans = [{"start": 4, "end": 9}, {"start": 0, "end": 5}]
    message = error_of({"id": "d", "text": "New York City", "mentions": spans}, SpanError)
    assert "document 'd': the mentions 0-5 and 4-9 overlap; the text has 13 characters. Keep one" in message


def test_gold_and_links_may_overlap():
    both = [{"start": 0, "end": 8}, {"start": 4, "end": 8}]
    document = decode_document(json.dumps({"text": "New York", "gold": both, "links": both}).encode())
    assert len(document.gold) == len(document.links) == 2


@pytest.mark.parametrize("span", [Span(0, 9), Span(1, 1), Span(-2, 1), Span(2, 1)])
def test_check_mentions_refuses_what_does_not_fit(span):
    with pytest.raises(SpanError, match=f"document 'd': mention: the span {span.start}-{span.end}"):
        check_mentions(Document("d", "abc", mentions=(Mention(span, ""),)))


def test_check_mentions_accepts_neighbours_and_none():
    check_mentions(Document("d", "abc"))
    check_mentions(Document("d", "abc", mentions=(Mention(Span(1, 3), "bc"), Mention(Span(0, 1), "a"))))


def test_bad_rows_can_be_skipped_and_are_told():
    rows = b'{"text":"a"}\nbad\n{"id":"s","text":"a","mentions":[{"start":0,"end":2}]}\n{"text":"b"}\n'
    told = []
    documents = list(read_documents(io.BytesIO(rows), on_error="skip", on_problem=told.append))
    assert [document.text for document in documents] == ["a", "b"]
    assert [type(error) for error in told] == [SourceError, SpanError]
    assert list(read_documents(io.BytesIO(rows), on_error="skip")) == documents


def test_by_default_the_first_bad_row_stops(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'{"text":"a"}\n{"text":\n')
    with pytest.raises(SourceError) as caught:
        list(read_documents(path))
    assert str(caught.value).startswith(f"{path}, line 2: ")


def test_a_missing_file_is_an_error_even_when_skipping(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        list(read_documents(tmp_path / "none.jsonl", on_error="skip"))


def test_a_cut_off_archive_gives_what_came_before(tmp_path):
    rows = b"".join(b'{"text":"%d"}\n' % number for number in range(50_000))
    path = tmp_path / "d.jsonl.gz"
    path.write_bytes(gzip.compress(rows)[:-2000])
    told = []
    assert len(list(read_documents(path, on_error="skip", on_problem=told.append))) > 1000
    assert "cut off" in str(told[-1])
    with pytest.raises(SourceError, match="cut off"):
        list(read_documents(path))


def test_an_endless_line_is_refused(monkeypatch):
    monkeypatch.setattr(inputs, "MAX_LINE", 100)
    with pytest.raises(SourceError, match="line 2: the line is longer than 100 bytes"):
        list(read_documents(io.BytesIO(b'{"text":"a"}\n{"text":"' + b"a" * 200)))


def test_what_cannot_be_written_names_the_document():
    with pytest.raises(InputError, match=r"document 'd' cannot be written: .* surrogate pair at character 1"):
        encode_document(Document("d", "a\ud800"))
    with pytest.raises(InputError, match=r"document 'd' cannot be written: .* Keep only JSON values"):
        encode_document(Document("d", "a", meta={"x": object()}))
    with pytest.raises(InputError, match="not that of its turns"):
        encode_document(Document("d", "other", turns=(Turn("a"),)))


def test_a_link_across_turns_cannot_be_written():
    document = Document.of_turns("c", [Turn("Hi Ann"), Turn("Bob")], links=())
    link = Link(Mention(Span(3, 11), "Ann\n\nBob"), "Q1", 1.0)
    crossing = Document("c", document.text, turns=document.turns, links=(link,))
    with pytest.raises(SpanError, match="3-11 does not lie within one turn"):
        encode_document(crossing)
