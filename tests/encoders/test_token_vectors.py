"""The vectors of tokens where they stand: the middle layer of a model, and long texts in several windows."""

from __future__ import annotations

import msgspec
import numpy
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.encoders.loading import load_encoder
from entlink.encoders.text.backends import OnnxBackend
from entlink.encoders.text.bert_graph import BertConfig, bert_graph
from entlink.encoders.text.middle_layer import cut_after_middle
from entlink.encoders.text.windows import windows
from entlink.errors import InputError
from tiny_bert import CONFIG, WORDS, forward, make_folder, make_tokenizer, random_weights

HALF = {**CONFIG, "num_hidden_layers": CONFIG["num_hidden_layers"] // 2}
IDS = [2, 7, 9, 12, 8, 3]


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """The tiny model in fp32, with a window of 12 tokens: ten words and two signs."""
    folder = tmp_path_factory.mktemp("exact")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTLINK_MODELS", str(folder / "models"))
        make_folder(folder / "tiny")
        yield lambda **how: load_encoder(folder / "tiny", precision="fp32", **{"window": 12, **how})


def graph(config=CONFIG, precision="fp32"):
    return bert_graph(random_weights(config), msgspec.convert(config, BertConfig), precision)


def fed(ids=IDS):
    row = numpy.array([ids], numpy.int64)
    return row, numpy.ones_like(row)


def half_way(text):
    """What the first half of the layers computes, without the signs around the text."""
    return forward(random_weights(), HALF, make_tokenizer().encode(text).ids)[1:-1]


@pytest.mark.parametrize("layers", [2, 3, 4, 5])
def test_the_middle_is_what_half_of_the_layers_compute(layers):
    config = {**CONFIG, "num_hidden_layers": layers}
    runner = OnnxBackend(graph(config), threads=1)
    expected = forward(random_weights(config), {**config, "num_hidden_layers": layers // 2}, IDS)
    assert runner.run_middle(*fed())[0] == pytest.approx(expected, abs=2e-4)
    assert runner.run(*fed())[0] == pytest.approx(forward(random_weights(config), config, IDS), abs=2e-4)


def test_the_cut_graph_has_less_in_it():
    whole = graph({**CONFIG, "num_hidden_layers": 4})
    cut = cut_after_middle(whole)
    before, after = onnx.load_model_from_string(whole).graph, onnx.load_model_from_string(cut.graph).graph
    assert cut.output == "hidden.1"
    assert [one.name for one in after.output] == ["hidden.1"]
    assert len(cut.graph) < 0.7 * len(whole)
    assert {one.name for one in after.initializer} < {one.name for one in before.initializer}
    assert not any("layer.2" in one.name for one in after.initializer)


def test_a_graph_without_a_middle_gives_its_last_layer():
    single = graph({**CONFIG, "num_hidden_layers": 1})
    assert cut_after_middle(single) is None
    runner = OnnxBackend(single, threads=1)
    assert numpy.array_equal(runner.run_middle(*fed()), runner.run(*fed()))


def test_in_int8_the_middle_is_near():
    exact, near = (OnnxBackend(graph(precision=one), threads=1).run_middle(*fed())[0] for one in ("fp32", "int8"))
    cosines = (exact * near).sum(-1) / numpy.linalg.norm(exact, axis=-1) / numpy.linalg.norm(near, axis=-1)
    assert cosines.min() > 0.985


def test_it_is_the_middle_of_torch_too(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from entlink.encoders.text.backends import TorchBackend

    theirs = TorchBackend(make_folder(tmp_path / "theirs")).run_middle(*fed())
    assert OnnxBackend(graph(), threads=1).run_middle(*fed()) == pytest.approx(theirs, abs=2e-4)


def test_each_token_has_a_row_and_its_place(exact):
    text = "the red dog, qz cat"
    [found] = exact().encode_tokens([text])
    pieces = ["the", "red", "dog", ",", "q", "z", "cat"]
    assert [text[start:end] for start, end in found.offsets] == pieces
    assert found.vectors == pytest.approx(half_way(text), abs=1e-3)


def test_texts_keep_their_order_whatever_they_are_read_with(exact):
    texts = ["cat", "", "the river bank " * 9, "  ", "the cat", "red"]
    together = exact().encode_tokens(texts)
    assert [len(one.offsets) for one in together] == [1, 0, 27, 0, 2, 1]
    for text, found in zip(texts, together, strict=True):
        [alone] = exact().encode_tokens([text])
        assert found.offsets == alone.offsets
        assert found.vectors == pytest.approx(alone.vectors, abs=1e-4)
        assert found.vectors.shape == (len(found.offsets), 24)
    assert exact().encode_tokens([]) == []


def test_a_long_text_is_read_as_its_windows_are_alone(exact):
    words = [WORDS[at % len(WORDS)] for at in range(25)]
    [found] = exact().encode_tokens([" ".join(words)])
    # Ten words a window, one of them shared: windows begin at words 0, 9 and 18, and decide from there on.
    for first, end in ((0, 9), (9, 18), (18, 25)):
        alone = half_way(" ".join(words[first : first + 10]))
        assert found.vectors[first:end] == pytest.approx(alone[: end - first], abs=1e-3)


def test_away_from_its_seams_a_long_text_is_read_in_context(exact):
    """A word in a window's middle differs from the word alone: it is read with its neighbours."""
    [found] = exact().encode_tokens([" ".join(WORDS)])
    assert not numpy.allclose(found.vectors[5], half_way(WORDS[5])[0], atol=0.05)


@given(st.integers(0, 80), st.integers(1, 30), st.data())
def test_windows_decide_on_everything_once_and_see_around_it(size, room, data):
    overlap = data.draw(st.integers(0, room - 1))
    found = windows(size, room, overlap)
    assert [at for one in found for at in range(one.from_, one.to)] == list(range(size))
    for one in found:
        assert 0 <= one.first <= one.from_ < one.to <= one.last <= size
        assert one.last - one.first <= room
        assert one.first == 0 or one.from_ - one.first >= overlap // 2
        assert one.last == size or one.last - one.to >= overlap // 2
    assert len(found) <= 1 + size // (room - overlap)


def test_half_a_character_is_read(exact):
    [found] = exact().encode_tokens(["cat \ud83d dog"])
    assert found.offsets[0] == (0, 3)
    assert found.offsets[-1] == (6, 9)


def test_broken_weights_are_told(tmp_path, store):
    weights = random_weights()
    weights["encoder.layer.0.output.dense.weight"][3] = numpy.inf
    folder = make_folder(tmp_path / "broken", weights=weights)
    encoder = load_encoder(folder, precision="fp32")
    with pytest.raises(InputError, match="NaN or infinity for the text 'the cat'"):
        encoder.encode_tokens(["", "the cat"])
