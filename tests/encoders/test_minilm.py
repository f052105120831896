"""The default model itself, where it is in the store."""

from __future__ import annotations

import numpy
import pytest

from entlink.documents import Span
from entlink.encoders.loading import load_encoder
from entlink.encoders.models.store import is_installed, models_folder


@pytest.fixture(scope="module")
def minilm(machine_models):
    if not is_installed("minilm"):
        pytest.skip(f"minilm is not in {models_folder()}: entlink models pull minilm")
    return load_encoder("minilm")


TEXTS = [
    "The Heron is a waterproof jacket for hikers.",
    "A raincoat that keeps walkers dry.",
    "Mercury is the planet nearest to the Sun.",
    "Quicksilver is a metal that is liquid at room temperature.",
    "x",
]


def test_what_means_the_same_is_near(minilm):
    jacket, coat, planet, metal, _ = minilm.encode(TEXTS)
    assert jacket @ coat > max(jacket @ planet, jacket @ metal, coat @ planet, coat @ metal) + 0.1


def test_batch_mates_hardly_matter(minilm):
    together = minilm.encode(TEXTS)
    alone = numpy.concatenate([minilm.encode([text]) for text in TEXTS])
    assert (together * alone).sum(axis=1).min() > 0.999
    assert (minilm.encode(TEXTS) == together).all()


def test_a_span_has_the_meaning_of_its_place(minilm):
    texts = ["He put cash into the bank.", "The bank gave us a loan.", "We sat on the bank of the river."]
    first, second, third = minilm.encode_spans([(text, Span(at := text.index("bank"), at + 4)) for text in texts])
    assert first @ second > first @ third
