"""Checkpoints of BLINK's bi-encoder: two BERTs in one file, of which one tower is taken out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from safetensors.numpy import save_file

from entlink.encoders.identities import slug
from entlink.errors import InputError
from entlink.io.checksums import checksum

if TYPE_CHECKING:
    from entlink.encoders.loading import Tower

_PREFIXES = {"context": "context_encoder.bert_model.", "candidate": "cand_encoder.bert_model."}
_HEAD = 64  # what a head of a BERT is wide
LENGTH = 128  # what BLINK was trained with
_VOCABULARIES = ("vocab.txt", "tokenizer.json")


def checkpoint_in(folder: Path) -> Path | None:
    """The checkpoint of a bi-encoder in a folder that is not in the layout of Hugging Face."""
    if (folder / "config.json").is_file():
        return None
    return next(iter(sorted(folder.glob("biencoder*.bin"))), None)


def tower_name(folder: Path, tower: Tower | None) -> str:
    """What a tower is called among the models: by the checksum of its file."""
    path = checkpoint_in(folder)
    assert path is not None
    if tower not in _PREFIXES:
        raise InputError(f"{path}: it has two towers. Say tower='context' for mentions or 'candidate' for entities")
    check_vocabulary(folder)
    return f"{slug(path.stem)}-{tower}-{checksum(path)[:12]}"


def check_vocabulary(folder: Path) -> None:
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        raise InputError(f"{folder}: BLINK's files have no vocabulary. Put the vocab.txt of bert-large-uncased here")


def take_out(folder: Path, tower: Tower, home: Path) -> None:
    """Write a tower into a folder in the layout of Hugging Face."""
    path = checkpoint_in(folder)
    assert path is not None
    weights = _weights(path, _PREFIXES[tower])
    save_file(weights, home / "model.safetensors")
    for name in _VOCABULARIES:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, home / name)
    (home / "1_Pooling").mkdir()
    (home / "1_Pooling" / "config.json").write_bytes(msgspec.json.encode({"pooling_mode_cls_token": True}))
    (home / "sentence_bert_config.json").write_bytes(msgspec.json.encode({"max_seq_length": LENGTH}))
    (home / "config.json").write_bytes(msgspec.json.encode(_config(weights)))


def _weights(path: Path, prefix: str) -> dict[str, Any]:
    from entlink.encoders.extras import require_train

    require_train(f"reading {path.name}")
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, ValueError, OSError) as problem:
        line = (str(problem).splitlines() or [""])[0]
        raise InputError(f"{path}: torch cannot read it ({line}). Fetch it again") from problem
    found = {
        name.removeprefix(prefix): value.float().contiguous().numpy()
        for name, value in state.items()
        if name.startswith(prefix) and value.is_floating_point()
    }
    if "embeddings.word_embeddings.weight" not in found:
        raise InputError(f"{path}: no weights begin with {prefix!r}: it is no bi-encoder of BLINK")
    return found


def _config(weights: dict[str, Any]) -> dict[str, Any]:
    """The shape of the BERT, read off its weights: BLINK keeps no config.json."""
    words, hidden = weights["embeddings.word_embeddings.weight"].shape
    layers = {name.split(".")[2] for name in weights if name.startswith("encoder.layer.")}
    return {
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": len(layers),
        "num_attention_heads": max(1, hidden // _HEAD),
        "intermediate_size": weights["encoder.layer.0.intermediate.dense.weight"].shape[0],
        "vocab_size": words,
        "max_position_embeddings": weights["embeddings.position_embeddings.weight"].shape[0],
        "type_vocab_size": weights["embeddings.token_type_embeddings.weight"].shape[0],
    }
