"""Reading items of Wikidata: beside orjson, which parses the same lines, and from a dump ten times as long.

python benchmarks/wikidata.py
"""

from __future__ import annotations

import bz2
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

import workspace
from processes import Cost, watch

SAMPLES = workspace.SHARED / "wikidata"
FILES = ("entities", "sample_wikidata_items.json.bz2", "short_stream.json.bz2")
FOLDER = workspace.FOLDER / "wikidata"
PROCESSES, REPEATED, LONGER, ROUNDS = 2, 2, 10, 5
_ID = re.compile(rb'"id": ?"Q\d+"')


def measure() -> dict[str, object]:
    """Print all of it, and return the figures."""
    if not SAMPLES.exists():
        print(f"  no real items at {SAMPLES}: not measured")
        return {}
    FOLDER.mkdir(parents=True, exist_ok=True)
    dump, longer = _dump(REPEATED), _dump(REPEATED * LONGER)
    return {"parsing": parsing(dump), "memory": memory(dump, longer)}


def _lines() -> Iterator[bytes]:
    """The items of the samples, one a line."""
    for name in FILES:
        data = (SAMPLES / name).read_bytes()
        for line in (bz2.decompress(data) if name.endswith("bz2") else data).splitlines():
            if item := line.strip(b" ,[]"):
                yield item


def _dump(times: int) -> Path:
    """A dump that has all items so often, each time under other ids."""
    path = FOLDER / f"dump-{times}.json"
    if not path.exists():
        items = list(_lines())
        number = 0
        with path.open("wb") as file:
            file.write(b"[\n")
            for _ in range(times):
                for item in items:
                    number += 1
                    file.write(_ID.sub(f'"id": "Q{900_000_000 + number}"'.encode(), item, count=1) + b",\n")
            file.write(b"]\n")
    return path


def parsing(dump: Path) -> dict[str, float]:
    """Processor time on one core: orjson parses lines that are in memory; we read the file and make entities."""
    import orjson

    from entlink.sources import open_source

    lines = [line.strip(b", ") for line in dump.read_bytes().split(b"\n")[1:-2]]
    megabytes = dump.stat().st_size / 1e6
    packed = dump.with_suffix(".json.bz2")
    if not packed.exists():
        packed.write_bytes(bz2.compress(dump.read_bytes()))

    def ours(path: Path) -> Callable[[], None]:
        def run() -> None:
            for _ in open_source(path, language="zh").items():
                pass

        return run

    def parsed() -> None:
        for line in lines:
            orjson.loads(line)

    def unpacked() -> None:
        bz2.decompress(packed.read_bytes())

    steps = {"orjson": parsed, "ours": ours(dump), "bzip2": unpacked, "ours_bzip2": ours(packed)}
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(ROUNDS):  # in turns, so that all meet the machine in the same state
        for name, step in steps.items():
            started = process_time()
            step()
            best[name] = min(best[name], process_time() - started)
    print(f"  {len(lines):,} real items, {megabytes:.0f} MB; processor time of one core, the best of {ROUNDS}")
    _say("orjson.loads", megabytes / best["orjson"], "MB/s")
    _say(
        "entlink, to entities", megabytes / best["ours"], "MB/s", f"{best['orjson'] / best['ours']:.2f} x", ">= 0.5 x"
    )
    _say("bzip2 decompressed, alone", megabytes / best["bzip2"], "MB/s")
    _say("entlink, from bzip2", megabytes / best["ours_bzip2"], "MB/s")
    return {"megabytes": megabytes, "ratio": best["orjson"] / best["ours"], **best}


def memory(dump: Path, longer: Path) -> dict[str, float]:
    """A whole build, then one of a dump that is longer."""
    short, long = _build(dump), _build(longer)
    _say("kb build, peak memory", short.peak_mb, "MB", f"{short.processor_seconds:.1f} s of processor time")
    ratio = long.proportional_mb / short.proportional_mb
    beside = f"{ratio:.2f} x; {long.processor_seconds:.1f} s of processor time"
    _say(f"the same, dump {LONGER} x as long", long.peak_mb, "MB", beside, "<= 1.2 x")
    return {"ratio": ratio, "short_mb": short.peak_mb, "long_mb": long.peak_mb, "seconds": long.processor_seconds}


def _build(dump: Path) -> Cost:
    command: list[str | Path] = [sys.executable, "-m", "entlink", "kb", "build", dump, "-o", FOLDER / "wikidata.kb"]
    flags = ["--language", "zh", "--replace", "--quiet", "--processes", str(PROCESSES)]
    return watch([*command, *flags], FOLDER / "build.log")


def _say(what: str, figure: float, unit: str, beside: str = "", target: str = "") -> None:
    print((f"  {what:34} {figure:8.1f} {unit:5} {beside:36}" + (f" target {target}" if target else "")).rstrip())


def main() -> None:
    results = measure()
    workspace.FOLDER.mkdir(parents=True, exist_ok=True)
    (workspace.FOLDER / "wikidata.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
