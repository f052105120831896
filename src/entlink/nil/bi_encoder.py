"""The type of what is not in the knowledge base, as a model reads it from the text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.documents import Span
from entlink.interfaces import Linked

if TYPE_CHECKING:
    from entlink.encoders.trained.typed import TypedDual


class BiEncoderTypes:
    """The coarse type that a bi-encoder with types (TyDE) gives a mention among its words.

    `model` is the name or folder of one, or an object.
    """

    needs = "the extra retrieval and a bi-encoder trained with model.typed = true"

    def __init__(self, *, model: str | Path | TypedDual) -> None:
        from entlink.encoders.extras import require_retrieval

        require_retrieval("types of mentions by a bi-encoder")
        from entlink.encoders.trained.typed import load_typed_dual

        self._dual = load_typed_dual(model) if isinstance(model, (str, Path)) else model

    def types_of(self, linked: Sequence[Linked]) -> list[dict[Span, str]]:
        """See `NilTyper.types_of`."""
        asked = [(one.document, link.mention) for one in linked for link in one.untyped]
        found = iter(self._dual.mention_types(asked))
        return [{link.mention.span: next(found)[0] for link in one.untyped} for one in linked]
