"""Texts of the tiny world with every mention in them, and a joint model to learn them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from entlink.documents import Document, GoldLink, Span, Turn
from entlink.learning.train_config import ModelConfig, TrainConfig, TrainingConfig
from tiny_training import FILLERS, NAMES, SENSES


def make_texts(count: int, seed: int = 0) -> list[Document]:
    """Documents with one or two names among words of one sense; all names of the world are mentions."""
    chance = random.Random(seed)
    documents = []
    for number in range(count):
        sense = chance.choice(list(SENSES))
        names = chance.sample(NAMES, chance.randint(1, 2))
        words = [*names, *chance.sample(SENSES[sense], 2), *chance.choices(FILLERS, k=chance.randint(2, 8))]
        chance.shuffle(words)
        documents.append(Document(f"{seed}-{number}", " ".join(words), gold=_gold(words, sense)))
    return documents


def _gold(words: list[str], sense: str) -> tuple[GoldLink, ...]:
    gold, start = [], 0
    for word in words:
        if word in NAMES:
            gold.append(GoldLink(Span(start, start + len(word)), (f"{word}-{sense}",)))
        start += len(word) + 1
    return tuple(gold)


def make_talk(texts: list[Document], id: str = "talk") -> Document:
    """The texts as turns of ana and ben, with the gold of all."""
    turns = [Turn(one.text, ("ana", "ben")[at % 2]) for at, one in enumerate(texts)]
    talk = Document.of_turns(id, turns)
    gold = [
        GoldLink(Span(one.span.start + place.start, one.span.end + place.start), one.entities)
        for text, place in zip(texts, talk.turn_spans, strict=True)
        for one in text.gold
    ]
    return Document(id, talk.text, turns=talk.turns, gold=tuple(gold))


def joint_config(base: Path, **settings: Any) -> TrainConfig:
    """A configuration for the tiny BERT, whose own vectors of texts are those of the entities."""
    model: dict[str, Any] = {"kind": "joint", "base": str(base), "entities": str(base)}
    model |= {"text_tokens": 24, "context_tokens": 8, "longest": 3, "dropout": 0.0}
    training: dict[str, Any] = {"epochs": 1, "batch": 8, "learning_rate": 2e-3, "negatives": 1}
    for name, value in settings.items():
        (model if name in ModelConfig.__struct_fields__ else training)[name] = value
    return TrainConfig(ModelConfig(**model), TrainingConfig(**training))
