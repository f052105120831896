from __future__ import annotations

import pytest

from entlink.documents import Candidate, Document, Mention, Span
from entlink.interfaces import Shortlist
from entlink.linking.config import make_stage
from entlink.ranking.similarity import SimilarityRanker
from entlink.testing import check_ranker


def shortlist(surface, **evidence):
    candidates = [Candidate(id, 0.5, told) for id, told in evidence.items()]
    return Shortlist(Document("d", surface), Mention(Span(0, len(surface)), surface), candidates)


def ranked(kb, one, **settings):
    (found,) = SimilarityRanker(kb, **settings).rank([one])
    return [(candidate.entity, candidate.score) for candidate in found]


def test_the_score_is_the_prior_times_the_similarity(world):
    one = shortlist("x", a={"prior": 0.7, "dense": 0.2}, b={"alias": 0.3, "prior": 0.9, "dense": 0.8})
    assert ranked(world, one) == [("b", pytest.approx(0.24)), ("a", pytest.approx(0.14))]


def test_any_evidence_can_be_the_similarity(world):
    one = shortlist("x", a={"prior": 0.7, "dense": 0.2, "cross": 0.5}, b={"prior": 0.3, "dense": 0.8, "cross": 0.5})
    assert [entity for entity, _ in ranked(world, one, evidence="cross")] == ["a", "b"]


def test_a_similarity_below_zero_counts_as_zero_and_the_more_similar_comes_first(world):
    one = shortlist("x", a={"prior": 0.7, "dense": -0.2}, b={"prior": 0.3, "dense": -0.1}, c={"prior": 0.3})
    assert ranked(world, one) == [("c", 0.0), ("b", 0.0), ("a", 0.0)]


def test_without_any_similarity_the_prior_decides(world):
    assert ranked(world, shortlist("x", a={"prior": 0.3}, b={"prior": 0.7})) == [("b", 0.7), ("a", 0.3)]


def test_of_what_only_vectors_found_the_knowledge_base_tells_the_prior(world):
    priors = {name.entity: name.probability for name in world.aliases("Mercury")}
    one = shortlist("Mercury", planet={"dense": 0.5}, element={"dense": 0.5}, sun={"dense": 0.9})
    assert ranked(world, one) == [
        ("planet", pytest.approx(priors["planet"] / 2)),
        ("element", pytest.approx(priors["element"] / 2)),
        ("sun", 0.0),
    ]


def test_it_keeps_what_a_ranker_promises(world):
    made = make_stage("ranker", {"name": "prior-times-similarity", "evidence": "bm25"}, world)
    check_ranker(made, [shortlist("Sun", sun={"prior": 1.0, "bm25": 0.4}, venus={}), shortlist("US", us={})])


def test_the_prior_of_a_near_spelling_is_not_that_of_the_surface(world):
    """Edit distance tells P(e|m) of the name it found, which is not the one that stands in the text."""
    one = shortlist("Mercury", sun={"prior": 0.9, "edit": 0.8, "dense": 0.9}, planet={"alias": 0.4, "dense": 0.5})
    assert ranked(world, one) == [("planet", pytest.approx(0.2)), ("sun", 0.0)]
