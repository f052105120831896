"""Links in bulk: from the staged pages of a build, and from the knowledge bases of a merge, into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from entlink.engine.protocol import Engine, ParquetFiles
from entlink.io.record_files import read_batches
from entlink.kb.build.part_files import HYPERLINKS, StagedHyperlinks
from entlink.kb.store.hyperlinks import (
    Hyperlink,
    decode_hyperlinks,
    description_checksum,
    keeps_hyperlinks,
    put_hyperlinks,
)
from entlink.kb.store.store import Store
from entlink.kb.store.writing import transaction

_REMEMBERED = 100_000  # entities of which a merge keeps the keys at hand
_Place = tuple[int, int, int]  # part, record, key of the page's entity


def store_hyperlinks(engine: Engine, store: Store, parts: Sequence[Path], targets: Path, work: Path) -> None:
    """Put the staged links into the store, a transaction a part; those that lead nowhere are left out.

    `targets` names the entities that the links of each page lead to (see `entlink.kb.build.count_links`), so that
    they are those that were counted. To do it once more changes nothing.
    """
    with engine.sql(work) as session:
        session.view("targets", ParquetFiles([targets]))
        rows = session.rows("SELECT p, r, o, t, e FROM targets ORDER BY p, r")
        pages = groupby(rows, itemgetter(0, 1, 2))
        place, known = _next(pages)
        for number, part in enumerate(parts):
            with transaction(store) as database:
                for staged in _staged(part):
                    while place is not None and place[:2] < (number, staged.record):
                        place, known = _next(pages)
                    if place is not None and place[:2] == (number, staged.record):
                        links = [(start, end, known[name]) for start, end, name in staged.links if name in known]
                        put_hyperlinks(database, place[2], staged.description, links)
            engine.progress("storing links", number + 1, len(parts))


def _next(
    pages: Iterator[tuple[_Place, Iterator[tuple[int, int, int, str, int]]]],
) -> tuple[_Place | None, dict[str, int]]:
    """The next page, and the keys of what its links name."""
    place, rows = next(pages, (None, iter(())))
    return place, {target: key for *_, target, key in rows}


def _staged(part: Path) -> Iterator[StagedHyperlinks]:
    for batch in read_batches(part / HYPERLINKS, StagedHyperlinks):
        yield from batch


def merge_hyperlinks(merged: Store, stores: Sequence[Store], new_key: Callable[[int, int], int | None]) -> None:
    """Copy the links of knowledge bases whose entities are merged: those of descriptions that are still there.

    A text that several have keeps the links of the first. `new_key` tells where an entity of the store with a number
    went.
    """
    for number in reversed(range(len(stores))):
        store = stores[number]
        if keeps_hyperlinks(store.connection):
            for key, description, links in _moved(merged, store, lru_cache(_REMEMBERED)(partial(new_key, number))):
                put_hyperlinks(merged.connection, key, description, links)


def _moved(
    merged: Store, store: Store, new_key: Callable[[int], int | None]
) -> Iterator[tuple[int, int, list[Hyperlink]]]:
    """The links of a store with the keys of the merged one."""
    rows = store.connection.execute("SELECT entity, description, links FROM hyperlinks ORDER BY entity")
    for old, group in groupby(rows, itemgetter(0)):
        key = new_key(old)
        if key is None:
            continue
        there = {description_checksum(version.entity.description) for version in merged.stated_versions(key)}
        for _, description, blob in group:
            if description in there:
                moved = [(start, end, new_key(target)) for start, end, target in decode_hyperlinks(blob)]
                yield key, description, [(start, end, target) for start, end, target in moved if target is not None]
