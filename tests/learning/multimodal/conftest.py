"""The pictured world, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("PIL")

from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.multimodal.examples import PicturedExample
from entlink.learning.train import train
from entlink.ranking.multimodal import MultimodalRanker
from tiny_multimodal import multimodal_config, pictured_examples, pictured_world


class Pictured(NamedTuple):
    """A knowledge base with pictures, and mentions that only a picture makes clear."""

    kb: KnowledgeBase
    lite: Path
    pictures: Path
    taught: list[PicturedExample]
    asked: list[PicturedExample]


@pytest.fixture(scope="session")
def pictured_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictured")
    pictured_world(folder / "world")
    return folder


@pytest.fixture(scope="session")
def mentions(pictured_folder: Path) -> tuple[list[PicturedExample], list[PicturedExample]]:
    """Some to learn from, and others to ask about."""
    folder = pictured_folder / "mentions"
    return pictured_examples(folder, 80), pictured_examples(folder, 24, seed=1)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of pictures are kept, but not in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "pictured-cache"))


@pytest.fixture
def pictured(
    pictured_folder: Path, mentions: tuple[list[PicturedExample], list[PicturedExample]]
) -> Iterator[Pictured]:
    world = pictured_folder / "world"
    with KnowledgeBase.open(world / "pictured.kb") as kb:
        yield Pictured(kb, world / "lite", world / "pictures", *mentions)


@pytest.fixture
def trained(pictured, base, tmp_path):
    """Trains a model with some settings, and ranks with it."""

    def make(name="made", examples=None, held_out=(), **settings):
        config = multimodal_config(base, pictured.lite, pictured.pictures, **settings)
        train(config, pictured.kb, examples or pictured.taught, list(held_out), tmp_path / name)
        return MultimodalRanker(pictured.kb, model=tmp_path / name)

    return make
