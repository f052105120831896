"""Whether the optional libraries that encoders need are there."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from entlink.errors import MissingExtraError

_RETRIEVAL = ("numpy", "onnxruntime", "onnx", "tokenizers", "safetensors")
_TRAIN = ("torch", "transformers")
_IMAGES = ("PIL", *_RETRIEVAL)


def require_retrieval(feature: str) -> None:
    """Raise unless what runs encoders is installed."""
    _require(feature, "retrieval", _RETRIEVAL)


def has_retrieval() -> bool:
    """Whether what runs encoders is installed, found out without loading it."""
    return all(find_spec(module) is not None for module in _RETRIEVAL)


def require_images(feature: str) -> None:
    """Raise unless what reads pictures and runs encoders is installed."""
    _require(feature, "images", _IMAGES)


def require_train(feature: str) -> None:
    """Raise unless torch and transformers are installed."""
    _require(feature, "train", _TRAIN)


def _require(feature: str, extra: str, modules: tuple[str, ...]) -> None:
    for module in modules:
        try:
            import_module(module)
        except ImportError as problem:
            raise MissingExtraError(feature, extra) from problem
