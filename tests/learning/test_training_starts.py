"""What a training is refused for before its first step, and what that leaves behind."""

from __future__ import annotations

import pytest
from tiny_training import make_config, make_examples

from entlink.errors import EntlinkError, InputError
from entlink.learning.train import check_start, train


def test_a_base_that_is_not_there_is_told_at_the_start(base, tmp_path):
    for spec, told in (("no/where", "there is no such folder to train from"), ("nobody", "there is no model")):
        with pytest.raises(EntlinkError, match=told):
            check_start(make_config(spec), tmp_path / "made")


def test_a_model_that_was_not_finished_is_no_base(stage, base, tmp_path):
    train(make_config(base), stage, make_examples(8), [], tmp_path / "first")
    (tmp_path / "first" / "model.json").unlink()
    with pytest.raises(InputError, match=r"first: this model was not finished.*Train it to its end first"):
        check_start(make_config(tmp_path / "first"), tmp_path / "made")


def test_rounded_weights_are_told_at_the_start(stage, base, tmp_path):
    train(make_config(base), stage, make_examples(8), [], tmp_path / "first")
    (tmp_path / "first" / "weights.safetensors").unlink()
    with pytest.raises(InputError, match="has its rounded weights only"):
        check_start(make_config(tmp_path / "first"), tmp_path / "made")


@pytest.mark.parametrize("was_there", [True, False])
def test_a_start_that_was_refused_leaves_nothing(stage, base, tmp_path, was_there):
    """Too many tokens are told when the base has been read, with the folder locked."""
    folder = tmp_path / "made"
    if was_there:
        folder.mkdir()
    with pytest.raises(InputError, match="tokens are too many"):
        train(make_config(base, mention_tokens=60), stage, make_examples(8), [], folder)
    assert list(tmp_path.rglob("*")) == ([folder] if was_there else [])
