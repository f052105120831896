"""Examples to read, a few of each cause: chosen by chance, but the same whatever the order of the documents."""

from __future__ import annotations

from hashlib import blake2b
from heapq import heappush, heappushpop

from entlink.documents import Document
from entlink.evaluation.identities import Identities
from entlink.evaluation.items import Gold, Predicted
from entlink.evaluation.results import Example

_AROUND = 90
_CANDIDATES_SHOWN = 5


class Examples:
    """The `most` examples of each cause with the smallest hash of a seed and their place."""

    def __init__(self, most: int, seed: int, identities: Identities | None) -> None:
        self._most, self._seed, self._identities = most, str(seed), identities
        self._kept: dict[str, list[tuple[int, str, Example]]] = {}

    def offer(
        self, cause: str, stage: str, document: Document, gold: Gold | None, predicted: Predicted | None
    ) -> None:
        """Keep this one if it is among the chosen so far."""
        item = gold if gold is not None else predicted
        if item is None or not self._most:
            return
        place = f"{document.id}:{item.start}:{item.end}:{item.surface}"
        lot = _lot(self._seed, cause, place)
        kept = self._kept.setdefault(cause, [])
        if len(kept) == self._most and lot >= -kept[0][0]:
            return
        entry = (-lot, place, self._example(cause, stage, document, gold, predicted))
        heappush(kept, entry) if len(kept) < self._most else heappushpop(kept, entry)

    def all(self) -> list[Example]:
        """Those kept, by cause in the order in which they were first met, then by lot."""
        return [entry[2] for cause in sorted(self._kept) for entry in sorted(self._kept[cause], reverse=True)]

    def _example(
        self, cause: str, stage: str, document: Document, gold: Gold | None, predicted: Predicted | None
    ) -> Example:
        item = gold or predicted
        assert item is not None
        text = "" if document.meta.get("lacks") else document.text
        left, right = text[max(0, item.start - _AROUND) : item.start], text[item.end : item.end + _AROUND]
        return Example(
            cause,
            stage,
            document.id,
            ("…" if item.start > _AROUND and text else "") + left,
            item.surface,
            right + ("…" if item.end + _AROUND < len(text) else ""),
            self._named(gold),
            self._answer(predicted),
            predicted is not None and predicted.is_nil,
            None if predicted is None else predicted.link.score,
            ()
            if predicted is None
            else tuple(one.title or self._title(one.entity) for one in predicted.link.candidates[:_CANDIDATES_SHOWN]),
        )

    def _named(self, gold: Gold | None) -> tuple[str, ...]:
        if gold is None:
            return ()
        if gold.is_nil:
            return (f"NIL ({gold.nil_type})" if gold.nil_type else "NIL",)
        title = gold.link.meta.get("title")
        return (title,) if isinstance(title, str) else tuple(map(self._title, gold.entities))

    def _answer(self, predicted: Predicted | None) -> str | None:
        if predicted is None:
            return None
        if predicted.entity is None:
            return f"NIL ({predicted.nil_type})" if predicted.nil_type else "NIL"
        return predicted.link.title or self._title(predicted.entity)

    def _title(self, id: str) -> str:
        entity = self._identities.entity(id) if self._identities else None
        return id if entity is None else entity.title


def _lot(seed: str, cause: str, place: str) -> int:
    key = f"{seed}\0{cause}\0{place}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big")
