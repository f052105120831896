"""wikipedia2vec, the peer that reads dumps: in an environment of its own, made on first use.

python benchmarks/peer.py DUMP FOLDER    run its three steps and write what it counted to FOLDER/mentions.jsonl
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import workspace
from processes import Cost, watch

VERSION = "2.0.0"
MENTIONS = "mentions.jsonl"
LONGEST = (
    "128"  # characters of a mention: those of Schools Wikipedia have 118 at most, its default drops them over 20
)
_EXPORT = workspace.HERE / "peer_export.py"


class Peer(NamedTuple):
    """An installed wikipedia2vec: the folder of its programs."""

    programs: Path

    def steps(self, dump: Path, folder: Path, processes: int = 2) -> dict[str, Cost]:
        """What each of its three steps takes on a dump, with thresholds that keep everything."""
        pages, words, mentions = folder / "dump.db", folder / "dictionary", folder / "mentions"
        folder.mkdir(parents=True, exist_ok=True)
        for path in (pages, words, mentions):
            path.unlink(missing_ok=True)
        arguments: dict[str, list[str | Path]] = {
            "build-dump-db": [dump, pages],
            "build-dictionary": [pages, words, "--min-word-count", "1", "--min-entity-count", "1"],
            "build-mention-db": [pages, words, mentions, "--min-link-prob", "0", "--min-prior-prob", "0"],
        }
        arguments["build-dictionary"] += ["--min-paragraph-len", "0", "--disambi"]
        arguments["build-mention-db"] += ["--max-mention-len", LONGEST]
        program = self.programs / "wikipedia2vec"
        return {
            step: watch([program, step, *words, "--pool-size", str(processes)], folder / f"{step}.log")
            for step, words in arguments.items()
        }

    def export(self, folder: Path) -> Path:
        """The links it counted, as JSON lines; see `peer_export.py` for their fields."""
        out = folder / MENTIONS
        files = [folder / name for name in ("dump.db", "dictionary", "mentions")]
        watch([self.programs / "python", _EXPORT, *files, out], folder / "export.log")
        return out


def installed() -> Peer | None:
    """The peer; None where it cannot be installed, for instance without a network."""
    folder = workspace.FOLDER / "peer-venv"
    peer = Peer(folder / "bin")
    if (peer.programs / "wikipedia2vec").exists():
        return peer
    workspace.FOLDER.mkdir(parents=True, exist_ok=True)
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(peer.programs / "python"), "-m", "pip", "install", "--quiet", f"wikipedia2vec=={VERSION}"],
    ):
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            return None
    return peer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    peer = installed()
    if peer is None:
        raise SystemExit(f"wikipedia2vec {VERSION} cannot be installed here: pip needs a network and Python 3.11")
    for step, cost in peer.steps(arguments.dump, arguments.folder).items():
        print(f"{step:20} {cost.seconds:8.1f} seconds")
    print(peer.export(arguments.folder))


if __name__ == "__main__":
    main()
