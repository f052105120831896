from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from entlink.candidates.alias import AliasRetriever
from entlink.candidates.edit_distance import EditDistanceRetriever
from entlink.candidates.fusion import QuotaFusion, WeightedFusion
from entlink.documents import Candidate, Document, Mention, Span
from entlink.errors import ConfigError
from entlink.interfaces import Question, Shortlist
from entlink.kb.store.edits import block, pin
from entlink.linking.linker import Linker
from entlink.linking.pooling import Pooling, in_turn
from entlink.mentions.given import GivenMentions
from entlink.nil import ThresholdNil
from entlink.ranking.prior import PriorRanker


class Listed:
    """Finds what it was told for each surface, and scores what others found by another table."""

    def __init__(self, found: Mapping[str, Mapping[str, float]], known: Mapping[str, float] | None = None) -> None:
        self.found, self.known = found, known or {}
        self.asked: list[list[str]] = []

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        return [
            [
                [
                    Candidate(entity, score, {"own": score}, entity.title())
                    for entity, score in self.found.get(one.text, {}).items()
                ]
                for one in question.mentions
            ]
            for question in questions
        ]


class Scoring(Listed):
    gives = ("own",)

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        self.asked += [[one.entity for one in shortlist.candidates] for shortlist in shortlists]
        return [
            [{"own": self.known.get(one.entity, 0.0)} for one in shortlist.candidates] for shortlist in shortlists
        ]


def question(*surfaces: str, id: str = "d") -> Question:
    return Question(Document(id, " ".join(surfaces)), [Mention(Span(0, len(one)), one) for one in surfaces])


def test_in_turn_the_first_that_knows_a_mention_has_it():
    first, second = Listed({"a": {"x": 1.0}}), Listed({"a": {"y": 1.0}, "b": {"z": 1.0}})
    found = in_turn([first, second], [question("a", "b"), question("c", "b", id="e")])
    assert [[[one.entity for one in candidates] for candidates in lists] for lists in found] == [
        [["x"], ["z"]],
        [[], ["z"]],
    ]


def test_a_pool_has_each_entity_once_with_the_score_of_all_that_know_it():
    names, vectors = Listed({"a": {"x": 0.5, "y": 0.4}}), Scoring({"a": {"z": 0.9}}, {"x": 0.3})
    (pool,) = Pooling({"names": names, "vectors": vectors}, WeightedFusion({"names": 1.0})).pools([question("a")])
    assert {one.entity: one.evidence for one in pool.candidates} == {
        "x": {"own": 0.5, "names": 0.5, "vectors": 0.3},
        "y": {"own": 0.4, "names": 0.4, "vectors": 0.0},
        "z": {"own": 0.9, "vectors": 0.9},
    }
    assert vectors.asked == [["x", "y"]]  # not what it found itself


def test_a_wide_pool_is_cut_before_it_is_scored():
    names = Listed({"a": {f"x{number}": 1 - number / 100 for number in range(40)}})
    vectors = Scoring({}, {})
    Pooling({"names": names, "vectors": vectors}, WeightedFusion({"names": 1.0}, keep=5), widest=8).pools(
        [question("a")]
    )
    assert vectors.asked == [[f"x{number}" for number in range(8)]]


def test_mentions_of_several_documents_keep_their_places():
    names = Listed({"a": {"x": 0.5}, "b": {"y": 0.5}})
    found = Pooling({"names": names}, WeightedFusion({"names": 1.0})).candidates(
        [question("a", "c"), question(id="empty"), question("b", id="e")]
    )
    assert [[[one.entity for one in candidates] for candidates in lists] for lists in found] == [
        [["x"], []],
        [],
        [["y"]],
    ]


def linker(kb, **fused) -> Linker:
    retrievers = {
        "alias": AliasRetriever(kb),
        "edit-distance": EditDistanceRetriever(kb),
        "all": Listed({"Mercury": {"sun": 1.0}, "Sun": {"planet": 1.0}}),
    }
    return Linker(kb, GivenMentions(), retrievers, PriorRanker(), ThresholdNil(0.0), **fused)


@pytest.mark.parametrize(
    "fusion", [WeightedFusion({"alias": 1.0, "all": 1.0}), QuotaFusion({"alias": 0.5, "all": 0.5})]
)
def test_a_linker_fuses_what_all_find(world, fusion):
    (found,) = linker(world, fusion=fusion).candidates(Document("d", "Mercury"), [Mention(Span(0, 7), "Mercury")])
    assert {one.entity for one in found} == {"planet", "element", "sun"}


def test_pins_and_blocks_hold_whatever_others_find(own_world, opened):
    pin(own_world, "Mercury", "venus")
    block(own_world, "Sun")
    fused = linker(opened(own_world), fusion=WeightedFusion({"alias": 1.0, "all": 9.0}, keep=1))
    mentions = [Mention(Span(0, 7), "Mercury"), Mention(Span(8, 11), "Sun")]
    pinned, blocked = fused.candidates(Document("d", "Mercury Sun"), mentions)
    assert [one.entity for one in pinned] == ["venus"]
    assert list(blocked) == []


def test_a_fusion_wants_names(world):
    with pytest.raises(ConfigError, match="by name"):
        Linker(
            world,
            GivenMentions(),
            [AliasRetriever(world)],
            PriorRanker(),
            ThresholdNil(),
            fusion=WeightedFusion({"alias": 1.0}),
        )


def test_what_is_not_a_fusion_is_told(world):
    with pytest.raises(ConfigError, match="not a fusion"):
        linker(world, fusion=object())


def test_of_two_retrievers_of_a_kind_each_scores_for_itself():
    """Both write their score under the name of their kind, "own", which the first is called by."""
    first = Scoring({"Mercury": {"planet": 0.9}}, {"metal": 0.2})
    second = Scoring({"Mercury": {"metal": 0.8}}, {"planet": 0.3})
    pooling = Pooling({"own": first, "own-2": second}, WeightedFusion({"own": 1.0, "own-2": 1.0}))
    mention = Mention(Span(0, 7), "Mercury")
    (pool,) = pooling.pools([Question(Document("d", "Mercury"), [mention])])
    assert {one.entity: dict(one.evidence) for one in pool.candidates} == {
        "planet": {"own": 0.9, "own-2": 0.3},
        "metal": {"own": 0.2, "own-2": 0.8},
    }


def test_the_prior_of_a_candidate_is_that_of_the_retriever_that_comes_first():
    """Such as P(e|m) of the name itself against that of a name spelt almost like it."""

    class Named(Listed):
        def retrieve(self, questions):
            return [[[Candidate("x", 0.5, {"prior": self.known["x"]})] for _ in one.mentions] for one in questions]

    retrievers = {"alias": Named({}, {"x": 0.2}), "edit-distance": Named({}, {"x": 0.9})}
    (pool,) = Pooling(retrievers, WeightedFusion({"alias": 1.0})).pools([question("a")])
    assert [one.evidence for one in pool.candidates] == [{"prior": 0.2, "alias": 0.5, "edit-distance": 0.5}]
