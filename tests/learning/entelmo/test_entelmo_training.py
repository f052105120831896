"""EntELMo on a tiny set: losses by brute force, gradients, resuming, variants, and the written encoder."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import numpy
import pytest
import torch
from torch.nn.functional import cross_entropy

from corpora import KilledError
from entlink.documents import Span
from entlink.encoders.layered.loading import load_layered
from entlink.encoders.loading import load_encoder
from entlink.encoders.recurrent.words import CONTEXT_START, SENTENCE_END, SENTENCE_START, word_bytes
from entlink.errors import ConfigError, DamagedError, ExistsError, InputError, NotFoundError
from entlink.interfaces import LayeredEncoder
from entlink.io.progress import ignore_progress
from entlink.learning.entelmo.batches import make_batch
from entlink.learning.entelmo.config import Variant, preset_names, read_entelmo_config
from entlink.learning.entelmo.learner import EntElmoLearner
from entlink.learning.entelmo.losses import log_uniform_sample
from entlink.learning.entelmo.material import UNKNOWN, read_material
from entlink.learning.entelmo.training import make_entelmo, tokens_read, train_entelmo
from entlink.learning.pairs.batches import Chosen
from tiny_entelmo import PLACES, make_config, make_set

VARIANTS = Variant.__args__


@pytest.fixture(scope="module")
def wikient(tmp_path_factory):
    return make_set(tmp_path_factory.mktemp("region"))


def learner_of(wikient, config):
    torch.manual_seed(0)
    material, aside = read_material(wikient, config.model, 8, 0, ignore_progress)
    network = make_entelmo(config, material.counts)
    for one in network.parameters():
        torch.nn.init.normal_(one, std=0.3)
    return EntElmoLearner(network, config.model), material, aside


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_losses_are_those_of_the_paper(wikient, variant):
    """Row by row and word by word, with the whole vocabulary."""
    config = make_config(variant=variant, samples=60, bag_words=50)
    learner, material, _ = learner_of(wikient, config)
    network, examples = learner.network.eval(), [3, 0, 17]
    size = len(material.vocabulary)
    found = learner.parts(material, examples, log_uniform_sample(size, size))

    def read(row):
        layers = network.lm(make_batch([row], material.table))
        return layers.forward[-1], layers.backward[-1], torch.from_numpy(material.known[row])

    def log_loss(layer, state, word):
        return cross_entropy((layer.weight @ state + layer.bias)[None], word[None]).item()

    def language(row):
        forward, backward, words = read(row)
        after = [log_loss(network.softmax, forward[at], words[at + 1]) for at in range(len(row) - 1)]
        before = [log_loss(network.softmax, backward[at], words[at - 1]) for at in range(1, len(row))]
        return sum(after) + sum(before)

    def bag(layer, row, first, last, targets):
        forward, backward, _ = read(row)
        seen = torch.cat([forward, backward], dim=1)[first:last].mean(dim=0)
        return sum(log_loss(layer, seen, word) for word in targets if int(word) != UNKNOWN)

    expected = {"contexts": 0.0, "descriptions": 0.0, "from_mention": 0.0, "from_description": 0.0}
    for at in examples:
        lesson = material.lessons[at]
        described = material.descriptions[lesson.description]
        context, words = (torch.from_numpy(material.known[row]) for row in (lesson.words, described))
        expected["contexts"] += language(lesson.words)
        expected["descriptions"] += language(described)
        if variant != "baseline":
            expected["from_mention"] += bag(network.description, lesson.words, lesson.first, lesson.last, words[1:-1])
        if variant in ("full", "etn"):
            told = context[lesson.first : lesson.last] if variant == "etn" else context[1:-1]
            expected["from_description"] += bag(network.context, described, 1, len(described) - 1, told)
    for name, value in expected.items():
        assert getattr(found, name).sum().item() == pytest.approx(value, rel=1e-4), name


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_weight_learns_and_a_loss_teaches_only_its_own_decoder(wikient, variant):
    learner, material, _ = learner_of(wikient, make_config(variant=variant))
    learner.loss(material, [Chosen(at, ()) for at in range(8)]).backward()
    still = [name for name, one in learner.network.named_parameters() if not one.grad.abs().sum()]
    assert still == []
    decoders = {name.split(".")[0] for name, _ in learner.network.named_parameters()} - {"lm", "softmax"}
    assert decoders == {"full": {"description", "context"}, "etn": {"description", "context"}}.get(
        variant, {"description"} if variant == "without-ctx" else set()
    )


def test_training_lowers_the_perplexity(wikient, tmp_path):
    config = make_config(training_steps=40, training_evaluate_every=20, training_learning_rate=0.02, samples=60)
    report = train_entelmo(config, wikient, tmp_path / "model")
    figures = [look.figure for look in report.history]
    assert figures == sorted(figures)
    assert report.measures.contexts == pytest.approx(1 / report.best, rel=1e-4)
    assert report.measures.contexts < 25  # of 60 words; by frequency alone it is about 30


def test_variants_read_the_same_words_and_the_same_batches(wikient, tmp_path):
    reports = [
        train_entelmo(make_config(variant=variant, training_steps=3), wikient, tmp_path / variant)
        for variant in VARIANTS
    ]
    assert len({one.tokens for one in reports}) == 1
    material, _ = read_material(wikient, make_config().model, 8, 0, ignore_progress)
    assert tokens_read(material, len(material), 0, 2) == 2 * sum(map(material.tokens, range(len(material))))


def test_a_training_that_was_killed_ends_in_the_same_weights(wikient, tmp_path):
    config = make_config(training_steps=7, training_checkpoint_every=2)
    train_entelmo(config, wikient, tmp_path / "whole")

    def kill(stage, done, total):
        if stage.startswith("training") and done == 5:
            raise KilledError

    with pytest.raises(KilledError):
        train_entelmo(config, wikient, tmp_path / "killed", progress=kill)
    assert not (tmp_path / "killed" / "model.json").exists()
    with pytest.raises(InputError, match=r"model\.bag_words is 50 there and 9 here"):
        train_entelmo(make_config(training_steps=7, bag_words=9), wikient, tmp_path / "killed")
    report = train_entelmo(config, wikient, tmp_path / "killed")
    assert report.steps == 7
    name = "weights.safetensors"
    assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "killed" / "checkpoint").exists()
    with pytest.raises(ExistsError, match="--restart"):
        train_entelmo(config, wikient, tmp_path / "killed")


def test_the_written_encoder_gives_the_layers_that_torch_gives(wikient, tmp_path):
    """Means of the mention's words and of the description's, of every layer, whatever else is in the batch."""
    config = make_config(training_steps=2)
    train_entelmo(config, wikient, tmp_path / "model")
    encoder = load_encoder(tmp_path / "model")
    assert (encoder.layers, encoder.dimension, encoder.mixing) == (3, 12, "softmax")
    assert isinstance(encoder, LayeredEncoder)
    assert load_layered(tmp_path / "model").identity == encoder.identity
    contexts = [("The Old mill's wheel, at dawn .", Span(4, 14)), ("Ferry", Span(0, 5))]
    texts = ["An abbey is old .", "a", ""]
    found, described = encoder.encode_contexts(contexts), encoder.encode_descriptions(texts)
    assert found.shape == (3, 2, 12) and described.shape == (3, 3, 12)
    expected = [
        torch_layers(tmp_path / "model", config, [CONTEXT_START, *words, SENTENCE_END])[:, first:last].mean(1)
        for words, first, last in (
            (["the", "old", "mill's", "wheel", ",", "at", "dawn", "."], 2, 4),
            (["ferry"], 1, 2),
        )
    ]
    numpy.testing.assert_allclose(found, numpy.stack(expected, axis=1), atol=1e-5)
    numpy.testing.assert_allclose(described[:, :1], encoder.encode_descriptions(texts[:1]), atol=1e-6)
    assert not described[:, 2].any()
    unit = encoder.encode(texts)
    assert numpy.linalg.norm(unit, axis=1) == pytest.approx([1, 1, 0])
    assert numpy.allclose(encoder.encode_contexts([("x " * 700 + "ferry", Span(1400, 1405))]), 0) is False
    mention = " ".join(PLACES * 64)
    whole = encoder.encode_contexts([(mention, Span(0, len(mention)))])
    longer = f"at dawn {mention} {mention} ."
    cut = encoder.encode_contexts([(longer, Span(8, len(longer) - 2))])
    numpy.testing.assert_allclose(cut, whole, atol=1e-6)  # of a mention of 1,024 words the first 512 are read


def torch_layers(folder, config, words):
    from safetensors.torch import load_file

    network = make_entelmo(config, numpy.ones(60)).lm.eval()
    network.load_state_dict(load_file(folder / "weights.safetensors"))
    forms = list(dict.fromkeys(words))
    row = numpy.array([forms.index(word) for word in words], numpy.int32)
    with torch.no_grad():
        layers = network(make_batch([row], word_bytes(forms, config.model.shape.word_bytes)))
    return numpy.stack([torch.cat(pair, 1).numpy() for pair in zip(layers.forward, layers.backward, strict=True)])


def test_the_encoder_needs_no_torch(wikient, tmp_path):
    train_entelmo(make_config(training_steps=1), wikient, tmp_path / "model")
    load = f"from entlink.encoders.loading import load_encoder; print(load_encoder({str(tmp_path / 'model')!r}))"
    script = f"import sys; sys.modules['torch'] = None; {load}"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_broken_model_is_refused(wikient, tmp_path):
    folder = tmp_path / "model"
    train_entelmo(make_config(training_steps=1), wikient, folder)
    card = msgspec.json.decode((folder / "model.json").read_bytes())
    card["settings"]["hidden"] = 13
    (folder / "model.json").write_bytes(msgspec.json.encode(card))
    with pytest.raises(DamagedError, match=r"forwards\.0\.input' is \(48, 6\), and \(52, 6\) is wanted"):
        load_encoder(folder)
    card["settings"]["filters"] = []
    (folder / "model.json").write_bytes(msgspec.json.encode(card))
    with pytest.raises(DamagedError, match="a word would have no value"):
        load_encoder(folder)


def test_contexts_are_cut_around_their_mention(wikient):
    model = make_config(context_tokens=4, description_tokens=3).model
    material, _ = read_material(wikient, model, 0, 0, ignore_progress)
    forms = {tuple(row): word for word, row in _table(material).items()}
    for lesson in map(material.lessons.__getitem__, range(len(material))):
        words = [forms[tuple(material.table[number])] for number in lesson.words]
        assert len(words) <= 6 and words[0] == CONTEXT_START and words[-1] == SENTENCE_END
        assert words[lesson.last - 1] in ("harbour", "castle", "mill", "abbey", "quarry", "ferry", "market", "tower")
    assert max(map(len, material.descriptions)) == 5


def test_of_a_mention_longer_than_its_context_the_first_words_are_taken(wikient):
    model = msgspec.structs.replace(make_config().model, context_tokens=1)
    material, _ = read_material(wikient, model, 0, 0, ignore_progress)
    forms = {tuple(row): word for word, row in _table(material).items()}
    lessons = [material.lessons[at] for at in range(len(material))]
    assert {(len(one.words), one.first, one.last) for one in lessons} == {(3, 1, 2)}
    assert "next" in {forms[tuple(material.table[one.words[1]])] for one in lessons}


def _table(material):
    words = {*material.vocabulary, "next", "0", "1", "2", "3", "4", "5", SENTENCE_START}
    return dict(zip(words, word_bytes(words, material.table.shape[1]).tolist(), strict=True))


def test_held_out_contexts_are_of_other_pages(wikient):
    config = make_config()
    taught, aside = read_material(wikient, config.model, 8, 0, ignore_progress)
    assert len(taught) + len(aside) == 96 and 0 < len(aside) <= 10
    assert taught.digest() != aside.digest()
    none = read_material(wikient, config.model, 0, 0, ignore_progress)[1]
    assert len(none) == 0
    report_seeds = {read_material(wikient, config.model, 8, seed, ignore_progress)[1].digest() for seed in range(4)}
    assert len(report_seeds) > 1


def test_configurations_in_the_box_and_what_is_refused(tmp_path):
    assert preset_names() == ["entelmo", "entelmo-published"]
    shape = read_entelmo_config("entelmo-published").model.shape
    assert (shape.hidden, shape.projection, shape.features) == (600, 300, 2048)
    for settings, told in (
        ({"model.variant": "none"}, "Invalid enum value 'none'"),
        ({"model.shape.hiden": "3"}, "there is no setting 'model.shape.hiden'"),
        ({"model.variant.x": "3"}, "'variant' has no settings within it"),
        ({"model.shape.word_bytes": "4"}, "has one 5 bytes wide"),
        ({"model.shape.word_bytes": "2", "model.shape.filters": "[[1, 2]]"}, "less than 3"),
        ({"training.masked": "0.5"}, r"training\.masked does not fit EntELMo"),
    ):
        with pytest.raises(ConfigError, match=told):
            read_entelmo_config("entelmo", settings)
    with pytest.raises(NotFoundError, match="no WikiEnt set"):
        train_entelmo(make_config(), tmp_path, tmp_path / "model")
    assert not (tmp_path / "model").exists()
