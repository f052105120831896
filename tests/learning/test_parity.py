"""What linking runs without torch is what was trained: the same numbers in fp32, near ones in int8."""

from __future__ import annotations

import numpy
import pytest
import torch

from entlink.encoders.trained.bi_encoder import load_trained_dual
from entlink.encoders.trained.cross_encoder import load_cross
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.learning.base import load_base
from entlink.learning.building import make_network
from entlink.learning.pairs.batches import padded
from entlink.learning.train import train
from tiny_training import make_config, make_examples

CPU = torch.device("cpu")


def trained(stage, base, folder, **settings):
    """A model trained a little, and its network as torch has it, read back from the weights that are kept."""
    config = make_config(base, **settings)
    train(config, stage, make_examples(48), [], folder)
    kept = load_base(str(folder))
    network = make_network(config.model, kept, seed=99).eval()  # another seed: nothing may be left to chance
    return network, PairReader(kept.tokenizer, config.model.pairs)


def run(network, texts, reader):
    with torch.inference_mode():
        return numpy.stack([network(padded([text], reader.pad_id, CPU))[0].numpy() for text in texts])


@pytest.mark.parametrize(("export", "near"), [("fp32", 1e-4), ("int8", 0.35)])
@pytest.mark.parametrize("pooling", ["cls", "mean", "span"])
def test_a_cross_encoder_scores_as_in_training(stage, base, tmp_path, pooling, export, near):
    network, reader = trained(stage, base, tmp_path / "cross", pooling=pooling, export=export)
    asked = make_examples(20, seed=5)
    pairs = [(one.document, one.mention, stage.require(id)) for one in asked for id in (one.entity, *one.negatives)]
    joint = [
        reader.joint(reader.mention(document, mention), reader.entity(entity)) for document, mention, entity in pairs
    ]
    wanted = run(network, joint, reader)
    found = numpy.array(load_cross(tmp_path / "cross", threads=1).score(pairs))
    assert wanted.std() > 0.01, "scores that are all alike would show nothing"
    assert numpy.abs(found - wanted).max() < near * max(1.0, wanted.std())
    assert numpy.corrcoef(found, wanted)[0, 1] > 0.98


@pytest.mark.parametrize(("export", "near"), [("fp32", 1e-4), ("int8", 0.15)])
@pytest.mark.parametrize(
    "settings",
    [
        {"pooling": "mean"},
        {"pooling": "span", "dimension": 12},
        {"pooling": "cls", "separate": True, "dimension": 12},
        {"pooling": "mean", "similarity": "dot", "scale": 0.1},
    ],
)
def test_a_bi_encoder_gives_the_vectors_of_training(stage, base, tmp_path, settings, export, near):
    network, reader = trained(stage, base, tmp_path / "dual", kind="bi-encoder", export=export, **settings)
    asked = make_examples(20, seed=5)
    entities = [stage.require(id) for id in dict.fromkeys(one.entity for one in asked)]
    pairs = [(one.document, one.mention) for one in asked]
    dual = load_trained_dual(tmp_path / "dual", threads=1)
    for found, texts, side in (
        (dual.encode_mentions(pairs), reader.mentions(pairs), "mention"),
        (dual.encode_entities(entities), reader.entities(entities), "entity"),
    ):
        wanted = run(lambda rows, side=side: network(side, rows), texts, reader)
        assert found.shape == wanted.shape
        assert numpy.abs(found - wanted).max() < near * numpy.abs(wanted).max()


def test_padding_and_blocks_change_no_score(stage, base, tmp_path):
    from entlink.learning.pairs.learners import in_blocks

    network, reader = trained(stage, base, tmp_path / "cross")
    asked = make_examples(30, seed=6)
    texts = [
        reader.joint(reader.mention(one.document, one.mention), reader.entity(stage.require(one.entity)))
        for one in asked
    ]
    assert len({len(text.ids) for text in texts}) > 3
    with torch.inference_mode():
        found = in_blocks(network, texts, reader.pad_id, CPU).numpy()
    numpy.testing.assert_allclose(found, run(network, texts, reader), atol=1e-5)
