"""A bi-encoder that learns types with links (TyDE): its losses, what it learns, and what it becomes without torch."""

from __future__ import annotations

import numpy
import pytest
import torch
from torch.nn import functional

from entlink.encoders.trained.bi_encoder import load_trained_dual
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.encoders.trained.type_names import TypeNames
from entlink.encoders.trained.typed import load_typed_dual
from entlink.errors import InputError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.base import load_base
from entlink.learning.building import make_network
from entlink.learning.pairs.batches import padded
from entlink.learning.pairs.types import TypeLabels, type_loss
from entlink.learning.train import train
from knowledge_bases import make_kb
from tiny_training import ROWS, make_config, make_examples

CPU = torch.device("cpu")
UNTYPED = "deck-play"


@pytest.fixture(scope="module")
def typed_folder(tmp_path_factory):
    """The names with their sense as coarse type, and the name as another fine one; one entity has no types."""
    rows = [{**row, "types": list(reversed(row["id"].split("-")))} for row in ROWS if row["id"] != UNTYPED]
    return make_kb(tmp_path_factory.mktemp("typed"), [*rows, *(one for one in ROWS if one["id"] == UNTYPED)], "typed")


@pytest.fixture
def typed(typed_folder):
    with KnowledgeBase.open(typed_folder) as kb:
        yield kb


def config_of(base, **settings):
    return make_config(base, kind="bi-encoder", typed=True, dimension=12, export="fp32", **settings)


@pytest.fixture(scope="module")
def trained(typed_folder, tmp_path_factory, base):
    """A model trained until it has learnt the toy set, its folder, and what training reported."""
    folder = tmp_path_factory.mktemp("trained") / "tyde"
    with KnowledgeBase.open(typed_folder) as kb:
        config = config_of(base, epochs=15, batch=16, learning_rate=3e-3)
        report = train(config, kb, make_examples(300), make_examples(60, seed=8), folder)
    return folder, report


def test_links_and_types_are_learnt_together(trained):
    folder, report = trained
    losses = [look.loss for look in report.history if look.loss is not None]
    assert losses[-1] < losses[0] / 2
    assert report.best > 0.6  # of the links: a third by chance
    fresh = make_examples(80, seed=5)
    found = load_typed_dual(folder).mention_types([(one.document, one.mention) for one in fresh])
    right = [type == one.entity.split("-")[1] for one, (type, _) in zip(fresh, found, strict=True)]
    assert sum(right) >= 64
    assert all(0.5 <= chance <= 1 for _, chance in found)  # of two types, the likelier


def test_without_the_losses_of_types_no_type_is_learnt(typed, tmp_path, base):
    """So that what is learnt above is not there by itself."""
    config = config_of(base, epochs=2, batch=16, learning_rate=3e-3, type_weight=1e-9, type_rate=1e-9)
    train(config, typed, make_examples(300), [], tmp_path / "tyde")
    fresh = make_examples(80, seed=5)
    found = load_typed_dual(tmp_path / "tyde").mention_types([(one.document, one.mention) for one in fresh])
    assert sum(type == one.entity.split("-")[1] for one, (type, _) in zip(fresh, found, strict=True)) < 64


def test_the_written_model_gives_what_torch_does(trained, typed, base):
    folder, _ = trained
    dual, kept = load_typed_dual(folder, threads=1), load_base(str(folder))
    assert kept.types == dual.types
    config = config_of(base)
    network = make_network(config.model, kept, seed=99, types=kept.types).eval()
    reader = PairReader(kept.tokenizer, config.model.pairs)
    asked = make_examples(12, seed=6)
    entities = list(typed)
    with torch.inference_mode():
        left, right = (
            torch.stack([network.raw(side, padded([text], reader.pad_id, CPU))[0] for text in texts])
            for side, texts in (
                ("mention", reader.mentions([(one.document, one.mention) for one in asked])),
                ("entity", reader.entities(entities)),
            )
        )
        cosines = functional.normalize(left) @ functional.normalize(right).T
        scores = {
            (side, kind): network.type_scores(side, kind, vectors)
            for side, vectors in (("mention", left), ("entity", right))
            for kind in ("coarse", "fine")
        }
    mentions = dual.encode_mentions([(one.document, one.mention) for one in asked])
    rows = dual.encode_entities(entities)
    for at, vector in enumerate(mentions):
        assert numpy.abs(dual.compare(vector, rows) - cosines[at].numpy()).max() < 1e-4
        for kind, chances in (("coarse", lambda one: one.softmax(1)), ("fine", torch.sigmoid)):
            own, others = scores["mention", kind], scores["entity", kind]
            for how, wanted in (("dot", own @ others.T), ("probability", chances(own) @ chances(others).T)):
                found = dual.compare_types(kind, vector, rows, how)
                assert numpy.abs(found - wanted[at].numpy()).max() < 1e-3 * max(1.0, wanted.abs().max().item())


def test_it_finds_candidates_as_a_bi_encoder_does(trained, typed):
    """With types or without, the cosines of its vectors are the same."""
    folder, _ = trained
    plain, dual = load_trained_dual(folder), load_typed_dual(folder)
    entities = list(typed)[:5]
    document, mention = make_examples(1)[0][:2]
    cosines = plain.encode_entities(entities) @ plain.encode_mentions([(document, mention)])[0]
    found = dual.compare(dual.encode_mentions([(document, mention)])[0], dual.encode_entities(entities))
    assert numpy.abs(found - cosines).max() < 1e-5
    assert dual.entity_identity != plain.entity_identity  # vectors of length 1 and others never mix


def test_types_that_are_not_known_cost_nothing(typed, base):
    """By hand, with two entities, of which one has no types and the other a fine one that the model does not know."""
    names = TypeNames(("play", "water"), ("type-water", "type-line"))
    labels = TypeLabels(typed, names, ["line-water", UNTYPED, "wing-play"]).of([0, 1, 2], CPU)
    assert labels.coarse_told.tolist() == [1, 0, 1]
    assert labels.fine_told.tolist() == [1, 0, 0]
    assert labels.fine.tolist() == [[1, 1], [0, 0], [0, 0]]
    network = make_network(config_of(base).model, load_base(str(base)), seed=0, types=names)
    vectors = torch.randn(3, 12, requires_grad=True)
    weights = torch.tensor([1.0, 1.0, 0.5])
    loss = type_loss(network, "mention", vectors, labels, weights)
    coarse, fine = (network.type_scores("mention", kind, vectors) for kind in ("coarse", "fine"))
    by_hand = -coarse.log_softmax(1)[0, 1] - functional.logsigmoid(fine[0]).sum() - coarse.log_softmax(1)[2, 0] / 2
    assert loss.item() == pytest.approx(by_hand.item(), rel=1e-5)
    loss.backward()
    assert vectors.grad is not None
    assert vectors.grad[1].abs().max() == 0
    assert vectors.grad[[0, 2]].abs().sum(1).min() > 0


def test_a_model_with_types_can_be_trained_further(trained, typed, tmp_path, base):
    """It keeps its layers of types, and the types that they are for."""
    folder, _ = trained
    config = config_of(folder, steps=1, learning_rate=1e-9)
    train(config, typed, make_examples(20, seed=3), [], tmp_path / "further")
    before, after = load_typed_dual(folder), load_typed_dual(tmp_path / "further")
    assert before.types == after.types
    fresh = [(one.document, one.mention) for one in make_examples(10, seed=4)]
    assert before.mention_types(fresh) == [
        (type, pytest.approx(chance, abs=1e-4)) for type, chance in after.mention_types(fresh)
    ]


def test_there_must_be_types_to_learn(stage, trained, tmp_path, base):
    with pytest.raises(InputError, match=r"none of its entities has a type.*a column `types`"):
        train(config_of(base), stage, make_examples(20), [], tmp_path / "new")
    with pytest.raises(InputError, match="no entity of the examples has a type that the model knows"):
        train(config_of(trained[0]), stage, make_examples(20), [], tmp_path / "further")


def test_a_bi_encoder_without_types_is_told(typed, tmp_path, base):
    config = make_config(base, kind="bi-encoder", steps=1)
    train(config, typed, make_examples(20), [], tmp_path / "plain")
    with pytest.raises(InputError, match=r"without types.*model\.typed=true"):
        load_typed_dual(tmp_path / "plain")
