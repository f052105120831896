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
    with_encoder,
)
from entlink.text.scripts import can_simplify

WITHOUT_MODEL, WITH_ENCODER, OF_GIVEN_SPANS = "everyday", "everyday-encoder", "zero-shot"
OF_SPACELESS_SPANS = "characters", "characters-encoder"  # without a model, and with an encoder
_SPACELESS = ("Chinese", "Japanese", "Thai letters")  # languages, and letters that stand for several
_MANY = 1_000  # entities: of fewer, those that are needed are encoded in no time


class DefaultLinker(NamedTuple):
    """A configuration; `told` says what it links with, and what would be better."""

    config: LinkerConfig
    told: str


def default_linker(kb: str | Path, *, spans_given: bool = False, trust: bool = False) -> DefaultLinker:
    """The linker saved beside a knowledge base; else the one with the encoder; else the one without a model.

    A saved linker that was fitted to given spans alone is used for those: which spans of a text are mentions, and
    which links to keep, it has not learnt.

    The encoder is one that was pulled and reads the knowledge base's language, where its extra is installed.
    Spans that are given may be no names of the knowledge base at all: with the encoder, all entities are searched for
    them. Not so in scripts without spaces, where what the characters around say is worth more. Without `trust`, a
    saved linker that loads something from outside its folder is a ConfigError.
    """
    beside = linker_beside(kb)
    if (beside / LINKER_FILE).exists():
        saved = found_beside(kb, trust=trust)
        if spans_given or finds_mentions(saved):
            return DefaultLinker(saved, f"the linker saved in {beside}")
    needed = _needed(kb)
    without, with_one = WITHOUT_MODEL, OF_GIVEN_SPANS if spans_given else WITH_ENCODER
    if spans_given and needed.language in _SPACELESS:
        without, with_one = OF_SPACELESS_SPANS
    if needed.commands:
        told = f"names and words alone. Better with an encoder{needed.reads}: {needed.commands}"
        return DefaultLinker(read_config(without), told + _of_scripts(kb, needed.language))
    encoder = needed.encoder
    better = (
        ""
        if needed.is_indexed
        else f". Faster, and better for given spans: entlink kb index {kb} --vectors {encoder}"
    )
    config = with_encoder(read_config(with_one), encoder)
    return DefaultLinker(config, f"the encoder {encoder}{better}" + _of_scripts(kb, needed.language))


def _of_scripts(kb: str | Path, language: str | None) -> str:
    """What makes both Chinese scripts one, where it is missing."""
    if language != "Chinese" or can_simplify():
        return ""
    return (
        f". Names in traditional and simplified characters as one: pip install 'entlink[zh]' && entlink kb index {kb}"
    )


class _Needed(NamedTuple):
    """The encoder for a knowledge base, or the commands that bring one, and whether vectors need no index."""

    encoder: str
    reads: str
    language: str | None
    commands: str
    is_indexed: bool


def _needed(kb: str | Path) -> _Needed:
    from entlink.encoders.extras import has_retrieval
    from entlink.kb.indexes.derived import VECTORS
    from entlink.kb.indexes.vectors.choice import choose_encoder
    from entlink.kb.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb, names=False) as opened:
        choice = choose_encoder(opened)
        is_indexed = len(opened) < _MANY or any(opened.index_folder.glob(f"{VECTORS}{choice.encoder}*"))
    commands = [] if has_retrieval() else ["pip install 'entlink[retrieval]'"]
    commands += [] if choice.encoder else [choice.command]
    reads = "" if choice.language in (None, "English") else f" that reads {choice.language}"
    return _Needed(choice.encoder or "", reads, choice.language, " && ".join(commands), is_indexed)
