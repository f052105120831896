"""A world of names that mean one thing by the water and another at the theatre, and a tiny BERT to learn it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

from entlink.documents import Document, Mention, Span
from entlink.learning.pairs.examples import Example
from entlink.learning.train_config import ModelConfig, TrainConfig, TrainingConfig
from knowledge_bases import article

NAMES = ("bridge", "stage", "line", "wing", "crew", "lead", "cast", "deck")
SENSES = {"water": ("river", "boat", "sail", "wave"), "play": ("scene", "actor", "curtain", "song")}
FILLERS = ("the", "a", "of", "in", "on", "and", "near", "we", "saw", "was")
SIGNS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MARKERS = tuple(f"[unused{number}]" for number in range(4))
WORDS = (*SIGNS, *MARKERS, *FILLERS, *NAMES, *SENSES, *(word for sense in SENSES.values() for word in sense), ".")
ROWS = [
    article(f"{name}-{sense}", name.capitalize(), f"{name} of the {sense} . {' '.join(words)} and {name} .")
    for name in NAMES
    for sense, words in SENSES.items()
]


def make_base(folder: Path, *, hidden: int = 32, layers: int = 2, seed: int = 0) -> Path:
    """A random BERT in the layout of Hugging Face, whose vocabulary is the words of the world."""
    folder.mkdir(parents=True)
    shape: dict[str, Any] = {
        "vocab_size": len(WORDS),
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 2,
        "intermediate_size": 2 * hidden,
        "max_position_embeddings": 64,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "type_vocab_size": 2,
        "model_type": "bert",
    }
    torch.manual_seed(seed)
    config = BertConfig(**{key: value for key, value in shape.items() if key != "model_type"}, initializer_range=0.2)
    save_file(BertModel(config, add_pooling_layer=False).state_dict(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(shape), encoding="utf8")
    make_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def make_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    signs = [(sign, WORDS.index(sign)) for sign in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, signs)
    tokenizer.add_special_tokens([*SIGNS, *MARKERS])
    return tokenizer


def make_examples(count: int, seed: int = 0) -> list[Example]:
    """Mentions among words of one of the senses; the other sense of the name is what it is not."""
    import random

    chance = random.Random(seed)
    examples = []
    for number in range(count):
        name, sense = chance.choice(NAMES), chance.choice(list(SENSES))
        around = [*chance.sample(SENSES[sense], 2), *chance.choices(FILLERS, k=chance.randint(1, 8))]
        chance.shuffle(around)
        place = chance.randrange(len(around) + 1)
        before = " ".join(around[:place])
        text = " ".join([*around[:place], name, *around[place:]])
        start = len(before) + 1 if before else 0
        mention = Mention(Span(start, start + len(name)), name)
        other = next(one for one in SENSES if one != sense)
        elsewhere = chance.choice([one for one in NAMES if one != name])
        wrong = (f"{name}-{other}", f"{elsewhere}-{sense}")
        examples.append(Example(Document(f"{seed}-{number}", text), mention, f"{name}-{sense}", wrong))
    return examples


def make_config(base: Path, kind: str = "cross-encoder", **settings: Any) -> TrainConfig:
    """A configuration for the tiny BERT; settings go to the part that has them."""
    model: dict[str, Any] = {"kind": kind, "base": str(base), "mention_tokens": 24, "entity_tokens": 16}
    model |= {"pooling": "cls" if kind == "cross-encoder" else "mean"}
    training: dict[str, Any] = {"epochs": 1, "batch": 8, "learning_rate": 2e-3}
    for name, value in settings.items():
        (model if name in ModelConfig.__struct_fields__ else training)[name] = value
    return TrainConfig(ModelConfig(**model), TrainingConfig(**training))
