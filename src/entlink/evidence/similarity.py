"""How near the passage that a mention is in is to a candidate, by an encoder that reads each passage once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from entlink.errors import ConfigError
from entlink.interfaces import Encoder, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.passages import has_spaces, passages

if TYPE_CHECKING:
    from entlink.interfaces import Vectors

_CACHED = 4_096  # passages
_REACH, _NEAR = 80, 40  # characters on each side at least, and how near those begin that share a passage


class SimilarityEvidence:
    """The cosine between a passage and each of a mention's first candidates; `read` says how many are encoded.

    `encoder` is the name or folder of an encoder of texts, or an object. With an index of vectors
    (`entlink kb index --vectors`) no entity is encoded when a text is linked, unless its description counts more
    beside its name than there (`description`): where all candidates have the name in common, it says little.
    """

    needs = "the extra retrieval and an encoder"
    gives = ("similarity",)

    def __init__(
        self, kb: KnowledgeBase, *, encoder: str | Encoder = "auto", read: int = 6, description: float = 0.5
    ) -> None:
        from entlink.encoders.dual import PlainDual, instruction_of
        from entlink.kb.indexes.vectors.choice import dual_for
        from entlink.kb.indexes.vectors.store import EntityVectors

        dual = dual_for(kb, encoder, description=description)
        if not isinstance(dual, PlainDual):
            raise ConfigError(f"encoder = {encoder!r} does not fit: evidence of similarity needs an encoder of texts")
        if read < 1:
            raise ConfigError(f"read = {read} does not fit: it is 1 or more")
        self.kb, self.read = kb, read
        self._encoder, self._instruction = dual.encoder, instruction_of(dual.encoder)
        self._entities = EntityVectors(kb, dual)
        self._passages: dict[str, Vectors] = {}

    def knowledge_base_changed(self) -> None:
        self._entities.forget()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        texts = [passage for _, group in groupby(shortlists, _document_of) for passage in _around(list(group))]
        texts = [f"{self._instruction}{text}" if text else "" for text in texts]
        passages, entities = self._passage_vectors(texts), self._entity_vectors(shortlists)
        return [
            [
                {"similarity": float(passages[text] @ entities[one.entity])} if one.entity in entities else {}
                for one in shortlist.candidates
            ]
            for shortlist, text in zip(shortlists, texts, strict=True)
        ]

    def _passage_vectors(self, texts: Sequence[str]) -> dict[str, Vectors]:
        missing = list({text: None for text in texts if text and text not in self._passages})
        if len(self._passages) + len(missing) > _CACHED:
            self._passages = {text: self._passages[text] for text in texts if text in self._passages}
        if missing:
            self._passages.update(zip(missing, self._encoder.encode(missing), strict=True))
        return self._passages

    def _entity_vectors(self, shortlists: Sequence[Shortlist]) -> dict[str, Vectors]:
        ids = {one.entity: None for shortlist in shortlists for one in shortlist.candidates[: self.read]}
        keys = {id: key for id in ids if (key := self.kb.key(id)) is not None}
        return dict(zip(keys, self._entities.of(list(keys.values())), strict=True))


def _document_of(shortlist: Shortlist) -> int:
    return id(shortlist.document)


def _around(shortlists: Sequence[Shortlist]) -> list[str]:
    """The passage each mention of one document begins in; none for a mention without candidates.

    Sentences are short where there are no spaces, and what is around them counts: there it is about 200 characters
    with the mention in the middle, the same for mentions that begin near each other.
    """
    text = shortlists[0].document.text
    if not has_spaces(text):
        return [_middle(text, one.mention.span.start) if one.candidates else "" for one in shortlists]
    cut = list(passages(text))
    starts = [start for start, _ in cut]
    found = []
    for one in shortlists:
        start, end = cut[bisect_right(starts, one.mention.span.start) - 1]
        found.append(text[start:end] if one.candidates else "")
    return found


def _middle(text: str, start: int) -> str:
    place = start // _NEAR * _NEAR
    return text[max(0, place - _REACH) : place + _NEAR + _REACH]
