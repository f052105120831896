"""Snapshots: the disk that ten take beside one alone, and how fast texts are linked as of a date beside without one.

The history is any with revisions over the dates, such as `make_history.py` of the shared tools writes. Times are of
the processor, the best of several rounds in turn. `plain` has the same entities and counts, and its texts in its own
store.

python benchmarks/snapshots.py HISTORY.xml [--dates 2013-01-01/2022-01-01/yearly] [--texts 400] [--indexes]
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import entlink
import workspace
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.snapshots.build import build_snapshots
from entlink.sources import snapshot_dates

DATES, TEXTS, ROUNDS = "2013-01-01/2022-01-01/yearly", 400, 5
CONFIGS = ("everyday", "lexical")
FOLDER = workspace.FOLDER / "snapshots"


def measure(history: Path, dates: str = DATES, texts: int = TEXTS, *, indexes: bool = False) -> dict[str, float]:
    """Print all of it, and return the figures."""
    newest = snapshot_dates(dates)[-1]
    ten, one = _built(history, "ten.kb", dates), _built(history, "one.kb", newest)
    found = _disk(ten, one, "as built")
    if indexes:
        for kb in (ten, one):
            _index_all(kb)
        found |= {f"indexed_{name}": value for name, value in _disk(ten, one, "with words and company").items()}
    plain = FOLDER / "plain.kb"
    KnowledgeBase.merge([ten], plain, replace=True)
    asked = list(islice(_texts(ten), texts))
    for config in CONFIGS:
        found |= _speed(ten, plain, newest, asked, config)
    return found


def _built(history: Path, name: str, dates: str) -> Path:
    target = FOLDER / name
    shutil.rmtree(target, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    made = build_snapshots(history, target, dates).made
    print(f"  {name:8} {len(made):3} snapshots built in {time.monotonic() - started:6.1f} s")
    return target


def _index_all(kb: Path) -> None:
    with KnowledgeBase.open(kb) as opened:
        dates = [one.date for one in opened.snapshots()]
        opened.index(words=True, cooccurrence=True)
        for date in dates:
            with opened.as_of(date) as then:
                then.index(words=True, cooccurrence=True)


def _disk(ten: Path, one: Path, what: str) -> dict[str, float]:
    many, single = _megabytes(ten), _megabytes(one)
    ratio = many / single
    print(f"  disk {what:24} {many:7.1f} MB    one alone {single:7.1f} MB    {ratio:.2f} ×      target <= 3")
    return {"ten_mb": many, "one_mb": single, "disk_ratio": ratio}


def _megabytes(folder: Path) -> float:
    """What is on the disk, each file once: the newest snapshot and the knowledge base itself share some."""
    status = (path.stat() for path in folder.rglob("*") if path.is_file())
    return sum({one.st_ino: one.st_size for one in status}.values()) / 1e6


def _texts(kb: Path) -> Iterator[str]:
    """The first paragraph of each entity's description."""
    with KnowledgeBase.open(kb) as opened:
        yield from (text for entity in opened if (text := entity.description.split("\n\n")[0]))


def _speed(ten: Path, plain: Path, newest: str, texts: list[str], config: str) -> dict[str, float]:
    """Seconds of the processor for all texts: without a date, as of the newest snapshot, and with plain texts."""
    best = {"now": float("inf"), "as of": float("inf"), "plain": float("inf")}
    for _ in range(ROUNDS):
        for name in best:
            kb, date = (plain, None) if name == "plain" else (ten, newest if name == "as of" else None)
            linker = entlink.load(kb, as_of=date, config=config)
            started = time.process_time()
            list(linker.link_all(texts))
            best[name] = min(best[name], time.process_time() - started)
            linker.kb.close()
    ratio, against_plain = best["as of"] / best["now"], best["as of"] / best["plain"]
    print(
        f"  {config:9} {best['now'] / len(texts) * 1e3:6.2f} ms a text; as of a date {ratio:.2f} × of now, "
        f"{against_plain:.2f} × of plain      target < 1.3"
    )
    return {f"{config}_ratio": ratio, f"{config}_plain_ratio": against_plain}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", type=Path)
    parser.add_argument("--dates", default=DATES)
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument(
        "--indexes", action="store_true", help="make the indexes over words and company everywhere, too"
    )
    given = parser.parse_args()
    measure(given.history, given.dates, given.texts, indexes=given.indexes)
