"""The folder of a trained detector, its dial, and what counts for a document that it learnt from."""

from __future__ import annotations

import msgspec
import numpy
import pytest

from entlink.errors import ConfigError, DamagedError, MissingModelError
from entlink.mentions.span_features import NEVER_SEEN, Seen
from entlink.mentions.span_model import (
    CARD,
    WEIGHTS,
    Choice,
    DetectorCard,
    Net,
    SpanModel,
    read_model,
    write_model,
)

CHOICES = (
    Choice(0.2, 0.5, 0.9, 0.64),
    Choice(0.4, 0.7, 0.8, 0.75),
    Choice(0.6, 0.9, 0.4, 0.55),
    Choice(0.9, 1.0, 0.0, 0.0),
)


def net(shift=0.0, width=2):
    """Of two columns it takes the first less the second, where that is above 0."""
    hidden = numpy.array([[1.0], [-1.0]], numpy.float32)
    one, zero = numpy.ones(width, numpy.float32), numpy.zeros(width, numpy.float32)
    return Net(zero, one, hidden, zero[:1], one[:1], numpy.array([shift], numpy.float32))


@pytest.fixture
def model():
    card = DetectorCard(encoder=None, threshold=0.4, choices=CHOICES, slope=2.0, shift=-1.0, folds={"learnt": 1})
    return SpanModel(card, [net(0.0), net(1.0)])


def test_the_mean_of_the_nets_counts_calibrated(model):
    rows = numpy.array([[3.0, 1.0], [0.0, 4.0]], numpy.float32)
    # The logits are 2 and 0 by the first net, 3 and 1 by the second; then 2 · mean - 1.
    assert model.probabilities(rows, "new") == pytest.approx(1 / (1 + numpy.exp([-4.0, 0.0])))


def test_a_document_that_was_learnt_from_is_judged_by_the_net_without_it(model):
    rows = numpy.array([[3.0, 1.0]], numpy.float32)
    assert model.probabilities(rows, "learnt") == pytest.approx(1 / (1 + numpy.exp(-5.0)))


def test_columns_are_standardised_and_kept_within_bounds():
    scaled = net()._replace(
        mean=numpy.array([1.0, 0.0], numpy.float32), spread=numpy.array([2.0, 1.0], numpy.float32)
    )
    rows = numpy.array([[3.0, 0.0], [1000.0, 0.0]], numpy.float32)
    assert scaled.logits(rows).tolist() == [1.0, 5.0]


def test_written_and_read(model, tmp_path):
    folder = tmp_path / "new" / "detector"
    write_model(folder, model)
    again = read_model(folder)
    assert msgspec.structs.replace(again.card, sha256="") == model.card
    for one, other in zip(again.nets, model.nets, strict=True):
        assert all(map(numpy.array_equal, one, other))
    write_model(folder, SpanModel(msgspec.structs.replace(model.card, threshold=0.7), model.nets[:1]))
    assert (read_model(folder).card.threshold, len(read_model(folder).nets)) == (0.7, 1)
    assert sorted(path.name for path in folder.parent.rglob("*")) == ["detector", CARD, WEIGHTS]


def test_a_write_that_is_cut_off_leaves_what_was_there(model, tmp_path, monkeypatch):
    write_model(tmp_path / "detector", model)

    def fail(*arrays, **named):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(numpy, "savez", fail)
        with pytest.raises(OSError, match="No space"):
            write_model(tmp_path / "detector", model)
    assert read_model(tmp_path / "detector").card.threshold == 0.4
    write_model(tmp_path / "detector", model)  # what was left over is no hindrance
    assert sorted(path.name for path in tmp_path.iterdir()) == ["detector"]


def test_one_that_is_missing_is_told(tmp_path):
    with pytest.raises(MissingModelError, match=r"no trained detector.*entlink train detector"):
        read_model(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / CARD).write_bytes(b"{"), "card of a detector cannot be read"),
        (lambda folder: (folder / CARD).write_bytes(b"[]"), "card of a detector cannot be read"),
        (lambda folder: (folder / WEIGHTS).unlink(), "missing or altered"),
        (lambda folder: (folder / WEIGHTS).write_bytes(b"PK"), "missing or altered"),
    ],
)
def test_damage_is_told_with_what_to_do(model, tmp_path, damage, message):
    write_model(tmp_path / "detector", model)
    damage(tmp_path / "detector")
    with pytest.raises(DamagedError, match=rf"{message}.*Train it anew"):
        read_model(tmp_path / "detector")


@pytest.mark.parametrize("other", [{"format": 99}, {"features": ("length",)}])
def test_another_version_is_told(model, tmp_path, other):
    write_model(tmp_path / "detector", SpanModel(msgspec.structs.replace(model.card, **other), model.nets))
    with pytest.raises(DamagedError, match=r"another version of entlink. Train it anew"):
        read_model(tmp_path / "detector")


@pytest.mark.parametrize(
    ("precision", "recall", "threshold"),
    [(None, None, 0.4), (0.6, None, 0.4), (0.9, None, 0.6), (0.0, None, 0.2), (None, 0.8, 0.4), (None, 0.1, 0.6)],
)
def test_the_dial(model, precision, recall, threshold):
    assert model.card.chosen(precision, recall) == threshold


def test_what_no_threshold_gives_is_told_with_the_best(model):
    # The threshold that finds nothing makes no mistakes, and yet it is not what was asked for.
    with pytest.raises(ConfigError, match=r"precision of 0.95: the best .* is 0.900"):
        model.card.chosen(0.95, None)
    with pytest.raises(ConfigError, match=r"recall of 1: the best .* is 0.900"):
        model.card.chosen(None, 1.0)
    with pytest.raises(ConfigError, match="it found nothing"):
        DetectorCard(encoder=None).chosen(0.5, None)


def test_what_a_document_taught_does_not_count_for_it():
    card = DetectorCard(
        encoder=None,
        seen={"paris": Seen(3, 5), "jazz": Seen(1, 4), "odd": Seen(2, 1)},
        own={"one": {"paris": Seen(1, 2), "jazz": Seen(1, 1)}, "two": {"paris": Seen(0, 1)}},
    )
    one, two, new = (card.seen_elsewhere(id) for id in ("one", "two", "new"))
    assert (new("paris"), new("jazz"), new("blues")) == (Seen(3, 5), Seen(1, 4), NEVER_SEEN)
    assert (one("paris"), two("paris")) == (Seen(2, 3), Seen(3, 4))
    assert one("jazz") == NEVER_SEEN  # no other text links it: then it would not have been learnt at all
    assert new("odd") == Seen(2, 2)  # gold that is no proposal was never counted as one
