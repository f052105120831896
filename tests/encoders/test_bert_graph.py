"""The graph computes what a BERT computes: compared with plain numpy, and with transformers where that is there."""

from __future__ import annotations

import msgspec
import numpy
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from entlink.encoders.text.backends import OnnxBackend
from entlink.encoders.text.bert_graph import BertConfig, bert_graph, can_write, quantised
from entlink.errors import InputError
from tiny_bert import CONFIG, forward, make_folder, random_weights

TEXTS = [[2, 7, 9, 3], [2, 3], [2, *range(5, 35), 3], [2, 8, 8, 8, 11, 3]]


def backend(precision="fp32", config=CONFIG, weights=None):
    weights = random_weights(config) if weights is None else weights
    return OnnxBackend(bert_graph(weights, msgspec.convert(config, BertConfig), precision), threads=1)


def padded(texts):
    longest = max(map(len, texts))
    ids = numpy.array([text + [0] * (longest - len(text)) for text in texts], numpy.int64)
    mask = numpy.array([[1] * len(text) + [0] * (longest - len(text)) for text in texts], numpy.int64)
    return ids, mask


def cosines(one, other):
    return (one * other).sum(-1) / numpy.linalg.norm(one, axis=-1) / numpy.linalg.norm(other, axis=-1)


@pytest.mark.parametrize("kind", ["gelu", "gelu_new", "relu"])
def test_fp32_is_what_numpy_computes(kind):
    config = {**CONFIG, "hidden_act": kind}
    hidden = backend(config=config).run(*padded(TEXTS))
    for row, text in zip(hidden, TEXTS, strict=True):
        assert row[: len(text)] == pytest.approx(forward(random_weights(config), config, text), abs=2e-4)


def test_other_shapes():
    config = {**CONFIG, "hidden_size": 32, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8}
    hidden = backend(config=config).run(*padded(TEXTS[:1]))
    assert hidden[0] == pytest.approx(forward(random_weights(config), config, TEXTS[0]), abs=2e-4)


def test_int8_is_near():
    exact, near = (backend(precision).run(*padded(TEXTS)) for precision in ("fp32", "int8"))
    for number, text in enumerate(TEXTS):
        assert cosines(exact[number, : len(text)], near[number, : len(text)]).min() > 0.985


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_batch_mates_change_nothing(precision):
    runner = backend(precision)
    together = runner.run(*padded(TEXTS))
    for row, text in zip(together, TEXTS, strict=True):
        alone = runner.run(*padded([text]))[0]
        assert row[: len(text)] == pytest.approx(alone, abs=1e-5)


def test_transformers_computes_the_same(tmp_path):
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    model = transformers.BertModel.from_pretrained(make_folder(tmp_path / "tiny"), add_pooling_layer=False).eval()
    ids, mask = padded(TEXTS)
    with torch.inference_mode():
        theirs = model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask))[0].numpy()
    ours = backend().run(ids, mask)
    for number, text in enumerate(TEXTS):
        assert ours[number, : len(text)] == pytest.approx(theirs[number, : len(text)], abs=2e-4)


@pytest.mark.parametrize(
    "rename", [lambda name: f"bert.{name}", lambda name: name.replace("Norm.weight", "Norm.gamma")]
)
def test_names_as_other_checkpoints_have_them(rename):
    weights = {rename(name): value for name, value in random_weights().items()}
    given = backend(weights=weights).run(*padded(TEXTS))
    assert given == pytest.approx(backend().run(*padded(TEXTS)))


def test_a_missing_weight_is_named():
    weights = random_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(InputError, match=r"no 'encoder\.layer\.1\.output\.dense\.bias'"):
        backend(weights=weights)


def test_a_weight_of_another_shape_is_named():
    weights = {**random_weights(), "embeddings.LayerNorm.weight": numpy.ones(7, numpy.float32)}
    with pytest.raises(InputError, match=r"'embeddings\.LayerNorm\.weight' has the shape \(7,\)"):
        backend(weights=weights)


def test_a_weight_that_no_whole_number_stands_for_is_named():
    weights = random_weights()
    weights["encoder.layer.1.intermediate.dense.weight"][2, 3] = numpy.nan
    with pytest.raises(InputError, match=r"'encoder\.layer\.1\.intermediate\.dense\.weight' has NaN or infinity"):
        backend("int8", weights=weights)


@pytest.mark.parametrize(
    "change", [{"model_type": "roberta"}, {"hidden_act": "silu"}, {"position_embedding_type": "relative_key"}]
)
def test_what_cannot_be_written_is_known_before(change):
    assert can_write(CONFIG)
    assert not can_write({**CONFIG, **change})


@given(st.lists(st.lists(st.floats(-100, 100, width=32), min_size=3, max_size=3), min_size=1, max_size=9))
@example([[0.0, 0.0, 2.802596928649634e-45]])
def test_a_quantised_matrix_is_within_half_a_step(rows):
    matrix = numpy.array(rows, numpy.float32)
    whole, scales = quantised(matrix, 63, 0)
    assert numpy.abs(whole).max() <= 63
    assert (numpy.abs(whole * scales - matrix) <= scales * 0.5001 + 1e-6).all()
