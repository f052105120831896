"""The floor for linking: daachorse finding the same names in the same text, and nothing else.

python benchmarks/scanning.py KB TEXTS.jsonl BYTES
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import daachorse
import msgspec

from entlink.kb.knowledge_base import KnowledgeBase


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kb", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("bytes", type=int)
    arguments = parser.parse_args()
    with KnowledgeBase.open(arguments.kb) as kb:
        automaton = daachorse.CharwiseDoubleArrayAhoCorasick(
            list(kb.alias_index.keys()), daachorse.MATCH_KIND_LEFTMOST_LONGEST
        )
    texts = [msgspec.json.decode(line)["text"] for line in arguments.texts.open("rb")]
    found = 0
    started = time.perf_counter()
    for text in texts:
        found += len(automaton.find(text.lower()))
    seconds = time.perf_counter() - started
    print(json.dumps({"mb_s": arguments.bytes / 1e6 / seconds, "matches": found}))


if __name__ == "__main__":
    main()
