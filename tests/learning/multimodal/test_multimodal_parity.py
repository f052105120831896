"""What linking runs without torch is the network as it was trained."""

from __future__ import annotations

from itertools import product

import numpy
import pytest
import torch

from entlink.encoders.multimodal.graph import VECTORS, SideNames, side_graph, together_graph
from entlink.encoders.multimodal.inputs import check_cells, pooled_cells
from entlink.encoders.multimodal.settings import MultimodalSettings
from entlink.encoders.text.backends import open_session
from entlink.encoders.trained.settings import PairSettings
from entlink.errors import ConfigError
from entlink.learning.multimodal.network import MultimodalNetwork
from tiny_multimodal import random_rows

FUSIONS = ("single-stream", "separate-first", "cross-attention", "modality-attention", "concatenation")


def shaken(**settings):
    """A network none of whose weights is zero or one."""
    wide = {"text_width": 6, "entity_width": 5, "picture_width": 7, "cells": 4, "width": 8, "heads": 2}
    shape = MultimodalSettings(pairs=PairSettings(), **{**wide, **settings})
    torch.manual_seed(1)
    network = MultimodalNetwork(shape, 0.0).eval()
    for value in network.parameters():
        value.data = torch.randn_like(value) * 0.4
    return network, shape


def weights(network, encoder):
    return {name: value.numpy() for name, value in network.encoders[encoder].state_dict().items()}


def run(graph, **sides):
    """What the graph gives for rows of its sides."""
    session = open_session(graph, 1)
    feed = {
        name: value.numpy()
        for side, rows in sides.items()
        for name, value in zip(SideNames.of(side), rows, strict=True)
    }
    wanted = {one.name for one in session.get_inputs()}
    return session.run([VECTORS], {name: value for name, value in feed.items() if name in wanted})[0]


@pytest.mark.parametrize(
    ("fusion", "pooling"), [*product(FUSIONS, ["first-last"]), *product(FUSIONS[:1], ["first", "average"])]
)
@pytest.mark.parametrize("shortcuts", [True, False])
def test_a_side_is_encoded_as_in_training(fusion, pooling, shortcuts):
    network, shape = shaken(fusion=fusion, pooling=pooling, shortcuts=shortcuts, own_layers=2, layers=2)
    for side, wide in (("mention", 6), ("entity", 5)):
        rows = random_rows(6, 5, wide, 4, 7, seed=3)
        with torch.inference_mode():
            wanted = network.encode(side, rows).numpy()
        found = run(side_graph(weights(network, side), shape, side), **{side: rows})
        assert wanted.std(axis=0).min() > 0.001, "rows that are all alike would show nothing"
        numpy.testing.assert_allclose(found, wanted, atol=2e-4)


@pytest.mark.parametrize(("pooling", "shortcuts"), [("first-last", True), ("first", False), ("average", True)])
def test_pairs_are_read_as_in_training(pooling, shortcuts):
    network, shape = shaken(fusion="read-together", pooling=pooling, shortcuts=shortcuts)
    rows = random_rows(6, 5, 6, 4, 7, seed=4), random_rows(6, 3, 5, 4, 7, seed=5)
    with torch.inference_mode():
        wanted = network.encoders["pair"](*rows).numpy()
    found = run(together_graph(weights(network, "pair"), shape), mention=rows[0], entity=rows[1])
    assert wanted.std(axis=0).min() > 0.001
    numpy.testing.assert_allclose(found, wanted, atol=2e-4)


@pytest.mark.parametrize(("count", "cells"), [(49, 9), (49, 1), (49, 49), (16, 4), (9, 4)])
def test_fewer_cells_are_means(count, cells):
    """Against the adaptive pooling of torch."""
    grid = numpy.random.default_rng(0).normal(size=(3, count, 5)).astype(numpy.float32)
    side, wanted = int(count**0.5), int(cells**0.5)
    square = torch.from_numpy(grid).reshape(3, side, side, 5).permute(0, 3, 1, 2)
    pooled = torch.nn.functional.adaptive_avg_pool2d(square, wanted).permute(0, 2, 3, 1).reshape(3, cells, 5)
    numpy.testing.assert_allclose(pooled_cells(grid, cells), pooled.numpy(), atol=1e-5)
    with pytest.raises(ConfigError, match="cells = 50 does not fit"):
        check_cells(50, count)
