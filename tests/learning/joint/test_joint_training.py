"""A joint model trained: what it learns from, its loss by hand, and what can be wrong."""

from __future__ import annotations

import json
import logging
import math

import msgspec
import numpy
import pytest
import torch
from safetensors.numpy import load_file
from test_training import Killed, assert_same, killing

from entlink.documents import Document, GoldLink, Span
from entlink.encoders.dual import load_dual
from entlink.encoders.joint.settings import JointSettings
from entlink.encoders.joint.tokens import JointReader, Piece
from entlink.errors import ConfigError, InputError
from entlink.io.progress import ignore_progress
from entlink.learning.base import load_base
from entlink.learning.building import make_joint
from entlink.learning.joint.learner import JointLearner, best_f1
from entlink.learning.joint.material import JointMaterial
from entlink.learning.joint.texts import TaughtMention, TaughtText, taught_texts
from entlink.learning.pairs.batches import Chosen
from entlink.learning.pairs.data import prepare
from entlink.learning.train import train
from entlink.learning.train_config import read_train_config
from tiny_joint import joint_config, make_talk, make_texts
from tiny_training import make_base, make_config, make_examples

CPU = torch.device("cpu")
SETTINGS = JointSettings(text_tokens=24, context_tokens=8, longest=3)


def trained(kb, base, folder, texts=48, aside=12, **settings):
    config = joint_config(base, **settings)
    return train(config, kb, *prepare(config, kb, make_texts(texts), make_texts(aside, 1)), folder)


def material(base, texts, settings=SETTINGS):
    reader = JointReader(load_base(str(base)).tokenizer, settings)
    return JointMaterial(reader, texts, ignore_progress, "")


def taught(text, *mentions):
    return TaughtText(Document("d", text), Piece(text, 0, len(text)), mentions)


# What is learnt from


def test_a_turn_is_a_text_after_those_before_it(stage, base):
    talk = make_talk(make_texts(4))
    found = list(taught_texts(stage, [talk]))
    assert [(one.piece.start, one.piece.end) for one in found] == [(s.start, s.end) for s in talk.turn_spans]
    assert [one.span for text in found for one in text.mentions] == [gold.span for gold in talk.gold]
    only = list(taught_texts(stage, [talk], ["ANA "]))
    assert only == found[::2]
    words = material(base, found).windows
    later = words[2]
    assert later.ids[later.first - 1] == later.ids[-1], "a sign parts the turn from what was said before it"
    assert words[0].first == 1 < later.first <= 1 + 8 + 1


def test_what_the_kb_lacks_is_a_mention_all_the_same(stage):
    gold = (
        GoldLink(Span(0, 6), ("bridge-water",)),
        GoldLink(Span(0, 6), ("bridge-play",)),
        GoldLink(Span(7, 11), ("atlantis",)),
        GoldLink(Span(12, 16), (), optional=True),
    )
    (found,) = taught_texts(stage, [Document("d", "bridge crew lead", gold=gold)])
    assert found.mentions == (
        TaughtMention(Span(0, 6), ("bridge-water", "bridge-play")),
        TaughtMention(Span(7, 11)),
        TaughtMention(Span(12, 16), optional=True),
    )


def test_negatives_are_mined_for_each_mention(stage, base):
    found = prepare(joint_config(base, negatives=3), stage, make_texts(30))
    assert len(found.held_out) == 2  # a twentieth, rounded
    for text in [*found.examples, *found.held_out]:
        for one in text.mentions:
            name, sense = one.entities[0].split("-")
            assert one.negatives == (f"{name}-{'play' if sense == 'water' else 'water'}",)


def test_turns_that_nobody_annotated_are_told(stage, caplog):
    talk = make_talk(make_texts(40))
    half = [gold for gold in talk.gold if any(s.start <= gold.span.start < s.end for s in talk.turn_spans[::2])]
    silent = msgspec.structs.replace(talk, gold=tuple(half))
    with caplog.at_level(logging.WARNING):
        list(taught_texts(stage, [silent], ["ana"]))
        assert caplog.text == ""
        list(taught_texts(stage, [silent]))
    assert "none of the 20 turns of 'ben' has gold" in caplog.text


def test_only_annotated_turns_are_learnt_from(stage, caplog):
    talk = make_talk(make_texts(40))
    every = list(taught_texts(stage, [talk]))
    some = msgspec.structs.replace(talk, meta={"annotated_turns": [0, 3, 4]})
    assert [one.piece for one in taught_texts(stage, [some])] == [every[at].piece for at in (0, 3, 4)]
    assert [one.piece for one in taught_texts(stage, [some], ["ben"])] == [every[3].piece]
    half = [gold for gold in talk.gold if any(s.start <= gold.span.start < s.end for s in talk.turn_spans[::2])]
    told = msgspec.structs.replace(talk, gold=tuple(half), meta={"annotated_turns": list(range(0, 40, 2))})
    with caplog.at_level(logging.WARNING):
        assert len(list(taught_texts(stage, [told]))) == 20
    assert caplog.text == "", "the silent turns are not learnt from"
    wrong = msgspec.structs.replace(talk, meta={"annotated_turns": "all"})
    with pytest.raises(InputError, match="annotated_turns in its meta is 'all', not numbers of turns"):
        list(taught_texts(stage, [wrong]))


def test_personal_mentions_are_not_learnt(stage):
    gold = (
        GoldLink(Span(0, 9), ("bridge-water",), meta={"personal": True}),
        GoldLink(Span(3, 9), ("bridge-water",)),
        GoldLink(Span(10, 14), ("crew-water",), meta={"personal": False}),
    )
    (found,) = taught_texts(stage, [Document("d", "my bridge crew", gold=gold)])
    assert [one.span for one in found.mentions] == [Span(3, 9), Span(10, 14)]


def test_gold_that_does_not_fit_is_snapped_or_left_out(base):
    text = "the bridge crew of a boat in river wave"
    found = material(
        base,
        [
            taught(
                text,
                TaughtMention(Span(4, 9), ("bridge-water",)),  # half a word
                TaughtMention(Span(10, 16)),  # a space too many
                TaughtMention(Span(4, 15)),  # around the first two: gold may overlap
                TaughtMention(Span(16, 39)),  # six words
                TaughtMention(Span(3, 4)),  # a space
            ),
            taught("\u200b", TaughtMention(Span(0, 1))),
            taught(""),
        ],
    )
    assert [(one.first, one.last) for one in found.gold[0]] == [(1, 2), (1, 3), (2, 3)]
    assert (len(found), found.mentions, found.snapped, found.left_out) == (1, 6, 2, 3)


def test_gold_of_a_long_text_is_in_one_window(base):
    words = ["the", "bridge", "crew", "of"] * 40
    text = " ".join(words)
    starts = [sum(len(word) + 1 for word in words[:at]) for at in range(len(words))]
    gold = [TaughtMention(Span(starts[at], starts[at] + 11)) for at in range(1, len(words), 4)]
    found = material(base, [taught(text, *gold)])
    assert len(found) > 5
    assert sum(map(len, found.gold)) == 40
    assert found.left_out == found.snapped == 0
    assert sum(len(found.spans(row)) for row in range(len(found))) == 3 * len(words) - 3
    for row, own in enumerate(found.gold):
        spans = found.spans(row).tolist()
        assert all([one.first, one.last] in spans for one in own)


# The loss, by hand


def test_the_loss_is_that_of_every_span_and_every_mention(stage, base):
    texts = [
        taught(
            "the bridge was near a crew",
            TaughtMention(Span(4, 10), ("bridge-water",), ("bridge-play", "crew-water")),
            TaughtMention(Span(22, 26), ("crew-water", "crew-play")),
            TaughtMention(Span(0, 3), optional=True),
        ),
        taught("we saw a boat", TaughtMention(Span(9, 13)))._replace(weight=0.5),
    ]
    lessons = material(base, texts)
    dual = load_dual(str(base))
    network = make_joint(joint_config(base).model, load_base(str(base)), dual, 0).eval()
    torch.nn.init.normal_(network.edges.weight, std=0.2)
    vectors = dual.encode_entities([stage.require(id) for id in lessons.entity_ids])
    learner = JointLearner(network, CPU, 5.0, lambda ids, progress: vectors)
    learner.prepare(lessons, ignore_progress)
    with torch.inference_mode():
        found = float(learner.loss(lessons, [Chosen(0, ()), Chosen(1, ())]))
    wanted = sum(weight * loss_by_loops(network, lessons, row, vectors) for row, weight in ((0, 1.0), (1, 0.5)))
    assert found == pytest.approx(wanted, rel=1e-4)
    assert learner.weigh(lessons, [Chosen(0, ()), Chosen(1, ())]) == 1.5


def loss_by_loops(network, lessons, row, vectors):
    tokens = lessons.windows[row]
    with torch.inference_mode():
        hidden = network.tower.bert(torch.tensor([tokens.ids])).last_hidden_state[0, tokens.first : tokens.last]
        edges, told = network.edges(hidden).tolist(), network.entity(hidden.new_zeros(1, hidden.shape[1]))
        assert not told.any(), "the projection begins as the identity"
    gold = {(one.first, one.last): one for one in lessons.gold[row]}
    loss = 0.0
    for first in range(len(edges)):
        for last in range(first + 1, min(first + 3, len(edges)) + 1):
            score = edges[first][0] + edges[last - 1][1] + sum(edges[at][2] for at in range(first, last))
            one = gold.get((first, last))
            if one is None or not one.optional:
                loss += math.log(1 + math.exp(score if one is None else -score))
    everywhere = {id for one in gold.values() for id in one.right}
    for one in gold.values():
        if not one.right:
            continue
        mean = hidden[one.first : one.last].mean(0).numpy()
        powers = numpy.exp(5.0 * vectors @ (mean / numpy.linalg.norm(mean)))
        compared = [
            id for id in range(len(vectors)) if id in {*one.right, *one.wrong} or id not in everywhere - {*one.right}
        ]
        loss -= math.log(sum(powers[id] for id in one.right) / sum(powers[id] for id in compared))
    return loss


def test_the_best_f1_of_any_threshold():
    found = [(0.9, True), (0.8, False), (0.7, True), (0.7, True), (0.1, False)]
    assert best_f1(found, 4) == (2 * 3 / (4 + 4), 0.7)
    assert best_f1([], 4) == (0.0, math.inf)
    assert best_f1([(0.5, True), (0.5, False)], 1) == (pytest.approx(2 / 3), 0.5)


# Training


def test_it_learns_to_find_and_to_link(stage, base, tmp_path):
    report = trained(stage, base, tmp_path / "made", 200, 40, epochs=6)
    assert report.history[0].figure < report.best > 0.9
    assert (report.kind, report.examples, report.held_out, report.snapped) == ("joint", 200, 40, 0)
    assert report.fit.calibrated
    assert report.fit.detection > 0.9
    assert report.fit.linking > 0.85
    card = json.loads((tmp_path / "made" / "model.json").read_text(encoding="utf8"))
    assert (card["kind"], card["dimension"], card["max_length"]) == ("joint", 32, 24)
    assert card["settings"]["threshold"] == report.fit.threshold
    assert {path.name for path in (tmp_path / "made").iterdir()} == {*card["files"], "model.json"}


@pytest.mark.parametrize("step", [2, 5, 11])
def test_killed_and_resumed_is_as_never_killed(stage, base, tmp_path, step):
    settings = {"epochs": 2, "batch": 4, "accumulate": 2, "checkpoint_every": 3, "evaluate_every": 4, "dropout": 0.1}
    config = joint_config(base, **settings)
    lessons = prepare(config, stage, make_texts(48), make_texts(12, 1))
    whole = train(config, stage, *lessons, tmp_path / "whole")
    with pytest.raises(Killed):
        train(config, stage, *lessons, tmp_path / "killed", progress=killing(step))
    resumed = train(config, stage, *lessons, tmp_path / "killed")
    assert_same(tmp_path / "whole", tmp_path / "killed")
    assert (resumed.best, resumed.best_step, resumed.fit) == (whole.best, whole.best_step, whole.fit)


def test_killed_while_thresholds_are_fitted(stage, base, tmp_path):
    def kill(stage, done, total):
        if stage == "fitting thresholds":
            raise Killed

    config = joint_config(base)
    lessons = prepare(config, stage, make_texts(24), make_texts(12, 1))
    whole = train(config, stage, *lessons, tmp_path / "whole")
    with pytest.raises(Killed):
        train(config, stage, *lessons, tmp_path / "killed", progress=kill)
    assert train(config, stage, *lessons, tmp_path / "killed").fit == whole.fit
    assert_same(tmp_path / "whole", tmp_path / "killed")


def test_the_seed_is_all_that_chance_depends_on(stage, base, tmp_path):
    for name, seed in (("one", 1), ("again", 1), ("two", 2)):
        trained(stage, base, tmp_path / name, seed=seed, dropout=0.1)
    assert_same(tmp_path / "one", tmp_path / "again")
    with pytest.raises(AssertionError):
        assert_same(tmp_path / "one", tmp_path / "two")


def test_batches_accumulated_are_one_batch(stage, base, tmp_path):
    for name, batch, accumulate in (("at-once", 8, 1), ("in-parts", 4, 2)):
        trained(stage, base, tmp_path / name, batch=batch, accumulate=accumulate, learning_rate=1e-3)
    assert_same(tmp_path / "at-once", tmp_path / "in-parts", atol=3e-4)


def test_fine_tuning_begins_where_the_first_training_ended(stage, base, tmp_path):
    first = trained(stage, base, tmp_path / "first", 100, epochs=3)
    again = trained(
        stage, tmp_path / "first", tmp_path / "tuned", 24, entities=str(base), learning_rate=1e-7, epochs=1
    )
    assert again.history[0].step == 0
    assert again.history[0].figure == first.best
    before, after = (load_file(tmp_path / name / "head.safetensors") for name in ("first", "tuned"))
    numpy.testing.assert_allclose(before["edges.weight"], after["edges.weight"], atol=1e-4)


def test_a_bi_encoder_gives_the_vectors_of_entities(stage, base, tmp_path):
    dual = make_config(base, "bi-encoder", dimension=8, separate=True, similarity="dot", scale=1.0)
    train(dual, stage, make_examples(16), [], tmp_path / "dual")
    report = trained(stage, tmp_path / "dual", tmp_path / "joint", entities=str(tmp_path / "dual"), scale=1.0)
    card = json.loads((tmp_path / "joint" / "model.json").read_text(encoding="utf8"))
    assert (card["dimension"], card["settings"]["similarity"]) == (8, "dot")
    assert report.fit is not None


def test_without_anything_held_out_nothing_is_fitted(stage, base, tmp_path):
    config = joint_config(base)
    examples, _ = prepare(config, stage, make_texts(16))
    report = train(config, stage, examples, [], tmp_path / "made")
    assert report.fit is None
    settings = json.loads((tmp_path / "made" / "model.json").read_text(encoding="utf8"))["settings"]
    assert (settings["calibrated"], settings["threshold"]) == (False, 0.5)


# What can be wrong


def test_no_gold_is_told(stage, base, tmp_path):
    config = joint_config(base)
    bare = [msgspec.structs.replace(one, gold=()) for one in make_texts(8)]
    with pytest.raises(InputError, match=r"no gold mention to train on\. Check that the documents have gold"):
        train(config, stage, *prepare(config, stage, bare), tmp_path / "made")
    nobody = joint_config(base, speakers=("nobody",))
    with pytest.raises(InputError, match=r"--turns\) names speakers, check their names"):
        train(nobody, stage, *prepare(nobody, stage, [make_talk(make_texts(8))]), tmp_path / "made")
    with pytest.raises(InputError, match="all examples weigh 0"):
        silent = [one._replace(weight=0.0) for one in prepare(config, stage, make_texts(8)).examples]
        train(config, stage, silent, [], tmp_path / "made")


def test_gold_that_no_span_can_be_is_told(stage, base, tmp_path):
    text = "the bridge crew of a boat"
    with pytest.raises(InputError, match=r"none of the 1 gold mentions .* at most 3 tokens.*model\.longest"):
        lesson = [taught(text, TaughtMention(Span(0, len(text))))]
        train(joint_config(base), stage, lesson, [], tmp_path / "made")


def test_examples_of_another_kind_are_told(stage, base, tmp_path):
    with pytest.raises(InputError, match="a joint learns from TaughtText, and Example was given"):
        train(joint_config(base), stage, make_examples(4), [], tmp_path / "made")
    texts = prepare(joint_config(base), stage, make_texts(4)).examples
    with pytest.raises(InputError, match="a bi-encoder learns from Example, and TaughtText was given"):
        train(make_config(base, "bi-encoder"), stage, texts, [], tmp_path / "made")


def test_an_entity_that_is_gone_is_told(stage, base, tmp_path):
    lesson = [taught("the bridge", TaughtMention(Span(4, 10), ("atlantis",)))]
    with pytest.raises(InputError, match="has no entity 'atlantis'"):
        train(joint_config(base), stage, lesson, [], tmp_path / "made")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model.dimension": "8"}, "model.dimension = 8 does not fit a joint model"),
        ({"model.loss": "binary"}, "model.loss = 'binary' does not fit a joint model"),
        ({"training.masked": "0.1"}, "do not fit a joint model"),
        ({"training.keep_rate": "0.1"}, "do not fit a joint model"),
        ({"model.kind": "cross-encoder", "training.speakers": '["ana"]'}, "training.speakers does not fit a cross"),
    ],
)
def test_settings_that_do_not_fit_are_told(settings, told):
    with pytest.raises(ConfigError, match=told):
        read_train_config("joint", settings)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"text_tokens": 65}, "text_tokens = 65 does not fit: .* reads 64"),
        ({"text_tokens": 12}, "text_tokens = 12 does not fit: .*Set it to 14 or more"),
        ({"frozen_layers": 3}, "frozen_layers = 3 does not fit"),
    ],
)
def test_a_model_that_does_not_fit_its_base(stage, base, tmp_path, settings, told):
    with pytest.raises(ConfigError, match=told):
        trained(stage, base, tmp_path / "made", **settings)


def test_fine_tuning_towards_other_vectors_is_refused(stage, base, tmp_path):
    trained(stage, base, tmp_path / "first", 16)
    other = make_base(tmp_path / "other", seed=9)
    with pytest.raises(ConfigError, match=r"was trained towards vectors .*Set model\.entities to what the base"):
        trained(stage, tmp_path / "first", tmp_path / "tuned", 16, entities=str(other))
