from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.candidates.fusion import QuotaFusion, WeightedFusion, slots_of
from entlink.documents import Candidate
from entlink.errors import ConfigError

NAMES = ("alias", "bm25", "dense")
evidences = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.floats(0.01, 1.0), max_size=3), min_size=0, max_size=15
)


def pool(*evidence: dict[str, float]) -> list[Candidate]:
    return [Candidate(f"e{number}", 0.0, one, f"E {number}") for number, one in enumerate(evidence)]


class TestWeights:
    def test_scores_are_weighted_and_divided_by_all_weights(self):
        fused = WeightedFusion({"alias": 3.0, "dense": 1.0}).fuse(
            [pool({"alias": 0.2, "dense": 1.0}, {"alias": 0.6}, {"dense": 0.9, "bm25": 1.0})]
        )
        assert [(one.entity, round(one.score, 6)) for one in fused[0]] == [("e1", 0.45), ("e0", 0.4), ("e2", 0.225)]
        assert fused[0][0].evidence == {"alias": 0.6}
        assert fused[0][0].title == "E 1"

    def test_no_more_than_are_kept(self):
        assert [one.entity for one in WeightedFusion({"a": 1.0}, keep=1).fuse([pool({"a": 0.1}, {"a": 0.2})])[0]] == [
            "e1"
        ]

    @given(evidences, st.integers(1, 12))
    def test_the_kept_are_the_best_of_all(self, evidence, keep):
        weights = {"alias": 1.0, "bm25": 0.5, "dense": 2.0}
        kept = WeightedFusion(weights, keep=keep).fuse([pool(*evidence)])[0]
        sums = sorted(
            (sum(weights[name] * score for name, score in one.items()) / 3.5 for one in evidence), reverse=True
        )
        assert [one.score for one in kept] == pytest.approx(sums[:keep])

    @pytest.mark.parametrize("weights", [{}, {"alias": 0.0}, {"alias": -1.0, "dense": 3.0}])
    def test_weights_that_weigh_nothing(self, weights):
        with pytest.raises(ConfigError, match="weights of a fusion"):
            WeightedFusion(weights)


class TestQuotas:
    def test_the_paper_s_slots(self):
        assert slots_of({"alias": 0.8, "dense": 0.1, "picture": 0.1}, 10) == {"alias": 8, "dense": 1, "picture": 1}

    @given(
        st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5).filter(lambda shares: sum(shares) > 0.01),
        st.integers(1, 50),
    )
    def test_slots_add_up_and_are_within_one_of_their_share(self, shares, keep):
        named = {f"r{number}": share for number, share in enumerate(shares)}
        slots = slots_of(named, keep)
        assert sum(slots.values()) == keep
        assert all(abs(slots[name] - keep * share / sum(shares)) < 1 + 1e-6 for name, share in named.items())

    def test_each_retriever_fills_its_own_slots(self):
        # Two slots for names, one for vectors: the second best by name is in, the third is not.
        found = pool({"alias": 0.9}, {"alias": 0.8}, {"alias": 0.7}, {"dense": 0.6}, {"dense": 0.5})
        kept = QuotaFusion({"alias": 0.67, "dense": 0.33}, keep=3).fuse([found])[0]
        assert {one.entity for one in kept} == {"e0", "e1", "e3"}

    def test_an_entity_that_is_in_already_leaves_the_slot_to_the_next(self):
        found = pool({"alias": 0.9, "dense": 0.9}, {"dense": 0.5}, {"dense": 0.4})
        assert {one.entity for one in QuotaFusion({"alias": 0.5, "dense": 0.5}, keep=2).fuse([found])[0]} == {
            "e0",
            "e1",
        }

    def test_slots_that_one_cannot_fill_go_to_the_others(self):
        found = pool({"alias": 0.9}, {"dense": 0.6}, {"dense": 0.5}, {"dense": 0.4})
        assert len(QuotaFusion({"alias": 0.8, "dense": 0.2}, keep=4).fuse([found])[0]) == 4

    @given(evidences, st.integers(1, 12))
    def test_as_many_as_fit_and_nobody_twice(self, evidence, keep):
        kept = QuotaFusion({"alias": 0.8, "bm25": 0.1, "dense": 0.1}, keep=keep).fuse([pool(*evidence)])[0]
        assert len(kept) == min(keep, sum(bool(one) for one in evidence))
        assert len({one.entity for one in kept}) == len(kept)
        assert [one.score for one in kept] == sorted((one.score for one in kept), reverse=True)


def test_a_retriever_without_a_share_fills_no_slot():
    pool = [Candidate("a", 0.0, {"names": 0.5}), Candidate("b", 0.0, {"words": 0.9})]
    (kept,) = QuotaFusion({"names": 1.0, "words": 0.0}, keep=2).fuse([pool])
    assert kept == QuotaFusion({"names": 1.0}, keep=2).fuse([pool])[0]
    assert [one.entity for one in kept] == ["a"]
