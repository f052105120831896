"""What a set of captions holds, counted as in table 3, figure 4 and the text of section 4.3 of paper 4."""

from __future__ import annotations

from collections import Counter

import msgspec

from entlink.datasets.captions.documents import words_of

BUCKETS = ("none", "1", "2-5", "6-10", "more than 10")
_ENDS = (0, 1, 5, 10)
UNTYPED = "not known"


class CaptionStatistics(msgspec.Struct):
    """Counts of one file.

    `pages` and `entities` are different ones; `linked` and `nil` are the two kinds of `mentions`. `types`, `topics`
    and `candidates` say how often each was met, `surfaces` how linked mentions are like their entity's title, and
    `same_picture` how many of them have an entity with the picture of the caption.
    """

    pairs: int = 0
    pictures: int = 0
    pages: int = 0
    mentions: int = 0
    linked: int = 0
    nil: int = 0
    entities: int = 0
    words: int = 0
    types: dict[str, int] = {}
    topics: dict[str, int] = {}
    candidates: dict[str, int] = {}
    surfaces: dict[str, int] = {}
    same_picture: dict[str, int] = {}

    @property
    def mentions_per_pair(self) -> float:
        return self.mentions / self.pairs if self.pairs else 0.0

    @property
    def words_per_pair(self) -> float:
        return self.words / self.pairs if self.pairs else 0.0

    def share(self, field: str, *names: str) -> float:
        """The share of some names among all that a field counts."""
        counts: dict[str, int] = getattr(self, field)
        total = sum(counts.values())
        return sum(counts.get(name, 0) for name in names) / total if total else 0.0


class Published(msgspec.Struct, frozen=True):
    """A column of table 3."""

    pairs: int
    mentions_per_pair: float
    words_per_pair: float


PUBLISHED = {
    "train": Published(6377, 2.04, 10.07),
    "dev": Published(796, 2.03, 10.28),
    "test": Published(796, 1.87, 9.92),
    "total": Published(7969, 2.02, 10.08),
}
# Shares of section 4.3, over the whole set.
PUBLISHED_DIFFERENT, PUBLISHED_TOTALLY = 0.5131, 0.1605
PUBLISHED_OVER_TEN, PUBLISHED_NONE = 0.4863, 0.1526


class _GoldMeta(msgspec.Struct):
    type: str | None = None
    surface: str | None = None
    picture: str | None = None
    candidates: int = 0


class _Gold(msgspec.Struct):
    entity: str | None = None
    nil_type: str | None = None
    meta: _GoldMeta = msgspec.field(default_factory=_GoldMeta)


class _Meta(msgspec.Struct):
    page: str
    topic: str | None = None


class _Row(msgspec.Struct):
    id: str
    text: str
    meta: _Meta
    gold: list[_Gold] = []
    images: list[msgspec.Raw] = []


class Tally:
    """Counts the lines of a file as they are written. Of names it keeps a number each."""

    def __init__(self) -> None:
        self._counts = CaptionStatistics()
        self._pages, self._entities = set[int](), set[int]()
        self._fields: dict[str, Counter[str]] = {
            name: Counter() for name in ("types", "topics", "candidates", "surfaces", "same_picture")
        }
        self._decoder = msgspec.json.Decoder(_Row)

    def add(self, line: bytes) -> None:
        row = self._decoder.decode(line)
        counts = self._counts
        counts.pairs += 1
        counts.pictures += bool(row.images)
        counts.words += words_of(row.text)
        self._pages.add(hash(row.id.rpartition("#")[0]))
        self._fields["topics"][row.meta.topic or UNTYPED] += 1
        for gold in row.gold:
            self._add_mention(gold)

    def _add_mention(self, gold: _Gold) -> None:
        self._counts.mentions += 1
        self._fields["types"][gold.meta.type or gold.nil_type or UNTYPED] += 1
        self._fields["candidates"][bucket(gold.meta.candidates)] += 1
        if gold.entity is None:
            self._counts.nil += 1
            return
        self._counts.linked += 1
        self._entities.add(hash(gold.entity))
        if gold.meta.surface is not None:
            self._fields["surfaces"][gold.meta.surface] += 1
        if gold.meta.picture is not None:
            self._fields["same_picture"][gold.meta.picture] += 1

    def statistics(self) -> CaptionStatistics:
        counted = {name: dict(sorted(counts.items())) for name, counts in self._fields.items()}
        return msgspec.structs.replace(self._counts, pages=len(self._pages), entities=len(self._entities), **counted)


def bucket(candidates: int) -> str:
    """The bucket of figure 4 (b) that a number of candidates falls into."""
    return next((BUCKETS[place] for place, end in enumerate(_ENDS) if candidates <= end), BUCKETS[-1])
