"""Pooling, windows, order, duplicates and what is wrong with weights, on a tiny model."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.documents import Span
from entlink.encoders.loading import load_encoder
from entlink.encoders.text.batching import PADDING_A_BATCH, batches
from entlink.encoders.text.tokens import Reader
from entlink.errors import InputError, SpanError
from entlink.interfaces import Encoder, SpanEncoder
from tiny_bert import CONFIG, WORDS, forward, make_folder, make_tokenizer, random_weights


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """The tiny model in fp32, with a window of 12 tokens: ten words and two signs."""
    folder = tmp_path_factory.mktemp("exact")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTLINK_MODELS", str(folder / "models"))
        make_folder(folder / "tiny")
        yield lambda **how: load_encoder(folder / "tiny", precision="fp32", **{"window": 12, **how})


def hidden_of(text):
    return forward(random_weights(), CONFIG, make_tokenizer().encode(text).ids)


def unit(vector):
    return vector / numpy.linalg.norm(vector)


def test_it_is_an_encoder_of_texts_and_of_spans(exact):
    encoder = exact()
    assert isinstance(encoder, Encoder)
    assert isinstance(encoder, SpanEncoder)
    assert encoder.encode([]).shape == (0, 24)
    assert encoder.encode_spans([]).shape == (0, 24)
    assert encoder.encode(["cat"]).dtype == numpy.float32


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ("mean", lambda hidden: hidden.mean(axis=0)),
        ("cls", lambda hidden: hidden[0]),
        ("span", lambda hidden: hidden[1:-1].mean(axis=0)),
    ],
)
def test_pooling_of_texts(exact, pooling, pool):
    text = "the cat sat on the mat"
    assert exact(pooling=pooling).encode([text])[0] == pytest.approx(unit(pool(hidden_of(text))), abs=1e-3)


def test_pooling_of_spans(exact):
    text, span = "the red dog, on one mat", Span(4, 11)
    hidden = hidden_of(text)
    expected = {"span": hidden[2:4].mean(axis=0), "mean": hidden.mean(axis=0), "cls": hidden[0]}
    for pooling, vector in expected.items():
        assert exact(pooling=pooling).encode_spans([(text, span)])[0] == pytest.approx(unit(vector), abs=1e-3)
    assert exact().encode_spans([(text, span)])[0] == pytest.approx(unit(expected["span"]), abs=1e-3)


def test_a_span_within_a_word_takes_the_pieces_it_overlaps(exact):
    text = "a qqzz cat"  # q ##q ##z ##z
    assert exact().encode_spans([(text, Span(4, 6))])[0] == pytest.approx(
        unit(hidden_of(text)[4:6].mean(axis=0)), abs=1e-3
    )


def test_of_a_long_text_the_beginning_is_read(exact):
    long = " ".join(WORDS)
    assert exact().encode([long])[0] == pytest.approx(unit(hidden_of(" ".join(WORDS[:10])).mean(axis=0)), abs=1e-3)


def test_the_window_is_centred_on_the_span(exact):
    words = ["one", "two", "three", "cat", "dog", "red", "blue", "mat"]
    left, right = words, ["river", "bank", "money", "cash", "of", "in", "on", "the"]
    text = " ".join([*left, "needle", *right])
    at = text.index("needle")
    around = " ".join([*left[-4:], "needle", *right[:5]])
    expected = unit(hidden_of(around)[5])
    assert exact().encode_spans([(text, Span(at, at + 6))])[0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("word", "place", "window"), [("one", 1, slice(0, 10)), ("the", 10, slice(-10, None))])
def test_at_the_ends_of_a_text_the_window_reaches_further_to_the_other_side(exact, word, place, window):
    words = [*WORDS[11:19], *WORDS[5:9], *WORDS[2:5], "the"]
    text = " ".join(words)
    at = text.rindex(word) if word == "the" else 0
    expected = unit(hidden_of(" ".join(words[window]))[place])
    assert exact().encode_spans([(text, Span(at, at + 3))])[0] == pytest.approx(expected, abs=1e-3)


def test_a_span_longer_than_the_window_is_cut(exact):
    text = " ".join(WORDS)
    expected = unit(hidden_of(" ".join(WORDS[1:11]))[1:-1].mean(axis=0))
    assert exact().encode_spans([(text, Span(4, len(text)))])[0] == pytest.approx(expected, abs=1e-3)


def test_a_needle_in_a_very_long_text(exact):
    text = "word " * 50_000 + "needle" + " cat" * 50_000
    around = "word word word word needle cat cat cat cat cat"
    found = exact().encode_spans([(text, Span(250_000, 250_006))])[0]
    assert found == pytest.approx(unit(hidden_of(around)[5]), abs=1e-3)
    assert exact().encode([text])[0] == pytest.approx(exact().encode(["word " * 10])[0], abs=1e-5)


def test_a_text_that_begins_with_much_white_space(exact):
    assert exact().encode([" " * 5000 + "cat"])[0] == pytest.approx(exact().encode(["cat"])[0], abs=1e-6)


def test_texts_and_spans_without_tokens_are_zeros(exact):
    found = exact().encode(["", " \n", "cat", "\u200b"])
    assert not found[[0, 1, 3]].any()
    assert numpy.linalg.norm(found[2]) == pytest.approx(1)
    assert not exact().encode_spans([("cat  dog", Span(3, 5))]).any()


def test_half_a_character_is_read_as_an_unknown_one(exact):
    assert numpy.isfinite(exact().encode(["cat \ud800 dog"])).all()


@pytest.mark.parametrize("span", [Span(2, 2), Span(3, 1), Span(0, 99), Span(-1, 2)])
def test_a_span_outside_its_text(exact, span):
    with pytest.raises(SpanError, match="the text has 3 characters"):
        exact().encode_spans([("cat", span)])


texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), max_size=12)


@settings(deadline=None, max_examples=30)
@given(texts)
def test_rows_are_in_the_order_of_the_texts_whatever_they_are_batched_with(exact, texts):
    encoder = exact()
    together = encoder.encode(texts)
    assert together.shape == (len(texts), 24)
    for row, text in zip(together, texts, strict=True):
        assert row == pytest.approx(encoder.encode([text])[0], abs=1e-5)


def test_the_same_text_is_encoded_once(exact):
    encoder = exact()
    seen = []
    run = encoder._backend.run
    encoder._backend.run = lambda ids, mask: seen.append(len(ids)) or run(ids, mask)
    found = encoder.encode(["cat", "dog", "cat", "cat"])
    assert sum(seen) == 2
    assert (found[0] == found[2]).all()


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 400))
def test_batches_hold_every_place_once_and_little_padding(lengths, most):
    found = list(batches(lengths, most))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    ordered = [lengths[place] for batch in found for place in batch]
    assert ordered == sorted(ordered)
    assert all(len(batch) == 1 or len(batch) * lengths[batch[-1]] <= most for batch in found)
    for batch in found:
        assert sum(lengths[batch[-1]] - lengths[place] for place in batch) <= PADDING_A_BATCH


def test_names_are_not_padded_to_the_length_of_passages():
    assert list(batches([4, 40, 3, 44, 5])) == [[2, 0, 4], [1, 3]]


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40), st.data())
def test_the_span_is_in_the_window_and_its_places_are_right(words, data):
    text = " ".join(words)
    number = data.draw(st.integers(0, len(words) - 1))
    start = len(" ".join(words[:number])) + (number > 0)
    tokenizer = make_tokenizer()
    (read,) = Reader(tokenizer, 12).read_around([(text, Span(start, start + len(words[number])))])
    assert read is not None
    assert len(read.ids) == min(12, len(words) + 2)
    assert tokenizer.decode(read.ids[read.first : read.last]) == words[number]
    before, after = read.first - 1, len(read.ids) - 1 - read.last
    if number >= 5 and len(words) - number > 5:
        assert abs(before - after) <= 1


@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf])
def test_an_encoder_that_gives_no_numbers_is_named_with_the_text(store, tmp_path, bad):
    weights = random_weights()
    weights["encoder.layer.2.output.LayerNorm.bias"][3] = bad
    folder = make_folder(tmp_path / "broken", weights=weights)
    encoder = load_encoder(folder, precision="fp32")
    with pytest.raises(InputError, match=r"the encoder 'broken-.*' gave a vector with NaN or infinity .* 'the cat'"):
        encoder.encode(["the cat"])
