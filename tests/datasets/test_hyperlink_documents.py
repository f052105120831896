"""Pages to documents: spans, ids, kinds, NIL."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from entlink.datasets.hyperlinks.documents import DocumentMaker, DocumentPlan, ReadCounts, apart
from entlink.documents import Entity, GoldLink, Image, Span
from entlink.formats.documents.lines import decode_document, encode_document
from entlink.sources import Anchor, Page, Paragraph

KNOWN = {"Paris": "Q90", "Troy": "Q22647"}
ALL = ("text", "item", "cell", "caption")


def plan(**fields) -> DocumentPlan:
    return DocumentPlan(**{"kinds": ALL, "nil": False, "min_links": 1, "is_dated": False, **fields})


def linked(text: str, *targets: str, **fields) -> Paragraph:
    """A paragraph in which each target's name is linked where it stands first."""
    anchors = tuple(Anchor(text.index(name), text.index(name) + len(name), name) for name in targets)
    return Paragraph(text, anchors, **fields)


def page(*paragraphs: Paragraph, **fields) -> Page:
    return Page(Entity("7", "Helen", language="en"), paragraphs, **fields)


def made(page: Page, resolve=KNOWN.get, **fields):
    maker = DocumentMaker(plan(**fields), resolve)
    return list(maker.documents(page)), maker.read


def test_a_paragraph_with_links_becomes_a_document():
    (document,), _ = made(page(linked("Of Paris and Troy.", "Paris", "Troy")))
    assert (document.id, document.text, document.language) == ("7#1", "Of Paris and Troy.", "en")
    assert document.gold == (GoldLink(Span(3, 8), ("Q90",)), GoldLink(Span(13, 17), ("Q22647",)))
    assert [mention.text for mention in document.mentions] == ["Paris", "Troy"]
    assert (document.meta, document.images) == ({"page": "Helen", "kind": "text"}, ())


def test_a_caption_has_its_picture():
    (document,), _ = made(page(linked("Paris.", "Paris", kind="caption", image="Paris.jpg")))
    assert document.images == (Image("Paris.jpg"),)
    assert document.meta == {"page": "Helen", "kind": "caption", "image": "Paris.jpg"}


def test_numbers_are_places_in_the_page_whatever_is_taken():
    whole = page(
        linked("No link."),
        linked("Paris", "Paris", kind="cell"),
        linked("Troy", "Troy"),
        linked("Paris", "Paris", kind="item"),
    )
    assert [document.id for document in made(whole)[0]] == ["7#2", "7#3", "7#4"]
    documents, read = made(whole, kinds=("text", "item"))
    assert [document.id for document in documents] == ["7#3", "7#4"]
    assert read == ReadCounts(pages=1, paragraphs=3, links=2)


def test_links_to_nothing_are_left_out_or_nil():
    paragraph = linked("Of Paris and Helen.", "Paris", "Helen")
    (document,), read = made(page(paragraph))
    assert [gold.entities for gold in document.gold] == [("Q90",)]
    assert (read.links, read.unresolved) == (2, 1)
    (document,), read = made(page(paragraph), nil=True)
    assert [gold.entities for gold in document.gold] == [("Q90",), ()]
    assert [mention.text for mention in document.mentions] == ["Paris", "Helen"]
    assert read.unresolved == 1


def test_documents_with_too_few_links_are_left_out_whatever_the_reason():
    paragraph = linked("Of Paris and Helen.", "Paris", "Helen")
    assert made(page(paragraph), min_links=2)[0] == []
    assert len(made(page(paragraph), min_links=2, nil=True)[0]) == 1
    assert made(page(linked("Helen", "Helen")))[0] == []


def test_dated_versions_have_ids_of_their_own_where_they_have_texts_of_their_own():
    dated = page(linked("Paris", "Paris"), valid_from="1935-03-21")
    assert made(dated, is_dated=True)[0][0].id == "7@1935-03-21#1"
    assert made(dated)[0][0].id == "7#1"
    assert made(page(linked("Paris", "Paris")), is_dated=True)[0][0].id == "7#1"


def test_an_earlier_title_of_a_wiki_is_no_page():
    assert made(page(valid_to="1935-03-21"))[1].pages == 0
    assert made(page(valid_to="1935-03-21"), is_dated=True)[1].pages == 1


def test_of_nested_links_the_outer_one_is_kept():
    text = "Paris, Texas and Troy"
    anchors = (Anchor(7, 12, "Texas"), Anchor(0, 12, "Paris"), Anchor(17, 21, "Troy"))
    documents, read = made(page(Paragraph(text, anchors)))
    assert [text[gold.span.start : gold.span.end] for gold in documents[0].gold] == ["Paris, Texas", "Troy"]
    assert (read.links, read.overlapping) == (3, 1)


ANCHORS = st.lists(st.builds(Anchor, st.integers(-2, 30), st.integers(-2, 30), st.sampled_from("abc")), max_size=12)


@given(ANCHORS, st.integers(0, 25))
def test_what_is_kept_is_apart_in_the_text_and_nothing_more_would_fit(anchors, size):
    kept = apart(anchors, size)
    spans = [(anchor.start, anchor.end) for anchor in kept]
    assert all(0 <= start < end <= size for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for anchor in anchors:
        if 0 <= anchor.start < anchor.end <= size and anchor not in kept:
            assert any(start < anchor.end and anchor.start < end for start, end in spans)


@given(st.text(st.characters(codec="utf-8"), max_size=30), ANCHORS)
def test_documents_are_valid_rows_that_read_back_the_same(text, anchors):
    (*documents,), _ = made(page(Paragraph(text, tuple(anchors))), resolve=str)
    for document in documents:
        assert decode_document(encode_document(document)) == document
        for mention in document.mentions:
            assert text[mention.span.start : mention.span.end] == mention.text
