"""A tiny BERT to read words with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))
for module in ("onnxruntime", "onnx", "tokenizers", "safetensors"):
    pytest.importorskip(module)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The folder of a random BERT."""
    from tiny_bert import make_folder

    folder = tmp_path_factory.mktemp("tiny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTLINK_MODELS", str(folder / "models"))
        yield make_folder(folder / "bert")
