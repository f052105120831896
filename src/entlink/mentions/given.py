"""The spans the input itself gives."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Document, Mention


class GivenMentions:
    """Takes each document's own `mentions`; a document without them has none."""

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        return [list(document.mentions or ()) for document in documents]
