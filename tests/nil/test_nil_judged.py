"""NIL by weights that gold taught."""

from math import exp, log

import pytest

from entlink.documents import Candidate, Document, Mention, Span
from entlink.interfaces import Shortlist
from entlink.linking.config import LinkerConfig, make_stage
from entlink.nil import JudgedNil
from entlink.nil.judged import measured
from entlink.testing import check_nil_policy


def shortlist(score=0.5, mention=0.8, **evidence):
    candidates = [
        Candidate("a", score, {"sum": 3.0, "tier": 0.0, **evidence}, "A"),
        Candidate("b", 0.1, {"sum": 1.0}, "B"),
    ]
    return Shortlist(Document("d", "A word"), Mention(Span(0, 1), "A", None, mention), candidates)


def policy(kb, **settings):
    weights = {"mention": 1.0, "score": 0.5, "lead": 0.25, "spelling": -2.0}
    return JudgedNil(kb, **{"weights": weights, "bias": -1.0, **settings})


def test_the_probability_is_the_logistic_of_the_sum(world):
    [link] = policy(world, threshold=0.4).decide([shortlist(spelling=0.5)])
    by_hand = -1.0 + log(0.8 / 0.2) + 0.5 * log(0.5 / 0.5) + 0.25 * 2.0 - 2.0 * 0.5
    assert link.score == pytest.approx(1 / (1 + exp(-by_hand)))
    assert (link.entity, link.calibrated) == ("a", True)


def test_below_the_threshold_it_is_nil_and_says_why(world):
    judged = policy(world, threshold=0.9)
    [link] = judged.decide([shortlist(spelling=0.5)])
    assert link.entity is None
    assert link.score == pytest.approx(1 - judged.probability(link.mention, link.candidates))
    assert "too little for a link: the threshold is 0.900" in judged.why_nil(link)


def test_a_pinned_name_is_linked_whatever_it_scores(world):
    [link] = policy(world, bias=-50.0).decide([shortlist(pinned=1.0)])
    assert (link.entity, link.score) == ("a", 1.0)


def test_without_candidates_it_is_nil(world):
    one = shortlist()._replace(candidates=[])
    [link] = policy(world).decide([one])
    assert (link.entity, link.score) == (None, 1.0)


def test_a_mention_without_a_score_tells_nothing():
    one = shortlist(mention=None)
    assert measured("mention", one.mention, one.candidates) == 0.0


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_the_surest_scores_are_finite(score):
    one = shortlist(score=score, mention=score)
    assert abs(measured("mention", one.mention, one.candidates)) < 10
    assert abs(measured("score", one.mention, one.candidates)) < 10


def test_it_is_a_policy_and_has_its_place_in_a_configuration(world):
    check_nil_policy(policy(world), [shortlist(), shortlist(score=0.2, spelling=3.0)])
    config = LinkerConfig(nil={"name": "judged", "weights": {"mention": 1.0}, "bias": 0.0, "threshold": 0.3})
    made = make_stage("nil", config.nil, world)
    assert isinstance(made, JudgedNil)
    assert made.threshold == 0.3
