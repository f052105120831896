"""Models that share what they read give what the written model gives, whole and with inputs removed."""

from __future__ import annotations

import pytest

from entlink.encoders.multimodal.model import Question, load_multimodal
from entlink.learning.base import load_base
from entlink.learning.multimodal.sharing import SharedInputs, SharedTraining
from entlink.learning.train import device_of
from tiny_multimodal import multimodal_config
from tiny_training import make_base

REMOVED = (
    frozenset(),
    frozenset({"mention-picture", "entity-picture"}),
    frozenset({"mention-text"}),
    frozenset({"entity-text"}),
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_base(tmp_path_factory.mktemp("base") / "bert")


def training(pictured, base, **settings):
    config = multimodal_config(base, pictured.lite, pictured.pictures, epochs=1, **settings)
    return SharedTraining(config, pictured.kb, load_base(str(base)), device_of("cpu"), lambda *_: None)


@pytest.mark.parametrize(
    "settings",
    [
        {"fusion": "cross-attention"},
        {"fusion": "read-together"},
        {"without": ("mention-picture", "entity-picture")},
        {"prior": False},
    ],
    ids=str,
)
def test_scores_are_those_of_the_written_model(pictured, base, tmp_path, settings):
    shared = SharedInputs(training(pictured, base))
    made = training(pictured, base, **settings).share(shared)
    made.run(pictured.taught[:32], [], tmp_path / "checkpoint", minutes=None, restart=False, spent=0.0)
    made.export(tmp_path / "model", {}, name="model", command="")
    written = load_multimodal(tmp_path / "model")
    questions = [
        Question(
            one.document,
            one.mention,
            [pictured.kb.get(id) for id, _ in one.candidates],
            [prior for _, prior in one.candidates],
        )
        for one in pictured.asked[:6]
    ]
    for without in REMOVED:
        for prior in (True, False):
            expected = written.scores(questions, without, prior=prior)
            for ours, theirs in zip(made.scores(questions, without, prior=prior), expected, strict=True):
                assert ours == pytest.approx(theirs, abs=0.03)


def test_weights_that_were_kept_give_the_same_scores(pictured, base, tmp_path):
    shared = SharedInputs(training(pictured, base))
    made, again = (training(pictured, base, seed=seed).share(shared) for seed in (0, 1))
    one = pictured.asked[0]
    asked = [Question(one.document, one.mention, [pictured.kb.get(one.entity)], [0.5])]
    before = made.scores(asked)
    assert again.scores(asked) != before
    made.save(tmp_path / "weights" / "one.safetensors")
    again.load(tmp_path / "weights" / "one.safetensors")
    assert again.scores(asked) == before
