"""Which encoder a knowledge base is read with: one that was pulled and reads its language."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.encoders.identities import AUTO
from entlink.encoders.loading import card_of
from entlink.encoders.models.fetching import WEIGHTS
from entlink.encoders.models.store import installed, is_model_name, models_folder
from entlink.errors import MissingModelError
from entlink.kb.language import language_of
from entlink.text.languages import can_read

if TYPE_CHECKING:
    from entlink.encoders.models.card import ModelCard
    from entlink.interfaces import DualEncoder, Encoder
    from entlink.kb.knowledge_base import KnowledgeBase

_TO_PULL = {"English": "minilm", None: "minilm", "Chinese": "hf:BAAI/bge-small-zh-v1.5"}
_FITTED = "minilm"  # what the weights of the linkers in the box were fitted with
_warned: set[tuple[Path, str]] = set()


class Choice(NamedTuple):
    """The encoder for a knowledge base, if one is there; its language; and what brings one by `models pull`."""

    encoder: str | None
    language: str | None
    source: str

    @property
    def command(self) -> str:
        """What brings an encoder."""
        return f"entlink models pull {self.source}"

    @property
    def wanted(self) -> str:
        """The encoder, or the one to be pulled if it has a name already; else "auto"."""
        return self.encoder or (self.source if is_model_name(self.source) else AUTO)


def choose_encoder(kb: KnowledgeBase) -> Choice:
    """The pulled encoder that reads what a knowledge base is written in.

    Of several, the one comes first that the linkers in the box were fitted with; then one that reads fewer languages.
    """
    language = language_of(kb)
    fitting = [card for card in installed() if _is_plain(card) and can_read(card.languages, language)]
    best = min(fitting, key=_order, default=None)
    return Choice(best.name if best else None, language, _TO_PULL.get(language, "hf:OWNER/NAME"))


def dual_for(kb: KnowledgeBase, encoder: str | Encoder | DualEncoder, **settings: Any) -> DualEncoder:
    """The encoder of a stage; "auto" is the one that reads the knowledge base, and one that does not is warned of."""
    from entlink.encoders.dual import load_dual
    from entlink.encoders.extras import require_retrieval

    if encoder == AUTO:
        require_retrieval("encoding texts")
        encoder = chosen(kb)
    elif isinstance(encoder, str):
        _check_reads(kb, encoder)
    return load_dual(encoder, **settings)


def chosen(kb: KnowledgeBase) -> str:
    """The name of the encoder that is chosen; that there is none is a MissingModelError."""
    choice = choose_encoder(kb)
    if choice.encoder is None:
        raise MissingModelError(
            f"no encoder in {models_folder()} reads {choice.language or 'the language'} of {kb.folder.name}. "
            f"`{choice.command}` fetches one"
        )
    return choice.encoder


def _is_plain(card: ModelCard) -> bool:
    return card.kind == "transformer" and not card.name.endswith(WEIGHTS)


def _order(card: ModelCard) -> tuple[bool, bool, int, str]:
    return card.name != _FITTED, "multilingual" in card.languages, card.languages.count(","), card.name


def _check_reads(kb: KnowledgeBase, encoder: str) -> None:
    """A warning, once, where an encoder reads another language than the knowledge base is written in."""
    found = card_of(encoder)
    if found is None or not found[1].languages or (kb.folder, encoder) in _warned:
        return
    language = language_of(kb)
    if can_read(found[1].languages, language) is False:
        _warned.add((kb.folder, encoder))
        logging.getLogger(__name__).warning(
            "%s is written in %s, and the encoder %s reads %s: its vectors mean little here. Name another, or "
            'encoder = "auto" for the one that fits',
            kb.folder,
            language,
            encoder,
            found[1].languages,
        )
