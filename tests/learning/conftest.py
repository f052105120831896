"""A tiny world, a tiny BERT, and one thread: what is measured here is no speed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from made_region import region_kb

for module in ("torch", "transformers", "onnx", "onnxruntime", "tokenizers", "safetensors"):
    pytest.importorskip(module)

import torch  # noqa: E402

import tiny_world  # noqa: E402
from adapt_runs import LEXICAL  # noqa: E402
from entlink.kb.knowledge_base import KnowledgeBase  # noqa: E402
from entlink.learning.adapt.adapt import AdaptOptions  # noqa: E402
from knowledge_bases import make_kb  # noqa: E402
from tiny_training import ROWS, make_base  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def stage_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of names with two meanings each."""
    return make_kb(tmp_path_factory.mktemp("stage"), ROWS, "stage")


@pytest.fixture
def stage(stage_folder: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(stage_folder) as kb:
        yield kb


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT to train from; tests only read it."""
    return make_base(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("plain"), tiny_world.rows(), "plain", descriptions="full")


@pytest.fixture
def world(plain, tmp_path):
    return shutil.copytree(plain, tmp_path / "world.kb")


@pytest.fixture
def options(tmp_path, base):
    start = tmp_path / "start.toml"
    start.write_text(LEXICAL, encoding="utf8")
    settings = {
        "model.base": str(base),
        "model.mention_tokens": "24",
        "model.entity_tokens": "16",
        "training.epochs": "1",
        "training.batch": "16",
        "training.accumulate": "1",
        "training.precision": "fp32",
        "training.steps": "4",
        "training.checkpoint_every": "1",
        "training.held_out": "20",
    }
    return AdaptOptions(minutes=60, config=str(start), settings=settings)


@pytest.fixture(scope="session")
def region_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return region_kb(tmp_path_factory.mktemp("region"))


@pytest.fixture
def region(region_folder: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(region_folder) as kb:
        yield kb
