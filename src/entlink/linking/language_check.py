"""A warning where texts are written in something else than the knowledge base: hardly a name would be found."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from entlink.documents import Document
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.language import writing_of_kb
from entlink.text.languages import Writing, difference, writing_of

_DOCUMENTS, _BEGINNING = 20, 2_000  # the first of a linker, and characters of each


class LanguageCheck:
    """Looks at the first documents that a linker gets, and warns once."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._left = _DOCUMENTS
        self._names: Writing | None = None

    def look_at(self, documents: Sequence[Document]) -> None:
        for document in documents[: self._left]:
            self._left -= 1
            found = difference(writing_of([document.text[:_BEGINNING]]), self._known())
            if found is not None:
                self._left = 0
                logging.getLogger(__name__).warning(
                    "%s: its names and descriptions are in %s, and the document %r is in %s: only names that are "
                    "written alike in both can be found (further documents are not looked at)",
                    self.kb.folder,
                    found[1],
                    document.id,
                    found[0],
                )
                return

    def _known(self) -> Writing:
        if self._names is None:
            self._names = writing_of_kb(self.kb)
        return self._names
