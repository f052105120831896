from __future__ import annotations

from math import exp

import pytest

from entlink.documents import Candidate, Document, Mention, Span
from entlink.errors import ConfigError
from entlink.evidence.coherence import CoherenceEvidence
from entlink.evidence.cross_encoder import CrossEncoderEvidence
from entlink.interfaces import Shortlist
from entlink.linking.evidence import Gathering, make_evidence
from entlink.ranking.combination import DEFAULT_WEIGHTS, CombinationRanker
from entlink.testing import check_ranker


def shortlist(surface: str, *candidates: Candidate) -> Shortlist:
    return Shortlist(Document("d", surface), Mention(Span(0, len(surface)), surface), candidates)


def without(kb, **weights: float) -> CombinationRanker:
    """Only the features that are named count."""
    return CombinationRanker(kb, weights={**dict.fromkeys(DEFAULT_WEIGHTS, 0.0), **weights}, bias=0.0)


class Whole(CombinationRanker):
    """With the evidence that it weighs by default, and more."""

    def __init__(self, kb, *more, **settings) -> None:
        super().__init__(**settings)
        self._gathering = Gathering([*make_evidence((), self, kb), *more])

    def rank(self, shortlists):
        return self._gathering.ranked(super(), shortlists)


def test_the_score_is_how_good_it_is_and_how_much_better(world):
    ranker = without(world, alias=2.0, dense=3.0)
    one = Candidate("sun", 0.1, {"alias": 0.5, "dense": 0.2}, "Sun")
    ((alone,),) = ranker.rank([shortlist("x", one)])
    assert alone.evidence["sum"] == pytest.approx(1.6)
    assert alone.score == pytest.approx(1 / (1 + exp(-1.6)))
    other = Candidate("venus", 0.1, {"dense": 0.2}, "Venus")
    (found,) = ranker.rank([shortlist("x", other, one)])
    assert [(candidate.entity, candidate.evidence["sum"]) for candidate in found] == [
        ("sun", pytest.approx(1.6)),
        ("venus", pytest.approx(0.6)),
    ]
    assert found[0].score == pytest.approx(alone.score * exp(1.6) / (exp(1.6) + exp(0.6)))
    assert found[1].score == pytest.approx(1 / (1 + exp(-0.6)) * exp(0.6) / (exp(1.6) + exp(0.6)))


def test_every_feature_stands_in_the_evidence(world):
    ranker = CombinationRanker(world, weights={"coherence": 0.0})
    gathering = Gathering(make_evidence((), ranker, world))
    (found,) = gathering.ranked(ranker, [shortlist("Sun", Candidate("sun", 0.1, {"alias": 0.5}, "Sun"))])
    assert set(found[0].evidence) == {"alias", "spelling", "initials", "popularity", "sum"}


def test_bearers_of_a_name_are_told_from_others_if_that_is_weighed(world):
    usual = Candidate("sun", 0.1, {"alias": 0.9, "tier": 0.0}, "Sun")
    unusual = Candidate("york", 0.1, {"alias": 0.1, "tier": 2.0}, "York")
    never = Candidate("venus", 0.1, {"alias": 0.0}, "Venus")
    only_link = Candidate("planet", 0.1, {"alias": 0.0, "tier": 0.0}, "Mercury (planet)")  # as if it were not there
    (found,) = without(world, borne=2.0, alias=-1.0).rank([shortlist("x", never, only_link, usual, unusual)])
    assert [(one.entity, one.evidence["borne"]) for one in found[:2]] == [("york", 1.0), ("sun", 1.0)]
    assert {one.entity: one.evidence["borne"] for one in found[2:]} == {"venus": 0.0, "planet": 0.0}
    assert found[0].evidence["sum"] == pytest.approx(1.9)
    (asked_in_turn,) = without(world, borne=1.0).rank(
        [shortlist("x", Candidate("sun", 0.1, {"prior": 0.4, "tier": 0.0}, "Sun"))]
    )
    assert asked_in_turn[0].evidence["borne"] == 1.0
    with pytest.raises(ConfigError, match="did you mean 'borne'"):
        CombinationRanker(world, weights={"born": 1.0})


@pytest.mark.parametrize("left_out", DEFAULT_WEIGHTS)
def test_leaving_any_feature_out_never_breaks(world, left_out):
    ranker = Whole(world, weights={left_out: 0.0, "coherence": 0.0})
    full = {"alias": 0.5, "dense": 0.4, "bm25": 0.3, "count": 1.0}
    given = [
        Candidate(
            "planet", 0.5, {name: value for name, value in full.items() if name != left_out}, "Mercury (planet)"
        ),
        Candidate("venus", 0.1, {}, "Venus"),
        Candidate("not-there", 0.0, {"alias": 0.01}, None),
    ]
    check_ranker(ranker, [shortlist("Mercury", *given), shortlist("")])
    assert ranker.rank([shortlist("Mercury", *given)])[0][0].entity == "planet"


@pytest.mark.parametrize("there", [("alias",), ("alias", "bm25", "count"), ("alias", "bm25", "count", "dense")])
def test_a_good_candidate_is_good_without_evidence_that_cannot_be_had(world, there):
    """Without an encoder or the extra, what has the very name scores well, and what has little for it does not."""
    ranker = Whole(world, weights={"coherence": 0.0})
    evidence = {"alias": 1.0, "bm25": 0.7, "count": 1.4, "dense": 0.9}
    good = Candidate("sun", 1.0, {name: evidence[name] for name in there}, "Sun")
    poor = Candidate("venus", 0.1, {name: 0.1 * evidence[name] for name in there}, "Venus")
    assert ranker.rank([shortlist("Sun", good)])[0][0].score > 0.5
    assert ranker.rank([shortlist("Sun", poor)])[0][0].score < 0.1


def test_the_bias_is_whole_where_all_evidence_is_there(world):
    ranker = CombinationRanker(world, weights={**dict.fromkeys(DEFAULT_WEIGHTS, 0.0), "alias": 3.0, "dense": 1.0})
    one = Candidate("sun", 0.1, {"alias": 0.5, "dense": 0.2}, "Sun")
    ((whole,),) = ranker.rank([shortlist("x", one)])
    assert whole.score == pytest.approx(1 / (1 + exp(ranker.bias - 1.7)))
    ((part,),) = ranker.rank([shortlist("x", Candidate("sun", 0.1, {"alias": 0.5}, "Sun"))])
    assert part.score == pytest.approx(1 / (1 + exp(0.75 * ranker.bias - 1.5)))


@pytest.mark.parametrize(("name", "meant"), [("dens", "dense"), ("coherrence", "coherence"), ("cros", "cross")])
def test_a_feature_misspelt_is_told(world, name, meant):
    with pytest.raises(ConfigError, match=f"no feature '{name}' to weigh; did you mean '{meant}'"):
        CombinationRanker(world, weights={name: 1.0})


def test_a_weight_that_is_no_number_is_told(world):
    with pytest.raises(ConfigError, match=r"the weight of 'dense' is nan"):
        CombinationRanker(world, weights={"dense": float("nan")})


@pytest.mark.parametrize("name", ["dense-2", "bm25-3", "trained", "edit-distance"])
def test_evidence_of_any_name_can_be_weighed(world, name):
    ranker = without(world, **{name: 3.0, "alias": 1.0})
    one, other = Candidate("sun", 0.1, {name: 0.5}, "Sun"), Candidate("venus", 0.1, {"alias": 1.0}, "Venus")
    (found,) = ranker.rank([shortlist("x", other, one)])
    assert [(best.entity, best.evidence["sum"]) for best in found] == [("sun", 1.5), ("venus", 1.0)]


def test_what_is_asked_in_turn_counts_its_prior_too(world):
    ranker = without(world, alias=2.0)
    named = Candidate("sun", 0.4, {"prior": 0.4, "tier": 0.0}, "Sun")
    spelt = Candidate("venus", 0.9, {"prior": 0.9, "edit": 0.8}, "Venus")
    (found,) = ranker.rank([shortlist("Sun", named, spelt)])
    assert {one.entity: one.evidence["sum"] for one in found} == {"sun": pytest.approx(0.8), "venus": 0.0}


@pytest.mark.parametrize("bias", [float("nan"), float("inf")])
def test_a_bias_that_is_no_number_is_told(world, bias):
    with pytest.raises(ConfigError, match=r"bias = .* does not fit"):
        CombinationRanker(world, bias=bias)


class Given:
    """Scores of entities by id; keeps what it was asked for."""

    def __init__(self, **scores: float) -> None:
        self.scores, self.asked = scores, []

    def score(self, pairs):
        self.asked.append([(mention.text, entity.id) for _, mention, entity in pairs])
        return [self.scores[entity.id] for _, _, entity in pairs]


def crossed(kb, model, top=10, **weights: float) -> Whole:
    weights = {**dict.fromkeys(DEFAULT_WEIGHTS, 0.0), "cross": 1.0, **weights}
    return Whole(kb, CrossEncoderEvidence(kb, model=model, top=top), weights=weights, bias=0.0)


def by_alias(surface: str, **aliases: float) -> Shortlist:
    return shortlist(surface, *(Candidate(id, 0.1, {"alias": prior}, id) for id, prior in aliases.items()))


def test_a_cross_encoder_has_a_say_about_the_best_by_all_else(world):
    cross = Given(sun=-1.0, venus=2.0, planet=9.0, us=-0.5)
    ranker = crossed(world, cross, 3, alias=2.0, cross=0.5)
    (found,) = ranker.rank([by_alias("x", planet=0.1, us=0.2, venus=0.3, sun=0.4)])
    assert cross.asked == [[("x", "sun"), ("x", "venus"), ("x", "us")]]
    told = {one.entity: (one.evidence["cross"], one.evidence["sum"]) for one in found}
    assert told == {
        "venus": (2.0, pytest.approx(0.6 + 1.0)),
        "sun": (-1.0, pytest.approx(0.8 - 0.5)),
        "us": (-0.5, pytest.approx(0.4 - 0.25)),
        "planet": (-1.0, pytest.approx(0.2 - 0.5)),  # not asked after: the lowest of the list
    }
    assert list(told) == ["venus", "sun", "us", "planet"]
    assert sum(one.score for one in found) < 1


def test_all_mentions_are_scored_at_once_and_single_candidates_too(world):
    cross = Given(sun=1.0, venus=2.0)
    lists = [by_alias("a", sun=0.4, venus=0.3), by_alias("b"), by_alias("c", sun=1.0)]
    found = crossed(world, cross, alias=1.0).rank(lists)
    assert cross.asked == [[("a", "sun"), ("a", "venus"), ("c", "sun")]]
    assert found[2][0].evidence["cross"] == 1.0


def test_what_a_cross_encoder_cannot_score_is_no_better_than_the_worst(world):
    cross = Given(sun=3.0, venus=2.0)
    found = crossed(world, cross).rank([by_alias("a", nobody=0.4, sun=0.3, venus=0.1), by_alias("b", nobody=1.0)])
    assert [(one.entity, one.evidence["cross"]) for one in found[0]] == [
        ("sun", 3.0),
        ("nobody", 2.0),
        ("venus", 2.0),
    ]
    assert "cross" not in found[1][0].evidence


def test_with_coherence_the_cross_encoder_comes_last(own_world, opened):
    pytest.importorskip("numpy")
    from entlink.encoders.dual import PlainDual
    from tiny_encoders import LetterEncoder

    cross = Given(sun=0.0, venus=0.0, planet=0.0, us=0.0)
    lists = [by_alias("a", sun=0.4, venus=0.3), by_alias("b", planet=0.5, us=0.2)]
    document = Document("d", "a b")
    lists = [Shortlist(document, one.mention, one.candidates) for one in lists]
    kb = opened(own_world)
    coherence = CoherenceEvidence(kb, encoder=PlainDual(LetterEncoder()))
    crossing = CrossEncoderEvidence(kb, model=cross)
    alone = Whole(kb, coherence)
    ranker = Whole(kb, coherence, crossing, weights={"cross": 1.0})
    for found, expected in zip(ranker.rank(lists), alone.rank(lists), strict=True):
        assert {one.entity: one.evidence["sum"] for one in found} == pytest.approx(
            {one.entity: one.evidence["sum"] for one in expected}
        )
        assert all({"coherence", "cross"} <= one.evidence.keys() for one in found)
    assert len(cross.asked) == 1


def test_a_ranker_with_a_cross_encoder_keeps_what_rankers_promise(world):
    ranker = crossed(world, Given(sun=1.0, venus=2.0, us=0.0), 2, alias=1.0)
    check_ranker(ranker, [by_alias("a", sun=0.4, venus=0.3, us=0.2), by_alias("b", sun=0.3)])


def test_the_evidence_it_asks_for_is_what_it_weighs():
    assert CombinationRanker().wanted_evidence == ("spelling", "popularity", "co-occurrence", "coherence")
    few = CombinationRanker(weights={"coherence": 0.0, "company": 0.0})
    assert few.wanted_evidence == ("spelling", "popularity")
    assert "cross" not in CombinationRanker().weights
