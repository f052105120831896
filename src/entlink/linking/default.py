"""The linker that is used where none is named: the best of those that are there, and what would be better."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from entlink.linking.config import (
    LINKER_FILE,
    LinkerConfig,
    finds_mentions,
    found_beside,
    linker_beside,
    read_config,
)

WITHOUT_MODEL, WITH_ENCODER, OF_GIVEN_SPANS = "everyday", "everyday-encoder", "zero-shot"
ENCODER = "minilm"
_MANY = 1_000  # entities: of fewer, those that are needed are encoded in no time


class DefaultLinker(NamedTuple):
    """A configuration; `told` says what it links with, and what would be better."""

    config: LinkerConfig
    told: str


def default_linker(kb: str | Path, *, spans_given: bool = False, trust: bool = False) -> DefaultLinker:
    """The linker saved beside a knowledge base; else the one with the encoder; else the one without a model.

    A saved linker that was fitted to given spans alone is used for those: which spans of a text are mentions, and
    which links to keep, it has not learnt.

    The encoder is used where its extra is installed, its model is pulled and it reads the knowledge base's language.
    Spans that are given may be no names of the knowledge base at all: with the encoder, all entities are searched for
    them. Without `trust`, a saved linker that loads something from outside its folder is a ConfigError.
    """
    beside = linker_beside(kb)
    if (beside / LINKER_FILE).exists():
        saved = found_beside(kb, trust=trust)
        if spans_given or finds_mentions(saved):
            return DefaultLinker(saved, f"the linker saved in {beside}")
    reads, is_indexed = _encoder_and(kb)
    if not reads:
        return DefaultLinker(
            read_config(WITHOUT_MODEL),
            f"names and words alone: the encoder {ENCODER} does not read the language of {Path(kb).name}",
        )
    missing = _missing()
    if missing:
        return DefaultLinker(read_config(WITHOUT_MODEL), f"names and words alone. Better with an encoder: {missing}")
    better = "" if is_indexed else f". Faster, and better for given spans: entlink kb index {kb} --vectors {ENCODER}"
    config = read_config(OF_GIVEN_SPANS if spans_given else WITH_ENCODER)
    return DefaultLinker(config, f"the encoder {ENCODER}{better}")


def _encoder_and(kb: str | Path) -> tuple[bool, bool]:
    """Whether the encoder reads what a knowledge base is written in, and whether an index of vectors would not pay.

    Where the language is not sure, the encoder reads it.
    """
    from entlink.kb.indexes.derived import VECTORS
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.linking.language_check import language_of

    with KnowledgeBase.open(kb, names=False) as opened:
        is_indexed = len(opened) < _MANY or any(opened.index_folder.glob(f"{VECTORS}{ENCODER}*"))
        return language_of(opened) in ("English", None), is_indexed


def _missing() -> str:
    """The commands that bring the encoder; none where it is there."""
    from entlink.encoders.extras import has_retrieval
    from entlink.encoders.models.store import is_installed

    commands = [] if has_retrieval() else ["pip install 'entlink[retrieval]'"]
    commands += [] if is_installed(ENCODER) else [f"entlink models pull {ENCODER}"]
    return " && ".join(commands)
