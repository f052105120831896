"""Cases to look at: mentions that the text and the text with the picture link to different entities (figure 7)."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

from entlink.datasets.selection import hash_of
from entlink.encoders.images.pictures import Pictures, decode
from entlink.errors import EntlinkError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies.pictures.results import Case, Pictured
from entlink.studies.pictures.scoring import Outcome, Run
from entlink.studies.pictures.sets import Asked

HELPED, HURT, NEITHER = "the picture helped", "the picture misled", "both wrong"
_SIDE, _QUALITY, _AROUND = 112, 72, 140


class Answered(NamedTuple):
    """A ranker that looks at pictures, its twin that reads text only, and what both said."""

    ranker: str
    twin: str
    seen: Run
    read: Run


class CaseWriter:
    """Makes cases with small pictures; `of_entities` says where the pictures of entities are."""

    def __init__(self, kb: KnowledgeBase, of_entities: Pictures) -> None:
        self._kb, self._of_entities = kb, of_entities

    def cases(self, asked: Sequence[Asked], answered: Answered, most: int) -> tuple[list[Case], dict[str, int]]:
        """Up to `most` cases of each kind, drawn by a hash, and how many there are of each."""
        kinds: dict[str, list[int]] = {HELPED: [], HURT: [], NEITHER: []}
        for at, (seen, read) in enumerate(zip(answered.seen, answered.read, strict=True)):
            if seen.said != read.said:
                kinds[_kind(seen, read)].append(at)
        found = []
        for kind, places in kinds.items():
            order = sorted(places, key=lambda at: (hash_of(0, "cases", asked[at].document.id), at))
            found += [self._case(asked[at], answered, at, kind) for at in order[:most]]
        return found, dict(Counter({kind: len(places) for kind, places in kinds.items()}))

    def _case(self, one: Asked, answered: Answered, at: int, kind: str) -> Case:
        text, span = one.document.text, one.mention.span
        picture = one.document.images[0].uri if one.document.images else None
        seen, read = answered.seen[at], answered.read[at]
        right = next((id for id in (seen.said, read.said) if id in one.right), min(one.right))
        return Case(
            answered.ranker,
            answered.twin,
            one.document.id,
            _shortened(text[: span.start], at_end=False),
            one.mention.text,
            _shortened(text[span.end :], at_end=True),
            thumbnail(picture, Pictures()),
            self._entity(right),
            None if seen.said is None else self._entity(seen.said),
            None if read.said is None else self._entity(read.said),
            {HELPED: True, HURT: False, NEITHER: None}[kind],
        )

    def _entity(self, id: str) -> Pictured:
        entity = self._kb.get(id)
        if entity is None:
            return Pictured(id, id)
        return Pictured(id, entity.title, thumbnail(entity.images[0] if entity.images else None, self._of_entities))


def _kind(seen: Outcome, read: Outcome) -> str:
    if seen.is_right:
        return HELPED
    return HURT if read.is_right else NEITHER


def _shortened(text: str, *, at_end: bool) -> str:
    if len(text) <= _AROUND:
        return text
    return f"{text[:_AROUND]}…" if at_end else f"…{text[-_AROUND:]}"


def thumbnail(reference: str | None, pictures: Pictures) -> str:
    """A small JPEG as a data URL; nothing where there is no picture that can be used."""
    if reference is None:
        return ""
    try:
        picture = decode(pictures.read(reference), reference, at_least=_SIDE)
    except EntlinkError:
        return ""
    picture.thumbnail((_SIDE, _SIDE))
    file = BytesIO()
    picture.save(file, "JPEG", quality=_QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
