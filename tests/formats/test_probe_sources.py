"""What probing tasks are built from: each source as its authors write it, and what is said of a bad line."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Span
from entlink.errors import SourceError
from entlink.formats.probes.sources import blanked, kore, preco, relations, ultra_fine
from entlink.formats.probes.sources.kore import RankedEntities
from entlink.formats.probes.sources.relations import Relation
from entlink.formats.probes.tokens import token_span
from entlink.text.spans import Place


def lines(*rows: object) -> io.BytesIO:
    texts = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    return io.BytesIO("".join(f"{text}\n" for text in texts).encode())


@given(st.data())
def test_a_span_of_tokens_is_what_the_joined_text_has_there(data):
    tokens = data.draw(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1, max_size=8))
    start = data.draw(st.integers(0, len(tokens) - 1))
    end = data.draw(st.integers(start + 1, len(tokens)))
    span = token_span(tokens, start, end, Place())
    assert " ".join(tokens)[span.start : span.end] == " ".join(tokens[start:end])


PRECO = {
    "id": "d1",
    "sentences": [["The", "heron", "stood", "."], ["It", "saw", "a", "pike", "."]],
    "mention_clusters": [[[0, 0, 2], [1, 0, 1]], [[1, 2, 4]]],
}


def test_preco_mentions_are_in_the_order_of_the_text():
    (document,) = preco.read(lines(PRECO))
    assert document.sentences == ("The heron stood .", "It saw a pike .")
    assert document.mentions == ((0, Span(0, 9), 0), (1, Span(0, 2), 0), (1, Span(7, 13), 1))


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        ([0, 2, 9], "the tokens 2 to 9 are not in a sentence of 4"),
        ([0, 2, 2], "the tokens 2 to 2"),
        ([2, 0, 1], "in sentence 2, and the document has 2"),
    ],
)
def test_preco_mentions_outside_their_sentence(mention, message):
    with pytest.raises(SourceError, match=f"line 2: .*{message}"):
        list(preco.read(lines(PRECO, {**PRECO, "mention_clusters": [[mention]]})))


def test_relations_of_all_three_forms():
    found = relations.read(
        lines(
            "Heron\tIsA\tBird",
            "Heron\tIsA\tBird\t",
            "mast\tPartOf\tship\ta [[mast]] is a part of a [[ship]]",
            '/a/1\t/r/IsA\t/c/en/grey_heron\t/c/en/bird/n/wn\t{"surfaceText": "a [[grey heron]] is a [[bird]]"}',
            '/a/2\t/r/IsA\t/c/fr/héron\t/c/en/bird\t{"weight": 1.0}',
        )
    )
    assert list(found) == [
        Relation("Heron", "IsA", "Bird"),
        Relation("Heron", "IsA", "Bird"),
        Relation("mast", "PartOf", "ship", "a [[mast]] is a part of a [[ship]]"),
        Relation("grey heron", "IsA", "bird", "a [[grey heron]] is a [[bird]]", "en"),
        Relation("héron", "IsA", "bird"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Heron\tIsA", "2 columns"),
        ("a\tb\tc\td\te\tf", "6 columns"),
        ("Heron\t\tBird", "the relation is empty"),
        ("/a/1\t/r/IsA\t/c/en/heron\t/c/en/bird\tnothing", "column 5 is not the JSON"),
        ("/a/1\tIsA\t/c/en/heron\t/c/en/bird\t{}", "'IsA' does not begin with /r/"),
        ("/a/1\t/r/IsA\t/c/heron\t/c/en/bird\t{}", "'/c/heron' is no concept"),
    ],
)
def test_relations_with_a_wrong_line(line, message):
    problems = []
    found = relations.read(lines(line, "Heron\tIsA\tBird"), on_error="skip", on_problem=problems.append)
    assert list(found) == [Relation("Heron", "IsA", "Bird")]
    assert f"line 1: {problems[0].problem}" in str(problems[0]) and message in str(problems[0])


ULTRA_FINE = {
    "annot_id": "d/1",
    "mention_span": "the grey heron",
    "left_context_token": ["At", "dawn"],
    "right_context_token": ["stood", "still", "."],
    "y_str": ["bird", "animal", "bird"],
}


def test_ultra_fine_puts_the_mention_between_its_contexts():
    first, second = ultra_fine.read(lines(ULTRA_FINE, {**ULTRA_FINE, "left_context_token": []}))
    assert first.sentence == "At dawn the grey heron stood still ."
    assert first.sentence[first.span.start : first.span.end] == "the grey heron"
    assert first.types == ("bird", "animal")
    assert second.span == Span(0, 14)


@pytest.mark.parametrize(("field", "value"), [("mention_span", " "), ("y_str", []), ("y_str", "bird")])
def test_ultra_fine_without_what_it_needs(field, value):
    with pytest.raises(SourceError, match=f"line 1: field {field}"):
        list(ultra_fine.read(lines({**ULTRA_FINE, field: value})))


def test_kore_keeps_the_order_of_each_seed():
    found = list(kore.read(lines("Heron", "\tKingfisher", "\tPike (fish)", "Mast", "\tShip")))
    assert found == [RankedEntities("Heron", ("Kingfisher", "Pike (fish)")), RankedEntities("Mast", ("Ship",))]


@pytest.mark.parametrize(("line", "message"), [("\tPike", "before the first seed"), ("Heron\t3", "2 columns")])
def test_kore_with_a_wrong_line(line, message):
    with pytest.raises(SourceError, match=f"line 1: .*{message}"):
        list(kore.read(lines(line)))


HERON, PIKE = "9202a8c04000641f8000000000000001", "9202a8c04000641f8000000000000002"
TABLE = (f"{HERON}\therons\turl\tGrey heron\tA bird that wades .", f"{PIKE}\tPike\tA fish of lakes .")


def test_blanked_texts_have_the_ids_between_their_pieces():
    entities = blanked.read_entities(lines(*TABLE))
    assert (entities[HERON].name, entities[PIKE].description) == ("Grey heron", "A fish of lakes .")
    (text,) = blanked.read_texts(lines(f"At dawn {HERON} caught {PIKE}."), entities)
    assert text.ids == (HERON, PIKE)
    assert text.pieces == ("At dawn ", " caught ", ".")


def test_blanked_texts_of_another_dataset():
    with pytest.raises(SourceError, match=r"line 1: the entity 9202\w+2 is not known"):
        list(blanked.read_texts(lines(PIKE), blanked.read_entities(lines(TABLE[0]))))


@pytest.mark.parametrize(
    ("line", "message"),
    [(f"{HERON}\tHeron", "2 columns"), (f"{HERON}\t\tA bird.", "is empty"), ("heron\tHeron\tA bird.", "no id")],
)
def test_blanked_entities_with_a_wrong_line(line, message):
    with pytest.raises(SourceError, match=f"line 1: .*{message}"):
        blanked.read_entities(lines(line))
