"""Mentions that nobody linked: the same text means the same where it was linked once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from entlink.datasets.conversations.mentions import Annotation
from entlink.datasets.wiki_titles import Entry
from entlink.documents import Span


class Surfaces:
    """The texts that were linked, each to one entity; those linked to several mean nothing for sure."""

    def __init__(self, linked: Iterable[tuple[str, Entry]], left_alone: Sequence[str] = ()) -> None:
        meanings: dict[str, set[Entry]] = {}
        for surface, entity in linked:
            meanings.setdefault(surface, set()).add(entity)
        alone = {word.casefold() for word in left_alone}
        self.ambiguous = sum(len(entities) > 1 for entities in meanings.values())
        self._entities: Mapping[str, Entry] = {
            surface: next(iter(entities))
            for surface, entities in meanings.items()
            if len(entities) == 1 and surface.casefold() not in alone
        }
        self._pattern = _pattern(self._entities)

    def augment(
        self, text: str, annotations: Sequence[Annotation], refused: Sequence[Span] = ()
    ) -> tuple[Annotation, ...]:
        """The annotations of a text, and further occurrences of all surfaces outside of what its author linked."""
        if self._pattern is None:
            return tuple(annotations)
        taken = sorted([one.span for one in annotations] + list(refused), key=lambda span: span.start)
        found = list(annotations)
        for start, end in _gaps(taken, len(text)):
            for match in self._pattern.finditer(text, start, end):
                if _stands_alone(text, match.end()):
                    found.append(Annotation(Span(*match.span()), self._entities[match.group()], "augmented"))
        return tuple(sorted(found, key=lambda one: one.span.start))


def _pattern(surfaces: Iterable[str]) -> re.Pattern[str] | None:
    """The longest first, so that `New York City` is not taken for `New York`."""
    forms = sorted(surfaces, key=lambda surface: (-len(surface), surface))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)") if forms else None


def _gaps(taken: Sequence[Span], size: int) -> Iterable[tuple[int, int]]:
    at = 0
    for span in taken:
        if at < span.start:
            yield at, span.start
        at = max(at, span.end)
    if at < size:
        yield at, size


def _stands_alone(text: str, end: int) -> bool:
    """The pattern sees only the stretch it is given, so a word that goes on behind it is told here."""
    return end == len(text) or not (text[end].isalnum() or text[end] == "_")
