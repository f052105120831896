from __future__ import annotations

from math import exp

import pytest

from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.errors import ConfigError, MissingModelError
from entlink.evidence.cross_encoder import CrossEncoderEvidence
from entlink.interfaces import Shortlist
from entlink.kb.store.edits import add
from entlink.linking.config import make_stage
from entlink.linking.evidence import Gathering, make_evidence
from entlink.ranking.cross_encoder import CrossEncoderRanker
from entlink.testing import check_evidence, check_ranker


class Lengths:
    """The longer a title, the higher its score; keeps what it was asked for."""

    def __init__(self):
        self.asked = []

    def score(self, pairs):
        self.asked.append([(mention.text, entity.id) for _, mention, entity in pairs])
        return [float(len(entity.title)) for _, _, entity in pairs]


def shortlist(surface, *ids):
    candidates = [Candidate(id, 0.5, {"prior": 0.1}, id.title()) for id in ids]
    return Shortlist(Document("d", surface), Mention(Span(0, len(surface)), surface), candidates)


class Whole:
    """The ranker with its evidence."""

    def __init__(self, kb, **settings) -> None:
        self.gathering = Gathering([CrossEncoderEvidence(kb, **settings)])

    def rank(self, shortlists):
        return self.gathering.ranked(CrossEncoderRanker(), shortlists)


@pytest.fixture
def model():
    return Lengths()


def test_the_first_are_ordered_by_the_model_and_the_rest_come_after(world, model):
    ranker = Whole(world, model=model, top=3)
    (found,) = ranker.rank([shortlist("Mercury", "sun", "planet", "venus", "element", "us")])
    assert [one.entity for one in found] == ["planet", "venus", "sun", "element", "us"]
    powers = [exp(len(title) - 16) for title in ("Mercury (planet)", "Venus", "Sun")]
    assert [one.score for one in found] == pytest.approx([*(power / sum(powers) for power in powers), 0.0, 0.0])
    assert [one.evidence for one in found[:3]] == [{"prior": 0.1, "cross": score} for score in (16.0, 5.0, 3.0)]
    assert found[3].evidence == {"prior": 0.1}


def test_all_mentions_are_asked_at_once(world, model):
    ranker = Whole(world, model=model, top=2)
    ranker.rank([shortlist("a", "sun", "venus", "us"), shortlist("b"), shortlist("c", "sun")])
    assert model.asked == [[("a", "sun"), ("a", "venus"), ("c", "sun")]]
    assert ranker.rank([shortlist("b"), shortlist("c", "nobody")])[0] == []
    assert len(model.asked) == 1


def test_what_was_scored_is_kept_until_the_entity_changes(own_world, opened, model, monkeypatch):
    kb = opened(own_world)
    ranker = Whole(kb, model=model)
    first = ranker.rank([shortlist("Sun", "sun", "venus"), shortlist("Sun", "venus")])
    assert model.asked == [[("Sun", "sun"), ("Sun", "venus")]]
    assert ranker.rank([shortlist("Sun", "sun", "venus"), shortlist("Sun", "venus")]) == first
    assert len(model.asked) == 1
    add(own_world, [Entity("venus", "Venus, the planet")], replace=True)
    kb.refresh()
    assert ranker.rank([shortlist("Sun", "sun", "venus")])[0][0].evidence["cross"] == 17.0
    monkeypatch.setattr("entlink.evidence.cross_encoder._KEPT", 1)
    ranker.rank([shortlist("Us", "us", "venus")])
    assert ranker.rank([shortlist("Us", "us", "venus")])[0][0].entity == "venus"


def test_an_entity_that_is_gone_comes_last(world, model):
    (found,) = Whole(world, model=model).rank([shortlist("Sun", "nobody", "sun")])
    assert [(one.entity, one.score) for one in found] == [("sun", 1.0), ("nobody", 0.0)]


def test_it_keeps_what_a_ranker_promises(world, model):
    lists = [shortlist("Sun", "sun", "venus", "planet"), shortlist("US", "us")]
    check_ranker(Whole(world, model=model, top=2), lists)
    check_evidence(CrossEncoderEvidence(world, model=model, top=2), lists)


def test_settings(world, monkeypatch):
    monkeypatch.setattr("entlink.encoders.trained.cross_encoder.load_cross", lambda spec: Lengths())
    made = make_stage("evidence", {"name": "cross-encoder", "model": "mine", "top": 4}, world)
    assert (type(made), made.top) == (CrossEncoderEvidence, 4)
    with pytest.raises(ConfigError, match=r"top = 0 does not fit"):
        make_stage("evidence", {"name": "cross-encoder", "model": "mine", "top": 0}, world)
    with pytest.raises(ConfigError, match=r"missing a required.* 'model'"):
        make_stage("evidence", {"name": "cross-encoder", "top": 4}, world)
    with pytest.raises(ConfigError, match="3 names no cross-encoder"):
        make_stage("evidence", {"name": "cross-encoder", "model": 3}, world)


def test_the_ranker_cannot_do_without_a_model(world):
    pytest.importorskip("onnxruntime")
    with pytest.raises(MissingModelError, match="no model 'mine'"):
        make_evidence([{"name": "cross-encoder", "model": "mine"}], CrossEncoderRanker(), world)
    with pytest.raises(ConfigError, match=r"\[evidence\] cross-encoder: missing a required.* 'model'"):
        make_evidence((), CrossEncoderRanker(), world)
