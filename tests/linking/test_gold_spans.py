"""The spans of gold as given mentions: every one is linked, and nothing else of the gold is seen."""

from __future__ import annotations

import pytest

import entlink
from entlink.documents import Document, GoldLink, Link, Mention, Span, Turn
from entlink.errors import InputError
from entlink.interfaces import Question

TEXT = "The Sun and Venus, and New York."


def gold(text, surface, *entities, **fields):
    start = text.index(surface)
    return GoldLink(Span(start, start + len(surface)), entities, **fields)


@pytest.fixture
def linker(world_folder):
    linker = entlink.load(world_folder, mentions="gold")
    yield linker
    linker.kb.close()


def said(document):
    return [(link.mention.text, link.entity) for link in document.links]


def test_the_spans_of_gold_are_linked_and_the_gold_stays(linker):
    wrong = gold(TEXT, "Sun", "planet", meta={"title": "Mercury (planet)", "type": "planet"})
    document = Document("d", TEXT, gold=(wrong, gold(TEXT, "and", nil_type="X")))
    linked = linker.link(document)
    assert said(linked) == [("Sun", "sun"), ("and", None)]
    assert (linked.gold, linked.mentions) == (document.gold, None)
    assert [link.mention.type for link in linked.links] == [None, None]


def test_spans_that_overlap_or_stand_there_twice_are_linked_once_each(linker):
    spans = ("New York", "York", "York")
    document = Document("d", TEXT, gold=tuple(gold(TEXT, one, "x") for one in spans))
    assert [text for text, _ in said(linker.link(document))] == ["New York", "York"]


def test_no_stage_sees_gold_or_earlier_links(linker, monkeypatch):
    seen: list[Document] = []
    detect, retrieve = linker.detector.detect, linker.retrieve
    monkeypatch.setattr(linker.detector, "detect", lambda these: seen.extend(these) or detect(these))

    def heard(questions: list[Question]):
        seen.extend(one.document for one in questions)
        return retrieve(questions)

    monkeypatch.setattr(linker, "retrieve", heard)
    earlier = (Link(Mention(Span(4, 7), "Sun"), "planet", 1.0),)
    turns = Document.of_turns("t", [Turn("The Sun."), Turn("Venus!")])
    talk = Document("t", turns.text, turns=turns.turns, gold=(gold(turns.text, "Venus", "planet"),), links=earlier)
    plain = Document("d", TEXT, gold=(gold(TEXT, "Sun", "planet"),), links=earlier)
    assert [said(one) for one in linker.link_all([plain, talk])] == [[("Sun", "sun")], [("Venus", "venus")]]
    assert len(seen) >= 4
    assert not any(one.gold or one.links for one in seen)


def test_documents_without_gold_have_no_links(linker):
    assert linker.link(TEXT).links == ()


def test_gold_without_offsets_is_an_error(linker):
    document = Document("d", TEXT, gold=(gold(TEXT, "Sun", "sun"),), meta={"lacks": "offsets"})
    with pytest.raises(InputError, match="document 'd': its gold has no offsets"):
        linker.link(document)
