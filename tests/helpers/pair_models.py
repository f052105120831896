"""Tiny random models of pairs as folders, written without torch, and their documents and entities."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from entlink.documents import Document, Entity, Mention, Span
from entlink.encoders.models.card import ModelCard, file_cards, write_card
from entlink.encoders.text.bert_graph import BertConfig, bert_graph
from entlink.encoders.trained.settings import PairSettings
from tiny_bert import CONFIG, SIGNS, VOCABULARY, random_weights

MARKERS = ("[unused0]", "[unused1]", "[unused2]")
WORDS = [*SIGNS, *MARKERS, *VOCABULARY[len(SIGNS) :]]
SHAPE = {**CONFIG, "vocab_size": len(WORDS), "max_position_embeddings": 64}
CLS, SEP, OPEN, CLOSE, TITLE = (WORDS.index(sign) for sign in ("[CLS]", "[SEP]", *MARKERS))


def make_tokenizer(words=WORDS):
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    signs = [(sign, words.index(sign)) for sign in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, signs)
    tokenizer.add_special_tokens(SIGNS)
    return tokenizer


def weights_of(seed):
    return random_weights(SHAPE, seed)


def make_model(folder: Path, kind: str, settings: PairSettings, *, dimension=0, precision="fp32", seed=1) -> Path:
    """A model folder as training writes it: graph or graphs, tokenizer, head and card."""
    folder.mkdir(parents=True)
    config = msgspec.convert(SHAPE, BertConfig)
    graphs = {"mention.onnx": seed, "entity.onnx": seed + 1} if settings.separate else {"model.onnx": seed}
    for name, number in graphs.items():
        (folder / name).write_bytes(bert_graph(weights_of(number), config, precision))
    make_tokenizer().save(str(folder / "tokenizer.json"))
    head = make_head(kind, dimension, seed)
    if head:
        save_file(head, folder / "head.safetensors")
    width = dimension or SHAPE["hidden_size"]
    save_card(folder, kind, settings, width, precision)
    return folder


def save_card(folder, kind, settings, width, precision="fp32", **fields):
    card = ModelCard(
        name=fields.pop("name", folder.name),
        kind=kind,
        source="made in a test",
        dimension=width,
        files=file_cards(folder),
        precision=precision,
        settings=msgspec.to_builtins(settings),
        **fields,
    )
    write_card(folder, card)


def make_head(kind, dimension, seed=1):
    random = numpy.random.default_rng(seed + 100)
    wide = SHAPE["hidden_size"]

    def some(*shape):
        return random.standard_normal(shape).astype(numpy.float32)

    if kind == "cross":
        return {"score.weight": some(1, wide), "score.bias": some(1)}
    if not dimension:
        return {}
    return {
        f"{side}.{part}": some(*shape)
        for side in ("mention", "entity")
        for part, shape in (("weight", (dimension, wide)), ("bias", (dimension,)))
    }


def mention_of(document: Document, surface: str, nth: int = 0) -> Mention:
    start = -1
    for _ in range(nth + 1):
        start = document.text.index(surface, start + 1)
    return Mention(Span(start, start + len(surface)), surface)


def entity_of(title: str, description: str = "") -> Entity:
    return Entity(id=title or "nameless", title=title, description=description)
