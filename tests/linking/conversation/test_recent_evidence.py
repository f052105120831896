"""What rankers make of what a conversation has linked lately."""

from __future__ import annotations

import pytest

from entlink.candidates.alias import AliasRetriever
from entlink.documents import Candidate, Document, Link, Mention, Span, Turn
from entlink.encoders.dual import PlainDual
from entlink.errors import ConfigError
from entlink.evidence.coherence import CoherenceEvidence
from entlink.interfaces import Shortlist
from entlink.linking.conversation.recent import RecentEntities
from entlink.linking.linker import Linker
from entlink.mentions.dictionary import DictionaryDetector
from entlink.nil import ThresholdNil
from entlink.ranking.combination import CombinationRanker
from entlink.ranking.prior import PriorRanker
from entlink.testing import check_ranker
from tiny_encoders import LetterEncoder

MENTION = Mention(Span(0, 7), "Mercury")


def shortlist(*candidates: Candidate, document: Document | None = None) -> Shortlist:
    return Shortlist(document or Document("d", "Mercury"), MENTION, candidates)


def candidate(entity: str, score: float, **evidence: float) -> Candidate:
    return Candidate(entity, score, {"prior": score, **evidence}, f"Mercury ({entity})")


PLANET, ELEMENT = candidate("planet", 0.75), candidate("element", 0.25)
LATELY = candidate("element", 0.25, recent=1.0)


def test_prior_adds_what_is_recent_and_shares_stay_shares():
    (ranked,) = PriorRanker(recent=0.5).rank([shortlist(PLANET, LATELY)])
    assert [(one.entity, one.score) for one in ranked] == [
        ("planet", pytest.approx(0.75 / 1.5)),
        ("element", pytest.approx(0.75 / 1.5)),
    ]
    (ranked,) = PriorRanker().rank([shortlist(PLANET, LATELY)])
    assert [(one.entity, one.score) for one in ranked] == [("element", 0.625), ("planet", 0.375)]
    assert sum(one.score for one in ranked) == 1.0
    check_ranker(PriorRanker(), [shortlist(PLANET, LATELY), shortlist(PLANET, ELEMENT)])


def test_prior_changes_nothing_without_it_or_when_it_weighs_nothing():
    before = (PLANET, ELEMENT)
    assert PriorRanker().rank([shortlist(*before)])[0] == list(before)
    assert PriorRanker(recent=0).rank([shortlist(PLANET, LATELY)])[0] == [PLANET, LATELY]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_that_does_not_fit(weight, world):
    with pytest.raises(ConfigError, match="recent = "):
        PriorRanker(recent=weight)
    if weight != -1.0:
        with pytest.raises(ConfigError, match="recent = "):
            CombinationRanker(world, recent=weight)


def test_combination_weighs_it_by_a_setting(world):
    (plain,) = CombinationRanker(world).rank([shortlist(PLANET, ELEMENT)])
    (lately,) = CombinationRanker(world, recent=3.0).rank([shortlist(PLANET, LATELY)])
    sums = [{one.entity: one.evidence["sum"] for one in ranked} for ranked in (plain, lately)]
    assert sums[1]["element"] == pytest.approx(sums[0]["element"] + 3.0)
    assert sums[1]["planet"] == sums[0]["planet"]
    assert [plain[0].entity, lately[0].entity] == ["planet", "element"]
    with pytest.raises(ConfigError, match="setting of its own"):
        CombinationRanker(world, weights={"recent": 1.0})


def test_combination_is_no_more_and_no_less_sure_for_want_of_it(world):
    """The bias does not reckon with it: the score of a candidate without it is the same but for its share."""
    (alone,) = CombinationRanker(world).rank([shortlist(PLANET)])[0]
    (weighed,) = CombinationRanker(world, recent=50.0).rank([shortlist(PLANET)])[0]
    assert alone == weighed


def test_what_earlier_turns_were_linked_to_has_its_part_in_coherence(world):
    evidence = CoherenceEvidence(world, encoder=PlainDual(LetterEncoder()))
    earlier = Link(Mention(Span(0, 3), "Sun"), "sun", 1.0)
    turns = (Turn("Sun"), Turn("Mercury"))
    talk = Document("d", "Sun\n\nMercury", turns=turns, links=(earlier,))
    own = Shortlist(talk, Mention(Span(5, 12), "Mercury"), (PLANET, ELEMENT))
    assert any(numbers["coherence"] for numbers in evidence.gather([own])[0])
    for silent in (
        Document("d", talk.text, turns=turns),
        Document("d", talk.text, links=(earlier,)),  # a text that was linked before
        Document("d", talk.text, turns=turns, links=(Link(Mention(Span(5, 12), "Mercury"), "sun", 1.0),)),
        Document("d", talk.text, turns=turns, links=(Link(earlier.mention, None, 1.0),)),
    ):
        told = evidence.gather([own._replace(document=silent)])[0]
        assert not any(numbers["coherence"] for numbers in told), silent


def test_a_conversation_hands_its_links_to_the_coherence(world):
    linker = Linker(
        world,
        DictionaryDetector(world),
        [AliasRetriever(world)],
        CombinationRanker(),
        ThresholdNil(0.0),
        evidence=[CoherenceEvidence(world, encoder=PlainDual(LetterEncoder()))],
    )
    conversation = linker.conversation()
    conversation.add("The Sun")
    (link,) = conversation.add("and Mercury").links
    assert any(one.evidence["coherence"] for one in link.candidates)
    (alone,) = linker.link("and Mercury").links
    assert not any(one.evidence["coherence"] for one in alone.candidates)


def linked(surface: str, entity: str | None, score: float = 1.0, title: str | None = None) -> Link:
    return Link(Mention(Span(0, len(surface)), surface), entity, score, title=title)


def test_a_stronger_link_is_not_weakened_by_a_weaker_one(world):
    recent = RecentEntities(4, 0.5)
    recent.take_in([linked("Sun", "sun", 0.8)], 0)
    assert recent.strengths(1) == {"sun": 0.8}
    recent.take_in([linked("Sun", "sun", 0.1), linked("x", None)], 1)
    assert recent.strengths(2) == {"sun": 0.8}
    recent.take_in([linked("Sun", "sun", 0.1)], 3)
    assert recent.strengths(4) == {"sun": 0.4}
    assert recent.strengths(40) == {}


def test_scores_beyond_one_count_as_one(world):
    recent = RecentEntities(4, 0.5)
    recent.take_in([linked("Sun", "sun", 7.0), linked("Venus", "venus", -7.0)], 0)
    assert recent.strengths(1) == {"sun": 1.0}


@pytest.mark.parametrize(
    ("surface", "is_meant"), [("New York", True), ("City", True), ("NYC", True), ("York", False), ("Citys", False)]
)
def test_names_cut_short_and_initials_are_candidates(world, surface, is_meant):
    recent = RecentEntities(4, 0.5)
    recent.take_in([linked("New York City", "nyc", 1.0, "New York City")], 0)
    before = (candidate("other", 0.5),)
    told = recent.told(world, surface, before, 1)
    assert [one.entity for one in told] == ["other", *(["nyc"] if is_meant else [])]
    if not is_meant:
        assert told is before
