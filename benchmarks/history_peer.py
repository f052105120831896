"""The same work with mwxml and mwparserfromhell: stable versions, their text and links, as JSON lines to a file.

python benchmarks/history_peer.py HISTORY DATES    in an environment that has both; nothing of entlink is imported
"""

from __future__ import annotations

import bz2
import json
import math
import sys
import tempfile
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

mwparserfromhell, mwxml = import_module("mwparserfromhell"), import_module("mwxml")
STABLE_INTERVAL = 2_592_000


def yearly(series: str) -> list[float]:
    start, end, _ = series.split("/")
    return [datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in range(int(start[:4]), int(end[:4]) + 1)]


def chosen(page: Any, dates: list[float]) -> dict[int, tuple[Any, list[int]]]:
    """The stable revisions of a page with their snapshots."""
    rows = sorted(page, key=lambda row: (row.timestamp, row.id))
    times = [float(row.timestamp.unix()) for row in rows] + [math.inf]
    found: dict[int, tuple[Any, list[int]]] = {}
    for snapshot, end in enumerate(dates):
        best, longest = None, -1.0
        for place, row in enumerate(rows):
            begins, ends = times[place], times[place + 1]
            if begins < end and ends > end - STABLE_INTERVAL and row.text is not None:
                stood = min(ends, end) - max(begins, end - STABLE_INTERVAL)
                if stood >= longest:
                    best, longest = row, stood
        if best is not None:
            found.setdefault(best.id, (best, []))[1].append(snapshot)
    return found


def read(page: Any, dates: list[float]) -> list[dict[str, Any]]:
    rows = []
    for revision, snapshots in chosen(page, dates).values():
        code = mwparserfromhell.parse(revision.text)
        links = [(str(link.title), str(link.text or link.title)) for link in code.filter_wikilinks()]
        head = {"page": page.id, "title": page.title, "revision": revision.id, "snapshots": snapshots}
        rows.append({**head, "text": code.strip_code(), "links": links})
    return rows


def main() -> None:
    path, dates = sys.argv[1], yearly(sys.argv[2])
    opener = bz2.open if path.endswith(".bz2") else open
    with opener(path, "rt", encoding="utf8") as file, tempfile.TemporaryFile("w", encoding="utf8") as out:
        for page in mwxml.Dump.from_file(file):
            if page.namespace == 0:
                out.writelines(json.dumps(row) + "\n" for row in read(page, dates))


if __name__ == "__main__":
    main()
