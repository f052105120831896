"""What `load_encoder` takes: folders in several layouts, converted once, and what it says of what it cannot take."""

from __future__ import annotations

import json
import subprocess
import sys

import msgspec
import numpy
import pytest

from entlink.encoders.loading import load_encoder
from entlink.encoders.models.store import installed
from entlink.encoders.text.bert_graph import BertConfig, bert_graph
from entlink.errors import InputError, MissingExtraError, MissingModelError
from tiny_bert import CONFIG, make_folder, random_weights

TEXTS = ["the cat sat", "money in the bank", ""]


def test_a_folder_is_converted_once(store, tiny, monkeypatch):
    first = load_encoder(tiny)
    (card,) = installed()
    assert (card.source, card.precision) == (str(tiny), "int8")
    monkeypatch.setattr("entlink.encoders.models.pulling.bert_graph", None)
    again = load_encoder(str(tiny))
    assert again.identity == first.identity
    assert (again.encode(TEXTS) == first.encode(TEXTS)).all()


def test_other_weights_in_the_same_place_are_another_model(store, tmp_path, tiny):
    first = load_encoder(tiny).identity
    other = make_folder(tmp_path / "other", weights=random_weights(seed=1))
    (tiny / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    assert load_encoder(tiny).identity != first


def test_another_tokenizer_beside_the_same_weights_is_another_model(store, tmp_path):
    one, other = make_folder(tmp_path / "a" / "m"), make_folder(tmp_path / "b" / "m", vocabulary=True)
    (other / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    assert load_encoder(one).identity != load_encoder(other).identity


def test_another_reading_of_the_same_vocabulary_is_another_model(store, tmp_path):
    folder = make_folder(tmp_path / "m", vocabulary=True)
    first = load_encoder(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    second = load_encoder(folder)
    assert second.identity != first.identity
    assert (second.encode(["The CAT"]) != first.encode(["The CAT"])).any()


def test_an_exported_model_with_another_tokenizer_is_another(store, tmp_path):
    folder = make_folder(tmp_path / "m", vocabulary=True)
    (folder / "model.onnx").write_bytes(bert_graph(random_weights(), msgspec.convert(CONFIG, BertConfig), "fp32"))
    first = load_encoder(folder).identity
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    assert load_encoder(folder).identity != first


def test_broken_modules_are_told(store, tiny):
    (tiny / "modules.json").write_text("[{")
    with pytest.raises(InputError, match=r"modules\.json: this is not a list of modules .*Fetch the file again"):
        load_encoder(tiny)


def test_a_vocabulary_does_as_a_tokenizer(store, tmp_path, tiny):
    other = make_folder(tmp_path / "vocabulary", vocabulary=True)
    texts = [*TEXTS, "The qqzz CAT, é!"]
    assert load_encoder(other).encode(texts) == pytest.approx(load_encoder(tiny).encode(texts), abs=1e-6)


def test_pooling_and_length_are_those_of_the_folder(store, tmp_path):
    folder = make_folder(tmp_path / "cls", pooling="cls", max_length=9)
    encoder = load_encoder(folder)
    assert "-int8-cls-9-" in encoder.identity
    assert encoder.pooling == "cls"
    with pytest.raises(InputError, match=r"a window of 10 tokens is too long: .* reads 9 at most"):
        load_encoder(folder, window=10)


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
def test_a_model_that_others_exported_is_run_as_it_is(store, tiny, place):
    expected = load_encoder(tiny, precision="fp32").encode(TEXTS)
    path = tiny / place
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bert_graph(random_weights(), msgspec.convert(CONFIG, BertConfig), "fp32"))
    (tiny / "model.safetensors").unlink()
    encoder = load_encoder(tiny)
    assert "-onnx-mean-40-" in encoder.identity
    assert encoder.encode(TEXTS) == pytest.approx(expected, abs=1e-6)
    path.write_bytes(b"no graph")
    with pytest.raises(InputError, match=r"model\.onnx: onnxruntime cannot load it"):
        load_encoder(tiny)


def test_an_exported_model_without_rows_of_tokens(store, tiny):
    onnx = pytest.importorskip("onnx")
    info = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Cast", ["input_ids"], ["pooled"], to=1)
    ids = info("input_ids", onnx.TensorProto.INT64, ["batch", "length"])
    graph = onnx.helper.make_graph([node], "g", [ids], [info("pooled", onnx.TensorProto.FLOAT, ["batch", "length"])])
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, ir_version=8, opset_imports=opset), tiny / "model.onnx")
    with pytest.raises(InputError, match=r"no output has a row a token \(there is pooled\)"):
        load_encoder(tiny)


def test_what_only_torch_reads_needs_the_extra(store, tiny):
    if _has_torch():
        pytest.skip("torch is here")
    (tiny / "config.json").write_text(json.dumps({**CONFIG, "model_type": "roberta"}))
    with pytest.raises(MissingExtraError, match=r"entlink\[train\]"):
        load_encoder(tiny)


def test_through_torch(store, tiny):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    expected = load_encoder(tiny, precision="fp32").encode(TEXTS)
    model = transformers.BertModel.from_pretrained(tiny, add_pooling_layer=False)
    torch.save(model.state_dict(), tiny / "pytorch_model.bin")
    (tiny / "model.safetensors").unlink()
    encoder = load_encoder(tiny)
    assert "-torch-" in encoder.identity
    assert encoder.encode(TEXTS) == pytest.approx(expected, abs=1e-4)


def test_a_bi_encoder_of_blink(store, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    config = {**CONFIG, "hidden_size": 128, "num_attention_heads": 2}
    towers = {"context": random_weights(config, 1), "candidate": random_weights(config, 2)}
    names = {"context": "context_encoder", "candidate": "cand_encoder"}
    state = {
        f"{names[tower]}.bert_model.{name}": torch.from_numpy(value)
        for tower, weights in towers.items()
        for name, value in weights.items()
    }
    folder = tmp_path / "blink"
    folder.mkdir()
    torch.save(state, folder / "biencoder_wiki_tiny.bin")
    with pytest.raises(InputError, match="it has two towers"):
        load_encoder(folder)
    with pytest.raises(InputError, match="no vocabulary"):
        load_encoder(folder, tower="context")
    vocabulary = make_folder(tmp_path / "v", vocabulary=True) / "vocab.txt"
    (folder / "vocab.txt").write_bytes(vocabulary.read_bytes())
    for tower, weights in towers.items():
        plain = make_folder(tmp_path / tower, config=config, weights=weights, pooling="cls", vocabulary=True)
        found = load_encoder(folder, tower=tower, precision="fp32").encode(TEXTS)
        assert found == pytest.approx(load_encoder(plain, precision="fp32").encode(TEXTS), abs=1e-6)


def _has_torch() -> bool:
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError:
        return False
    return True


def test_a_folder_without_weights(store, tiny):
    (tiny / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no weights are here"):
        load_encoder(tiny)


def test_a_tower_of_what_has_none(store, tiny):
    with pytest.raises(InputError, match="it has no two towers"):
        load_encoder(tiny, tower="context")


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"pooling": "max"}, "no pooling 'max'. Use one of mean, cls, span"),
        ({"window": 3}, "a window of 3 tokens is too short"),
        ({"threads": 0}, "0 threads cannot work"),
    ],
)
def test_settings_that_do_not_fit(store, tiny, how, told):
    with pytest.raises(InputError, match=told):
        load_encoder(tiny, **how)


def test_what_is_nowhere(store, tmp_path):
    with pytest.raises(MissingModelError, match="entlink models pull minilm"):
        load_encoder("nothing")
    with pytest.raises(InputError, match="no such file or folder"):
        load_encoder(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no config\.json is here"):
        load_encoder(tmp_path / "empty")


def test_a_store_that_cannot_be_written(store, tiny, monkeypatch, caplog):
    def refuse(*_, **__):
        raise PermissionError("no")

    monkeypatch.setattr("entlink.encoders.models.store._locked_folder", refuse)
    encoder = load_encoder(tiny)
    assert "converted in memory" in caplog.text
    monkeypatch.undo()
    monkeypatch.setenv("ENTLINK_MODELS", str(store))
    again = load_encoder(tiny)
    assert again.identity == encoder.identity
    assert numpy.array_equal(again.encode(TEXTS), encoder.encode(TEXTS))


def test_threads_do_not_change_vectors(store, tiny):
    one, two = (load_encoder(tiny, threads=threads) for threads in (1, 2))
    assert one.identity == two.identity
    assert one.encode(TEXTS) == pytest.approx(two.encode(TEXTS), abs=1e-5)


def test_without_the_extra():
    script = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "import entlink.encoders, entlink.encoders.loading\n"
        "from entlink.errors import MissingExtraError\n"
        "for attempt in (lambda: entlink.encoders.loading.load_encoder('x'), lambda: entlink.encoders.VectorCache):\n"
        "    try: attempt()\n"
        "    except MissingExtraError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.count("pip install 'entlink[retrieval]'") == 2


def test_importing_loads_nothing():
    script = "import sys, entlink.encoders, entlink.encoders.loading, entlink_cli.models; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert not loaded & {"numpy", "onnx", "onnxruntime", "torch", "tokenizers", "transformers", "duckdb"}
    import entlink.encoders

    with pytest.raises(AttributeError, match="no attribute 'telepathy'"):
        _ = entlink.encoders.telepathy
