"""A map over the vectors of an encoder that stays as it is: learnt, saved, and applied without torch."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pytest

from entlink.encoders.dual import load_dual
from entlink.encoders.models.pulling import pull
from entlink.errors import ConfigError, DamagedError, InputError
from entlink.learning.adapt.settings import config_of_training
from entlink.learning.adapt.state import AdaptOptions
from entlink.learning.train import train
from tiny_training import make_base, make_config, make_examples


@pytest.fixture
def frozen(tmp_path, monkeypatch):
    """An encoder of the store, whose weights are rounded."""
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "models"))
    pull("frozen", make_base(tmp_path / "base"))
    return "frozen"


def right(dual, kb, examples):
    """How many mentions are nearer to their entity than to the other that has the name."""
    mentions = dual.encode_mentions([(one.document, one.mention) for one in examples])
    pairs = [dual.encode_entities([kb.get(one.entity), kb.get(one.negatives[0])]) for one in examples]
    return sum(float(pair[0] @ row) > float(pair[1] @ row) for row, pair in zip(mentions, pairs, strict=True))


def learnt(kb, folder, base, **settings):
    config = make_config(
        base, "map", **{"dimension": 8, "epochs": 15, "batch": 32, "learning_rate": 2e-2, **settings}
    )
    return train(config, kb, make_examples(600), make_examples(80, seed=1), folder)


def test_a_map_brings_mentions_nearer_to_their_entities(stage, frozen, tmp_path):
    report = learnt(stage, tmp_path / "map", frozen)
    assert (report.kind, report.held_out) == ("map", 80)
    assert report.best == max(look.figure for look in report.history if look.figure is not None)
    new, plain, mapped = make_examples(200, seed=2), load_dual(frozen), load_dual(tmp_path / "map")
    before, after = right(plain, stage, new), right(mapped, stage, new)
    assert after > before + 12, (before, after)
    assert mapped.entity_identity == plain.entity_identity
    assert mapped.identity != plain.identity
    assert mapped.recipe() == plain.recipe()


def test_before_the_first_step_nothing_is_changed(stage, frozen, tmp_path):
    learnt(stage, tmp_path / "map", frozen, learning_rate=1e-12, epochs=1)
    asked = [(one.document, one.mention) for one in make_examples(20, seed=2)]
    plain, mapped = load_dual(frozen), load_dual(tmp_path / "map")
    assert numpy.allclose(mapped.encode_mentions(asked), plain.encode_mentions(asked), atol=1e-5)


def test_torch_is_not_needed_to_apply_it(stage, frozen, tmp_path):
    learnt(stage, tmp_path / "map", frozen, epochs=1)
    load = f"from entlink.encoders.dual import load_dual; load_dual({str(tmp_path / 'map')!r})"
    script = f"import sys; sys.modules['torch'] = None; {load}"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_map_is_for_the_vectors_it_was_learnt_over(stage, frozen, tmp_path):
    learnt(stage, tmp_path / "map", frozen, epochs=1)
    pull("frozen", tmp_path / "base", precision="fp32", force=True)
    with pytest.raises(ConfigError, match="this map was learnt over vectors of 'frozen-"):
        load_dual(tmp_path / "map")
    (tmp_path / "map" / "head.safetensors").write_bytes(b"")
    with pytest.raises(DamagedError, match=r"head\.safetensors"):
        load_dual(tmp_path / "map")


def test_what_does_not_fit_a_map_is_told(stage, frozen, tmp_path):
    learnt(stage, tmp_path / "map", frozen, epochs=1)
    with pytest.raises(ConfigError, match="does not fit a map: give the name or folder of an encoder of texts"):
        learnt(stage, tmp_path / "other", str(tmp_path / "map"))
    with pytest.raises(ConfigError, match=r"model\.separate = True does not fit a map"):
        learnt(stage, tmp_path / "other", frozen, separate=True)
    strange = [one._replace(entity="nobody") for one in make_examples(3)]
    with pytest.raises(InputError, match="entity 'nobody'"):
        train(make_config(frozen, "map"), stage, strange, [], tmp_path / "other")


def test_adapting_trains_what_can_be_trained(frozen, tmp_path):
    def kind(encoder):
        config = config_of_training(AdaptOptions(), links=True, encoder=encoder)
        return config.model.kind, config.model.base

    assert kind("frozen") == ("map", "frozen")
    assert kind("minilm") == ("bi-encoder", "minilm")
    assert kind(str(tmp_path / "base")) == ("bi-encoder", str(tmp_path / "base"))
