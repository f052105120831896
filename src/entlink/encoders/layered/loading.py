"""An encoder with layers from its name, its folder, or an object of the caller's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from entlink.encoders.extras import require_retrieval
from entlink.errors import InputError

if TYPE_CHECKING:
    from entlink.encoders.layered.transformer import Pooled
    from entlink.encoders.text.bert_graph import Precision
    from entlink.interfaces import LayeredEncoder


def load_layered(
    spec: str | Path | Any,
    *,
    pooling: Pooled | None = None,
    precision: Precision = "fp32",
    threads: int | None = None,
) -> LayeredEncoder:
    """The encoder that `spec` names or is.

    A name or path is a model of the store, a folder in the layout of Hugging Face, a trained bi-encoder, or a file
    of word vectors. An object has `encode_contexts` and `encode_descriptions`, or only `encode(list[str])`.
    """
    require_retrieval("probing encoders")
    if not isinstance(spec, (str, Path)):
        return _of_object(spec)
    from entlink.encoders.loading import card_of, load_encoder

    found = card_of(spec)
    if found is not None and found[1].kind == "dual":
        from entlink.encoders.layered.single import DualLayers
        from entlink.encoders.trained.bi_encoder import load_trained_dual

        return DualLayers(load_trained_dual(spec, threads))
    return _of_texts(load_encoder(spec, precision=precision, threads=threads), pooling)


def _of_object(given: Any) -> LayeredEncoder:
    from entlink.encoders.layered.single import DualLayers, ObjectLayers
    from entlink.interfaces import DualEncoder, Encoder, LayeredEncoder

    if isinstance(given, DualEncoder):
        return DualLayers(given)
    if isinstance(given, (LayeredEncoder, Encoder)):
        return _of_texts(given, None)
    if not callable(getattr(given, "encode", None)):
        raise InputError(
            f"{given!r} is no encoder: it has neither encode_contexts and encode_descriptions, nor encode(list[str])"
        )
    return ObjectLayers(given)


def _of_texts(encoder: Any, pooling: Pooled | None) -> LayeredEncoder:
    from entlink.encoders.layered.single import ObjectLayers, WordAverage
    from entlink.encoders.layered.transformer import TransformerLayers
    from entlink.encoders.static.encoder import StaticEncoder
    from entlink.encoders.text.transformer import TransformerEncoder
    from entlink.interfaces import LayeredEncoder

    if isinstance(encoder, LayeredEncoder):  # such as EntELMo
        return encoder
    if isinstance(encoder, TransformerEncoder):
        return TransformerLayers(encoder, pooling)
    if isinstance(encoder, StaticEncoder):
        return WordAverage(encoder)
    return ObjectLayers(encoder)
