"""What changed from one knowledge base to another: entities, their titles and texts, and what names mean.

Entities are matched by the number of their page in the wiki, else by id, so that a renamed one is the same. Both are
read once, and memory holds no more than what is listed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from contextlib import closing
from math import log1p
from typing import Any, Generic, TypeVar

import msgspec

from entlink.io.progress import Progress, ignore_progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.aliases import AliasEntry, prior
from entlink.kb.snapshots.folders import home_of, short
from entlink.kb.store.store import Store
from entlink.text.folding import is_spaceless

_PAGE = "page"
MOVED = 0.05  # a name's meaning has moved from here on: the share of its probability that means something else
_EVERY = 2_000
_LOOKED_AT = 500  # characters, to learn whether words have spaces between them
_KEPT = 200_000
Change = TypeVar("Change")


class Named(msgspec.Struct, frozen=True):
    """An entity that only one of the two has."""

    id: str
    title: str
    page: str | None = None


class Renamed(msgspec.Struct, frozen=True):
    """An entity that has another title."""

    id: str
    title: str
    before: str


class Changed(msgspec.Struct, frozen=True):
    """An entity whose description differs: how alike both are, 1 where all words are the same, and their lengths."""

    id: str
    title: str
    similarity: float
    words_before: int
    words: int


class Means(msgspec.Struct, frozen=True):
    """The likeliest entity of a name, with P(e|m)."""

    id: str
    title: str
    probability: float


class NameMoved(msgspec.Struct, frozen=True):
    """A name that both have and that means something else: by which share, and what it means above all."""

    name: str
    moved: float
    before: Means
    after: Means
    support_before: int
    support: int


class NameFound(msgspec.Struct, frozen=True):
    """A name that only one of the two has, and the count behind it there."""

    name: str
    means: Means
    support: int


class Diff(msgspec.Struct):
    """What changed from `before` to `after`. Of each kind the number, and the changes themselves, the largest first.

    `counts` are of entities (`before`, `after`, `appeared`, `gone`, `renamed`, `changed`, `unchanged`) and of names
    (`names_before`, `names_after`, `names_appeared`, `names_gone`, `names_moved`). Names are compared up to case and
    punctuation.
    """

    before: str
    after: str
    counts: dict[str, int]
    appeared: list[Named]
    gone: list[Named]
    renamed: list[Renamed]
    changed: list[Changed]
    names_moved: list[NameMoved]
    names_appeared: list[NameFound]
    names_gone: list[NameFound]


def diff(
    before: KnowledgeBase, after: KnowledgeBase, *, limit: int | None = None, progress: Progress = ignore_progress
) -> Diff:
    """Compare two knowledge bases or snapshots; with a `limit` so many changes of each kind are listed."""
    with closing(_Matched(before, after)) as matched:
        found = _Found(limit)
        counts = {"before": len(before), "after": len(after)}
        _compare_entities(matched, found, progress)
        names = _compare_names(matched, found, progress)
    kinds = ("appeared", "gone", "renamed", "changed", "unchanged")
    counts |= {kind: found.counts.get(kind, 0) for kind in kinds} | names
    lists: dict[str, Any] = {kind: found.of(kind) for kind in _Found.LISTED}
    return Diff(_label(before, after), _label(after, before), counts, **lists)


def similarity(before: str, after: str) -> tuple[float, int, int]:
    """How alike two texts are, from 0 to 1, and how many words each has: the share of words both have in one order.

    Where words are written without spaces, their characters count.
    """
    from rapidfuzz.distance import Indel

    one, two = _words(before), _words(after)
    return round(Indel.normalized_similarity(one, two), 4), len(one), len(two)


def _words(text: str) -> list[str]:
    begins = text[:_LOOKED_AT]
    if not begins.isascii() and any(map(is_spaceless, begins)):
        return [character for character in text if not character.isspace()]
    return text.split()


class _Largest(Generic[Change]):
    """The largest of many changes: as many as wanted, or all."""

    def __init__(self, limit: int | None) -> None:
        self._limit, self._heap, self._number = limit, list[tuple[float, int, Change]](), 0

    def add(self, size: float, change: Change) -> None:
        """Of changes of one size the first stay."""
        self._number -= 1
        heapq.heappush(self._heap, (size, self._number, change))
        if self._limit is not None and len(self._heap) > self._limit:
            heapq.heappop(self._heap)

    def __iter__(self) -> Iterator[Change]:
        return (change for _, _, change in sorted(self._heap, key=lambda one: one[:2], reverse=True))


class _Found:
    """What was found of each kind: how many there are, and the largest."""

    LISTED = ("appeared", "gone", "renamed", "changed", "names_moved", "names_appeared", "names_gone")

    def __init__(self, limit: int | None) -> None:
        self.counts: dict[str, int] = {}
        self._largest: dict[str, _Largest[Any]] = {kind: _Largest(limit) for kind in self.LISTED}

    def add(self, kind: str, size: float = 0.0, change: object = None) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if change is not None:
            self._largest[kind].add(size, change)

    def of(self, kind: str) -> list[Any]:
        return list(self._largest[kind])


class _Side:
    """One of the two: its store, and what tells its entities from others."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb, self.store = kb, Store(kb.folder)
        query = "SELECT 1 FROM identifiers WHERE scheme = ? LIMIT 1"
        self.has_pages = self.store.connection.execute(query, (_PAGE,)).fetchone() is not None
        self._pages: dict[int, str | None] = {}

    def page(self, key: int) -> str | None:
        """The number of an entity's page."""
        if key not in self._pages:
            if len(self._pages) >= _KEPT:
                self._pages.clear()
            query = "SELECT value FROM identifiers WHERE entity = ? AND scheme = ?"
            row = self.store.connection.execute(query, (key, _PAGE)).fetchone()
            self._pages[key] = str(row[0]) if row else None
        return self._pages[key]

    def with_page(self, page: str) -> int | None:
        """The key of the entity with this page."""
        query = "SELECT min(entity) FROM identifiers WHERE value = ? AND scheme = ?"
        return self.store.connection.execute(query, (page, _PAGE)).fetchone()[0]  # type: ignore[no-any-return]

    def record(self, key: int) -> str:
        """What is stored of an entity, not looked into."""
        row = self.store.connection.execute("SELECT record FROM entities WHERE key = ?", (key,)).fetchone()
        return str(row[0])

    def named(self, key: int, id: str, title: str) -> Named:
        return Named(id, title, self.page(key) if self.has_pages else None)

    def means(self, entry: AliasEntry, total: int) -> Means:
        id, title = self.kb.head(entry.entity)
        return Means(id, title, round(prior(entry.support, total), 4))


class _Matched:
    """Two knowledge bases, and which entities of them are one."""

    def __init__(self, before: KnowledgeBase, after: KnowledgeBase) -> None:
        self.before, self.after = _Side(before), _Side(after)
        self._by_page = self.before.has_pages and self.after.has_pages
        texts, others = self.before.store.texts, self.after.store.texts
        same = texts is not None and others is not None and texts.path.resolve() == others.path.resolve()
        self.share_texts = same and before.date is None and after.date is None
        self._keys: dict[int, int | None] = {}

    def close(self) -> None:
        self.before.store.close()
        self.after.store.close()

    def key_after(self, key: int) -> int | None:
        """The key that an entity of the first has in the second, cached: names ask for the same ones again."""
        if key not in self._keys:
            if len(self._keys) >= _KEPT:
                self._keys.clear()
            self._keys[key] = self.other(key, self.before, self.after)
        return self._keys[key]

    def other(self, key: int, here: _Side, there: _Side) -> int | None:
        """The key in the other knowledge base of an entity of this one."""
        page = here.page(key) if self._by_page else None
        found = there.with_page(page) if page is not None else None
        if found is None:
            head = here.store.head(key)
            found = there.store.key(head[0]) if head else None
            if found is not None and page is not None and there.page(found) is not None:
                return None  # another page that has the same title
        return found if found is not None and there.kb.entity_is_there(found) else None


def _compare_entities(matched: _Matched, found: _Found, progress: Progress) -> None:
    before, after = matched.before, matched.after
    for count, key in enumerate(before.kb.all_keys()):
        if count % _EVERY == 0:
            progress("comparing entities", count, before.kb.last_key)
        there = matched.other(key, before, after)
        if there is None:
            found.add("gone", _weight(before, key), before.named(key, *before.kb.head(key)))
        else:
            _compare(matched, key, there, found)
    for count, key in enumerate(after.kb.all_keys()):
        if count % _EVERY == 0:
            progress("looking for new entities", count, after.kb.last_key)
        if matched.other(key, after, before) is None:
            found.add("appeared", _weight(after, key), after.named(key, *after.kb.head(key)))


def _weight(side: _Side, key: int) -> float:
    """How much is made of an entity: the count behind its title."""
    meaning = side.kb.meaning(side.kb.head(key)[1])
    return float(sum(entry.support for entry in meaning.entries if entry.entity == key))


def _compare(matched: _Matched, key: int, there: int, found: _Found) -> None:
    before, after = matched.before, matched.after
    (_, title_before), (id, title) = before.kb.head(key), after.kb.head(there)
    if title_before != title:
        found.add("renamed", _weight(after, there), Renamed(id, title, title_before))
    same = matched.share_texts and before.record(key) == after.record(there)
    texts = ("", "") if same else (_text(before, key), _text(after, there))
    if texts[0] != texts[1]:
        alike, words_before, words = similarity(*texts)
        found.add(
            "changed", (1 - alike) * log1p(max(words_before, words)), Changed(id, title, alike, words_before, words)
        )
    elif title_before == title:
        found.add("unchanged")


def _text(side: _Side, key: int) -> str:
    entity = side.kb.entity(key)
    return entity.description if entity else ""


def _compare_names(matched: _Matched, found: _Found, progress: Progress) -> dict[str, int]:
    before, after = matched.before, matched.after
    total = len(before.kb.alias_index)
    counts = {"names_before": 0, "names_after": 0}
    for count, key in enumerate(_keys(before.kb)):
        if count % _EVERY == 0:
            progress("comparing names", count, total)
        own = before.kb.meaning_of_key(key).entries
        if not own:
            continue
        counts["names_before"] += 1
        others = after.kb.meaning_of_key(key).entries
        if others:
            _compare_name(matched, key, own, others, found)
        else:
            _add_name(before, "names_gone", key, own, found)
    for key in _keys(after.kb):
        others = after.kb.meaning_of_key(key).entries
        if others:
            counts["names_after"] += 1
            if not before.kb.meaning_of_key(key).entries:
                _add_name(after, "names_appeared", key, others, found)
    return counts | {kind: found.counts.get(kind, 0) for kind in ("names_appeared", "names_gone", "names_moved")}


def _keys(kb: KnowledgeBase) -> Iterator[str]:
    """The keys of all names, those of edits included."""
    yield from kb.alias_index.keys()
    yield from (key for key in kb.fresh_keys() if key not in kb.alias_index)


def _add_name(side: _Side, kind: str, key: str, entries: tuple[AliasEntry, ...], found: _Found) -> None:
    total = sum(entry.support for entry in entries)
    found.add(kind, float(total), NameFound(_written(side, key), side.means(entries[0], total), total))


def _compare_name(
    matched: _Matched, key: str, own: tuple[AliasEntry, ...], others: tuple[AliasEntry, ...], found: _Found
) -> None:
    total, total_after = (sum(entry.support for entry in entries) for entries in (own, others))
    shares = {entry.entity: prior(entry.support, total_after) for entry in others}
    kept = sum(
        min(prior(entry.support, total), shares.get(there, 0.0))
        for entry in own
        if (there := matched.key_after(entry.entity)) is not None
    )
    moved = round(1 - kept, 4)
    if moved >= MOVED:
        after = matched.after
        means = matched.before.means(own[0], total), after.means(others[0], total_after)
        size = moved * log1p(min(total, total_after))
        found.add("names_moved", size, NameMoved(_written(after, key), moved, *means, total, total_after))


def _written(side: _Side, key: str) -> str:
    """How the name is most often written."""
    forms = side.kb.names.group(key)
    return max(forms, key=lambda form: sum(form.postings[1::3]) + form.unlinked).text if forms else key


def _label(kb: KnowledgeBase, other: KnowledgeBase) -> str:
    """A snapshot by its date, among those of one knowledge base; any other by its folder."""
    home = home_of(kb.folder)
    date = kb.snapshot or kb.date
    if date is None:
        return str(home)
    return short(date) if home == home_of(other.folder) else f"{home} as of {short(date)}"
