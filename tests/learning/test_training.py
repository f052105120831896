"""Training as a whole: it learns, it can be killed at any step, and it says what is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import partial
from itertools import pairwise

import msgspec
import numpy
import pytest
import torch
from safetensors.numpy import load_file

from entlink.errors import ConfigError, DamagedError, ExistsError, InputError, LockedError
from entlink.io.atomic import write_lock
from entlink.learning.loop import make_optimizer
from entlink.learning.train import train
from entlink.learning.train_config import TrainingConfig
from tiny_training import make_base, make_config, make_examples

# They change neither attention nor the order of a group: their gradient is what rounding leaves, enlarged by Adam.
NO_GRADIENT = ("key.bias", "layer.1.output.LayerNorm.bias", "score.bias")


class Killed(BaseException):
    """Stands for the end of the process."""


def killing(step):
    """A progress that kills training after a step."""

    def progress(stage, done, total):
        if stage.startswith("training") and done == step:
            raise Killed

    return progress


def weights_of(folder):
    found = load_file(folder / "weights.safetensors")
    head = folder / "head.safetensors"
    return found | (load_file(head) if head.is_file() else {})


def assert_same(one, other, **near):
    one, other = weights_of(one), weights_of(other)
    assert one.keys() == other.keys()
    for name in one:
        if near and name.endswith(NO_GRADIENT):
            continue
        numpy.testing.assert_allclose(one[name], other[name], err_msg=name, **{"rtol": 0, "atol": 0, **near})


def test_a_bi_encoder_learns_which_is_meant(stage, base, tmp_path):
    config = make_config(base, "bi-encoder", epochs=3, dropout=0.0)
    report = train(config, stage, make_examples(300), make_examples(60, 1), tmp_path / "made")
    first, *_, last = report.history
    assert first.step == 0
    assert first.figure < 0.7 < 0.9 < report.best == max(look.figure for look in report.history)
    assert last.loss < 0.5
    assert (report.steps, report.examples, report.held_out) == (114, 300, 60)


@pytest.mark.parametrize("loss", ["softmax", "binary"])
def test_a_cross_encoder_learns(stage, base, tmp_path, loss):
    config = make_config(base, epochs=8, dropout=0.0, loss=loss, learning_rate=5e-3)
    report = train(config, stage, make_examples(320), [], tmp_path / "made")
    assert report.best is None
    losses = [look.loss for look in report.history]
    assert losses[-1] < 0.75 * losses[0]


@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder"])
@pytest.mark.parametrize("step", [2, 7, 13])
def test_killed_and_resumed_is_as_never_killed(stage, base, tmp_path, kind, step):
    """With dropout, negatives left out by chance, a look in between and a second epoch."""
    config = make_config(
        base, kind, epochs=2, batch=4, accumulate=2, checkpoint_every=3, evaluate_every=5, keep_rate=0.7
    )
    examples, held_out = make_examples(64), make_examples(20, 1)
    whole = train(config, stage, examples, held_out, tmp_path / "whole")
    with pytest.raises(Killed):
        train(config, stage, examples, held_out, tmp_path / "killed", progress=killing(step))
    assert (tmp_path / "killed" / "checkpoint").exists() == (step > 3)
    assert not (tmp_path / "killed" / "model.json").exists()
    resumed = train(config, stage, examples, held_out, tmp_path / "killed")
    assert_same(tmp_path / "whole", tmp_path / "killed")
    assert (resumed.steps, resumed.best, resumed.best_step) == (whole.steps, whole.best, whole.best_step)
    assert [look[:3] for look in map(msgspec.structs.astuple, resumed.history)] == [
        look[:3] for look in map(msgspec.structs.astuple, whole.history)
    ]
    assert not (tmp_path / "killed" / "checkpoint").exists()


def test_a_checkpoint_says_how_and_with_which_commit_it_was_made(stage, base, tmp_path, monkeypatch):
    monkeypatch.setattr("entlink.learning.train.commit", lambda: "0123abcd")
    config = make_config(base, checkpoint_every=2)
    with pytest.raises(Killed):
        train(config, stage, make_examples(32), [], tmp_path / "made", progress=killing(3))
    kept = torch.load(tmp_path / "made" / "checkpoint" / "state.pt", weights_only=True)
    facts = msgspec.json.decode(kept["facts"])
    assert facts["commit"] == "0123abcd"
    assert facts["training.learning_rate"] == config.training.learning_rate
    monkeypatch.setattr("entlink.learning.train.commit", lambda: "4567cdef")
    assert train(config, stage, make_examples(32), [], tmp_path / "made").steps == 4  # another commit may go on


def test_the_commit_is_that_of_entlink_alone(tmp_path, monkeypatch):
    from entlink.learning import export

    run = partial(subprocess.run, check=True, capture_output=True, cwd=tmp_path)
    run(["git", "init"])
    run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-m", "another project"])
    own = tmp_path / "site-packages" / "export.py"
    own.parent.mkdir()
    own.touch()
    monkeypatch.setattr(export, "__file__", str(own))
    assert export.commit() == ""
    run(["git", "add", str(own)])
    assert len(export.commit()) == 40


def test_a_resumed_training_takes_up_where_it_was(stage, base, tmp_path):
    config = make_config(base, checkpoint_every=2)
    with pytest.raises(Killed):
        train(config, stage, make_examples(64), [], tmp_path / "made", progress=killing(5))
    steps = []
    report = train(
        config,
        stage,
        make_examples(64),
        [],
        tmp_path / "made",
        progress=lambda stage, done, total: steps.append(done) if stage.startswith("training") else None,
    )
    assert (steps, report.steps) == ([5, 6, 7, 8], 8)


def test_slow_steps_are_saved_by_the_clock(stage, base, tmp_path, monkeypatch):
    monkeypatch.setattr("entlink.learning.loop._MOST_LOST", 0.0)
    for every, kept in ((200, True), (0, False)):
        with pytest.raises(Killed):
            config = make_config(base, checkpoint_every=every)
            train(config, stage, make_examples(64), [], tmp_path / str(every), progress=killing(5))
        assert (tmp_path / str(every) / "checkpoint").exists() is kept


def test_the_seed_is_all_that_chance_depends_on(stage, base, tmp_path):
    examples = make_examples(32)
    for name, seed in (("one", 1), ("again", 1), ("two", 2)):
        torch.manual_seed(hash(name) % 1000)
        train(make_config(base, seed=seed), stage, examples, [], tmp_path / name)
    assert_same(tmp_path / "one", tmp_path / "again")
    with pytest.raises(AssertionError):
        assert_same(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("loss", ["softmax", "binary"])
def test_batches_accumulated_are_one_batch(stage, base, tmp_path, loss):
    examples = [
        one._replace(weight=0.5, negatives=one.negatives[: 1 + at % 2]) if at % 3 == 0 else one
        for at, one in enumerate(make_examples(48))
    ]
    losses = []
    for name, batch, accumulate in (("at-once", 8, 1), ("in-parts", 4, 2)):
        config = make_config(base, loss=loss, batch=batch, accumulate=accumulate, dropout=0.0, learning_rate=1e-3)
        report = train(config, stage, examples, [], tmp_path / name)
        assert report.steps == 6
        losses.append(report.loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert_same(tmp_path / "at-once", tmp_path / "in-parts", atol=2e-4)


def test_the_best_weights_are_kept_and_training_ends_in_time(stage, base, tmp_path):
    config = make_config(base, "bi-encoder", epochs=40, evaluate_every=4, patience=3, learning_rate=5e-3)
    examples, held_out = make_examples(64), make_examples(40, 1)
    report = train(config, stage, examples, held_out, tmp_path / "made")
    assert report.best_step == report.steps - 3 * 4
    assert report.steps < 40 * 8
    assert [look.figure for look in report.history if look.step > report.best_step][-1] <= report.best
    # A model that goes on from there begins with the figure of the best, not of the last.
    onwards = make_config(tmp_path / "made", "bi-encoder", learning_rate=1e-6)
    again = train(onwards, stage, examples, held_out, tmp_path / "onwards")
    assert again.history[0].figure == report.best


def test_frozen_layers_stay_as_they_were(stage, base, tmp_path):
    train(make_config(base, frozen_layers=1), stage, make_examples(32), [], tmp_path / "made")
    before, after = load_file(base / "model.safetensors"), weights_of(tmp_path / "made")
    changed = {name for name, value in before.items() if (after[f"shared.{name}"] != value).any()}
    assert changed
    assert all(name.startswith("encoder.layer.1.") for name in changed)


def test_half_precision_is_near_and_exports_the_same(stage, base, tmp_path):
    for precision in ("fp32", "bf16"):
        config = make_config(base, "bi-encoder", precision=precision, dropout=0.0, learning_rate=1e-4)
        train(config, stage, make_examples(32), make_examples(10, 1), tmp_path / precision)
    assert_same(tmp_path / "fp32", tmp_path / "bf16", atol=2e-3)


def test_an_entity_that_is_right_elsewhere_weighs_nothing(stage, base, tmp_path):
    """Examples of weight 0 change no weights: without decay, only what the others teach is learnt."""
    examples = make_examples(8)
    silent = [one._replace(weight=0.0) for one in make_examples(8, 5)]
    config = make_config(base, batch=16, dropout=0.0, decay=0.0)
    train(config, stage, [*examples, *silent], [], tmp_path / "both")
    train(config, stage, examples, [], tmp_path / "alone")
    assert_same(tmp_path / "both", tmp_path / "alone", atol=1e-3)


def test_what_is_written(stage, base, tmp_path):
    config = make_config(base, "bi-encoder", dimension=8)
    folder = tmp_path / "made"
    report = train(config, stage, make_examples(16), make_examples(8, 1), folder, name="stage-dual", command="me")
    card = json.loads((folder / "model.json").read_text(encoding="utf8"))
    assert (card["name"], card["kind"], card["dimension"], card["command"]) == ("stage-dual", "dual", 8, "me")
    assert {path.name for path in folder.iterdir()} == {*card["files"], "model.json"}
    told = json.loads((folder / "training.json").read_text(encoding="utf8"))
    assert told["config"]["training"]["learning_rate"] == 2e-3
    assert told["report"]["best"] == report.best
    assert len(told["data"]["examples"]) == 64
    assert told["data"]["kb"] == "stage.kb"


def test_towers_of_their_own(stage, base, tmp_path):
    config = make_config(base, "bi-encoder", separate=True, similarity="dot", scale=1.0)
    train(config, stage, make_examples(32), [], tmp_path / "made")
    found = weights_of(tmp_path / "made")
    name = "encoder.layer.0.output.dense.weight"
    assert (found[f"mention.{name}"] != found[f"entity.{name}"]).any()
    assert not (tmp_path / "made" / "model.onnx").exists()


def test_entities_that_stay_as_they_are(stage, base, tmp_path):
    """Only the tower of mentions moves, towards the entities of the base, and away from all others."""
    settings = {"separate": True, "fixed_entities": True, "masked": 0.3}
    config = make_config(base, "bi-encoder", epochs=6, dropout=0.1, **settings)
    plain = [one._replace(negatives=()) for one in make_examples(300)]
    told = []
    aside = make_examples(60, 1)
    report = train(config, stage, plain, aside, tmp_path / "made", progress=lambda *one: told.append(one))
    encoded = [one for one in told if one[0] == "encoding entities"]
    assert len(encoded) == 2  # those of the examples, and of what is held out, all before the first look
    assert told.index(encoded[-1]) < next(at for at, one in enumerate(told) if one[0].startswith("looking"))
    before, after = load_file(base / "model.safetensors"), weights_of(tmp_path / "made")
    assert all((after[f"entity.{name}"] == value).all() for name, value in before.items())
    name = "encoder.layer.0.output.dense.weight"
    assert (after[f"mention.{name}"] != before[name]).any()
    assert report.history[0].figure < 0.7 < 0.9 < report.best


def test_a_base_without_a_mask_is_told(stage, tmp_path, caplog):
    folder = make_base(tmp_path / "base")
    path = folder / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf8").replace("[MASK]", "[NONE]"), encoding="utf8")
    config = make_config(folder, "bi-encoder", masked=0.3, steps=1)
    train(config, stage, make_examples(8), [], tmp_path / "made")
    assert "has no mask: no name is hidden in training" in caplog.text


# what can be wrong


def test_a_loss_that_is_no_number_is_told_with_its_step(stage, base, tmp_path):
    config = make_config(base, learning_rate=1e30, checkpoint_every=1)
    with pytest.raises(InputError, match=r"went astray at step [23].*learning_rate below 1e\+30"):
        train(config, stage, make_examples(64), [], tmp_path / "made")
    assert (tmp_path / "made" / "checkpoint" / "state.pt").is_file()
    assert not (tmp_path / "made" / "model.json").exists()


def test_a_base_with_nan_is_told_at_the_first_step(stage, tmp_path):
    from safetensors.numpy import save_file

    folder = make_base(tmp_path / "broken")
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.LayerNorm.weight"][0] = numpy.nan
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"step 1: the loss is nan.*check the weights of the base"):
        train(make_config(folder), stage, make_examples(8), [], tmp_path / "made")


def test_a_device_that_is_not_here(stage, base, tmp_path):
    device = "mps" if torch.cuda.is_available() else "cuda"
    with pytest.raises(InputError, match=f"the device '{device}' is not here .*--set training.device=cpu"):
        train(make_config(base, device=device), stage, make_examples(8), [], tmp_path / "made")
    with pytest.raises(InputError, match="the device 'toaster' is not here"):
        train(make_config(base, device="toaster"), stage, make_examples(8), [], tmp_path / "made")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"learning_rate": 1e-4}, "training.learning_rate is 0.002 there and 0.0001 here"),
        ({"kind": "bi-encoder"}, "model.kind is cross-encoder there and bi-encoder here"),
        ({"seed": 3}, "training.seed is 0 there and 3 here"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(stage, base, tmp_path, change, told):
    folder = tmp_path / "made"
    with pytest.raises(Killed):
        train(make_config(base, checkpoint_every=2), stage, make_examples(32), [], folder, progress=killing(3))
    config = make_config(base, **{"checkpoint_every": 2, **change})
    with pytest.raises(InputError, match=f"{told}.*--restart"):
        train(config, stage, make_examples(32), [], folder)
    assert train(config, stage, make_examples(32), [], folder, restart=True).steps == 4


def test_a_checkpoint_of_other_data_or_another_base_is_refused(stage, base, tmp_path):
    folder = tmp_path / "made"
    with pytest.raises(Killed):
        train(make_config(base, checkpoint_every=2), stage, make_examples(32), [], folder, progress=killing(3))
    with pytest.raises(InputError, match=r"another training: examples is .* there and .* here"):
        train(make_config(base, checkpoint_every=2), stage, make_examples(32, 7), [], folder)
    with pytest.raises(InputError, match="held-out examples is"):
        train(make_config(base, checkpoint_every=2), stage, make_examples(32), make_examples(4, 1), folder)
    other = make_base(tmp_path / "other", seed=9)
    with pytest.raises(InputError, match=r"model\.base is .*base weights is"):
        train(make_config(other, checkpoint_every=2), stage, make_examples(32), [], folder)


def test_a_broken_checkpoint_is_told(stage, base, tmp_path):
    folder = tmp_path / "made"
    (folder / "checkpoint").mkdir(parents=True)
    (folder / "checkpoint" / "state.pt").write_bytes(b"nothing")
    with pytest.raises(DamagedError, match=r"state\.pt: this checkpoint is cut off or altered .*--restart"):
        train(make_config(base), stage, make_examples(8), [], folder)


def test_too_little_time_is_told_and_enough_is_kept_to(stage, base, tmp_path):
    with pytest.raises(InputError, match=r"1e-06 minutes are too few for one step"):
        train(make_config(base), stage, make_examples(8), [], tmp_path / "made", minutes=1e-6)
    config = make_config(base, epochs=100_000)
    report = train(config, stage, make_examples(64), make_examples(8, 1), tmp_path / "made", minutes=0.03)
    assert 0 < report.steps < 100_000 * 8
    assert report.seconds < 30


def test_a_model_that_is_there_is_not_trained_over(stage, base, tmp_path):
    train(make_config(base), stage, make_examples(8), [], tmp_path / "made")
    with pytest.raises(ExistsError, match="a trained model is there already"):
        train(make_config(base), stage, make_examples(8), [], tmp_path / "made")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="this is a file"):
        train(make_config(base), stage, make_examples(8), [], tmp_path / "file")


def test_only_one_trains_into_a_folder(stage, base, tmp_path):
    with write_lock(tmp_path / "made", "training.lock"), pytest.raises(LockedError):
        train(make_config(base), stage, make_examples(8), [], tmp_path / "made")


def test_examples_that_teach_nothing_are_told(stage, base, tmp_path):
    examples = make_examples(8)
    with pytest.raises(InputError, match="there is no example to train on"):
        train(make_config(base), stage, [], [], tmp_path / "made")
    with pytest.raises(InputError, match="no example has negatives"):
        train(make_config(base), stage, [one._replace(negatives=()) for one in examples], [], tmp_path / "made")
    with pytest.raises(InputError, match="all examples weigh 0"):
        train(make_config(base), stage, [one._replace(weight=0.0) for one in examples], [], tmp_path / "made")
    strange = [examples[0]._replace(negatives=("nobody",))]
    with pytest.raises(InputError, match="has no entity 'nobody'"):
        train(make_config(base), stage, strange, [], tmp_path / "made")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"frozen_layers": 3}, "frozen_layers = 3 does not fit: .* has 2"),
        ({"mention_tokens": 60}, "75 tokens are too many: .* reads 64"),
        ({"markers": ("[unused0]", "[unused9]", "[unused2]")}, r"'\[unused9\]'.*not in the vocabulary"),
        ({"base": "nowhere/at-all"}, "there is no such folder to train from"),
    ],
)
def test_a_model_that_does_not_fit_its_base(stage, base, tmp_path, settings, told):
    config = make_config(settings.pop("base", base), **settings)
    with pytest.raises(InputError, match=told):
        train(config, stage, make_examples(8), [], tmp_path / "made")


def test_a_trained_model_must_fit_where_it_goes_on(stage, base, tmp_path):
    train(make_config(base, "bi-encoder", dimension=8), stage, make_examples(8), [], tmp_path / "made")
    for dimension, told in ((0, "has a projection"), (4, r"\(8, 32\), and \(4, 32\) is wanted")):
        config = make_config(tmp_path / "made", "bi-encoder", dimension=dimension)
        with pytest.raises(ConfigError, match=told):
            train(config, stage, make_examples(8), [], tmp_path / f"on-{dimension}")


def test_an_altered_base_is_another(stage, base, tmp_path):
    """A base changed in place between two runs is told, too."""
    own = shutil.copytree(base, tmp_path / "own")
    config = make_config(own, checkpoint_every=2)
    with pytest.raises(Killed):
        train(config, stage, make_examples(32), [], tmp_path / "made", progress=killing(3))
    shutil.copyfile(make_base(tmp_path / "new", seed=5) / "model.safetensors", own / "model.safetensors")
    with pytest.raises(InputError, match="base weights is"):
        train(config, stage, make_examples(32), [], tmp_path / "made")


def test_the_rate_rises_and_falls(stage, base, tmp_path):
    from entlink.learning.loop import Loop

    rates = []
    step = Loop._step

    def noted(self, number):
        loss = step(self, number)
        rates.append(self._optimizer.param_groups[0]["lr"])
        return loss

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loop, "_step", noted)
        train(make_config(base, epochs=2, warmup=0.25), stage, make_examples(80), [], tmp_path / "made")
    assert rates[:5] == pytest.approx([2e-3 * share for share in (0.2, 0.4, 0.6, 0.8, 1.0)])
    assert all(one > next for one, next in pairwise(rates[5:]))
    assert 0 < rates[-1] < 2e-4


def test_time_spent_before_a_kill_counts(stage, base, tmp_path):
    """Of 30 minutes 40 are over: what is gone on with looks once more, and ends."""
    config = make_config(base, epochs=2, checkpoint_every=2)
    made = tmp_path / "made"
    with pytest.raises(Killed):
        train(config, stage, make_examples(64), [], made, progress=killing(5))
    path = made / "checkpoint" / "state.pt"
    kept = torch.load(path, weights_only=True)
    state = msgspec.json.decode(kept["state"])
    torch.save({**kept, "state": msgspec.json.encode({**state, "seconds": 2400.0})}, path)
    report = train(config, stage, make_examples(64), [], made, minutes=30)
    assert report.steps == 4
    assert report.seconds >= 2400


def test_biases_and_norms_do_not_decay():
    from torch import nn

    network = nn.ModuleDict({"dense": nn.Linear(2, 2), "LayerNorm": nn.LayerNorm(2)})
    for value in network.parameters():
        nn.init.constant_(value, 1.0)
        value.grad = torch.zeros_like(value)
    make_optimizer(network, TrainingConfig(decay=0.5, learning_rate=0.1)).step()
    found = {name: float(value.detach().flatten()[0]) for name, value in network.named_parameters()}
    assert found == {
        "dense.weight": pytest.approx(1 - 0.1 * 0.5),
        "dense.bias": 1.0,
        "LayerNorm.weight": 1.0,
        "LayerNorm.bias": 1.0,
    }
