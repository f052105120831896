"""A tiny random BERT in the layout of Hugging Face, and its forward pass in plain numpy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = [
    *("the", "a", "of", "in", "on", "river", "bank", "money", "cash", "cat"),
    *("dog", "sat", "mat", "red", "blue", "one", "two", "three", "needle", "word"),
]
LETTERS = "abcdefghijklmnopqrstuvwxyz.,!?"
SIGNS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = list(dict.fromkeys([*SIGNS, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]))
CONFIG = {
    "model_type": "bert",
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "vocab_size": len(VOCABULARY),
    "max_position_embeddings": 40,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
}


def random_weights(config=CONFIG, seed=0):
    random = numpy.random.default_rng(seed)
    size, middle = config["hidden_size"], config["intermediate_size"]

    def some(*shape, scale=0.3):
        return (random.standard_normal(shape) * scale).astype(numpy.float32)

    weights = {
        "embeddings.word_embeddings.weight": some(config["vocab_size"], size, scale=1.0),
        "embeddings.position_embeddings.weight": some(config["max_position_embeddings"], size),
        "embeddings.token_type_embeddings.weight": some(config["type_vocab_size"], size),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        shapes = {
            f"{layer}.attention.self.query": (size, size),
            f"{layer}.attention.self.key": (size, size),
            f"{layer}.attention.self.value": (size, size),
            f"{layer}.attention.output.dense": (size, size),
            f"{layer}.intermediate.dense": (middle, size),
            f"{layer}.output.dense": (size, middle),
        }
        for name, shape in shapes.items():
            weights[f"{name}.weight"] = some(*shape)
            weights[f"{name}.bias"] = some(shape[0])
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name in norms:
        weights[f"{name}.weight"] = 1 + some(size)
        weights[f"{name}.bias"] = some(size)
    return weights


def make_tokenizer():
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    signs = [(sign, VOCABULARY.index(sign)) for sign in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, signs)
    tokenizer.add_special_tokens(SIGNS)
    return tokenizer


def make_folder(
    folder: Path, *, config=CONFIG, weights=None, pooling=None, max_length=None, vocabulary=False
) -> Path:
    """Write the model as Hugging Face does; its tokenizer as a vocabulary only, if asked."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(random_weights(config) if weights is None else weights, folder / "model.safetensors")
    if vocabulary:
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf8")
    else:
        make_tokenizer().save(str(folder / "tokenizer.json"))
    if pooling:
        (folder / "1_Pooling").mkdir()
        modes = {
            "mean": "pooling_mode_mean_tokens",
            "cls": "pooling_mode_cls_token",
            "max": "pooling_mode_max_tokens",
        }
        settings = {mode: name == pooling for name, mode in modes.items()}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(settings))
    if max_length:
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": max_length}))
    return folder


def forward(weights, config, ids):
    """The hidden states of one text, written from the paper."""
    weights = {name: value.astype(numpy.float64) for name, value in weights.items()}
    size, heads = config["hidden_size"], config["num_attention_heads"]
    places = numpy.arange(len(ids))
    hidden = weights["embeddings.word_embeddings.weight"][ids]
    hidden = hidden + weights["embeddings.position_embeddings.weight"][places]
    hidden = _norm(weights, "embeddings.LayerNorm", hidden + weights["embeddings.token_type_embeddings.weight"][0])
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            _linear(weights, f"{layer}.attention.self.{part}", hidden).reshape(len(ids), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / numpy.sqrt(size // heads)
        shares = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = (shares @ value).transpose(1, 0, 2).reshape(len(ids), size)
        attended = _linear(weights, f"{layer}.attention.output.dense", mixed)
        hidden = _norm(weights, f"{layer}.attention.output.LayerNorm", hidden + attended)
        wide = _activation(config["hidden_act"], _linear(weights, f"{layer}.intermediate.dense", hidden))
        hidden = _norm(weights, f"{layer}.output.LayerNorm", hidden + _linear(weights, f"{layer}.output.dense", wide))
    return hidden


def _linear(weights, name, values):
    return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _norm(weights, name, values):
    centred = values - values.mean(axis=-1, keepdims=True)
    scaled = centred / numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _activation(kind, values):
    from math import erf

    if kind == "relu":
        return numpy.maximum(values, 0)
    if kind == "gelu":
        return values * 0.5 * (1 + numpy.vectorize(erf)(values / numpy.sqrt(2)))
    return values * 0.5 * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (values + 0.044715 * values**3)))
