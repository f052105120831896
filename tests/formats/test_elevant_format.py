"""ELEVANT's benchmarks: labels become gold, and gold becomes the same labels again."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, GoldLink, Span
from entlink.errors import InputError
from entlink.formats.public import elevant
from format_samples import answers, error_of, skipping, write_lines

TEXT = "Ann of Ulm, Ohio moved in 1901."


def label(start, end, entity, **more):
    return {"id": 0, "span": [start, end], "entity_id": entity, "name": "N", "type": "Q5", **more}


def article(*labels, **more):
    return {"id": 3, "title": "", "text": TEXT, "evaluation_span": [0, len(TEXT)], "labels": list(labels), **more}


def read_one(path, row):
    [document] = elevant.read(write_lines(path / "b.jsonl", [row]))
    return document


def written(*documents):
    file = io.BytesIO()
    elevant.write(documents, file)
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_labels_become_gold(tmp_path):
    document = read_one(tmp_path, article(label(0, 3, "Q1"), label(7, 16, "Q2", id=1, name="Ulm", type="Q486972")))
    assert (document.id, document.text, document.meta) == ("3", TEXT, {})
    assert answers(document) == [("Ann", ("Q1",)), ("Ulm, Ohio", ("Q2",))]
    assert document.gold[1].meta == {"title": "Ulm", "type": "Q486972", "id": 1}


@pytest.mark.parametrize("entity", ["<NIL>", "<NO_MAPPING>", "Unknown3", "Ulm", "Q", "q5", None])
def test_an_id_that_is_not_of_wikidata_is_nil(entity, tmp_path):
    row = article(label(0, 3, entity))
    document = read_one(tmp_path, row)
    assert document.gold[0].is_nil
    assert written(document) == [row]


@pytest.mark.parametrize(
    ("more", "optional"),
    [
        ({}, False),
        ({"optional": True}, True),
        ({"optional": False}, False),
        # ELEVANT never counts these as missed.
        ({"type": "DATETIME"}, True),
        ({"type": "QUANTITY|Q5"}, True),
        ({"type": "DATETIME", "optional": True}, True),
        # Parent and children are one thing to link.
        ({"parent": 0}, True),
        ({"parent": 0, "optional": True}, True),
        ({"parent": 0, "optional": False, "children": [4]}, True),
        ({"parent": None, "children": [1, 2]}, False),
        ({"children": [], "desc": "a town", "coref": False}, False),
    ],
)
def test_what_is_optional_and_what_a_label_says_besides_is_kept(more, optional, tmp_path):
    row = article(label(7, 10, "Q2", **more))
    document = read_one(tmp_path, row)
    assert document.gold[0].optional is optional
    assert written(document) == [row]


def test_the_rest_of_an_article_is_kept(tmp_path):
    row = article(title="Ann", evaluation_span=[4, 10], url="u", hyperlinks=[[[0, 3], "Ann"]])
    document = read_one(tmp_path, row)
    assert document.meta == {"title": "Ann", "evaluation_span": [4, 10], "url": "u", "hyperlinks": [[[0, 3], "Ann"]]}
    assert written(document) == [row]


def test_a_label_may_say_little(tmp_path):
    document = read_one(tmp_path, {"id": 3, "text": TEXT, "labels": [{"span": [0, 3], "entity_id": "<NIL>"}]})
    assert document.gold == (GoldLink(Span(0, 3), (), meta={"title": "", "type": "OTHER", "id": 0}),)
    assert read_one(tmp_path, *written(document)) == document


@pytest.mark.parametrize(
    ("meta", "field"),
    [({"title": 5}, "title"), ({"type": ["PER"]}, "type"), ({"parent": "x"}, "parent"), ({"id": "a"}, "id")],
)
def test_meta_that_no_label_can_have_is_an_error(meta, field):
    document = Document("d", TEXT, gold=(GoldLink(Span(0, 3), ("Q1",), meta=meta),))
    with pytest.raises(InputError, match=rf"document 'd': the gold at 0-3, field meta\.{field}: Expected `"):
        elevant.write([document], io.BytesIO())


@pytest.mark.parametrize("meta", [{"title": ["Ann"]}, {"evaluation_span": "all"}])
def test_meta_that_no_article_can_have_is_an_error(meta):
    with pytest.raises(InputError, match=rf"document 'd', field meta\.{next(iter(meta))}: Expected `"):
        elevant.write([Document("d", TEXT, meta=meta)], io.BytesIO())


def test_null_as_a_title_or_type_is_none():
    document = Document("d", TEXT, gold=(GoldLink(Span(0, 3), ("Q1",), meta={"title": None, "type": None}),))
    file = io.BytesIO()
    elevant.write([document], file)
    [label] = json.loads(file.getvalue())["labels"]
    assert (label["name"], label["type"]) == ("", "OTHER")


def test_gold_from_elsewhere_can_be_written():
    gold = (
        GoldLink(Span(0, 3), ("Q1",), meta={"type": "PER", "title": "Ann"}),
        GoldLink(Span(7, 10), (), nil_type="LOC"),
        GoldLink(Span(11, 16), (), optional=True, meta={"span": "not this", "category": "HARD"}),
    )
    [row] = written(Document("a-1", TEXT, gold=gold, meta={"labels": "not these", "split": "dev"}))
    assert row == {
        **article(
            label(0, 3, "Q1", name="Ann", type="PER"),
            label(7, 10, "<NIL>", id=1, name="Unknown", type="LOC"),
            label(11, 16, "<NIL>", id=2, name="Unknown", type="OTHER", optional=True, category="HARD"),
        ),
        "id": "a-1",
        "split": "dev",
    }


@pytest.mark.parametrize(
    ("document", "parts"),
    [
        (Document("d", TEXT, gold=(GoldLink(Span(0, 3), ("Q1", "Q2")),)), ["document 'd'", "0-3", "2 entities"]),
        (Document("d", TEXT, gold=(GoldLink(Span(0, 3), ("Ann",)),)), ["'Ann'", "Wikidata"]),
        (Document("d", TEXT, meta={"x": object()}), ["document 'd' cannot be written", "JSON values"]),
    ],
)
def test_what_the_format_cannot_hold_is_an_error(document, parts):
    with pytest.raises(InputError) as caught:
        written(document)
    assert all(part in str(caught.value) for part in parts)


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (article(label(0, 3, "Q1"), label(25, 99, "Q2")), ["document '3'", "labels[1]", "25-99 lies outside"]),
        (article(label(3, 3, "Q1")), ["labels[0]", "is empty"]),
        (article({"span": [0, 3]}), ["field labels[0]", "missing required field `entity_id`"]),
        (article(label(0, "3", "Q1")), ["field labels[0].span[1]", "Expected `int`"]),
        (article(label(0, 3, "Q1", parent="0")), ["field labels[0].parent"]),
        (article(evaluation_span=[5, 99]), ["field evaluation_span", "5-99", "31 characters"]),
        ({"id": 3, "labels": []}, ["missing required field `text`"]),
    ],
)
def test_a_bad_article_is_named_and_can_be_skipped(row, parts, tmp_path):
    path = write_lines(tmp_path / "b.jsonl", [article(), row, article(id=4)])
    message = error_of(elevant.read, path)
    assert message.startswith(f"{path}, line 2: ")
    assert all(part in message for part in parts)
    found, told = skipping(elevant.read, path)
    assert [document.id for document in found] == ["3", "4"]
    assert told == [message]


@pytest.mark.parametrize(
    ("row", "claimed"),
    [
        (article(), True),
        ({"id": 1, "text": "a", "labels": [{"span": [0, 1], "entity_id": "Q1"}]}, True),
        ({"id": 1, "text": "a", "labels": ["x"]}, False),
        ({"id": 1, "text": "a", "gold": [{"entity_id": "Q1"}]}, False),
        ([article()], False),
    ],
)
def test_it_is_told_by_its_head(row, claimed, tmp_path):
    assert elevant.looks_like(tmp_path / "b.jsonl", json.dumps(row).encode()) is claimed


@st.composite
def articles(draw):
    text = draw(st.text(min_size=1))
    spans = st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True).map(sorted)
    labels = st.fixed_dictionaries(
        {
            "id": st.integers(0, 99),
            "span": spans,
            "entity_id": st.sampled_from(["Q1", "Q90", "<NIL>", "<NO_MAPPING>", "Unknown1", "Rome"]),
            "name": st.text(),
            "type": st.sampled_from(["OTHER", "Q5", "DATETIME", "Q5|QUANTITY"]),
        },
        optional={
            "optional": st.booleans(),
            "parent": st.none() | st.integers(0, 9),
            "children": st.lists(st.integers(0, 9)),
            "desc": st.text(),
        },
    )
    return {
        "id": draw(st.integers(-(10**6), 10**6)),
        "title": draw(st.text()),
        "text": text,
        "evaluation_span": draw(st.just([0, len(text)]) | spans),
        "labels": draw(st.lists(labels, max_size=4)),
        **draw(st.fixed_dictionaries({}, optional={"url": st.text(), "sections": st.lists(st.text())})),
    }


@given(st.lists(articles(), max_size=3))
def test_what_was_read_is_written_as_it_was(rows):
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    documents = list(elevant.read(io.BytesIO(lines)))
    file = io.BytesIO()
    elevant.write(documents, file)
    assert [json.loads(line) for line in file.getvalue().splitlines()] == rows
    assert list(elevant.read(io.BytesIO(file.getvalue()))) == documents
