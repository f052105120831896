"""Weights kept as they came, for training."""

from __future__ import annotations

import numpy
import pytest

from entlink.encoders.loading import load_encoder
from entlink.encoders.models.hugging_face import read_weights
from entlink.encoders.models.pulling import pull_weights
from entlink.encoders.models.store import is_installed, models_folder, open_model
from entlink.errors import DamagedError, InputError


def test_they_are_the_same_and_an_encoder_beside(store, tiny):
    card = pull_weights("own", tiny, command="entlink …")
    assert (card.name, card.precision, card.command) == ("own-weights", "fp32", "entlink …")
    kept, given = read_weights(models_folder() / "own-weights"), read_weights(tiny)
    assert kept.keys() == given.keys()
    assert all(numpy.array_equal(kept[name], given[name]) for name in given)
    assert load_encoder("own-weights").encode(["the river bank"]).shape == (1, card.dimension)
    open_model("own-weights", check=True)


def test_those_that_are_there_stay(store, tiny):
    made = pull_weights("own", tiny).made
    assert pull_weights("own", tiny).made == made
    assert pull_weights("own", tiny, force=True).files.keys() == open_model("own-weights")[1].files.keys()


def test_another_model_under_a_known_name_is_refused(store, tiny):
    with pytest.raises(DamagedError, match="the sha256 of 'minilm' is 53aa51"):
        pull_weights("minilm", tiny)
    assert not is_installed("minilm-weights")


def test_a_name_without_a_source(store):
    with pytest.raises(InputError, match="no model 'own' can be fetched by name"):
        pull_weights("own")
