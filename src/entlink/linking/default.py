"""The linker that is used where none is named: the best of those that are there, and what would be better."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from entlink.linking.config import LINKER_FILE, LinkerConfig, found_beside, linker_beside, read_config

WITHOUT_MODEL, WITH_ENCODER = "everyday", "everyday-encoder"
ENCODER = "minilm"


class DefaultLinker(NamedTuple):
    """A configuration; `told` says what it links with, and what would be better."""

    config: LinkerConfig
    told: str


def default_linker(kb: str | Path, *, trust: bool = False) -> DefaultLinker:
    """The linker saved beside a knowledge base; else the one with the encoder; else the one without a model.

    The encoder is used where its extra is installed, its model is pulled and it reads the knowledge base's language.
    Without `trust`, a saved linker that loads something from outside its folder is a ConfigError.
    """
    beside = linker_beside(kb)
    if (beside / LINKER_FILE).exists():
        return DefaultLinker(found_beside(kb, trust=trust), f"the linker saved in {beside}")
    if not _reads(kb):
        return DefaultLinker(
            read_config(WITHOUT_MODEL),
            f"names and words alone: the encoder {ENCODER} does not read the language of {Path(kb).name}",
        )
    missing = _missing()
    if missing:
        return DefaultLinker(read_config(WITHOUT_MODEL), f"names and words alone. Better with an encoder: {missing}")
    return DefaultLinker(
        read_config(WITH_ENCODER), f"the encoder {ENCODER}"
    )


def _reads(kb: str | Path) -> bool:
    """Whether the encoder reads what a knowledge base is written in; where that is not sure, it does."""
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.linking.language_check import language_of

    with KnowledgeBase.open(kb, names=False) as opened:
        return language_of(opened) in ("English", None)


def _missing() -> str:
    """The commands that bring the encoder; none where it is there."""
    from entlink.encoders.extras import has_retrieval
    from entlink.encoders.models.store import is_installed

    commands = [] if has_retrieval() else ["pip install 'entlink[retrieval]'"]
    commands += [] if is_installed(ENCODER) else [f"entlink models pull {ENCODER}"]
    return " && ".join(commands)
