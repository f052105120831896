from __future__ import annotations

import re

import pytest

from entlink.documents import Candidate, Document, Mention, Span
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist
from entlink.linking.config import make_stage
from entlink.nil import ThresholdNil
from entlink.testing import check_nil_policy

MENTION = Mention(Span(0, 3), "Sun", "star")


def shortlist(*scores: float) -> Shortlist:
    return Shortlist(
        Document("d", "Sun"), MENTION, [Candidate(f"e{n}", s, {}, f"T{n}") for n, s in enumerate(scores)]
    )


def of_entity(entity: str, score: float) -> Shortlist:
    return Shortlist(Document("d", "Sun"), MENTION, [Candidate(entity, score)])


def test_links_to_the_best_from_the_threshold_on():
    at, below, none = ThresholdNil(0.3).decide([shortlist(0.3, 0.1), shortlist(0.29), shortlist()])
    assert (at.entity, at.title, at.score, at.nil_type) == ("e0", "T0", 0.3, None)
    assert (below.entity, below.is_nil, below.nil_type) == (None, True, "star")
    assert below.score == pytest.approx(0.71)
    assert (none.entity, none.score, none.candidates) == (None, 1.0, ())


def test_scores_are_not_marked_as_calibrated():
    assert not any(link.calibrated for link in ThresholdNil().decide([shortlist(0.9), shortlist(0.01), shortlist()]))


def test_it_keeps_what_a_nil_policy_promises():
    check_nil_policy(ThresholdNil(), [shortlist(0.9, 0.1), shortlist(0.01)])


def test_types_have_thresholds_of_their_own(world):
    nil = make_stage("nil", {"name": "threshold", "threshold": 0.5, "types": {"planet": 0.8, "city": 0.1}}, world)
    asked = [of_entity("venus", 0.7), of_entity("york", 0.2), of_entity("sun", 0.6), of_entity("sun", 0.4)]
    assert [link.entity for link in nil.decide(asked)] == [None, "york", "sun", None]
    assert nil.limit(Candidate("york", 0.2)) == (0.1, "city")
    assert nil.limit(Candidate("sun", 0.2)) == (0.5, None)
    told = nil.why_nil(nil.decide(asked)[0])
    assert (
        told
        == "the best candidate scores 0.700, too little for a link: the threshold is 0.800, that of type 'planet'"
    )


def test_what_a_rule_has_pinned_is_linked_whatever_it_scores():
    mention = Mention(Span(0, 3), "Sol")
    pinned = Candidate("sun", 0.01, {"pinned": 1.0})
    (link,) = ThresholdNil(0.5).decide([Shortlist(Document("d", "Sol"), mention, [pinned])])
    assert (link.entity, link.score) == ("sun", 0.01)


def test_thresholds_of_types_need_a_knowledge_base():
    with pytest.raises(ConfigError, match="need the knowledge base"):
        ThresholdNil(0.3, types={"city": 0.1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"types": {"city": 2}}, "types = {'city': 2} does not fit: Expected `float` <= 1.0"),
        ({"types": ["city"]}, "types = ['city'] does not fit: Expected `object`, got `array`"),
        ({"threshold": -1}, "threshold = -1 does not fit: Expected `float` >= 0.0"),
    ],
)
def test_settings_that_do_not_fit(world, settings, message):
    with pytest.raises(ConfigError, match=re.escape(f"[nil] threshold: {message}")):
        make_stage("nil", {"name": "threshold", **settings}, world)
