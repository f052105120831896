"""The last turn of conversations, linked with all turns before it as history: prints turns a second as JSON.

python benchmarks/turns_ours.py KB TALKS.jsonl CONFIG [--warm 10] [--talks N]

CONFIG is the name of a linker in the box, or the path of a configuration. The turns before the last are linked too,
but not timed; the first conversations only warm up.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import msgspec

import entlink
from entlink.documents import Document
from entlink.linking.linker import Linker


def last_turn(linker: Linker, talk: Document) -> tuple[float, float, int]:
    """Seconds by the clock and of the processor for the last turn, and how many links it got."""
    conversation = linker.conversation(talk.id)
    *history, last = talk.turns
    for turn in history:
        conversation.add(turn.text, turn.speaker)
    started, worked = time.perf_counter(), time.process_time()
    linked = conversation.add(last.text, last.speaker)
    return time.perf_counter() - started, time.process_time() - worked, len(linked.links)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb")
    parser.add_argument("conversations", type=Path)
    parser.add_argument("config")
    parser.add_argument("--warm", type=int, default=10)
    parser.add_argument("--talks", type=int, help="how many to measure (default: all)")
    arguments = parser.parse_args()
    talks = [msgspec.json.decode(line, type=Document) for line in arguments.conversations.read_bytes().splitlines()]
    linker = entlink.load(arguments.kb, config=arguments.config)
    for talk in talks[: arguments.warm]:
        last_turn(linker, talk)
    found = [last_turn(linker, talk) for talk in talks[arguments.warm :][: arguments.talks]]
    seconds, worked, links = (sum(column) for column in zip(*found, strict=True))
    told = {"clock": len(found) / seconds, "processor": len(found) / worked, "links": links / len(found)}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
