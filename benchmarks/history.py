"""Reading a wiki's full history: beside mwxml with mwparserfromhell, beside expat alone, and one four times as long.

python benchmarks/history.py [--peer PYTHON]

PYTHON is that of an environment with mwxml and mwparserfromhell; without it, this one is asked for them. All read the
same file in one process; the memory is that of all processes of a build with two.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import workspace
from processes import Cost, run, watch

MAKE_HISTORY = workspace.ROOT.parent / "shared" / "tools" / "make_history.py"
ARTICLES = workspace.SHARED / "schools_wikipedia" / "articles.jsonl.xz"
DATES = "2013-01-01/2022-01-01/yearly"
PAGES, LONGER, ROUNDS, PROCESSES = 4_655, 4, 2, 2
_NEEDED = "mwxml>=0.3.8", "mwparserfromhell>=0.7"
_PEER, _OURS = workspace.HERE / "history_peer.py", workspace.HERE / "history_ours.py"
_FLOOR = """
import bz2, sys
from xml.parsers import expat
path, parser = sys.argv[1], expat.ParserCreate("utf-8")
parser.buffer_text, parser.buffer_size = True, 1 << 20
parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = lambda *given: None
with (bz2.open(path) if path.endswith(".bz2") else open(path, "rb")) as file:
    for chunk in iter(lambda: file.read(1 << 20), b""):
        parser.Parse(chunk, False)
parser.Parse(b"", True)
"""


def history(articles: int, suffix: str = ".xml", revisions: int = 12) -> Path:
    """A history of so many pages, about so many revisions each, made of the texts of Schools Wikipedia."""
    path = workspace.FOLDER / f"history-{articles}-{revisions}{suffix}"
    if not path.exists():
        unfinished = path.with_name(f"unfinished-{path.name}")
        numbers = ["--articles", str(articles), "--revisions", str(revisions)]
        run([str(MAKE_HISTORY), str(ARTICLES), str(unfinished), f"{path}.truth", *numbers])
        unfinished.rename(path)
    return path


def peer_python(given: str) -> str | None:
    """The Python that has what entlink is compared with; None where there is none, which is said."""
    asked = subprocess.run([given, "-c", "import mwxml, mwparserfromhell"], capture_output=True, check=False)
    if asked.returncode == 0:
        return given
    packages = " ".join(f"'{each}'" for each in _NEEDED)
    print(f"  mwxml is not there: not compared. python -m venv peer; peer/bin/pip install {packages}")
    print("  and then: benchmarks/history.py --peer peer/bin/python")
    return None


def measure(peer: str) -> dict[str, object]:
    """Print all of it, and return the figures."""
    if not (MAKE_HISTORY.exists() and ARTICLES.exists()):
        print(f"  {MAKE_HISTORY} or {ARTICLES} is not there: not measured")
        return {}
    rival = peer_python(peer)
    return {
        "bzip2": speed(history(PAGES, ".xml.bz2"), rival),
        "plain": speed(history(PAGES), rival),
        "memory": memory(),
    }


def speed(path: Path, rival: str | None) -> dict[str, float]:
    """The quickest of several rounds, in each of which all have their turn."""
    floors: list[Cost] = []
    ours: list[Cost] = []
    peers: list[Cost] = []
    for _ in range(ROUNDS):
        floors.append(_watch([sys.executable, "-c", _FLOOR, path]))
        ours.append(_watch([sys.executable, _OURS, path, DATES, "1"]))
        if rival is not None:
            peers.append(_watch([rival, _PEER, path, DATES]))
    floor, own = min(floors), min(ours)
    print(f"  {path.name}, {path.stat().st_size / 1e6:.0f} MB, {PAGES} pages, ten snapshots; one process")
    _say("unpacked and parsed, expat alone", floor, "")
    _say("entlink, started and read", own, f"{own.seconds / floor.seconds:.2f} x expat   target <= 3")
    figures = {"floor": floor.seconds, "ours": own.seconds, "of_floor": own.seconds / floor.seconds}
    if peers:
        peer = min(peers)
        _say("mwxml, mwparserfromhell", peer, f"{peer.seconds / own.seconds:.1f} x entlink   target >= 5")
        figures |= {"peer": peer.seconds, "of_peer": peer.seconds / own.seconds}
    return figures


def memory() -> dict[str, float]:
    """The peak of all processes; of a history four times as long by its pages, and by its revisions."""
    base = _peak(history(PAGES // LONGER))
    figures = {"base_mb": base}
    print(f"  peak memory, {PROCESSES} processes    {base:8.0f} MB")
    for what, path in (
        ("pages", history(PAGES)),
        ("revisions", history(PAGES // LONGER, revisions=12 * LONGER)),
    ):
        peak = _peak(path)
        figures[what] = peak / base
        print(f"  the same, {LONGER} x the {what:10} {peak:8.0f} MB     {peak / base:.2f} x   target <= 1.15")
    return figures


def _peak(path: Path) -> float:
    return _watch([sys.executable, _OURS, path, DATES, str(PROCESSES)]).peak_mb


def _watch(command: list[str | Path]) -> Cost:
    return watch(command, workspace.FOLDER / "history.log")


def _say(what: str, cost: Cost, beside: str) -> None:
    print(f"  {what:33} {cost.seconds:8.2f} s {cost.processor_seconds:8.2f} s of processor time   {beside}".rstrip())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default=sys.executable, help="a Python that has mwxml and mwparserfromhell")
    arguments = parser.parse_args()
    workspace.FOLDER.mkdir(parents=True, exist_ok=True)
    results = measure(arguments.peer)
    (workspace.FOLDER / "history.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
