from __future__ import annotations

import re

import pytest

from entlink.candidates.alias import AliasRetriever
from entlink.candidates.edit_distance import EditDistanceRetriever
from entlink.documents import Document, Mention, Span, Turn
from entlink.errors import SpanError
from entlink.interfaces import Judgement, Verdict
from entlink.kb.store.edits import block, pin
from entlink.linking.config import LinkerConfig
from entlink.linking.explain import OUTCOMES, SpanExplanation
from entlink.linking.linker import Linker, load
from entlink.nil import ThresholdNil
from entlink.ranking.prior import PriorRanker
from knowledge_bases import article, make_kb


@pytest.fixture
def explained(world_folder):
    """Explains a name in a text, with a linker of its own that finds the names of a dictionary."""
    linkers = []

    def explained(text: str, name: str, folder=world_folder, **settings):
        linkers.append(load(folder, **{"config": "lexical", **settings}))
        span = Span(text.index(name), text.index(name) + len(name))
        one = linkers[-1].explain(text, span).spans[0]
        assert one.span == span
        assert one.text == name
        assert one.outcome in OUTCOMES
        among = linkers[-1].explain(text).at(span)
        assert among is None or among == one
        return one

    yield explained
    for linker in linkers:
        linker.kb.close()


def test_linked(explained):
    one = explained("Mercury and Venus", "Mercury")
    assert one.outcome == "linked"
    assert "best of 2 candidates" in one.reason
    assert one.link.entity == "planet"
    assert one.detection == pytest.approx(0.8)
    assert "only candidate" in explained("Mercury and Venus", "Venus").reason


def test_pinned(explained, own_world):
    pin(own_world, "Mercury", "element")
    assert explained("Mercury", "Mercury", own_world).reason == "pinned by a rule"


def test_nil(explained):
    config = LinkerConfig(nil={"name": "threshold", "threshold": 0.9})
    one = explained("Mercury and Venus", "Mercury", config=config)
    assert one.outcome == "nil"
    assert "0.667" in one.reason
    assert [candidate.entity for candidate in one.candidates] == ["planet", "element"]


def test_not_in_the_dictionary(explained):
    one = explained("Saturn is a planet", "Saturn")
    assert one.outcome == "not in the dictionary"
    assert "'saturn'" in one.reason


def test_not_in_the_dictionary_but_near_a_name(explained):
    one = explained("Merkury is a planet", "Merkury")
    assert one.outcome == "not in the dictionary"
    assert "nearest by spelling: Mercury (element), Mercury (planet)" in one.reason


def test_what_was_found_by_words_is_not_near_by_spelling(explained):
    config = LinkerConfig(
        retriever=[{"name": "alias"}, {"name": "edit-distance"}, {"name": "bm25"}],
        fusion={"name": "weights", "weights": {"alias": 1.0, "bm25": 1.0}},
    )
    one = explained("Venus of Mercury is here", "Venus of Mercury", config=config)
    assert one.candidates
    assert (one.outcome, one.reason) == ("not in the dictionary", "no name folds to 'venus of mercury'")


@pytest.mark.parametrize("span", [Span(2, 9), Span(7, 9), Span(1, 1)])
def test_a_span_that_is_not_in_the_text(world_folder, span):
    with pytest.raises(SpanError, match=f"{span.start}-{span.end}.*the text has 3 characters"):
        load(world_folder).explain("Sun", span)


def test_below_the_threshold(explained, tmp_path):
    folder = make_kb(tmp_path, [article("w", "Water", "[[w|water]] " + "water " * 60)])
    one = explained("some water", "water", folder)
    assert one.outcome == "rejected"
    assert "link probability (0.0164, threshold 0.05)" in one.reason
    assert one.candidates[0].entity == "w"


def test_lost_to_an_overlap(explained):
    one = explained("In New York City", "York")
    assert one.outcome == "lost to an overlap"
    assert one.lost_to == Span(3, 16)
    assert "'New York City'" in one.reason
    assert one.candidates[0].entity == "york"


def test_blocked(explained, own_world):
    block(own_world, "Venus")
    one = explained("Venus rises", "Venus", own_world)
    assert one.outcome == "rejected"
    assert one.reason == "blocked by a rule"
    assert one.link is None


def test_case(explained):
    one = explained("tell us more", "us")
    assert one.outcome == "rejected"
    assert "case policy" in one.reason


def test_broken(explained):
    one = explained("They stood united. States fell.", "united. States")
    assert one.outcome == "rejected"
    assert "end of a sentence" in one.reason


@pytest.mark.parametrize("settings", [{"types": ("city",)}, {"min_score": 0.9}])
def test_filtered(explained, settings):
    one = explained("Mercury is hot", "Mercury", **settings)
    assert one.outcome == "filtered out"
    assert "of the wanted types" in one.reason


def test_a_piece_of_a_word_is_not_found(explained):
    one = explained("Yorkshire", "York")
    assert one.outcome == "rejected"
    assert "word ends" in one.reason


@pytest.fixture
def yahoo(tmp_path):
    """A name that is written with a sign, and a word that is common in the texts."""
    texts = ["a kettle " * 3] * 10
    return make_kb(tmp_path, [article("y", "Yahoo!", ""), article("k", "Kettle!", *texts)])


@pytest.mark.parametrize("surface", ["Yahoo", "Yahoo!", " Yahoo!?"])
def test_a_blocked_name_with_other_signs(explained, yahoo, surface):
    block(yahoo, "Yahoo!")
    one = explained("We like Yahoo!?", surface, yahoo)
    assert (one.outcome, one.reason) == ("rejected", "blocked by a rule")


def test_a_name_blocked_only_with_its_sign(explained, yahoo):
    block(yahoo, "Yahoo!", case_sensitive=True)
    assert explained("We like Yahoo!", "Yahoo!", yahoo).reason == "blocked by a rule"
    assert explained("We like Yahoo.", "Yahoo", yahoo).outcome == "linked"


@pytest.mark.parametrize("surface", ["Kettle", "Kettle!", "Kettle!,"])
def test_a_rejected_name_with_other_signs(explained, yahoo, surface):
    one = explained("A Kettle!, he said", surface, yahoo)
    assert one.outcome == "rejected"
    assert "common word" in one.reason


def test_rejected_and_losing_names_are_told_with_their_signs(tmp_path):
    texts = ["a kettle " * 3] * 10
    rows = [article("k", "Kettle!", *texts), article("u", "U.S.", ""), article("b", "Bank of the U.S.", "")]
    linker = load(make_kb(tmp_path, rows), config="lexical")
    told = linker.explain("Kettle! Bank of the U.S. now")
    linker.kb.close()
    assert [(one.text, one.outcome) for one in told.spans] == [
        ("Kettle!", "rejected"),
        ("Bank of the U.S.", "linked"),
        ("U.S.", "lost to an overlap"),
    ]
    assert told.spans[2].lost_to == told.spans[1].span


def test_a_name_within_the_signs_of_a_linked_one(explained, yahoo):
    one = explained("We like Yahoo!", "Yahoo", yahoo)
    assert (one.outcome, one.lost_to) == ("lost to an overlap", Span(8, 14))
    assert "'Yahoo!'" in one.reason


def test_every_name_of_a_text_is_told_in_order(world_folder):
    linker = load(world_folder, config="lexical", types=("city",))
    told = linker.explain("Mercury in New York City, us")
    linker.kb.close()
    assert [(one.text, one.outcome) for one in told.spans] == [
        ("Mercury", "filtered out"),
        ("New York", "filtered out"),
        ("New York City", "linked"),
        ("York", "lost to an overlap"),
        ("us", "filtered out"),
    ]
    assert [link.entity for link in told.document.links] == ["nyc"]
    assert told.at(Span(0, 3)) is None


def test_given_mentions_are_explained_too(world_folder):
    linker = load(world_folder, mentions="given")
    document = Document(
        "d", "Venus and Nowhere", mentions=(Mention(Span(10, 17), "Nowhere"), Mention(Span(0, 5), "Venus"))
    )
    told = linker.explain(document)
    linker.kb.close()
    assert [(one.text, one.outcome) for one in told.spans] == [("Venus", "linked"), ("Nowhere", "nil")]
    assert "no candidate" in told.spans[1].reason


def explained_given(folder, start: int = 0, end: int = 5, **settings) -> SpanExplanation:
    """What is told of a span of "Venus and York", of which Venus is given."""
    linker = load(folder, mentions="given", **settings)
    document = Document("d", "Venus and York", mentions=(Mention(Span(0, 5), "Venus"),))
    (one,) = linker.explain(document, Span(start, end)).spans
    linker.kb.close()
    return one


def test_a_given_span_that_is_blocked(own_world):
    block(own_world, "Venus")
    one = explained_given(own_world)
    assert (one.outcome, one.reason, one.link.entity) == ("nil", "blocked by a rule", None)


def test_a_given_span_of_no_wanted_type(world_folder):
    one = explained_given(world_folder, types=("city",))
    assert (one.outcome, one.reason) == ("nil", "no candidate: no entity of the wanted types has the name")


def test_a_span_that_was_not_given(world_folder):
    one = explained_given(world_folder, 10, 14)
    assert (one.outcome, one.reason) == ("rejected", "not among the mentions that the document gives")


# Detectors of others


class Capitals:
    """Takes words in capitals, and explains nothing."""

    def detect(self, documents):
        return [
            [Mention(Span(*match.span()), match[0]) for match in re.finditer(r"\b[A-Z]+\b", one.text)]
            for one in documents
        ]


class TellingCapitals(Capitals):
    """Explains itself too."""

    def explain(self, document, span=None):
        taken = [Judgement(mention.span, Verdict(0.5)) for mention in self.detect([document])[0]]
        words = [Span(*match.span()) for match in re.finditer(r"\b[A-Z][a-z]+\b", document.text)]
        return [*taken, *(Judgement(word, Verdict(0.1, "too quiet", 0.25)) for word in words)]


def linker_with(detector, kb) -> Linker:
    return Linker(kb, detector, [AliasRetriever(kb), EditDistanceRetriever(kb)], PriorRanker(), ThresholdNil())


def test_a_detector_explains_itself(world):
    linker = linker_with(TellingCapitals(), world)
    told = linker.explain("VENUS and York")
    assert [(one.text, one.outcome) for one in told.spans] == [("VENUS", "linked"), ("York", "rejected")]
    york = linker.explain("VENUS and York", Span(10, 14)).spans[0]
    assert york == told.spans[1]
    assert (york.reason, york.detection) == ("too quiet (0.25)", 0.1)
    assert [candidate.entity for candidate in york.candidates] == ["york"]


def test_a_detector_that_explains_nothing(own_world, opened):
    block(own_world, "Sun")
    linker = linker_with(Capitals(), opened(own_world))
    text = "VENUS, York, Sun and Merkury"

    def outcome(name: str) -> tuple[str, str]:
        one = linker.explain(text, Span(text.index(name), text.index(name) + len(name))).spans[0]
        return one.outcome, one.reason

    assert [one.text for one in linker.explain(text).spans] == ["VENUS"]
    assert outcome("York") == ("rejected", "a name, but the detector did not take it for a mention")
    assert outcome("Sun") == ("rejected", "blocked by a rule")
    assert outcome("VENUS,") == ("lost to an overlap", "lost to an overlapping name, 'VENUS'")
    assert outcome("Merkury")[0] == "not in the dictionary"


def test_a_span_of_a_turn_that_is_not_linked(world_folder):
    linker = load(world_folder, config="lexical", speakers="ana")
    try:
        talk = Document.of_turns("c", [Turn("The Sun", "ben"), Turn("The Sun", "ana")])
        (other,) = linker.explain(talk, Span(4, 7)).spans
        assert (other.outcome, other.reason) == (
            "filtered out",
            "its turn is of none of the speakers that are linked",
        )
        assert [one.span for one in linker.explain(talk).spans] == [Span(13, 16)]
    finally:
        linker.kb.close()
