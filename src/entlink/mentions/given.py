"""The spans that a document itself gives."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Document, Mention, Span
from entlink.interfaces import Judgement, Reason, Verdict


class GivenMentions:
    """Takes each document's own `mentions`; a document without them has none, which is told once."""

    def __init__(self) -> None:
        self._has_told = False

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        if not self._has_told and any(one.mentions is None for one in documents):
            import logging

            self._has_told = True
            logging.getLogger(__name__).warning(
                "this linker links only the spans that documents bring, and there are documents that bring none"
            )
        return [list(document.mentions or ()) for document in documents]

    def explain(self, document: Document, span: Span | None = None) -> list[Judgement]:
        """Every given span was taken, and no other."""
        given = [mention.span for mention in document.mentions or ()]
        told = [Judgement(one, Verdict(1.0)) for one in given]
        if span is not None and span not in given:
            told.append(Judgement(span, Verdict(0.0, Reason.NOT_GIVEN)))
        return told
