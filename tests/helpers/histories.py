"""Histories of wikis for tests: read at some dates, without an engine."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from entlink.sources import HistoryOptions, Ledger, Meanings, Page, Redirect, open_source, snapshot_dates
from entlink.sources.mediawiki.history import DatedItem

GOLDEN = Path(__file__).parents[1] / "golden" / "history"
SHARED = Path(__file__).parents[3] / "shared"
MAKE_HISTORY = SHARED / "tools" / "make_history.py"
ARTICLES = SHARED / "data" / "schools_wikipedia" / "articles.jsonl.xz"


def read_dated(
    path: Path, dates: str | Iterable[str], *, stable_interval: int = 2_592_000, **options: Any
) -> tuple[list[DatedItem], Ledger]:
    """All that a history says at these dates, and what was left out."""
    history = HistoryOptions(snapshot_dates(dates if isinstance(dates, str) else list(dates)), stable_interval)
    ledger = Ledger(options.get("on_error", "stop"))
    source = open_source(path, **options).as_history(history)
    items = [dated for part in source.parts() for dated in part.dated_items(ledger)]
    for reason, count in source.left_out.items():
        ledger.leave_out(reason, count)
    ledger.skipped += source.skipped
    ledger.problems += source.problems
    return items, ledger


def at(items: Iterable[DatedItem], snapshot: int) -> list[Page | Redirect | Meanings]:
    return [dated.item for dated in items if snapshot in dated.snapshots]


def revisions(items: Iterable[DatedItem], snapshot: int) -> dict[str, int]:
    """The revision that was chosen, by title."""
    pages = (item for item in at(items, snapshot) if isinstance(item, Page))
    return {page.entity.title: int(page.entity.external["revision"]) for page in pages}


def redirects(items: Iterable[DatedItem], snapshot: int) -> dict[str, str]:
    return {item.title: item.target for item in at(items, snapshot) if isinstance(item, Redirect)}


def chosen_raw(path: Path, dates: str) -> dict[tuple[int, int], tuple[str, str, str | None]]:
    """The chosen revision, its text and where it redirects to, by page and snapshot, of pages of every namespace."""
    source = open_source(path).as_history(HistoryOptions(snapshot_dates(dates)))
    raws = [raw for part in source.parts() for raw in part.raw.pages(None, part.site)]
    return {(raw.id, at): (raw.revision, raw.text, raw.redirect) for raw in raws for at in raw.snapshots}


def plainly_chosen(
    data: bytes, dates: str, stable_interval: int = 2_592_000
) -> dict[tuple[int, int], tuple[str, str, None]]:
    """The same by the standard library's parser and the rule as it is written; of redirects nothing."""
    found = {}
    for _, page in ElementTree.iterparse(io.BytesIO(data)):
        if name_of(page) != "page":
            continue
        number = int(next(child.text for child in page if name_of(child) == "id"))
        rows = [{name_of(field): field for field in child} for child in page if name_of(child) == "revision"]
        rows.sort(key=lambda row: (row["timestamp"].text, int(row["id"].text)))
        times = [datetime.fromisoformat(row["timestamp"].text).timestamp() for row in rows]
        texts = [None if "deleted" in row["text"].attrib else row["text"].text or "" for row in rows]
        for snapshot, date in enumerate(snapshot_dates(dates)):
            end = datetime.fromisoformat(date).timestamp()
            best = stable_place(times, [text is not None for text in texts], end - stable_interval, end)
            if best is not None:
                found[number, snapshot] = (rows[best]["id"].text, texts[best], None)
        page.clear()
    return found


def stable_place(times: Sequence[float], has_text: Sequence[bool], start: float, end: float) -> int | None:
    """Which of the versions, in order of time, stood longest in `[start, end)`: the last of those that did."""
    best, longest = None, -1.0
    for place, begins in enumerate(times):
        ends = times[place + 1] if place + 1 < len(times) else math.inf
        if begins < end and ends > start and has_text[place]:
            stood = min(ends, end) - max(begins, start)
            if stood >= longest:
                best, longest = place, stood
    return best


def name_of(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
