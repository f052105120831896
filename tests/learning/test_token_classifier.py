"""A token classifier of Hugging Face as a detector; here since only these tests bring torch."""

from __future__ import annotations

import json
import shutil
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForTokenClassification

import entlink
from entlink import Document, LinkerConfig
from entlink.errors import ConfigError, InputError, MissingExtraError, MissingModelError
from entlink.linking.config import make_stage, read_config
from entlink.mentions.token_classifier import TokenClassifierDetector
from entlink.testing import check_detector

SIGNS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LABEL_OF = {  # the label that the model gives each piece, wherever it stands
    "ada": "B-PER",
    "##line": "O",
    "lovelace": "I-PER",
    "new": "B-LOC",
    "york": "I-LOC",
    "mercury": "B-LOC",
    "北": "B-LOC",
    "京": "I-LOC",
    "met": "O",
    "in": "O",
    ".": "O",
    "-": "I-PER",
}
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
VOCABULARY = [*SIGNS, *LABEL_OF]
WINDOW = 16


def make_tokenizer() -> Tokenizer:
    pieces = {piece: number for number, piece in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    signs = [(sign, VOCABULARY.index(sign)) for sign in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, signs)
    tokenizer.add_special_tokens(SIGNS)
    return tokenizer


def make_folder(folder, labels=LABELS, *, taught: bool = True):
    """A BERT without layers whose head reads the label of a piece off its embedding; or a random one."""
    torch.manual_seed(0)
    size = len(VOCABULARY)
    config = BertConfig(
        vocab_size=size,
        hidden_size=size,
        num_hidden_layers=0 if taught else 2,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=WINDOW,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    model = BertForTokenClassification(config)
    if taught:
        with torch.no_grad():
            embeddings = model.bert.embeddings
            embeddings.word_embeddings.weight.copy_(torch.eye(size))
            embeddings.position_embeddings.weight.zero_()
            embeddings.token_type_embeddings.weight.zero_()
            model.classifier.weight.zero_()
            for piece, label in {**LABEL_OF, "[UNK]": "O"}.items():
                model.classifier.weight[LABELS.index(label), VOCABULARY.index(piece)] = 1.0
            model.classifier.bias.copy_(torch.tensor([0.5] + [0.0] * (len(labels) - 1)))
    model.save_pretrained(folder)
    make_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("tagger") / "taught")


@pytest.fixture
def own(folder, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(folder, tmp_path / "own")


def found(detector, text):
    mentions = detector.detect([Document("d", text)])[0]
    for mention in mentions:
        assert text[mention.span.start : mention.span.end] == mention.text
        assert 0.0 < mention.score <= 1.0
    return [(one.text, one.type) for one in mentions]


def test_it_finds_what_the_model_labels(folder):
    detector = TokenClassifierDetector(folder)
    assert found(detector, "😀 Ada Lovelace met Mercury in New\nYork.") == [
        ("Ada Lovelace", "PER"),
        ("Mercury", "LOC"),
        ("New\nYork", "LOC"),
    ]
    assert found(detector, "Adaline met nobody; \u200bNew  York-Lovelace 北京") == [
        ("Adaline", "PER"),  # its first piece decides
        ("New  York", "LOC"),
        ("-Lovelace", "PER"),
        ("北京", "LOC"),
    ]


def test_it_keeps_what_detectors_promise(folder):
    texts = ["Ada met Ada", "nobody", "\ud800 New York", "in " * 40 + "New York"]
    check_detector(TokenClassifierDetector(folder), [Document(str(at), text) for at, text in enumerate(texts)])


def test_a_random_model_keeps_them_too(tmp_path):
    detector = TokenClassifierDetector(make_folder(tmp_path / "random", taught=False))
    texts = ["Ada Lovelace met Mercury in New York. " * count for count in (1, 2, 5)]
    documents = [Document(str(at), text) for at, text in enumerate(texts)]
    check_detector(detector, documents)
    assert any(detector.detect(documents))


def test_a_name_is_found_wherever_windows_meet(folder):
    detector = TokenClassifierDetector(folder)
    for before in range(30):
        text = "in " * before + "Ada Lovelace" + " in" * 30
        assert found(detector, text) == [("Ada Lovelace", "PER")], before


def test_a_hundred_thousand_characters(folder):
    text = "Mercury met Ada Lovelace in York. " * 3000
    assert len(text) > 100_000
    assert len(found(TokenClassifierDetector(folder), text)) == 9000


def test_one_word_of_a_hundred_thousand_characters(folder):
    assert found(TokenClassifierDetector(folder), "x" * 100_000 + " Ada") == [("Ada", "PER")]


def test_only_some_types(folder):
    assert found(TokenClassifierDetector(folder, labels=["LOC"]), "Ada in York, Mercury") == [
        ("York", "LOC"),
        ("Mercury", "LOC"),
    ]
    with pytest.raises(ConfigError, match="no label 'B-LOC'; there are LOC, PER"):
        TokenClassifierDetector(folder, labels=["B-LOC"])


def test_a_folder_that_is_no_token_classifier(own, tmp_path):
    config = json.loads((own / "config.json").read_text())
    (own / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    with pytest.raises(InputError, match="this is BertModel, no token classifier"):
        TokenClassifierDetector(own)
    (own / "config.json").unlink()
    with pytest.raises(InputError, match=r"no config\.json"):
        TokenClassifierDetector(own)
    with pytest.raises(MissingModelError, match="no such folder"):
        TokenClassifierDetector(tmp_path / "none")
    with pytest.raises(ConfigError, match="model"):
        make_stage("detector", {"name": "token-classifier"}, None)


def test_weights_that_are_missing_or_damaged(own):
    weights = load_file(own / "model.safetensors")
    save_file({name: one for name, one in weights.items() if "classifier" not in name}, own / "model.safetensors")
    with pytest.raises(InputError, match=r"lack classifier\.bias, which would be random"):
        TokenClassifierDetector(own)
    (own / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InputError, match="transformers cannot load it"):
        TokenClassifierDetector(own)
    (own / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no weights in safetensors"):
        TokenClassifierDetector(own)


def test_labels_without_names(tmp_path):
    folder = make_folder(tmp_path / "nameless", [f"LABEL_{number}" for number in range(5)])
    with pytest.raises(InputError, match=r"none of the labels .* is O"):
        TokenClassifierDetector(folder)


def test_a_folder_without_a_tokenizer(own):
    (own / "tokenizer.json").unlink()
    with pytest.raises(InputError, match="tokenizer"):
        TokenClassifierDetector(own)


def test_without_torch_the_extra_is_told(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"entlink\[train\]"):
        TokenClassifierDetector(folder)


def test_a_linker_with_it(folder, world_folder, tmp_path):
    """The baseline of two stages: a tagger, then the linker."""
    shutil.copytree(folder, tmp_path / "tagger")
    (tmp_path / "linker.toml").write_text('[detector]\nname = "token-classifier"\nmodel = "./tagger"\n')
    config = read_config(tmp_path)
    assert isinstance(config, LinkerConfig)
    linker = entlink.load(world_folder, config=config)
    try:
        links = linker.link("Ada Lovelace met Mercury in New York.").links
        assert [(link.mention.text, link.entity, link.nil_type) for link in links] == [
            ("Ada Lovelace", None, "PER"),
            ("Mercury", "planet", None),
            ("New York", "new-york", None),
        ]
    finally:
        linker.kb.close()
