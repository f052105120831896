"""What libraries give that know spans: ReFinED and spaCy."""

from __future__ import annotations

import json

import pytest

from entlink.documents import Candidate, Document, Link, Mention, Span
from entlink.errors import SourceError, SpanError
from entlink.formats.outputs import refined as refined_output
from entlink.formats.outputs import spacy as spacy_output
from exchange_formats import read, with_problems

TEXT = "😀 England won in 1966."
ENGLAND = {
    "text": "England",
    "start": 2,
    "ln": 7,
    "predicted_entity": {"wikidata_entity_id": "Q47762", "wikipedia_entity_title": "England national football team"},
    "entity_linking_model_confidence_score": 0.75,
    "top_k_predicted_entities": [
        [{"wikidata_entity_id": "Q47762", "human_readable_name": "England team"}, 0.75],
        [{"wikidata_entity_id": "Q-1"}, 0.15],
        [{"wikidata_entity_id": "Q21"}, 0.125],
    ],
    "coarse_type": "MENTION",
    "coarse_mention_type": "ORG",
    "date": None,
}


def refined(*spans: dict, **more) -> str:
    return json.dumps({"text": TEXT, "spans": spans, **more})


def refined_link(**changes) -> Link:
    [document] = read(refined_output, refined({**ENGLAND, **changes}))
    [link] = document.links
    return link


def test_spans_of_refined():
    [document] = read(refined_output, refined(ENGLAND, doc_id=12))
    candidates = (Candidate("Q47762", 0.75, title="England team"), Candidate("Q21", 0.125))
    title = "England national football team"
    link = Link(Mention(Span(2, 9), "England", "ORG"), "Q47762", 0.75, title=title, candidates=candidates)
    assert document == Document("12", TEXT, links=(link,))


def test_lists_of_refined():
    content = json.dumps([{"id": "a", "text": TEXT, "spans": None}, {"text": TEXT, "spans": []}], indent=1)
    assert read(refined_output, content) == [Document("a", TEXT), Document("2", TEXT)]


@pytest.mark.parametrize("entity", [None, {}, {"wikidata_entity_id": "Q-1"}])
def test_nil_of_refined(entity):
    link = refined_link(predicted_entity=entity)
    assert (link.entity, link.title, link.nil_type) == (None, None, "ORG")


def test_other_fields_of_refined():
    titled = refined_link(predicted_entity={"wikipedia_entity_title": "England_cricket_team"})
    assert (titled.entity, titled.title) == ("England cricket team", "England cricket team")
    link = refined_link(top_k_predicted_entities=None, candidate_entities=[["Q21", 0.5], ["Q-1", 0.1]])
    assert link.candidates == (Candidate("Q21", 0.5),)
    types = [["Q6256", "country", 0.9], ["Q5", "human", 0.1]]
    assert refined_link(coarse_mention_type=None, predicted_entity_types=types).mention.type == "country"
    assert refined_link(entity_linking_model_confidence_score=None).score == 1.0
    assert refined_link(ln=None, length=7).mention.span == Span(2, 9)
    assert refined_link(text=None).mention.text == "England"
    assert refined_link(ln=8).mention.text == "England"  # spans that were given keep a wrong length


def test_dates_and_numbers_are_no_links():
    date = {"text": "1966", "start": 17, "ln": 4, "coarse_type": "DATE"}
    [document] = read(refined_output, refined(ENGLAND, date))
    assert len(document.links) == 1


@pytest.mark.parametrize(
    ("changes", "kind", "part"),
    [
        ({"ln": None}, SourceError, "field spans[0] has neither ln nor length"),
        ({"text": "Wales"}, SpanError, "spans[0]: the span 2-9 covers 'England', not 'Wales'"),
        ({"start": 3}, SpanError, "seem to be UTF-16 units"),
        ({"start": 90, "text": None}, SpanError, "lies outside"),
        ({"start": "2"}, SourceError, "field spans[0].start: Expected `int`, got `str`"),
        ({"top_k_predicted_entities": [5]}, SourceError, "field spans[0].top_k_predicted_entities[0]"),
    ],
)
def test_bad_spans_of_refined(changes, kind, part):
    bad = refined({**ENGLAND, **changes})
    with pytest.raises(kind) as caught:
        read(refined_output, refined(ENGLAND) + "\n" + bad)
    assert str(caught.value).startswith("line 2: ") and part in str(caught.value)
    documents, problems = with_problems(refined_output, bad + "\n" + refined(ENGLAND))
    assert len(documents) == 1 and len(problems) == 1


# spaCy


@pytest.fixture(scope="module")
def doc():
    spacy = pytest.importorskip("spacy")
    doc = spacy.blank("en")("😀 Ann met Bob in Zürich.")
    doc.ents = [
        spacy.tokens.Span(doc, 1, 2, label="PER", kb_id="Q1"),
        spacy.tokens.Span(doc, 3, 4, label="PER"),
        spacy.tokens.Span(doc, 5, 6, label="LOC", kb_id="NIL"),
    ]
    return doc


LINKS = (
    Link(Mention(Span(2, 5), "Ann", "PER"), "Q1", 1.0),
    Link(Mention(Span(10, 13), "Bob", "PER"), None, 1.0, nil_type="PER"),
    Link(Mention(Span(17, 23), "Zürich", "LOC"), None, 1.0, nil_type="LOC"),
)


def test_a_doc_with_a_span_group(doc):
    doc.spans["links"] = list(doc.ents)
    content = json.dumps(doc.to_json())
    del doc.spans["links"]
    assert read(spacy_output, content) == [Document("1", doc.text, links=LINKS)]


def test_a_doc_with_ids_put_in(doc):
    row = doc.to_json()
    for told, ent in zip(row["ents"], doc.ents, strict=True):
        told["kb_id"] = ent.kb_id_
    content = json.dumps([row, {**row, "id": "b"}], indent=2)
    assert read(spacy_output, content) == [Document(id, doc.text, links=LINKS) for id in ("1", "b")]


def test_a_doc_without_ids(doc):
    with pytest.raises(SourceError, match="line 1: its entities have no kb_id") as caught:
        read(spacy_output, json.dumps(doc.to_json()))
    assert 'doc.spans["links"]' in str(caught.value)


def test_a_doc_without_entities():
    assert read(spacy_output, '{"text": "x", "ents": [], "tokens": []}') == [Document("1", "x")]


def test_the_ids_of_entities_come_before_groups():
    ents = [{"start": 0, "end": 1, "label": "", "kb_id": "A"}, {"start": 2, "end": 3, "label": "X"}]
    groups = {"sc": [{"start": 2, "end": 3, "label": "X", "kb_id": "B"}]}
    [document] = read(spacy_output, json.dumps({"text": "a b", "ents": ents, "spans": groups}))
    assert document.links == (Link(Mention(Span(0, 1), "a"), "A", 1.0),)


def test_a_bad_span_of_spacy():
    content = '{"text": "a", "ents": [{"start": 0, "end": 2, "label": "X", "kb_id": "B"}]}'
    with pytest.raises(SpanError, match=r"line 1: document '1': ents\[0\]: the span 0-2 lies outside"):
        read(spacy_output, content)
    groups = '{"text": "a", "spans": {"sc": [{"start": 1, "end": 1, "kb_id": "B"}]}}'
    with pytest.raises(SpanError, match=r"spans\.sc\[0\]: the span 1-1 is empty"):
        read(spacy_output, groups)
