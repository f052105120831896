from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.candidates.fusion import WeightedFusion
from entlink.documents import Candidate, Document, Entity, Mention, Span, Turn
from entlink.errors import ConfigError, NotFoundError, SpanError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.aliases import PriorWeights
from entlink.kb.names.tiers import Normalisation
from entlink.kb.store.edits import add, block
from entlink.linking import long_texts
from entlink.linking.config import KnowledgeBaseConfig, LinkerConfig
from entlink.linking.linker import Linker, load
from entlink.mentions.given import GivenMentions
from entlink.nil import ThresholdNil
from entlink.ranking.prior import PriorRanker
from knowledge_bases import article, make_kb

WORDS = ["Mercury", "the", "Sun", "New", "York", "City", "Venus", "us", "US", "北京", "quicksilver", "and", "."]


@pytest.fixture(scope="module")
def linker(world_folder):
    linker = load(world_folder, config="lexical")
    yield linker
    linker.kb.close()


@pytest.fixture(scope="module", params=["lexical", None])
def any_linker(world_folder, request):
    """For what holds for the one that is used where none is named, too."""
    linker = load(world_folder, config=request.param)
    yield linker
    linker.kb.close()


@pytest.fixture
def loaded():
    """Loads linkers and closes their knowledge bases after the test."""
    linkers: list[Linker] = []

    def loaded(folder, **settings) -> Linker:
        linkers.append(load(folder, **settings))
        return linkers[-1]

    yield loaded
    for linker in linkers:
        linker.kb.close()


def given_spans(text: str, *surfaces: str) -> Document:
    mentions = [Mention(Span(text.index(one), text.index(one) + len(one)), one) for one in surfaces]
    return Document("d", text, mentions=tuple(mentions))


def entities(document: Document) -> list[tuple[str, str | None]]:
    return [(link.mention.text, link.entity) for link in document.links]


def test_a_text_is_linked(linker):
    linked = linker.link("Mercury orbits the Sun; quicksilver does not.")
    assert entities(linked) == [("Mercury", "planet"), ("Sun", "sun"), ("quicksilver", "element")]
    first = linked.links[0]
    assert linked.text[first.mention.span.start : first.mention.span.end] == first.mention.text
    assert (first.title, first.score, first.calibrated) == ("Mercury (planet)", pytest.approx(4 / 6), False)
    assert [one.entity for one in first.candidates] == ["planet", "element"]


def test_a_very_long_text_is_linked_in_pieces_between_short_ones(any_linker, monkeypatch):
    sentences = "Mercury orbits the Sun.\n" * 20
    texts = ["The Sun.", Document("long", sentences, meta={"kept": True}), "Venus."]
    whole = list(any_linker.link_all(texts))
    monkeypatch.setattr(long_texts, "LONGEST", 60)
    read: list[int] = []
    detect = any_linker.detector.detect
    monkeypatch.setattr(
        any_linker.detector, "detect", lambda these: read.extend(len(one.text) for one in these) or detect(these)
    )
    assert list(any_linker.link_all(texts)) == whole
    assert max(read) <= 60


@pytest.mark.parametrize("fusion", [None, WeightedFusion({"own": 1.0})])
def test_candidates_without_titles_get_those_of_their_entities(world_folder, fusion):
    class Own:
        def retrieve(self, questions):
            found = [
                Candidate("sun", 0.9),
                Candidate("planet", 0.5, {}, "A title of its own"),
                Candidate("gone", 0.1),
            ]
            return [[found for _ in question.mentions] for question in questions]

    with KnowledgeBase.open(world_folder) as kb:
        linker = Linker(kb, GivenMentions(), {"own": Own()}, PriorRanker(), ThresholdNil(0.0), fusion=fusion)
        (link,) = linker.link(given_spans("The Sun.", "Sun")).links
    assert (link.entity, link.title) == ("sun", "Sun")
    assert [one.title for one in link.candidates] == ["Sun", "A title of its own", None]


def test_a_document_keeps_all_but_its_links(any_linker):
    document = Document("id", "See Venus.", "en", "2020-01-01", meta={"a": 1})
    linked = any_linker.link(document)
    assert linked.links
    assert msgspec.structs.replace(linked, links=()) == document
    assert document.links == ()


def test_a_conversation_is_linked_as_one_text(any_linker):
    linked = any_linker.link(Document.of_turns("c", [Turn("New"), Turn("York and Venus")]))
    assert entities(linked) == [("York", "york"), ("Venus", "venus")]
    assert linked.links[1].mention.span == Span(14, 19)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=12), st.integers(1, 5))
def test_batches_link_as_single_texts_do_and_in_order(any_linker, texts, size):
    any_linker.batch_size = size
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    assert list(any_linker.link_all(documents)) == [any_linker.link(document) for document in documents]
    assert [document.text for document in any_linker.link_all(texts)] == texts


def test_a_stream_is_linked_as_it_comes(any_linker):
    drawn = []

    def stream():
        for number in range(100):
            drawn.append(number)
            yield "The Sun"

    any_linker.batch_size = 4
    linked = any_linker.link_all(stream())
    assert next(linked).id == "0"
    assert len(drawn) == 4


# Given mentions


def test_given_mentions_are_linked_in_the_order_given(world_folder, loaded):
    linker = loaded(world_folder, mentions="given")
    document = given_spans("Venus, York and Nowhere", "York", "Nowhere", "Venus")
    assert entities(linker.link(document)) == [("York", "york"), ("Nowhere", None), ("Venus", "venus")]
    assert linker.link("Venus without spans").links == ()


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 99)], "lies outside"),
        ([(-1, 3)], "lies outside"),
        ([(3, 3)], "is empty"),
        ([(4, 2)], "ends before it starts"),
        ([(0, 5), (3, 7)], "overlap"),
        ([(7, 9), (0, 8)], "overlap"),
        ([(0, 5), (0, 5)], "overlap"),
    ],
)
def test_given_mentions_that_do_not_fit(world_folder, loaded, spans, message):
    mentions = tuple(Mention(Span(*span), "x") for span in spans)
    linker = loaded(world_folder, mentions="given")
    with pytest.raises(SpanError, match=message) as raised:
        linker.link(Document("doc-7", "0123456789", mentions=mentions))
    assert "doc-7" in str(raised.value)


def test_a_misspelt_given_mention_is_linked_by_its_neighbour(world_folder, loaded):
    linker = loaded(world_folder, config="lexical", mentions="given")
    link = linker.link(given_spans("Mercurry", "Mercurry")).links[0]
    assert link.entity == "planet"
    assert "edit" in link.candidates[0].evidence


def test_a_blocked_given_mention_is_nil(own_world, loaded):
    block(own_world, "Venus")
    assert entities(loaded(own_world, mentions="given").link(given_spans("Venus", "Venus"))) == [("Venus", None)]


# Filters


def test_only_entities_of_the_wanted_types(world_folder, loaded):
    linker = loaded(world_folder, config="lexical", types=("substance", "city"))
    linked = linker.link("Mercury, Venus and York")
    assert entities(linked) == [("Mercury", "element"), ("York", "york")]
    assert [one.entity for one in linked.links[0].candidates] == ["element"]


def test_a_name_of_other_types_is_no_misspelling_of_a_wanted_one(tmp_path, loaded):
    rows = [article("paris", "Paris", types=["city"]), article("parks", "Parks", types=["person"])]
    folder = make_kb(tmp_path, rows)
    assert loaded(folder, types=("person",)).link("Paris").links == ()


def test_given_mentions_of_other_types_are_nil(world_folder, loaded):
    linker = loaded(world_folder, types=("city",), mentions="given")
    assert entities(linker.link(given_spans("Venus in York", "Venus", "York"))) == [("Venus", None), ("York", "york")]


def test_weak_links_are_dropped(world_folder, loaded):
    text = "Mercury and Venus"
    assert entities(loaded(world_folder, config="lexical", min_score=0.7).link(text)) == [("Venus", "venus")]
    assert len(loaded(world_folder, config="lexical", min_score=4 / 6).link(text).links) == 2


def test_the_default_drops_weak_links_too(world_folder, loaded):
    text = "Mercury and Venus, VENUS and New York"
    every = loaded(world_folder).link(text).links
    weak, *stronger = sorted({link.score for link in every})
    sure = loaded(world_folder, min_score=stronger[0]).link(text).links
    assert entities(Document("sure", text, links=sure)) == [
        (link.mention.text, link.entity) for link in every if link.score > weak
    ]


def test_linking_as_of_a_date(world_folder, loaded):
    linked = loaded(world_folder, as_of="2000-01-01").link("Swaziland")
    assert [(link.entity, link.title) for link in linked.links] == [("swazi", "Swaziland")]
    assert loaded(world_folder, as_of="2019-01-01").link("Eswatini").links[0].title == "Eswatini"


# Putting it together


def test_there_is_nothing_to_load(tmp_path):
    with pytest.raises(NotFoundError):
        load(tmp_path / "none.kb")


def test_parts_that_do_not_fit_are_told_before_anything_runs(linker):
    kb, detector, ranker, nil = linker.kb, linker.detector, linker.ranker, linker.nil
    with pytest.raises(ConfigError, match="PriorRanker is not a detector"):
        Linker(kb, ranker, linker.retrievers, ranker, nil)
    with pytest.raises(ConfigError, match="ThresholdNil is not a retriever"):
        Linker(kb, detector, [nil], ranker, nil)
    with pytest.raises(ConfigError, match="at least one retriever"):
        Linker(kb, detector, [], ranker, nil)


def test_a_configuration_is_followed(world_folder, loaded):
    detector = {"name": "dictionary", "min_link_probability": 0.85}
    config = LinkerConfig(detector=detector, types=("planet",), batch_size=3)
    linker = loaded(world_folder, config=config)
    assert linker.batch_size == 3
    assert entities(linker.link("Mercury, Venus, York")) == []
    assert loaded(world_folder, config=config, types=("city",)).types == {"city"}


def test_the_knowledge_base_is_read_as_the_configuration_says(world_folder, loaded):
    mercury = loaded(world_folder, config="lexical").link("MERCURY").links[0]
    assert [one.evidence["support"] for one in mercury.candidates] == [4.0, 2.0]
    weights = LinkerConfig(kb=KnowledgeBaseConfig(weights=PriorWeights(stripped=7)))
    assert [
        one.evidence["support"] for one in loaded(world_folder, config=weights).link("MERCURY").links[0].candidates
    ] == [10.0, 8.0]
    strict = LinkerConfig(kb=KnowledgeBaseConfig(normalisation=Normalisation(case=False)))
    assert entities(loaded(world_folder, config=strict).link("VENUS, Venus")) == [("Venus", "venus")]


def test_a_knowledge_base_is_closed_when_its_linker_cannot_be_made(world_folder, monkeypatch):
    closed = []
    monkeypatch.setattr(KnowledgeBase, "close", lambda kb: (closed.append(kb), kb._store.close()))
    with pytest.raises(ConfigError, match="no detector named"):
        load(world_folder, config="lexical", mentions="telepathy")
    assert len(closed) == 1


def test_a_configuration_file_is_followed(world_folder, loaded, tmp_path):
    path = tmp_path / "linker.toml"
    path.write_text('[nil]\nname = "threshold"\nthreshold = 0.99\n')
    linked = loaded(world_folder, config=path).link("Mercury and Venus")
    assert entities(linked) == [("Mercury", None), ("Venus", "venus")]


def test_an_edit_reaches_the_ranker_through_the_linker(own_world, loaded):
    """Popularity is kept: after an edit, a linker ranks as one that is loaded anew."""
    config = LinkerConfig(ranker={"name": "combination"})
    linker = loaded(own_world, config=config)
    before = linker.link("Venus").links[0].candidates[0].evidence
    add(own_world, [Entity("goddess", "Venus")])
    after = linker.link("Venus")
    assert after == loaded(own_world, config=config).link("Venus")
    venus = next(one for one in after.links[0].candidates if one.entity == "venus")
    assert venus.evidence["popularity"] < before["popularity"]


@pytest.mark.parametrize(("fitted_to", "calibrated"), [("prior", True), ("combination", False)])
def test_a_loaded_nil_policy_knows_its_ranker(world_folder, loaded, fitted_to, calibrated):
    nil = {"name": "calibrated", "weights": {"score": 4.0}, "ranker": fitted_to}
    linker = loaded(world_folder, config=LinkerConfig(ranker={"name": "prior"}, nil=nil))
    assert [link.calibrated for link in linker.link("The Sun").links] == [calibrated]
