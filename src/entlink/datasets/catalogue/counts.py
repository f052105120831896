"""What the records of a dataset hold, counted one after the other."""

from __future__ import annotations

import msgspec

from entlink.datasets.catalogue.records import DatasetRecord
from entlink.documents import Document, GoldLink
from entlink.formats.probes import ProbeExample
from entlink.formats.public.wikisrs import EntityPair
from entlink.text.spans import span_problem

_MOST_NOTED = 3


class DatasetCounts(msgspec.Struct):
    """Counts of records and of their gold links.

    `alternatives` have several right entities; `overlapping` begin inside another one; `outside` lie outside their
    text or are empty; `duplicates` and `empty` are records whose id came before, and records without a text.
    `entities` are the different ones of all gold. `links` are a linker's answers beside the gold.
    """

    records: int = 0
    gold: int = 0
    nil: int = 0
    alternatives: int = 0
    optional: int = 0
    entities: int = 0
    overlapping: int = 0
    outside: int = 0
    duplicates: int = 0
    empty: int = 0
    links: int = 0


class Tally:
    """Counts records as they come. Of ids and entities it keeps a number each, so that large files fit."""

    def __init__(self) -> None:
        self.counts = DatasetCounts()
        self._ids: set[int] = set()
        self._entities: set[int] = set()
        self._examples: dict[str, list[str]] = {}

    def add(self, record: DatasetRecord) -> None:
        """Count a record: a document, or whatever else a dataset is of."""
        self.counts.records += 1
        if isinstance(record, Document):
            self._add_document(record)
        elif isinstance(record, EntityPair):
            self._entities.update((hash(record.first), hash(record.second)))
        elif isinstance(record, ProbeExample):
            shown = (*record.entities, *record.candidates)
            self._entities.update(hash(one.title) for one in shown if one.title)
        self.counts.entities = len(self._entities)

    def warnings(self) -> list[str]:
        """What is odd about the records, with the first of each kind."""
        counts = self.counts
        kinds = {
            "outside": (counts.outside, "gold spans that do not fit their text"),
            "duplicates": (counts.duplicates, "records with an id that came before"),
            "empty": (counts.empty, "records without a text"),
        }
        return [
            f"{what}: {number:,} ({'; '.join(self._examples[kind])}{'; …' if number > _MOST_NOTED else ''})"
            for kind, (number, what) in kinds.items()
            if number
        ]

    def _add_document(self, document: Document) -> None:
        counts = self.counts
        counts.links += len(document.links)
        if hash(document.id) in self._ids:
            counts.duplicates += 1
            self._note("duplicates", document)
        self._ids.add(hash(document.id))
        for gold in document.gold:
            self._add_gold(gold)
        if "lacks" not in document.meta:  # a list of links has neither texts nor offsets of its own
            self._add_places(document)

    def _add_gold(self, gold: GoldLink) -> None:
        counts = self.counts
        counts.gold += 1
        counts.nil += gold.is_nil
        counts.alternatives += len(gold.entities) > 1
        counts.optional += gold.optional
        self._entities.update(map(hash, gold.entities))

    def _add_places(self, document: Document) -> None:
        if not document.text.strip():
            self.counts.empty += 1
            self._note("empty", document)
        self.counts.overlapping += _overlapping(document)
        for gold in document.gold:
            start, end = gold.span.start, gold.span.end
            if not 0 <= start < end <= len(document.text):
                self.counts.outside += 1
                self._note("outside", document, span_problem(start, end))

    def _note(self, kind: str, document: Document, problem: str = "") -> None:
        noted = self._examples.setdefault(kind, [])
        if len(noted) < _MOST_NOTED:
            place = f"record {self.counts.records:,}, {document.id!r}"
            noted.append(f"{place}: {problem}" if problem else place)


def _overlapping(document: Document) -> int:
    """How many gold links begin before an earlier one has ended."""
    found, end = 0, 0
    for start, stop in sorted((gold.span.start, gold.span.end) for gold in document.gold):
        found += start < end
        end = max(end, stop)
    return found
