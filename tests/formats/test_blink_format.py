"""BLINK's rows and ELQ's: contexts put together to texts, labels told from none, and written back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, GoldLink, Mention, Span
from entlink.errors import InputError, SourceError, SpanError
from entlink.formats.public import blink
from exchange_formats import AWKWARD, characters, read, texts, with_problems, written

ROW = {
    "id": "testb_0",
    "label": "Paris, Texas",
    "label_id": 151209,
    "context_left": "he moved to",
    "mention": "paris",
    "context_right": "in 1990 .",
}


def row(**changes):
    return json.dumps({**ROW, **changes}, ensure_ascii=False)


def read_row(**changes) -> Document:
    [document] = read(blink, row(**changes))
    return document


def test_what_a_row_becomes():
    gold = GoldLink(Span(12, 17), ("151209",), meta={"title": "Paris, Texas"})
    assert read_row() == Document("testb_0", "he moved to paris in 1990 .", gold=(gold,))


@pytest.mark.parametrize(
    ("left", "mention", "right", "text"),
    [
        ("", "Paris", "", "Paris"),
        ("in ", "Paris", " now", "in Paris now"),
        ("in\n", "Paris", "\tnow", "in Paris now".replace("in ", "in\n").replace(" now", "\tnow")),
        ("in", "Paris", ", now", "in Paris , now"),
        ("我在", "北京", "住", "我在北京住"),
        ("in", "北京", "now", "in北京now"),
    ],
)
def test_spaces_between_contexts(left, mention, right, text):
    document = read_row(context_left=left, mention=mention, context_right=right)
    [gold] = document.gold
    assert document.text == text
    assert text[gold.span.start : gold.span.end] == mention


def test_contexts_that_stand_as_they_are():
    document = read_row(context_left="(", mention="paris", context_right="ians", start_pos=1, end_pos=6)
    assert (document.text, document.gold[0].span) == ("(parisians", Span(1, 6))
    assert read_row(start_pos=200, end_pos=205).text == "he moved to paris in 1990 ."


@pytest.mark.parametrize(
    ("labels", "entities", "meta"),
    [
        ({"label_id": "Q90", "label": "Paris"}, ("Q90",), {"title": "Paris"}),
        ({"label_id": -1, "label": "Paris"}, ("Paris",), {"title": "Paris"}),
        ({"label_id": None, "label": "Paris"}, ("Paris",), {"title": "Paris"}),
        ({"label_id": 0, "label": 0}, ("0",), {}),
        (
            {"label_id": 7, "label": "a town", "label_title": "Paris"},
            ("7",),
            {"title": "Paris", "description": "a town"},
        ),
        ({"label_id": 7, "label": None, "Wikipedia_title": "Paris"}, ("7",), {"title": "Paris"}),
        ({"label_id": "NIL0001", "label": "x"}, (), {}),
        ({"label_id": -1, "label": "NIL"}, (), {}),
    ],
)
def test_labels(labels, entities, meta):
    [gold] = read_row(**labels).gold
    assert (gold.entities, gold.meta) == (entities, meta)


@pytest.mark.parametrize("labels", [{"label_id": -1, "label": "unknown"}, {"label_id": None, "label": None}])
def test_rows_without_a_label_have_given_mentions(labels):
    document = read_row(**labels)
    assert document.gold == ()
    assert document.mentions == (Mention(Span(12, 17), "paris"),)


def test_other_keys_are_kept_and_ids_found():
    document = read_row(id=None, query_id="1163testb:0", world="lego")
    assert (document.id, document.meta) == ("1163testb:0", {"world": "lego"})
    first, second = read(blink, row(id=None) + "\n\n" + row(id=5))
    assert (first.id, second.id) == ("1", "5")


def test_rows_of_elq():
    elq = {
        "id": "WebQTest-12",
        "text": "who is governor of ohio 2011?",
        "mentions": [[19, 23], [7, 15], [24, 28]],
        "label_id": [10902, 28422, -1],
        "wikidata_id": ["Q1397", None, None],
        "entity": ["Ohio", "Governor", None],
        "tokenized_text_ids": [2040],
    }
    [document] = read(blink, json.dumps(elq))
    ohio, governor, nothing = document.gold
    assert ohio == GoldLink(Span(19, 23), ("Q1397",), meta={"title": "Ohio"})
    assert governor == GoldLink(Span(7, 15), ("28422",), meta={"title": "Governor"})
    assert nothing == GoldLink(Span(24, 28), ())
    assert (document.id, document.text[7:15]) == ("WebQTest-12", "governor")


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (row(mention=5), "field mention: Expected `str`, got `int`"),
        (row(mention=""), "field mention is empty"),
        ('{"mention": "x"}', "Object missing required field `context_left`"),
        ("[1, 2", "the JSON is bad or cut off"),
        ('{"text": "ab", "mentions": [[0, 1]], "entity": []}', "field entity has 0 values for 1 mentions"),
        ('{"text": "ab", "mentions": [[0]]}', "field mentions[0]"),
    ],
)
def test_bad_rows(tmp_path: Path, line, part):
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{row()}\n{line}\n{row()}\n", encoding="utf8")
    with pytest.raises(SourceError) as caught:
        list(blink.read(path))
    assert str(caught.value).startswith(f"{path}, line 2: ") and part in str(caught.value)
    assert len(list(blink.read(path, on_error="skip"))) == 2


def test_a_mention_of_elq_outside_its_text():
    content = '{"id": 4, "text": "ab", "mentions": [[0, 3]], "entity": ["A"]}'
    with pytest.raises(SpanError, match=r"line 1: document '4': mentions\[0\]: the span 0-3 lies outside"):
        read(blink, content)


def test_a_bad_row_is_told_of():
    documents, problems = with_problems(blink, "{}\n" + row())
    assert len(documents) == 1 and problems[0].startswith("line 1: ")


# Writing


def rows_written(*documents: Document, **options):
    return [json.loads(line) for line in written(blink, documents, **options).splitlines()]


def test_a_row_a_mention():
    text = "Ann met Bob in Paris."
    gold = (GoldLink(Span(0, 3), ("Q1", "Q2"), meta={"title": "Ann A."}), GoldLink(Span(8, 11), ()))
    first, second = rows_written(Document("d", text, gold=gold))
    assert first == {
        "id": "d:0",
        "label": "Ann A.",
        "label_id": "Q1",
        "context_left": "",
        "mention": "Ann",
        "context_right": " met Bob in Paris.",
        "start_pos": 0,
        "end_pos": 3,
    }
    assert (second["id"], second["label"], second["label_id"]) == ("d:1", "NIL", -1)


def test_numbers_are_written_as_numbers():
    for entity, label_id in (("42", 42), ("042", "042"), ("9" * 30, "9" * 30), ("０", "０")):
        [one] = rows_written(Document("d", "x", gold=(GoldLink(Span(0, 1), (entity,)),)))
        assert one["label_id"] == label_id
        assert read(blink, json.dumps(one))[0].gold[0].entities == (entity,)


def test_lower_case():
    document = Document("d", "In İstanbul NOW", gold=(GoldLink(Span(3, 11), ("e",)),))
    [one] = rows_written(document, lower=True)
    assert (one["context_left"], one["mention"], one["context_right"]) == ("in ", "i̇stanbul", " now")
    assert read(blink, json.dumps(one))[0].text == "in i̇stanbul now"


@pytest.mark.parametrize("entity", ["unknown", "-1", "NIL (band)", ""])
def test_entities_that_would_be_none(entity):
    with pytest.raises(InputError, match="document 'd' cannot be written as BLINK"):
        rows_written(Document("d", "x", gold=(GoldLink(Span(0, 1), (entity,)),)))


entities = (st.sampled_from(AWKWARD) | st.text(characters, min_size=1)).filter(
    lambda name: not name.startswith("NIL") and name not in ("unknown", "-1")
)
titles = st.text(characters, min_size=1).filter(lambda name: name not in ("unknown", "-1"))


@st.composite
def documents_of_one_mention(draw) -> Document:
    text = draw(texts.filter(bool))
    start = draw(st.integers(0, len(text) - 1))
    span = Span(start, draw(st.integers(start + 1, len(text))))
    id = draw(st.text(characters))
    kind = draw(st.sampled_from(["given", "nil", "named", "titled"]))
    if kind == "given":
        return Document(id, text, mentions=(Mention(span, text[span.start : span.end]),))
    names = () if kind == "nil" else (draw(entities),)
    title = draw(titles)
    is_titled = kind == "titled" and title not in names
    return Document(id, text, gold=(GoldLink(span, names, meta={"title": title} if is_titled else {}),))


@given(documents_of_one_mention())
def test_what_is_written_is_read_back(document):
    assert read(blink, written(blink, [document])) == [document]


@given(texts.filter(bool), st.data())
def test_every_mention_keeps_its_text(text, data):
    spans = [Span(at, at + 1) for at in data.draw(st.sets(st.integers(0, len(text) - 1), min_size=1))]
    document = Document("d", text, gold=tuple(GoldLink(span, ("e",)) for span in spans))
    results = read(blink, written(blink, [document]))
    assert [result.text for result in results] == [text] * len(spans)
    assert [result.gold[0].span for result in results] == spans
