"""Add an entity and link it at once: prints milliseconds beyond the link call itself as JSON.

python benchmarks/adding.py KB
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import entlink
from entlink.kb.store.edits import add, remove

ROUNDS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kb", type=Path)
    kb: Path = parser.parse_args().kb
    linker = entlink.load(kb)
    sentence = "The Zyxwold {} Foundation opened in Paris and New York City."
    linker.link(sentence.format("Nothing"))
    beyond, ids = [], []
    for number in range(ROUNDS):
        text = sentence.format(f"Benchmark{number}")
        started = time.perf_counter()
        linker.link(text)
        link_seconds = time.perf_counter() - started
        ids.append(f"benchmark-{number}")
        started = time.perf_counter()
        add(kb, [entlink.Entity(ids[-1], f"Zyxwold Benchmark{number} Foundation")])
        linked = linker.link(text)
        beyond.append(time.perf_counter() - started - link_seconds)
        if ids[-1] not in {link.entity for link in linked.links}:
            raise SystemExit(f"the entity {ids[-1]} was added but not linked")
    remove(kb, ids)
    print(json.dumps({"ms": 1000 * statistics.median(beyond), "worst_ms": 1000 * max(beyond)}))


if __name__ == "__main__":
    main()
