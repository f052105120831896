"""Encoders: texts and pictures to vectors, by models of a store, folders of weights, or the knowledge base's text.

Nothing here is imported before it is asked for: numpy and onnxruntime come with `pip install 'entlink[retrieval]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from entlink.encoders.cache import VectorCache
    from entlink.encoders.dual import load_dual
    from entlink.encoders.images.cached import PictureVectors
    from entlink.encoders.images.loading import load_picture_encoder
    from entlink.encoders.loading import load_encoder
    from entlink.encoders.models.pulling import pull
    from entlink.encoders.static.encoder import StaticEncoder
    from entlink.encoders.static.training import train_static
    from entlink.encoders.text.transformer import TransformerEncoder
    from entlink.encoders.trained.bi_encoder import TrainedDual
    from entlink.encoders.trained.cross_encoder import CrossEncoder, load_cross

_HOMES = {
    "CrossEncoder": "trained.cross_encoder",
    "PictureVectors": "images.cached",
    "StaticEncoder": "static.encoder",
    "TrainedDual": "trained.bi_encoder",
    "TransformerEncoder": "text.transformer",
    "VectorCache": "cache",
    "load_cross": "trained.cross_encoder",
    "load_dual": "dual",
    "load_encoder": "loading",
    "load_picture_encoder": "images.loading",
    "pull": "models.pulling",
    "train_static": "static.training",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'entlink.encoders' has no attribute {name!r}")
    from entlink.encoders.extras import require_retrieval

    require_retrieval("encoding texts")
    return getattr(import_module(f"entlink.encoders.{_HOMES[name]}"), name)


__all__ = [
    "CrossEncoder",
    "PictureVectors",
    "StaticEncoder",
    "TrainedDual",
    "TransformerEncoder",
    "VectorCache",
    "load_cross",
    "load_dual",
    "load_encoder",
    "load_picture_encoder",
    "pull",
    "train_static",
]
