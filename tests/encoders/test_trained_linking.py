"""Trained models at work in a linker and in an index."""

from __future__ import annotations

import pytest

from entlink.documents import Entity
from entlink.encoders.dual import load_dual
from entlink.encoders.trained.settings import PairSettings
from entlink.errors import InputError
from entlink.kb.indexes.names import reindex
from entlink.kb.indexes.vectors.index import open_vectors
from entlink.kb.indexes.vectors.search import VectorSearch
from entlink.kb.indexes.vectors.writing import build_vectors
from entlink.kb.store.edits import add
from entlink.linking.config import LinkerConfig
from entlink.linking.linker import load
from pair_models import make_model


def nothing(stage, done, total):
    pass


@pytest.fixture(params=["cosine", "dot"])
def models(store, request):
    """A dual and a cross-encoder in the store."""
    settings = PairSettings(24, 20, similarity=request.param, separate=True)
    make_model(store / "towers", "dual", settings, dimension=6, precision="int8")
    make_model(store / "pairs", "cross", PairSettings(24, 20), precision="int8")


def test_a_linker_with_both_finds_scores_and_ranks(models, own_world):
    build_vectors(own_world, load_dual("towers"), nothing)
    config = LinkerConfig(
        retriever=[{"name": "alias"}, {"name": "dense", "encoder": "towers", "search": "index", "limit": 4}],
        fusion={"name": "weights", "weights": {"alias": 1.0, "dense": 0.1}},
        ranker={"name": "combination", "cross": "pairs", "top": 3, "encoder": "towers"},
    )
    linker = load(own_world, config=config)
    document = linker.link("Mercury is near the Sun. Venus is too.")
    assert len(document.links) == 3
    for link in document.links:
        for candidate in link.candidates:
            assert {"dense", "cross", "coherence", "sum"} <= candidate.evidence.keys()
        assert len({one.evidence["cross"] for one in link.candidates}) > 1


def test_an_index_is_made_anew_with_the_model_it_was_made_with(models, own_world, opened):
    dual = load_dual("towers")
    build_vectors(own_world, dual, nothing)
    add(own_world, [Entity("bank", "River bank", "The mat of the river.")])
    reindex(own_world, processes=1)
    kb = opened(own_world)
    index = open_vectors(kb, dual)
    key = kb.key("bank")
    assert key in index.rows.keys
    asked = dual.encode_entities([kb.entity(key)])
    ((best, *_),) = VectorSearch(kb, dual).search(asked, 20)
    scores = dict(VectorSearch(kb, dual).search(asked, 20)[0])
    assert scores[key] == pytest.approx(float(asked[0] @ asked[0]), rel=1e-2)
    if dual.similarity == "cosine":
        assert best[0] == key


def test_a_model_is_studied_by_itself(models, own_world, opened):
    from entlink.studies.systems import model_system

    orders = {}
    for name in ("towers", "pairs"):
        system = model_system(name, name)
        if name == "towers":  # that of a cross-encoder orders what the plain encoder finds, and there is none here
            assert system.prepare(opened(own_world)) is not None
        linker = system.load(own_world, ())
        document = linker.link("Mercury is near the Sun.")
        orders[name] = [link.candidates[0].evidence for link in document.links]
        linker.kb.close()
    assert all("dense" in evidence for evidence in orders["towers"])
    assert any("cross" in evidence for evidence in orders["pairs"])


def test_what_is_no_trained_model_is_not_studied_as_one(own_world, tmp_path):
    from entlink.studies.systems import model_system

    with pytest.raises(InputError, match="no bi-encoder and no cross-encoder"):
        model_system("x", tmp_path)
