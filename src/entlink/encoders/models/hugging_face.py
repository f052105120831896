"""Folders of models: what their small files say, their weights or exported graph, and their tokenizer."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.encoders.images.efficientnet import checkpoint_in, config_of
from entlink.encoders.models.card import CARD
from entlink.encoders.text.bert_graph import BertConfig, can_write
from entlink.errors import InputError
from entlink.io.checksums import checksum

_FRONT = re.compile(r"\A---\n(.*?)^---", re.MULTILINE | re.DOTALL)
_LICENCE = re.compile(r"^license:\s*(\S+)\s*$", re.MULTILINE)
_LANGUAGES = re.compile(r"^language:[ \t]*(.*)((?:\n\s*- .*)*)", re.MULTILINE)
_CODE = re.compile(r"[A-Za-z]{2,}(?:-[A-Za-z]+)*")
EXPORTED = ("model.onnx", "onnx/model.onnx")  # the usual names
TORCH_WEIGHTS = "pytorch_model.bin"
_HAN, _KANA = 0.3, 0.1  # of the vocabulary; that of a Chinese BERT has .69 and .02
_UNLIMITED = 1_000_000  # tokenizers without a limit say some huge number
_POOLED = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}


class Layout(NamedTuple):
    """What the small files of a model folder say."""

    folder: Path
    config: dict[str, Any]
    pooling: str  # "" where they say nothing of it
    max_length: int
    licence: str
    languages: str  # codes such as "zh", with commas between them


def read_layout(folder: Path, pooling: str = "") -> Layout:
    """Read a folder with a config.json, or with a model in ONNX and perhaps nothing else but its tokenizer.

    What the folder says of pooling is not read where it is given.
    """
    config = _read(folder / "config.json")
    if config is None and (checkpoint := checkpoint_in(folder)) is not None:
        config = config_of(checkpoint)
    if config is None:
        if not any(folder.glob("*.onnx")) and not any(folder.glob("onnx/*.onnx")):
            raise InputError(
                f"{folder}: no config.json is here, and no model in ONNX. Give a folder in the layout of "
                "Hugging Face, or one with an .onnx file and a tokenizer.json"
            )
        config = {}
    _check_modules(folder)
    front = _front_matter(folder)
    licence = _LICENCE.search(front)
    return Layout(
        folder,
        config,
        pooling or _pooling(folder),
        _max_length(folder, config),
        licence[1] if licence else "",
        _languages(front),
    )


def exported_graph(folder: Path) -> Path | None:
    """The model in ONNX that somebody exported; of several, the one of the usual name."""
    found = [*sorted(folder.glob("*.onnx")), *sorted(folder.glob("onnx/*.onnx"))]
    usual = next((folder / name for name in EXPORTED if folder / name in found), None)
    if usual is None and len(found) > 1:
        names = ", ".join(str(path.relative_to(folder)) for path in found)
        raise InputError(f"{folder}: several models are here ({names}). Leave one of them, or call it model.onnx")
    return usual or (found[0] if found else None)


def parts_of_graph(graph: Path) -> list[Path]:
    """The files of a model in ONNX: itself, and its weights where they are beside it."""
    return [graph, *sorted(path for path in graph.parent.glob(f"{graph.name}[._]data*") if path.is_file())]


def in_safetensors(folder: Path, target: Path) -> Path:
    """A folder whose weights are in the format of torch copied to one where they are in safetensors."""
    from entlink.encoders.extras import require_train

    path = folder / TORCH_WEIGHTS
    require_train(f"reading {path.name}, weights in the format of torch,")
    import torch
    from safetensors.torch import save_file

    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # the library raises nothing narrower
        line = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        raise InputError(f"{path}: torch cannot read these weights ({line}). Fetch the file again") from problem
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("*.bin"))
    tensors = {name: value.contiguous().clone() for name, value in weights.items() if hasattr(value, "contiguous")}
    save_file(tensors, target / "model.safetensors")
    return target


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


def read_model_type(folder: Path) -> str:
    """What `config.json` says that the model is, such as "bert"."""
    return str((_read(folder / "config.json") or {}).get("model_type", ""))


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
    """The tokenizer of a folder, neither cutting nor padding; with capitals made small where it knows none."""
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
    is_kept = (folder / CARD).is_file()  # by us: its tokenizer was changed then, if that was needed
    if not is_kept and (_read(folder / "tokenizer_config.json") or {}).get("do_lower_case", True):
        _make_capitals_small(tokenizer)
    return tokenizer


def _make_capitals_small(tokenizer: Any) -> None:
    """Some exports of models that know small letters only lost that setting: each capital would be unknown."""
    from tokenizers import normalizers

    if type(tokenizer.model).__name__ != "WordPiece":
        return
    own = tokenizer.normalizer
    if (own.normalize_str("A") if own is not None else "A") != "A":
        return
    vocabulary = tokenizer.get_vocab(with_added_tokens=False)
    words = [word for word in vocabulary if word.isascii() and word.removeprefix("##").isalpha()]
    if not words or any(word != word.lower() for word in words):
        return
    if isinstance(own, normalizers.BertNormalizer):
        own.lowercase = True
        tokenizer.normalizer = own
    else:
        small = normalizers.Lowercase()
        tokenizer.normalizer = small if own is None else normalizers.Sequence([small, own])


def language_of_vocabulary(tokenizer: Any) -> str:
    """ "zh" or "ja" where enough of the vocabulary is of their characters; nothing where it does not show."""
    words = [word.removeprefix("##") for word in tokenizer.get_vocab(with_added_tokens=False)]
    kana = sum("\u3040" <= word[:1] <= "\u30ff" for word in words)
    han = sum("\u4e00" <= word[:1] <= "\u9fff" for word in words)
    if kana > _KANA * len(words):
        return "ja"
    return "zh" if han > _HAN * len(words) else ""


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
        return ""
    named = str(settings.get("pooling_mode", ""))
    modes = [named] if named else [key for key, on in settings.items() if key.startswith("pooling_mode_") and on]
    pooled = [_POOLED.get(mode, mode) for mode in modes]
    if len(pooled) != 1 or pooled[0] not in ("mean", "cls"):
        raise InputError(
            f"{path}: the pooling {' + '.join(modes)!r} is none that entlink knows: mean or cls. Give "
            "one with --pooling"
        )
    return pooled[0]


def _max_length(folder: Path, config: dict[str, Any]) -> int:
    most = _length(folder / "config.json", config, "max_position_embeddings") or 512
    if config.get("model_type") in ("roberta", "xlm-roberta", "camembert"):
        most -= 2  # their first positions are not for tokens
    said = [
        _length(path, _read(path) or {}, key)
        for path, key in (
            (folder / "sentence_bert_config.json", "max_seq_length"),
            (folder / "tokenizer_config.json", "model_max_length"),
        )
    ]
    limits = [length for length in said if 0 < length < _UNLIMITED]
    return min(most, *limits[:1]) if limits else most


def _length(path: Path, settings: dict[str, Any], key: str) -> int:
    """A number of tokens; 0 where nothing is said."""
    value = settings.get(key) or 0
    if not isinstance(value, int | float) or value < 0:
        raise InputError(f"{path}: {key} is {value!r}, and must be a number. Check the folder")
    return int(value)


def _front_matter(folder: Path) -> str:
    """The settings at the top of a README, as hubs want them."""
    path = folder / "README.md"
    found = _FRONT.match(path.read_text(encoding="utf8", errors="replace")[:20_000]) if path.is_file() else None
    return found[1] if found else ""


def _languages(front: str) -> str:
    found = _LANGUAGES.search(front)
    return ",".join(_CODE.findall(found[1] or found[2])) if found else ""
