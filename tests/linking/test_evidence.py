"""Evidence in a linker: which kinds it has, when each is asked, and under which names its numbers go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from entlink.candidates.alias import AliasRetriever
from entlink.candidates.fusion import WeightedFusion
from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.errors import ConfigError
from entlink.evidence.popularity import PopularityEvidence
from entlink.interfaces import Question, Shortlist
from entlink.kb.store.edits import add
from entlink.linking.evidence import Gathering, make_evidence
from entlink.linking.linker import Linker
from entlink.linking.pooling import Pooling
from entlink.mentions.given import GivenMentions
from entlink.nil import ThresholdNil
from entlink.ranking.combination import CombinationRanker

MERCURY = Mention(Span(0, 7), "Mercury")


class Fixed:
    """Says the same of an entity always; keeps what it was asked about."""

    def __init__(self, when: str | None = None, name: str = "fixed", **numbers: float) -> None:
        self.gives, self.numbers = (name,), numbers
        self.asked: list[list[str]] = []
        if when is not None:
            self.when = when

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        self.asked += [[one.entity for one in each.candidates] for each in shortlists]
        return [
            [{self.gives[0]: self.numbers[one.entity]} if one.entity in self.numbers else {} for one in each[2]]
            for each in shortlists
        ]


class BySum:
    """Orders by the sum of all evidence."""

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        return [sorted(one.candidates, key=lambda found: -sum(found.evidence.values())) for one in shortlists]


def shortlist(**evidence: float) -> Shortlist:
    candidates = [Candidate(entity, 0.5, {"own": value}, entity) for entity, value in evidence.items()]
    return Shortlist(Document("d", "Mercury"), MERCURY, candidates)


def test_evidence_of_the_ranked_is_asked_in_the_order_that_the_rest_gives():
    rest, first, second = Fixed(a=0.0, b=3.0), Fixed("ranked", "first", a=9.0), Fixed("ranked", "second", c=20.0)
    (found,) = Gathering([second, first, rest]).ranked(BySum(), [shortlist(a=1.0, b=0.5, c=0.7)])
    assert rest.asked == [["a", "b", "c"]]
    assert second.asked == [["b", "a", "c"]]  # in the order of the configuration
    assert first.asked == [["c", "b", "a"]]
    assert {one.entity: dict(one.evidence) for one in found} == {
        "c": {"own": 0.7, "second": 20.0},
        "a": {"own": 1.0, "fixed": 0.0, "first": 9.0},
        "b": {"own": 0.5, "fixed": 3.0},
    }


def test_what_an_earlier_ranking_left_has_no_say_in_the_order():
    ranked = Fixed("ranked", "own", a=1.0, b=2.0)
    (found,) = Gathering([ranked]).ranked(BySum(), [shortlist(b=1.0, a=5.0)])
    assert ranked.asked == [["b", "a"]]
    assert [dict(one.evidence) for one in found] == [{"own": 2.0}, {"own": 1.0}]


def test_of_two_of_a_kind_the_second_has_a_number_in_its_name():
    (found,) = Gathering([Fixed(a=1.0), Fixed(a=2.0)], ["other"]).ranked(BySum(), [shortlist(a=0.0)])
    assert found[0].evidence == {"own": 0.0, "fixed": 1.0, "fixed-2": 2.0}
    (found,) = Gathering([Fixed(a=1.0)], ["fixed"]).ranked(BySum(), [shortlist(a=0.0)])
    assert found[0].evidence == {"own": 0.0, "fixed-2": 1.0}


@pytest.mark.parametrize("wrong", [object(), CombinationRanker(), Fixed("never")])
def test_what_is_no_evidence_is_told(wrong):
    with pytest.raises(ConfigError, match="is not evidence: it needs a method gather"):
        Gathering([wrong])


@pytest.mark.parametrize("fused", [True, False])
def test_evidence_of_the_pool_sees_what_the_fusion_cuts(world, fused):
    pool, rest = Fixed("pool", "pool", planet=1.0, element=2.0), Fixed(planet=3.0)
    linker = Linker(
        world,
        GivenMentions(),
        {"alias": AliasRetriever(world)},
        BySum(),
        ThresholdNil(0.0),
        evidence=[pool, rest],
        fusion=WeightedFusion({"alias": 1.0}, keep=1) if fused else None,
    )
    (link,) = linker.link(Document("d", "Mercury", mentions=(MERCURY,))).links
    assert sorted(pool.asked[0]) == ["element", "planet"]
    assert rest.asked == ([["planet"]] if fused else pool.asked)
    assert {one.entity: one.evidence["pool"] for one in link.candidates} == (
        {"planet": 1.0} if fused else {"planet": 1.0, "element": 2.0}
    )


def test_a_fusion_can_weigh_evidence_of_the_pool(world):
    evidence = {"pool": Fixed("pool", "pool", element=9.0)}
    pooling = Pooling(
        {"alias": AliasRetriever(world)}, WeightedFusion({"alias": 1.0, "pool": 1.0}), evidence=evidence
    )
    (((first, *_),),) = pooling.candidates([Question(Document("d", "Mercury"), [MERCURY])])
    assert first.entity == "element"


def test_a_linker_tells_its_evidence_of_edits(own_world, opened):
    kb = opened(own_world)
    evidence = PopularityEvidence(kb)
    linker = Linker(
        kb, GivenMentions(), [AliasRetriever(kb)], CombinationRanker(), ThresholdNil(0.0), evidence=[evidence]
    )
    document = Document("d", "Mercury", mentions=(MERCURY,))
    before = {one.entity: one.evidence["popularity"] for one in linker.link(document).links[0].candidates}
    add(own_world, [Entity("god", "Mercury")], weight=4)
    after = {one.entity: one.evidence["popularity"] for one in linker.link(document).links[0].candidates}
    assert 0 < after["planet"] < before["planet"]


def test_what_the_ranker_weighs_is_there_without_a_word_of_it(world):
    names = [one.gives[0] for one in make_evidence((), CombinationRanker(weights={"coherence": 0.0}), world)]
    assert names == ["spelling", "popularity", "company"]
    linker = Linker(world, GivenMentions(), [AliasRetriever(world)], CombinationRanker(), ThresholdNil(0.0))
    assert {"spelling", "popularity"} <= {one.gives[0] for one in linker.evidence}
    assert Linker(world, GivenMentions(), [AliasRetriever(world)], BySum(), ThresholdNil(0.0)).evidence == []


def test_evidence_that_is_named_takes_the_place_of_that_by_default(world, monkeypatch):
    ranker = CombinationRanker(weights={"coherence": 0.0, "company": 0.0})
    made = make_evidence([{"name": "popularity"}, {"name": "spelling"}], ranker, world)
    assert [one.gives[0] for one in made] == ["popularity", "spelling"]
    with pytest.raises(ConfigError, match="did you mean 'popularity'"):
        make_evidence([{"name": "popularty"}], ranker, world)


def test_without_its_model_ranking_goes_on_and_one_warning_tells(world, caplog, monkeypatch, tmp_path):
    pytest.importorskip("onnxruntime")
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path))
    ranker = CombinationRanker(weights={"cross": 1.0, "company": 0.0})
    made = make_evidence([{"name": "cross-encoder", "model": "mine"}], ranker, world)
    assert [one.gives[0] for one in made] == ["spelling", "popularity"]  # nor is there an encoder for coherence
    assert [record.message.split(":")[0] for record in caplog.records] == ["ranking goes on without cross-encoder"]
    assert "no model 'mine'" in caplog.text


def test_a_retriever_that_rescores_is_asked_with_a_warning(world):
    class Old:
        def retrieve(self, questions):
            return [[() for _ in question.mentions] for question in questions]

        def rescore(self, shortlists):
            return [[0.25 for _ in one.candidates] for one in shortlists]

    with pytest.warns(DeprecationWarning, match="Old has a method rescore: give it gather and gives"):
        pooling = Pooling({"alias": AliasRetriever(world), "old": Old()}, WeightedFusion({"alias": 1.0}))
    (pool,) = pooling.pools([Question(Document("d", "Mercury"), [MERCURY])])
    assert {one.evidence["old"] for one in pool.candidates} == {0.25}
