"""A tiny EntELMo: a set of hyperlinks in a made region, and sizes that train in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from entlink.datasets.wikient import WikiEntOptions, build_wikient
from entlink.learning.entelmo.config import EntElmoConfig, read_entelmo_config
from knowledge_bases import article, write_articles

PLACES = ("harbour", "castle", "mill", "abbey", "quarry", "ferry", "market", "tower")
SHAPE = {"hidden": 12, "projection": 6, "filters": "[[1, 4], [2, 6]]", "word_bytes": 12, "characters": 5}


def make_set(folder: Path) -> Path:
    """Pages that link to each other, each with a text of its own."""
    rows = [
        article(
            f"{kind}-{number}",
            f"{kind} {number}",
            f"The {kind} of region {number} is old . People reach it by the [[{other}-{number}|{other}]] every day .",
            f"Near the [[{other}-{(number + 1) % 6}|next {other}]] stands an inn .",
        )
        for number in range(6)
        for kind, other in zip(PLACES, PLACES[1:] + PLACES[:1], strict=True)
    ]
    source = write_articles(folder / "region.jsonl", rows)
    build_wikient(source, folder / "wikient", WikiEntOptions(format="articles", processes=1))
    return folder / "wikient"


def make_config(**settings: Any) -> EntElmoConfig:
    """The small preset with tiny sizes; settings by name, those of the training as training_NAME."""
    laid = {f"model.shape.{name}": str(value) for name, value in SHAPE.items()}
    laid |= {"model.vocabulary": "60", "model.samples": "20", "training.batch": "8", "training.steps": "6"}
    laid |= {"training.evaluate_every": "3", "training.held_out": "8", "training.precision": "fp32"}
    laid |= {
        (f"training.{name[9:]}" if name.startswith("training_") else f"model.{name}"): str(value)
        for name, value in settings.items()
    }
    return read_entelmo_config("entelmo", laid)
