"""The coarse type of a NIL: whose votes count, in which linkers, and where there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import entlink
from entlink import Document, Entity, KnowledgeBase, Mention, Span
from entlink.documents import Candidate, Link
from entlink.interfaces import Linked
from entlink.kb.types.type_words import TypeWords
from entlink.nil.vote import VotedTypes

ROWS = [
    ("adam", "Adam Smith", ["economist"], "Adam Smith wrote of wealth."),
    ("delia", "Delia Smith", ["cook"], "Delia Smith writes of food."),
    ("leeds", "Leeds", ["town"], "Leeds lies on the Aire. The Wharfe is near."),
    ("otley", "Otley", ["town"], "Otley lies on the Wharfe."),
    ("mill", "Mill", [], "A mill on the Wharfe grinds."),
]
HIERARCHY = [("economist", "human"), ("cook", "human"), ("town", "place")]
COARSE = [("PER", "human"), ("LOC", "place")]


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    table = tmp_path / "made.jsonl"
    rows = [dict(zip(("id", "title", "types", "description"), row, strict=True)) for row in ROWS]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    entlink.build(table, tmp_path / "made.kb")
    with KnowledgeBase.open(tmp_path / "made.kb") as kb:
        kb.set_types(hierarchy=HIERARCHY, coarse=COARSE)
        yield kb


def nil(surface: str, *candidates: Candidate) -> Link:
    return Link(Mention(Span(0, len(surface)), surface), None, 1.0, candidates=candidates)


def linked(entity: str) -> Link:
    return Link(Mention(Span(0, 1), "x"), entity, 1.0)


def type_of(kb: KnowledgeBase, *links: Link, text: str = "", types: VotedTypes | None = None) -> str | None:
    """The type of the first link, a NIL, at the beginning of a text."""
    document = Document("d", text or links[0].mention.text)
    [found] = (types or VotedTypes(kb)).types_of([Linked(document, links)])
    return found.get(links[0].mention.span)


def test_what_each_kind_of_votes_says(kb: KnowledgeBase) -> None:
    assert type_of(kb, nil("Zed")) is None
    assert type_of(kb, nil("Zed"), linked("leeds")) == "LOC"
    assert type_of(kb, nil("Zed"), linked("mill")) is None  # which has no type
    assert type_of(kb, nil("John Smith")) == "PER"  # as the other Smiths
    assert type_of(kb, nil("Zed"), text="Zed lies on the Wharfe") == "LOC"  # as the towns do
    towns = (Candidate("leeds", 0.4), Candidate("otley", 0.3))
    assert type_of(kb, nil("Zed", *towns, Candidate("adam", 0.35))) == "LOC"
    assert type_of(kb, nil("Zed", *towns), linked("adam")) == "LOC"  # candidates outweigh those around


def test_words_are_weighed_by_bayes(kb: KnowledgeBase) -> None:
    # Of four typed entities two are PER; "smith" is in both, "on" in both LOC. By hand, with odds LOC : PER.
    smith = ((0 + 0.5) / 3) / ((2 + 0.5) / 3)
    words = TypeWords(kb)
    found = words.of("Smith", Span(0, 5))
    assert found["LOC"] / found["PER"] == pytest.approx(smith**0.6)
    found = words.of("Smith on", Span(0, 5))
    assert found["LOC"] / found["PER"] == pytest.approx(smith**0.6 * (1 / smith) ** 0.06)
    assert sum(found.values()) == pytest.approx(1)
    assert words.of("Adam grinds", Span(0, 4)) == {}  # a word of one entity, and one of an entity without types


def test_of_a_large_knowledge_base_words_are_read_anew_when_types_are_set(kb: KnowledgeBase, monkeypatch) -> None:
    monkeypatch.setattr("entlink.kb.types.type_words._ENTITIES", 2)
    types = VotedTypes(kb)
    before = types._type_words
    kb.set_types(coarse=[*COARSE, ("ORG", "firm")])
    types.knowledge_base_changed()
    after = types._type_words
    kb.remove("mill")
    types.knowledge_base_changed()
    assert types._type_words is after is not before
    kb.add(Entity("new", "New"))
    types.knowledge_base_changed()
    assert types._type_words is not after  # a sixth entity is more than a tenth


def test_a_type_that_is_given_stays(kb: KnowledgeBase) -> None:
    typed = [Link(Mention(Span(0, 1), "Z", "GPE"), None, 1.0, nil_type="GPE"), linked("leeds")]
    assert VotedTypes(kb).types_of([Linked(Document("d", "Z"), typed)]) == [{}]


def test_whole_descriptions_count_once_their_words_are_indexed(kb: KnowledgeBase) -> None:
    types = VotedTypes(kb)
    kb.add(Entity("nidd-mouth", "Nun Monkton", description="Here is the mouth of the Nidd.", types=("town",)))
    types.knowledge_base_changed()
    assert type_of(kb, nil("Nidd"), types=types) is None  # one entity is too few to count words of
    kb.index(words=True)
    types.knowledge_base_changed()
    assert type_of(kb, nil("Nidd"), types=types) == "LOC"


@pytest.mark.parametrize("config", ["everyday", "lexical"])
def test_linkers_type_the_spans_that_they_are_given(kb: KnowledgeBase, config: str) -> None:
    linker = entlink.load(kb.folder, config=config, mentions="given")
    text = "John Smith came to Leeds."
    asked = (Mention(Span(0, 10), "John Smith"), Mention(Span(19, 24), "Leeds"))
    john, leeds = linker.link(Document("d", text, mentions=asked)).links
    assert (john.entity, john.nil_type, leeds.entity, leeds.nil_type) == (None, "PER", "leeds", None)
    kb.set_types(coarse=[("FOLK", "human")])  # seen by the linker that is open
    assert linker.link(Document("d", text, mentions=asked)).links[0].nil_type == "FOLK"


def test_without_types_a_nil_has_none(kb: KnowledgeBase) -> None:
    kb.sync([Entity(id, title) for id, title, _, _ in ROWS])
    assert type_of(kb, nil("John Smith"), linked("leeds")) is None
    assert not kb.types.are_there


@pytest.mark.parametrize(("wanted", "found"), [("PER", ["adam"]), ("place", ["leeds"]), ("OTHER", [])])
def test_a_filter_keeps_to_kinds_of_a_type(kb: KnowledgeBase, wanted: str, found: list[str]) -> None:
    linker = entlink.load(kb.folder, types=wanted)
    links = linker.link("Adam Smith came to Leeds.").links
    assert [link.entity for link in links] == found
    kb.set_types(hierarchy=[("economist", "place"), ("town", "human")])
    links = linker.link("Adam Smith came to Leeds.").links
    assert [link.entity for link in links] == [id for id in ("adam", "leeds") if found and id not in found]
