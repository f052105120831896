"""The tokenizer of a folder that transformers knows how to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from entlink.encoders.models.hugging_face import read_tokenizer
from entlink.errors import InputError


def fast_tokenizer(folder: Path) -> Any:
    """The folder's own, or the one transformers makes of its vocabulary."""
    if (folder / "tokenizer.json").is_file():
        return read_tokenizer(folder)
    from transformers import AutoTokenizer

    try:
        found = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, use_fast=True)
    except (OSError, ValueError, KeyError, ImportError) as problem:
        line = (str(problem).strip().splitlines() or [""])[0]
        raise InputError(
            f"{folder}: transformers cannot make its tokenizer ({line}). Add a tokenizer.json"
        ) from problem
    tokenizer = getattr(found, "backend_tokenizer", None)
    if tokenizer is None:
        raise InputError(f"{folder}: its tokenizer has no fast form, which offsets need. Add a tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
