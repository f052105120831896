"""A cross-encoder, held against its forward pass in plain numpy."""

from __future__ import annotations

import msgspec
import numpy
import pytest
from safetensors.numpy import save_file

from entlink.documents import Document
from entlink.encoders.text.bert_graph import BertConfig, bert_graph
from entlink.encoders.trained.cross_encoder import load_cross
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.encoders.trained.settings import PairSettings
from entlink.errors import DamagedError, InputError, MissingModelError
from pair_models import SHAPE, entity_of, make_head, make_model, make_tokenizer, mention_of, save_card, weights_of
from tiny_bert import forward, make_folder

DOCUMENTS = [Document("d", "The cat sat on the river bank. A red dog!"), Document("e", f"One {'cash ' * 40} bank")]
ENTITIES = [entity_of("River bank", "The mat of the river."), entity_of("Bank", "word " * 60), entity_of("Cat")]
PAIRS = [
    (document, mention_of(document, surface), entity)
    for document, surface in ((DOCUMENTS[0], "river bank"), (DOCUMENTS[0], "cat"), (DOCUMENTS[1], "bank"))
    for entity in ENTITIES
]


@pytest.mark.parametrize("pooling", ["mean", "cls", "span"])
def test_scores_are_those_of_the_model(tmp_path, pooling):
    settings = PairSettings(24, 20, pooling=pooling)
    cross = load_cross(make_model(tmp_path / "m", "cross", settings))
    reader, head = PairReader(make_tokenizer(), settings), make_head("cross", 0)
    for score, (document, mention, entity) in zip(cross.score(PAIRS), PAIRS, strict=True):
        tokens = reader.joint(reader.mention(document, mention), reader.entity(entity))
        hidden = forward(weights_of(1), SHAPE, tokens.ids)
        pooled = {"mean": hidden, "cls": hidden[:1], "span": hidden[tokens.first : tokens.last]}[pooling].mean(axis=0)
        assert score == pytest.approx(float(head["score.weight"][0] @ pooled + head["score.bias"][0]), abs=5e-4)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_one_pair_at_a_time_is_the_same_as_all_at_once(tmp_path, precision, monkeypatch):
    cross = load_cross(make_model(tmp_path / "m", "cross", PairSettings(24, 20), precision=precision), threads=1)
    alone = [cross.score([pair])[0] for pair in PAIRS]
    assert len({round(score, 3) for score in alone}) > 5
    assert cross.score(PAIRS) == pytest.approx(alone, abs=1e-4)
    assert cross.score(PAIRS[::-1]) == pytest.approx(alone[::-1], abs=1e-4)
    monkeypatch.setattr("entlink.encoders.trained.cross_encoder._CHUNK", 2)
    assert cross.score(PAIRS) == pytest.approx(alone, abs=1e-4)
    assert cross.score([]) == []


def test_it_has_a_name_and_an_identity(store, tmp_path):
    make_model(store / "mine", "cross", PairSettings(24, 20))
    other = make_model(tmp_path / "mine", "cross", PairSettings(24, 16))
    assert load_cross("mine").name == load_cross(other).name == "mine"
    assert load_cross("mine").identity != load_cross(other).identity


def test_what_is_no_cross_encoder_is_told(store, tmp_path):
    dual = make_model(tmp_path / "dual", "dual", PairSettings(24, 20))
    with pytest.raises(InputError, match="is of the kind 'dual', and a cross-encoder, which scores pairs"):
        load_cross(dual)
    with pytest.raises(InputError, match=r"no model\.json is here"):
        load_cross(make_folder(tmp_path / "plain"))
    with pytest.raises(MissingModelError, match=r"no model 'nothing' in .* a cross-encoder"):
        load_cross("nothing")
    with pytest.raises(InputError, match="no such folder"):
        load_cross(tmp_path / "nothing")
    with pytest.raises(InputError, match="an empty name"):
        load_cross("")
    with pytest.raises(InputError, match="0 threads"):
        load_cross(dual, threads=0)


def test_a_folder_without_its_head_or_too_long_is_told(tmp_path):
    folder = make_model(tmp_path / "m", "cross", PairSettings(24, 20))
    (folder / "head.safetensors").unlink()
    save_card(folder, "cross", PairSettings(24, 20), 24)
    with pytest.raises(DamagedError, match="the layer 'score' of the cross-encoder 'm' is not here"):
        load_cross(folder)
    save_card(folder, "cross", PairSettings(40, 40), 24, max_length=64)
    with pytest.raises(DamagedError, match="want 79 tokens read at once"):
        load_cross(folder)


def test_broken_weights_are_told(tmp_path):
    folder, settings = make_model(tmp_path / "m", "cross", PairSettings(24, 20)), PairSettings(24, 20)
    weights = weights_of(1)
    weights["encoder.layer.0.output.dense.bias"][:] = numpy.nan
    (folder / "model.onnx").write_bytes(bert_graph(weights, msgspec.convert(SHAPE, BertConfig)))
    save_card(folder, "cross", settings, 24)
    with pytest.raises(InputError, match="'m' gave NaN or infinity"):
        load_cross(folder).score(PAIRS)
    save_file({**make_head("cross", 0), "score.bias": numpy.full(1, numpy.inf, "f")}, folder / "head.safetensors")
    save_card(folder, "cross", settings, 24)
    with pytest.raises(DamagedError, match="the layer 'score' has NaN or infinity"):
        load_cross(folder)
