"""A store of models of their own for the tests, and a tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest

for module in ("numpy", "onnx", "onnxruntime", "tokenizers", "safetensors"):
    pytest.importorskip(module)

from tiny_bert import make_folder  # noqa: E402


@pytest.fixture
def store(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "models"
    monkeypatch.setenv("ENTLINK_MODELS", str(folder))
    return folder


@pytest.fixture
def tiny(tmp_path) -> Path:
    return make_folder(tmp_path / "tiny")
