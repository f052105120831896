"""A tiny world, a tiny BERT, and one thread: what is measured here is no speed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

for module in ("torch", "transformers", "onnx", "onnxruntime", "tokenizers", "safetensors"):
    pytest.importorskip(module)

import torch  # noqa: E402
from tiny_training import ROWS, make_base  # noqa: E402

from entlink.kb.knowledge_base import KnowledgeBase  # noqa: E402
from knowledge_bases import make_kb  # noqa: E402


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
