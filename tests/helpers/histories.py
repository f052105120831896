"""Histories of wikis for tests: read at some dates, without an engine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
