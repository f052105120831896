"""The tiny world with pictures: by the water they are blue, at the theatre red; and tiny models to learn it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy
import torch

from entlink.documents import Candidate, Document, Image, Mention, Span
from entlink.interfaces import Shortlist
from entlink.learning.multimodal.examples import PicturedExample
from entlink.learning.multimodal.network import SideRows
from entlink.learning.train_config import ModelConfig, MultimodalConfig, TrainConfig, TrainingConfig
from entlink.ranking.multimodal import MultimodalRanker
from knowledge_bases import make_kb
from tiny_pictures import lite_folder
from tiny_training import FILLERS, NAMES, ROWS, SENSES

_COLOURS = {"water": (20, 60, 230), "play": (230, 40, 20)}


def sense_picture(sense: str, seed: int) -> bytes:
    """A picture in the colour of a sense, with some noise."""
    from PIL import Image as Pillow

    noise = numpy.random.default_rng(seed).integers(-20, 20, (16, 16, 3))
    pixels = numpy.clip(numpy.array(_COLOURS[sense]) + noise, 0, 255).astype(numpy.uint8)
    file = BytesIO()
    Pillow.fromarray(pixels).resize((40, 40)).save(file, "PNG")
    return file.getvalue()


def pictured_world(folder: Path) -> tuple[Path, Path]:
    """The knowledge base with a picture for each entity but one, and the folder of an encoder of pictures."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    rows = []
    for number, row in enumerate(ROWS):
        sense = row["id"].split("-")[1]
        (pictures / f"{number}.png").write_bytes(sense_picture(sense, number))
        rows.append({**row, **({"image": f"{number}.png"} if number else {})})
    return make_kb(folder, rows, "pictured"), lite_folder(folder / "lite")


def pictured_examples(folder: Path, count: int, seed: int = 0, *, clues: bool = False) -> list[PicturedExample]:
    """Mentions whose sense only their picture shows; with `clues` a word beside them does, too."""
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    examples = []
    for number in range(count):
        name, sense = chance.choice(NAMES), chance.choice(list(SENSES))
        path = folder / f"{seed}-{number}.png"
        path.write_bytes(sense_picture(sense, 1000 * (seed + 1) + number))
        before = [chance.choice(FILLERS), *([chance.choice(SENSES[sense])] if clues else [])]
        text = " ".join([*before, name, chance.choice(FILLERS)])
        start = len(" ".join(before)) + 1
        document = Document(f"{seed}-{number}", text, images=(Image(str(path)),))
        candidates = tuple((f"{name}-{one}", 0.5) for one in SENSES)
        mention = Mention(Span(start, start + len(name)), name)
        examples.append(PicturedExample(document, mention, f"{name}-{sense}", candidates))
    return examples


def multimodal_config(base: Path, lite: Path, pictures: Path, **settings: Any) -> TrainConfig:
    """A configuration for the tiny models; settings go to the part that has them."""
    model: dict[str, Any] = {"kind": "multimodal", "base": str(base), "mention_tokens": 16, "entity_tokens": 16}
    own: dict[str, Any] = {"pictures": str(lite), "picture_folder": str(pictures), "cells": 1}
    own |= {"width": 16, "heads": 2, "base_layers": 1}
    training: dict[str, Any] = {"epochs": 6, "batch": 8, "learning_rate": 3e-3, "negatives": 3, "export": "fp32"}
    structs = ((own, MultimodalConfig), (model, ModelConfig), (training, TrainingConfig))
    for name, value in settings.items():
        next(part for part, struct in structs if name in struct.__struct_fields__)[name] = value
    return TrainConfig(ModelConfig(**model), TrainingConfig(**training), MultimodalConfig(**own))


def random_rows(count: int, length: int, wide: int, cells: int, picture: int, seed: int) -> SideRows:
    """Random inputs of a side; of the last rows, the text or the picture is absent."""
    chance = numpy.random.default_rng(seed)
    lengths = chance.integers(3, length + 1, count)
    lengths[0] = length
    has_text, has_picture = numpy.ones(count, numpy.float32), numpy.ones(count, numpy.float32)
    has_picture[-1], has_text[-2], lengths[-2] = 0, 0, 1
    mask = (numpy.arange(length) < lengths[:, None]).astype(numpy.float32)
    states = (
        chance.normal(size=(count, length, wide)).astype(numpy.float32) * mask[:, :, None] * has_text[:, None, None]
    )
    shown = chance.normal(size=(count, cells, picture)).astype(numpy.float32) * has_picture[:, None, None]
    last = chance.integers(1, lengths + 1)
    first = chance.integers(0, last)
    arrays = (states, mask, first, last, shown, has_text, has_picture)
    return SideRows(*(torch.from_numpy(numpy.ascontiguousarray(one)) for one in arrays))


def shortlists(examples: Sequence[PicturedExample]) -> list[Shortlist]:
    """The candidates of examples, as a ranker is asked about them."""
    return [
        Shortlist(one.document, one.mention, [Candidate(id, 0.0, {"alias": prior}) for id, prior in one.candidates])
        for one in examples
    ]


def right(ranker: MultimodalRanker, examples: Sequence[PicturedExample], **asked: Any) -> int:
    """How many of the mentions are linked to their entity."""
    scored = ranker.scores(shortlists(examples), **asked)
    best = [one.candidates[int(numpy.argmax(scores))][0] for one, scores in zip(examples, scored, strict=True)]
    return sum(id == one.entity for id, one in zip(best, examples, strict=True))
