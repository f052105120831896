"""Building from a wiki's dump: beside bzip2 alone, beside wikipedia2vec, and from a dump four times as long.

python benchmarks/dumps.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import dump_files
import peer
import workspace
from processes import Cost, run, watch

PROCESSES = 2
LONGER = 4
ROUNDS = 2
_LENGTH = workspace.FOLDER / "dump-length.txt"
KB, PEER = workspace.FOLDER / "dump.kb", workspace.FOLDER / "peer"
_DECOMPRESS = """
import bz2, sys
with bz2.open(sys.argv[1]) as file:
    print(sum(map(len, iter(lambda: file.read(1 << 20), b""))))
"""


def measure() -> dict[str, object]:
    """Print all of it, and return the figures."""
    dump, name = dump_files.dump()
    rival = peer.installed()
    floors, builds, peers = [], [], []
    # In turns, so that all meet the machine in the same state; the quickest of each counts.
    for _ in range(ROUNDS):
        floors.append(watch([sys.executable, "-c", _DECOMPRESS, dump], _LENGTH))
        builds.append(build(dump, KB))
        peers += [rival.steps(dump, PEER, PROCESSES)] if rival else []
    floor, built = min(floors), min(builds)
    print(f"  {name}, {int(_LENGTH.read_text()) / 1e6:.0f} MB of XML; {PROCESSES} processes; text counts included")
    _say("bzip2 decompressed, alone", floor.seconds, "s", _processor(floor))
    _say("entlink kb build", built.seconds, "s", _processor(built))
    _say("ratio of the two", built.seconds / floor.seconds, "x", target="<= 4")
    if rival:
        rival.export(PEER)  # for reproductions/wikipedia2vec_priors.py
    return {
        "dump": name,
        "bzip2": floor._asdict(),
        "build": built._asdict(),
        "peer": against_peer(peers, built),
        "memory": memory(built),
        "scanner": [scanner(path, name) for path, name in ((dump, name), (dump_files.ENWIKI, "enwiki sample"))],
    }


def build(dump: Path, kb: Path) -> Cost:
    """What the installed command takes to build a knowledge base from a dump."""
    entlink = Path(sys.executable).with_name("entlink")
    command: list[str | Path] = [entlink, "kb", "build", dump, "-o", kb]
    flags = ["--replace", "--quiet", "--processes", str(PROCESSES)]
    return watch([*command, *flags], kb.with_suffix(".log"))


def memory(built: Cost) -> dict[str, float]:
    """The peak over all processes, and what it is when the dump is longer."""
    _say("peak memory, all processes", built.peak_mb, "MB", _shared_once(built), "< 700")
    dump, _ = dump_files.dump(LONGER)
    longer = build(dump, KB.with_name("dump-longer.kb"))
    ratio = longer.peak_mb / built.peak_mb
    _say(
        f"the same, dump {LONGER} x as long",
        longer.peak_mb,
        "MB",
        f"{ratio:.2f} x; {_shared_once(longer)}",
        "<= 1.15",
    )
    seconds = longer.seconds / built.seconds
    _say(f"time, dump {LONGER} x as long", longer.seconds, "s", f"{seconds:.2f} x", f"about {LONGER}")
    return {"ratio": ratio, **longer._asdict()}


def _processor(cost: Cost) -> str:
    return f"{cost.processor_seconds:.1f} s of processor time"


def _shared_once(cost: Cost) -> str:
    return f"{cost.proportional_mb:.0f} MB shared pages counted once"


def against_peer(rounds: Sequence[Mapping[str, Cost]], built: Cost) -> dict[str, float]:
    """The three steps of wikipedia2vec on the same dump; nothing where it cannot be installed."""
    if not rounds:
        print(f"  wikipedia2vec {peer.VERSION} cannot be installed here: not compared")
        return {}
    steps = {step: min(each[step] for each in rounds) for step in rounds[0]}
    for step, cost in steps.items():
        _say(f"wikipedia2vec {step.removeprefix('build-')}", cost.seconds, "s", _processor(cost))
    ratio = sum(cost.seconds for cost in steps.values()) / built.seconds
    by_processor = sum(cost.processor_seconds for cost in steps.values()) / built.processor_seconds
    _say("ratio of its three steps", ratio, "x", f"{by_processor:.1f} x of processor time", ">= 2.5")
    peak = max(cost.peak_mb for each in rounds for cost in each.values())
    _say("its peak memory", peak, "MB", f"entlink has {built.peak_mb / peak:.2f} x")
    return {"ratio": ratio, "processor_ratio": by_processor, "peak_mb": peak}


def scanner(dump: Path, name: str) -> dict[str, float]:
    """Reading the wikitext of a dump on one core, beside finding plain links in it."""
    if not dump.exists():
        print(f"  no {name} here: not scanned")
        return {}
    printed: dict[str, float] = json.loads(run([str(workspace.HERE / "scanner.py"), str(dump)], core=0).output)
    warm, cold = printed["links"] / printed["floor"], printed["links_first"] / printed["floor"]
    _say(
        f"links only, {name}",
        printed["links"],
        "s",
        f"{warm:.2f} x finding plain links, {cold:.2f} x at first",
        "<= 2",
    )
    ratio, speed = printed["reading"] / printed["floor"], printed["megabytes"] / printed["reading"]
    _say(f"wikitext, {name}", printed["reading"], "s", f"{ratio:.2f} x finding plain links, {speed:.0f} MB/s", "<= 2")
    return printed


def _say(what: str, figure: float, unit: str, beside: str = "", target: str = "") -> None:
    words = f"  {what:30} {figure:8.1f} {unit:5} {beside:52}" + (f" target {target}" if target else "")
    print(words.rstrip())


def main() -> None:
    workspace.FOLDER.mkdir(parents=True, exist_ok=True)
    results = measure()
    (workspace.FOLDER / "dumps.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
