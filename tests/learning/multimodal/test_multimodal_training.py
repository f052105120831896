"""A multimodal model trained: it can be killed, goes without what is not there, and its loss is that of the paper."""

from __future__ import annotations

import json
import shutil
import tracemalloc

import msgspec
import numpy
import pytest
import torch
from test_training import Killed, killing

from entlink.documents import Candidate, Image
from entlink.encoders.images.dual import load_picture_dual
from entlink.encoders.multimodal.inputs import SideInputs
from entlink.encoders.multimodal.model import load_multimodal
from entlink.encoders.multimodal.settings import INPUTS, MultimodalSettings
from entlink.encoders.trained.settings import PairSettings
from entlink.errors import ConfigError, InputError, MissingModelError
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.multimodal.learner import MultimodalLearner, pairs_of
from entlink.learning.multimodal.material import InputTable
from entlink.learning.multimodal.network import MultimodalNetwork
from entlink.learning.pairs.batches import Chosen
from entlink.learning.pairs.data import prepare
from entlink.learning.train import train
from entlink.learning.train_config import read_train_config
from entlink.ranking.multimodal import MultimodalRanker
from tiny_multimodal import multimodal_config, random_rows, shortlists

CPU = torch.device("cpu")


def test_the_report_and_the_folder_say_how_it_went(pictured, base, tmp_path):
    config = multimodal_config(base, pictured.lite, pictured.pictures, epochs=2)
    report = train(config, pictured.kb, pictured.taught, pictured.asked, tmp_path / "made", data={"files": "f"})
    assert (report.kind, report.examples, report.held_out, report.steps) == ("multimodal", 80, 24, 20)
    assert report.best == max(look.figure for look in report.history)
    told = json.loads((tmp_path / "made" / "training.json").read_text())
    assert told["data"] == {"kb": "pictured.kb", "files": "f"}
    assert told["report"]["best"] == report.best
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        *("model.json", "model.onnx", "mention.onnx", "entity.onnx"),
        *("head.safetensors", "tokenizer.json", "training.json"),
    }


@pytest.mark.parametrize("fusion", ["cross-attention", "read-together"])
def test_killed_and_resumed_is_as_never_killed(pictured, base, tmp_path, fusion):
    """With dropout, pictures left out and exchanged by chance, and names hidden."""
    chance = {"dropout": 0.2, "drop": 0.3, "drop_text": 0.2, "swap": 0.3, "masked": 0.5}
    config = multimodal_config(
        base, pictured.lite, pictured.pictures, fusion=fusion, epochs=1, checkpoint_every=3, **chance
    )
    given = (config, pictured.kb, pictured.taught, pictured.asked[:8])
    train(*given, tmp_path / "whole")
    with pytest.raises(Killed):
        train(*given, tmp_path / "killed", progress=killing(5))
    assert not (tmp_path / "killed" / "model.json").exists()
    train(*given, tmp_path / "killed")
    for path in (tmp_path / "whole").glob("*.onnx"):
        assert path.read_bytes() == (tmp_path / "killed" / path.name).read_bytes(), path.name
    assert not (tmp_path / "killed" / "checkpoint").exists()


# The loss


def a_learner(pictured, base, **settings):
    """A learner with a random network, and the material of a training."""
    from entlink.io.progress import ignore_progress
    from entlink.learning.base import load_base
    from entlink.learning.multimodal.training import MultimodalTraining

    config = multimodal_config(base, pictured.lite, pictured.pictures, **settings)
    training = MultimodalTraining(config, pictured.kb, load_base(str(base)), CPU, ignore_progress)
    material = training._material(pictured.taught, "")
    for value in training.network.parameters():
        value.data = torch.randn(value.shape, generator=torch.Generator().manual_seed(value.numel())) * 0.3
    return MultimodalLearner(training.network.eval(), config, CPU), material


def plain_score(learner, material, example, entity):
    """One pair by itself."""
    network = learner.network
    mention, other = material.mentions.rows([example], CPU), material.entities.rows([entity], CPU)
    prior = torch.tensor([material.priors[example].get(entity, 0.0)])
    if network.together:
        return network.scorer(network.encoders["pair"](mention, other), prior)[0]
    return network.scorer(network.encode("mention", mention) * network.encode("entity", other), prior)[0]


@pytest.mark.parametrize(
    ("fusion", "loss"), [("single-stream", "softmax"), ("read-together", "softmax"), ("concatenation", "binary")]
)
def test_the_loss_is_that_of_a_plain_loop(pictured, base, fusion, loss):
    """Equation 4 of the paper, and binary cross-entropy; the gradient, too."""
    learner, material = a_learner(pictured, base, fusion=fusion, loss=loss, in_batch=4, negatives=1)
    chosen = [Chosen(at, material.negatives[at]) for at in range(6)]
    summed = torch.zeros(())
    for at, one in enumerate(chosen):
        own = plain_score(learner, material, one.example, material.own[one.example])
        hard = [plain_score(learner, material, one.example, row) for row in one.negatives]
        if loss == "binary":
            summed = summed + torch.nn.functional.softplus(-own) + sum(map(torch.nn.functional.softplus, hard))
            continue
        others = [material.own[other.example] for other in (*chosen[at + 1 :], *chosen[:at])]
        taken = {material.own[one.example], *one.negatives}
        free = [row for row in dict.fromkeys(others) if row not in taken][:4]
        soft = [plain_score(learner, material, one.example, row) for row in free]
        summed = summed - torch.log(own.exp() / sum(score.exp() for score in (own, *hard, *soft)))
    found = learner.loss(material, chosen)
    assert found.item() == pytest.approx(summed.item(), rel=1e-4)
    weight = learner.network.scorer.wide.weight
    mine, plain = (torch.autograd.grad(one, weight)[0] for one in (found, summed))
    assert torch.allclose(mine, plain, atol=1e-4 * float(plain.abs().max()))


def test_what_is_right_for_a_mention_is_no_negative_of_it(pictured, base):
    from entlink.io.progress import ignore_progress

    _, material = a_learner(pictured, base)
    also = pictured.taught[0]._replace(entity=pictured.taught[0].wrong(1)[0])
    both = type(material)(
        pictured.kb, learner_inputs(pictured, base), [pictured.taught[0], also], 3, ignore_progress, ""
    )
    compared = pairs_of(both, [Chosen(0, both.negatives[0]), Chosen(1, both.negatives[1])], 9)
    assert compared.sizes == [1, 1]
    chosen = [Chosen(at, material.negatives[at]) for at in range(8)]
    for most in (0, 2, 50):
        sizes = pairs_of(material, chosen, most).sizes
        assert max(sizes) <= 2 + most
        assert (max(sizes) > 2) == (most > 0)


def learner_inputs(pictured, base):
    from entlink.io.progress import ignore_progress
    from entlink.learning.base import load_base
    from entlink.learning.multimodal.training import MultimodalTraining

    config = multimodal_config(base, pictured.lite, pictured.pictures)
    return MultimodalTraining(config, pictured.kb, load_base(str(base)), CPU, ignore_progress)._inputs


# What is not there


@pytest.mark.parametrize("absent", INPUTS)
def test_each_input_can_be_absent(pictured, trained, absent):
    """From training on, or only at work."""
    without, whole = trained("without", epochs=1, without=(absent,)), trained("whole", epochs=1)
    asked = shortlists(pictured.asked[:6])
    assert absent not in without.model.settings.uses
    assert numpy.isfinite(without.scores(asked)).all()
    assert numpy.allclose(without.scores(asked, {absent}), without.scores(asked), atol=0.01), "it never saw it"
    assert not numpy.allclose(whole.scores(asked, {absent}), whole.scores(asked))
    everything = numpy.array(whole.scores(asked, set(INPUTS), prior=False))
    assert numpy.allclose(everything, everything[0, 0]), "who sees nothing can tell nothing apart"


def test_a_picture_that_cannot_be_used_is_as_none(pictured, trained, tmp_path, caplog):
    ranker = trained(epochs=1)
    (tmp_path / "text.jpg").write_text("no picture")
    (one,) = shortlists(pictured.asked[:1])
    wanted = ranker.scores([one], {"mention-picture"})
    for images in (
        (),
        (Image(str(tmp_path / "text.jpg")),),
        (Image(str(tmp_path / "none.png")),),
        (Image("https://a/b"),),
    ):
        document = msgspec.structs.replace(one.document, images=images)
        assert ranker.scores([one._replace(document=document)]) == wanted
    assert "text.jpg: this is no picture" in caplog.text
    assert "none is fetched unasked" in caplog.text


def test_a_hidden_name_says_nothing(pictured, trained):
    """With the name hidden, another name in its place scores the same, and P(e|m) is not looked at."""
    ranker = trained(epochs=2, masked=1.0)
    (one,) = shortlists(pictured.asked[:1])
    start, end = one.mention.span.start, one.mention.span.end
    name = "wing" if one.mention.text != "wing" else "crew"
    text = one.document.text[:start] + name + one.document.text[end:]
    span = msgspec.structs.replace(one.mention.span, end=start + 4)
    mention = msgspec.structs.replace(one.mention, span=span, text=name)
    other = Shortlist(msgspec.structs.replace(one.document, text=text), mention, one.candidates)
    assert ranker.scores([one], masked=True) == ranker.scores([other], masked=True)
    assert ranker.scores([one]) != ranker.scores([other])


class Vectors:
    """One-hot vectors of entities by the hash of their id."""

    dimension, identity = 6, "one-hot"

    def of(self, ids):
        found = numpy.zeros((len(ids), 6), numpy.float32)
        for row, id in enumerate(ids):
            found[row, sum(map(ord, id)) % 6] = 1
        return found


def test_an_entity_can_be_a_vector(pictured, base, tmp_path):
    config = multimodal_config(base, pictured.lite, pictured.pictures, entity_text="vectors", epochs=1)
    with pytest.raises(MissingModelError, match="no vectors of words and entities"):
        train(config, pictured.kb, pictured.taught, [], tmp_path / "made")
    train(config, pictured.kb, pictured.taught, [], tmp_path / "made", vectors=Vectors())
    ranker = MultimodalRanker(pictured.kb, model=tmp_path / "made", vectors=Vectors())
    assert numpy.isfinite(ranker.scores(shortlists(pictured.asked[:4]))).all()
    entity = pictured.kb.get("bridge-water")
    contents = {
        ranker.model.entity_content(msgspec.structs.replace(entity, **changed))
        for changed in ({}, {"title": "Other"}, {"description": "Another one."})
    }
    assert len(contents) == 3, "the vector kept for it would be that from before the edit"
    other = Vectors()
    other.identity = "others"
    with pytest.raises(ConfigError, match="trained on the vectors of entities 'one-hot', and these are 'others'"):
        MultimodalRanker(pictured.kb, model=tmp_path / "made", vectors=other)


# Pictures in training


def test_pictures_are_found_where_the_index_found_them(pictured, base, tmp_path, monkeypatch):
    config = multimodal_config(base, pictured.lite, "", epochs=1)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="the working directory: no picture of an entity"):
        train(config, pictured.kb, pictured.taught, [], tmp_path / "lost")
    kb = tmp_path / "indexed.kb"
    shutil.copytree(pictured.kb.folder, kb)
    with KnowledgeBase.open(kb) as indexed:
        indexed.index(vectors=[load_picture_dual(pictured.lite, pictures=pictured.pictures)])
        train(config, indexed, pictured.taught, [], tmp_path / "made")
    assert load_multimodal(tmp_path / "made").pictures.folder == pictured.pictures.resolve()


def test_a_picture_is_kept_once(pictured, base):
    """For all mentions of a caption, with the name hidden, too."""
    _, material = a_learner(pictured, base, masked=0.5)
    training = material.mentions.rows(range(8), CPU)
    assert torch.equal(material.hidden.rows(range(8), CPU).cells, training.cells)
    assert material.hidden._cells is material.mentions._cells
    twice = [*pictured.taught[:3], *pictured.taught[:3]]
    both = type(material)(pictured.kb, learner_inputs(pictured, base), twice, 3, lambda *_: None, "").mentions
    assert (len(both), both.pictures) == (6, 3)
    assert torch.equal(both.rows([0, 1, 2], CPU).cells, both.rows([3, 4, 5], CPU).cells)


def test_pictures_do_not_fill_memory():
    def read(part):
        count = len(part)
        cells = numpy.full((count, 16, 64), part[0], numpy.float32)
        ones = numpy.ones(count, numpy.float32)
        ends = numpy.zeros(count, numpy.int64)
        return SideInputs(numpy.zeros((count, 1, 1), numpy.float32), ones[:, None], ends, ends, cells, ones, ones)

    tracemalloc.start()
    table = InputTable(list(range(4096)), read, lambda _: None, int)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4096 * 16 * 64 * 2 / 2, "half of what the pictures are"
    assert table.rows([0, 200, 4095], CPU).cells[:, 3, 5].tolist() == [0, 128, 3968]


# Chance


def test_chance_has_a_say_in_training_only(pictured, base):
    learner, material = a_learner(pictured, base, swap=1.0, drop=0.5)
    chosen = [Chosen(at, material.negatives[at]) for at in range(8)]
    calm = material.mentions.rows(range(8), CPU)
    assert torch.equal(learner._mentions(material, chosen).cells, calm.cells)
    learner.network.train()
    torch.manual_seed(0)
    seen = learner._mentions(material, chosen)
    assert 0 < seen.has_picture.sum() < 8
    kept = seen.has_picture > 0
    assert not torch.equal(seen.cells[kept], calm.cells[kept])
    every = {tuple(row) for row in calm.cells.flatten(1).tolist()}
    assert {tuple(row) for row in seen.cells[kept].flatten(1).tolist()} <= every


# At work


def test_entities_are_encoded_once(pictured, trained, monkeypatch):
    ranker = trained(epochs=1)
    asked = shortlists(pictured.asked[:6])
    first = ranker.scores(asked)
    ranker.model.encode_entities = None
    assert ranker.scores(asked) == first
    again = MultimodalRanker(pictured.kb, model=ranker.model._spec)
    again.model.encode_entities = None
    assert again.scores(asked) == first, "they are kept beside the knowledge base"


def test_gone_candidates_come_last(pictured, trained):
    ranker = trained(epochs=1)
    (one,) = shortlists(pictured.asked[:1])
    gone = one._replace(candidates=[Candidate("nobody", 9.0), *one.candidates])
    (ranked,) = ranker.rank([gone])
    assert ranked[-1] == Candidate("nobody", 0.0)
    assert sum(candidate.score for candidate in ranked) == pytest.approx(1)
    assert ranker.rank([one._replace(candidates=[])]) == [[]]


# What can be wrong


def test_what_does_not_fit_is_reported(pictured, base, tmp_path):
    def asked(**settings):
        config = multimodal_config(base, pictured.lite, pictured.pictures, **settings)
        train(config, pictured.kb, pictured.taught, [], tmp_path / "made")

    for settings, problem in (
        ({"heads": 3}, "width = 16 does not fit 3 heads.*Set it to 15"),
        ({"without": ("entity-text", "entity-picture")}, "leaves out text and picture of each entity"),
        ({"base_layers": 9}, "base_layers = 9 does not fit: .* has 2"),
        ({"cells": 7}, r"cells = 7 does not fit an encoder with \d+"),
        ({"dimension": 3}, "dimension = 3 does not fit a multimodal model"),
    ):
        with pytest.raises(ConfigError, match=problem):
            asked(**settings)
    config = multimodal_config(base, pictured.lite, pictured.pictures)
    with pytest.raises(InputError, match="learns from PicturedExample"):
        train(config, pictured.kb, [("no", "example")], [], tmp_path / "made")  # type: ignore[list-item]
    strange = [one._replace(candidates=(("nobody", 1.0),)) for one in pictured.taught]
    with pytest.raises(InputError, match="entity 'nobody'"):
        train(config, pictured.kb, strange, [], tmp_path / "made")
    assert not (tmp_path / "made").exists()
    with pytest.raises(ConfigError, match="settings of multimodal do not fit a bi-encoder"):
        read_train_config("bi-encoder", {"multimodal.layers": "2"})


def test_another_encoder_of_pictures_is_refused(pictured, trained, tmp_path):
    from tiny_pictures import lite_folder

    ranker = trained(epochs=1)
    other = lite_folder(tmp_path / "other", seed=3)
    settings = msgspec.structs.replace(ranker.model.settings, pictures=str(other))
    ranker.model.inputs._of_documents._settings = settings
    with pytest.raises(ConfigError, match="the model was trained on pictures by"):
        ranker.scores(shortlists(pictured.asked[:1]))
    with pytest.raises(ConfigError, match="there is no input 'sound'"):
        ranker.scores(shortlists(pictured.asked[:1]), {"sound"})


def test_an_encoder_of_pictures_that_is_gone_is_reported_at_loading(pictured, base, tmp_path, monkeypatch):
    config = multimodal_config(base, pictured.lite, pictured.pictures, epochs=1)
    train(config, pictured.kb, pictured.taught, [], tmp_path / "made")
    blind = multimodal_config(base, pictured.lite, pictured.pictures, epochs=1, without=INPUTS[1::2])
    train(blind, pictured.kb, pictured.taught, [], tmp_path / "blind")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    hidden = pictured.lite.rename(tmp_path / "elsewhere")
    try:
        load_multimodal(tmp_path / "blind")
        with pytest.raises(MissingModelError, match="lite"):
            load_multimodal(tmp_path / "made")
    finally:
        hidden.rename(pictured.lite)


# From documents


def test_documents_with_gold_become_examples_with_priors(pictured, base):
    from entlink.documents import Document, GoldLink, Span

    config = multimodal_config(base, pictured.lite, pictured.pictures, negatives=2)
    document = Document("d", "the bridge", gold=(GoldLink(Span(4, 10), ("bridge-water",)),), images=(Image("a.png"),))
    ((one,), aside) = prepare(config, pictured.kb, [document], [document])
    assert one == aside[0]
    assert one.entity == "bridge-water"
    assert dict(one.candidates).keys() == {"bridge-water", "bridge-play"}
    named = {name.entity: name.probability for name in pictured.kb.aliases("bridge")}
    assert dict(one.candidates) == named
    assert one.document.images == document.images


# The shape of the network


def a_network(**settings):
    shape = MultimodalSettings(
        pairs=PairSettings(),
        **{"text_width": 6, "entity_width": 5, "picture_width": 4, "cells": 3, "width": 8, **settings},
    )
    return MultimodalNetwork(shape, 0.0).eval(), shape


def test_padding_and_absent_cells_change_nothing():
    network, shape = a_network(heads=2)
    rows = random_rows(4, 5, 6, shape.cells, 4, seed=1)
    wanted = network.encode("mention", rows)
    padded = rows._replace(
        states=torch.nn.functional.pad(rows.states, (0, 0, 0, 3), value=9.0),
        mask=torch.nn.functional.pad(rows.mask, (0, 3)),
    )
    assert torch.allclose(network.encode("mention", padded), wanted, atol=1e-5)
    gone = rows._replace(has_picture=torch.zeros(4))
    other = gone._replace(cells=torch.randn(4, 3, 4))
    # Cells of a picture that is not there are zeros by contract, and weigh nothing even if they were not.
    assert torch.allclose(network.encode("mention", gone), network.encode("mention", other), atol=1e-5)


def test_both_sides_begin_alike():
    network, shape = a_network(heads=2, entity_width=6)
    network.start_alike(None, None)
    rows = random_rows(4, 5, 6, shape.cells, 4, seed=2)
    assert torch.equal(network.encode("mention", rows), network.encode("entity", rows))
    own = (network.encode("mention", rows) ** 2).unflatten(1, (3, 8)).mean(-1)
    assert torch.allclose(own[rows.has_picture.bool() & rows.has_text.bool()], torch.ones(()), atol=1e-4), "cosines"
