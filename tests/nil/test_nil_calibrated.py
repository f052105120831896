"""NIL by probability: what it decides, what it claims, and when it claims nothing."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Candidate, Document, Mention, Span
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist
from entlink.linking.config import make_stage
from entlink.linking.linker import Linker
from entlink.mentions.given import GivenMentions
from entlink.nil import CalibratedNil
from entlink.nil.measures import WIDEST_LEAD, measure
from entlink.ranking.prior import PriorRanker
from entlink.testing import check_nil_policy

MENTION = Mention(Span(0, 3), "Sun")
SETTINGS = {"weights": {"score": 4.0, "lead": 1.0}, "bias": -2.0}


def asked(*candidates: Candidate, mention: Mention = MENTION) -> Shortlist:
    return Shortlist(Document("d", mention.text), mention, candidates)


def test_a_link_scores_its_probability(world):
    best, second = Candidate("sun", 0.9, {"prior": 0.9}), Candidate("venus", 0.1, {"prior": 0.1})
    (link,) = CalibratedNil(world, **SETTINGS).decide([asked(best, second)])
    probability = 1 / (1 + exp(-(4.0 * 0.9 + 0.8 - 2.0)))
    assert (link.entity, link.score, link.calibrated) == ("sun", pytest.approx(probability), True)
    assert link.candidates == (best, second)


@pytest.mark.parametrize(
    ("evidence", "share"), [({}, 0.7), ({"sum": 3.0}, 1 / (1 + exp(-1.0)))], ids=["of scores", "by a softmax of sums"]
)
def test_of_a_name_that_several_bear_it_is_no_surer_than_the_ranker(world, evidence, share):
    best = Candidate("planet", 0.7, {"prior": 0.7, "tier": 0.0, **evidence})
    second = Candidate("element", 0.3, {"prior": 0.3, "tier": 0.0, **dict.fromkeys(evidence, 2.0)})
    far = Candidate("venus", 0.6, {"prior": 0.0, **evidence})
    nil = CalibratedNil(world, **{**SETTINGS, "bias": 9.0})
    assert nil.probability([best, far, second]) == pytest.approx(share)
    assert nil.probability([best, far]) > 0.99


def test_below_the_threshold_it_is_nil(world):
    candidate = Candidate("sun", 0.3)
    nil = CalibratedNil(world, **SETTINGS, threshold=0.5)
    (link,) = nil.decide([asked(candidate)])
    assert (link.entity, link.calibrated) == (None, True)
    assert link.score == pytest.approx(1 - nil.probability([candidate]))
    assert nil.why_nil(link) == (
        "the best candidate is right with probability 0.378, too little for a link: the threshold is 0.500"
    )


def test_without_candidates_it_is_nil_for_sure(world):
    (link,) = CalibratedNil(world, **SETTINGS).decide([asked()])
    assert (link.entity, link.score, link.calibrated, link.nil_type) == (None, 1.0, True, None)


def test_it_keeps_what_a_nil_policy_promises(world):
    nil = CalibratedNil(world, **SETTINGS)
    check_nil_policy(nil, [asked(Candidate("sun", 0.9), Candidate("venus", 0.1)), asked(Candidate("sun", 0.01))])


def test_a_rule_is_certain(world):
    nil = CalibratedNil(world, **SETTINGS, threshold=1.0)
    (link,) = nil.decide([asked(Candidate("sun", 0.01, {"pinned": 1.0}))])
    assert (link.entity, link.score) == ("sun", 1.0)


# Types


def test_the_lowest_threshold_of_the_types_holds(tmp_path, opened):
    from entlink.testing import toy_kb

    kb = opened(toy_kb(tmp_path))
    nil = CalibratedNil(kb, **SETTINGS, threshold=0.5, types={"place": 0.9, "city": 0.2, "star": 0.95})
    assert nil.limit(Candidate("paris", 0.0)) == (0.2, "city")
    assert nil.limit(Candidate("france", 0.0)) == (0.9, "place")
    assert nil.limit(Candidate("queen-band", 0.0)) == (0.5, None)
    low, sure = nil.decide([asked(Candidate("sun", 0.95)), asked(Candidate("paris", 0.25))])
    assert (low.entity, sure.entity) == (None, "paris")
    assert nil.why_nil(low).endswith("the threshold is 0.950, that of type 'star'")


# Measures


def test_measures():
    pair = [Candidate("a", 0.8, {"sum": 9.0, "tier": 2.0}), Candidate("b", 0.1, {"sum": 4.0})]
    assert measure("sum", pair) == 9.0
    assert measure("lead", pair) == 5.0
    assert measure("lead", pair[:1]) == WIDEST_LEAD
    assert measure("named", pair) == 0.75
    assert measure("named", pair[1:]) == 0.0
    assert measure("dense", pair) == 0.0
    plain = [Candidate("a", 0.8, {}), Candidate("b", 0.5, {})]
    assert (measure("score", plain), measure("lead", plain)) == (0.8, pytest.approx(0.3))
    assert measure("lead", plain[:1]) == 0.8


numbers = st.floats(0, 10)


@given(
    st.fixed_dictionaries({"sum": numbers, "dense": numbers, "spelling": numbers}),
    st.fixed_dictionaries({"sum": numbers, "lead": numbers, "dense": numbers, "spelling": numbers}),
    st.sampled_from(["sum", "dense", "spelling"]),
    numbers,
    st.floats(-20, 20),
)
def test_more_evidence_never_makes_a_link_less_likely(evidence, weights, name, more, bias):
    nil = CalibratedNil(None, weights=weights, bias=bias)  # type: ignore[arg-type]
    second = Candidate("b", 0.0, {"sum": 1.0})
    before = nil.probability([Candidate("a", 0.5, evidence), second])
    after = nil.probability([Candidate("a", 0.5, {**evidence, name: evidence[name] + more}), second])
    assert 0.0 <= before <= after <= 1.0


def test_a_weight_below_zero_is_refused(world):
    with pytest.raises(ConfigError, match=r"the weight of 'lead' is -1\.0, and none may be below 0"):
        make_stage("nil", {"name": "calibrated", "weights": {"lead": -1}, "bias": 0}, world)


# Where the fit does not hold


def told(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith("entlink.nil")]


def test_evidence_that_does_not_come(world, caplog):
    nil = CalibratedNil(world, weights={"dense": 9.0}, bias=-4.0, always=["prior", "dense"])
    there = asked(Candidate("sun", 0.8, {"prior": 0.8, "dense": 0.9}))
    gone = asked(Candidate("sun", 0.8, {"prior": 0.8}))
    (link,) = nil.decide([gone])
    assert (link.entity, link.score, link.calibrated) == ("sun", 0.8, False)
    nil.decide([gone])
    assert len(told(caplog)) == 1
    assert "not calibrated" in told(caplog)[0]
    assert "no candidate has evidence of dense, which probabilities were fitted to" in told(caplog)[0]
    assert [link.calibrated for link in nil.decide([there, gone, there])] == [True, False, True]
    (low,) = nil.decide([asked(Candidate("sun", 0.01, {"prior": 0.8}))])
    assert nil.why_nil(low).startswith("the best candidate scores 0.010")


def test_evidence_that_is_new(world, caplog):
    nil = CalibratedNil(world, **SETTINGS, always=["prior"], sometimes=["edit"])
    fits = asked(Candidate("sun", 0.8, {"prior": 0.8, "edit": 0.9, "pinned": 0.0}))
    assert nil.decide([fits])[0].calibrated
    assert not nil.decide([asked(Candidate("sun", 0.8, {"prior": 0.8, "sum": 3.0}))])[0].calibrated
    assert "there is evidence of sum, which probabilities were not fitted to" in told(caplog)[0]


def test_another_ranker(world, caplog):
    nil = CalibratedNil(world, **SETTINGS, ranker="combination")
    nil.runs_with("combination")
    assert nil.decide([asked(Candidate("sun", 0.8))])[0].calibrated
    nil.runs_with("prior")
    assert not nil.decide([asked(Candidate("sun", 0.8))])[0].calibrated
    assert "the ranker is 'prior', probabilities were fitted to 'combination'" in told(caplog)[0]


def test_a_policy_that_was_never_fitted(world, caplog):
    nil = make_stage("nil", {"name": "calibrated"}, world)
    assert not nil.decide([asked(Candidate("sun", 0.8))])[0].calibrated
    assert "probabilities were never fitted" in told(caplog)[0]


def test_mentions_without_candidates_are_no_reason_for_doubt(world, caplog):
    nil = CalibratedNil(world, **SETTINGS, always=["prior", "dense"])
    assert nil.decide([asked()])[0].calibrated
    assert not told(caplog)


# In a linker


class Found:
    """Knows the sun, barely."""

    def retrieve(self, questions):
        return [[[Candidate("sun", 0.2, {}, "Sun")] for _ in question.mentions] for question in questions]


def test_an_explanation_tells_probability_and_threshold(world):
    nil = CalibratedNil(world, **SETTINGS, types={"star": 0.6})
    linker = Linker(world, GivenMentions(), [Found()], PriorRanker(), nil)
    document = Document("d", "Sun", mentions=(MENTION,))
    (one,) = linker.explain(document).spans
    assert (one.outcome, one.reason) == (
        "nil",
        "the best candidate is right with probability 0.269, too little for a link: the threshold is 0.600, that of "
        "type 'star'",
    )
    nil.types = {"star": 0.1}
    (one,) = linker.explain(document).spans
    assert one.reason == "the only candidate, right with probability 0.269"
