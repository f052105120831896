"""Folders in the layout of Hugging Face: what their small files say, their weights and their tokenizer."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.encoders.text.bert_graph import BertConfig, can_write
from entlink.errors import InputError
from entlink.io.checksums import checksum

_FRONT_LICENCE = re.compile(r"^license:\s*(\S+)\s*$", re.MULTILINE)
_UNLIMITED = 1_000_000  # tokenizers without a limit say some huge number
_POOLED = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}


class Layout(NamedTuple):
    """What the small files of a model folder say."""

    folder: Path
    config: dict[str, Any]
    pooling: str
    max_length: int
    licence: str


def read_layout(folder: Path) -> Layout:
    """Read a folder with a config.json."""
    config = _read(folder / "config.json")
    if config is None:
        raise InputError(f"{folder}: no config.json is here. Give a folder in the layout of Hugging Face")
    _check_modules(folder)
    return Layout(folder, config, _pooling(folder), _max_length(folder, config), _licence(folder))


def weight_files(folder: Path) -> list[Path]:
    """The files of weights in safetensors, in parts or as one; none if there are none."""
    whole = folder / "model.safetensors"
    if whole.is_file():
        return [whole]
    index = _read(folder / "model.safetensors.index.json")
    if index is None:
        return []
    parts = [folder / str(name) for name in sorted(set(index.get("weight_map", {}).values()))]
    for path in parts:
        if not path.is_file():
            raise InputError(f"{path}: this part of the weights is missing. Fetch the folder again")
    return parts


def can_convert(layout: Layout) -> bool:
    """Whether its weights can become an ONNX graph without torch."""
    return can_write(layout.config) and bool(weight_files(layout.folder))


def read_config(layout: Layout) -> BertConfig:
    try:
        return msgspec.convert(layout.config, BertConfig)
    except msgspec.ValidationError as problem:
        raise InputError(f"{layout.folder / 'config.json'}: {problem}. Check the folder") from problem


def read_weights(folder: Path) -> dict[str, Any]:
    """All weights by name, in numpy."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    found: dict[str, Any] = {}
    for path in weight_files(folder):
        try:
            found |= load_file(path)
        except (SafetensorError, TypeError, KeyError) as problem:
            raise InputError(f"{path}: these weights cannot be read ({problem}). Fetch the file again") from problem
    return found


def weights_hash(paths: list[Path], *small: Path) -> str:
    """One checksum of weights and of the small files that change what they mean."""
    digest = hashlib.sha256()
    for path in (*paths, *(path for path in small if path.is_file())):
        digest.update(f"{path.name} {checksum(path)}\n".encode())
    return digest.hexdigest()


def read_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder, neither cutting nor padding."""
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if path.is_file():
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as problem:  # the library raises nothing narrower
            raise InputError(f"{path}: this tokenizer cannot be read ({problem}). Fetch the file again") from problem
    elif (folder / "vocab.txt").is_file():
        tokenizer = _word_pieces(folder)
    else:
        raise InputError(
            f"{folder}: neither tokenizer.json nor vocab.txt is here. Fetch one of them with the weights"
        )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _word_pieces(folder: Path) -> Any:
    """The tokenizer of BERT, made from a vocabulary alone."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    lines = (folder / "vocab.txt").read_text(encoding="utf8").split("\n")
    vocabulary = {line.rstrip("\r"): number for number, line in enumerate(lines) if line.rstrip("\r")}
    missing = [sign for sign in ("[UNK]", "[CLS]", "[SEP]") if sign not in vocabulary]
    if missing:
        raise InputError(f"{folder / 'vocab.txt'}: {missing[0]} is not in it: it is no vocabulary of a BERT")
    settings = _read(folder / "tokenizer_config.json") or {}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=bool(settings.get("do_lower_case", True)))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    signs = [(sign, vocabulary[sign]) for sign in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, signs)
    tokenizer.add_special_tokens(
        [sign for sign in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if sign in vocabulary]
    )
    return tokenizer


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except msgspec.MsgspecError as problem:
        raise InputError(f"{path}: this is not a JSON object ({problem}). Fetch the file again") from problem


def _check_modules(folder: Path) -> None:
    path = folder / "modules.json"
    if not path.is_file():
        return
    try:
        modules = msgspec.json.decode(path.read_bytes(), type=list[dict[str, Any]])
    except msgspec.MsgspecError as problem:
        raise InputError(f"{path}: this is not a list of modules ({problem}). Fetch the file again") from problem
    for kind in (str(module.get("type", "")) for module in modules):
        if kind.rpartition(".")[2] not in ("Transformer", "Pooling", "Normalize", "Dropout"):
            raise InputError(
                f"{path}: the model has a part {kind!r} that entlink does not know. Use a model that ends in pooling"
            )


def _pooling(folder: Path) -> str:
    path = folder / "1_Pooling" / "config.json"
    settings = _read(path)
    if settings is None:
        return "mean"
    named = str(settings.get("pooling_mode", ""))
    modes = [named] if named else [key for key, on in settings.items() if key.startswith("pooling_mode_") and on]
    pooled = [_POOLED.get(mode, mode) for mode in modes]
    if len(pooled) != 1 or pooled[0] not in ("mean", "cls"):
        raise InputError(f"{path}: the pooling {' + '.join(modes)!r} is none that entlink knows: mean or cls")
    return pooled[0]


def _max_length(folder: Path, config: dict[str, Any]) -> int:
    most = int(config.get("max_position_embeddings") or 512)
    if config.get("model_type") in ("roberta", "xlm-roberta", "camembert"):
        most -= 2  # their first positions are not for tokens
    said = [
        (_read(folder / "sentence_bert_config.json") or {}).get("max_seq_length"),
        (_read(folder / "tokenizer_config.json") or {}).get("model_max_length"),
    ]
    limits = [int(length) for length in said if length and length < _UNLIMITED]
    return min(most, *limits[:1]) if limits else most


def _licence(folder: Path) -> str:
    path = folder / "README.md"
    if not path.is_file():
        return ""
    match = _FRONT_LICENCE.search(path.read_text(encoding="utf8", errors="replace")[:4000])
    return match[1] if match else ""
