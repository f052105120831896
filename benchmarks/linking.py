"""`entlink link`, JSONL to JSONL, in this process: prints megabytes of text a second and its memory as JSON.

python benchmarks/linking.py KB TEXTS.jsonl BYTES [--candidates]
"""

from __future__ import annotations

import argparse
import json
import os
import time

from entlink_cli import main as entlink
from processes import own_peak_mb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kb")
    parser.add_argument("texts")
    parser.add_argument("bytes", type=int)
    parser.add_argument("--candidates", action="store_true")
    arguments = parser.parse_args()
    words = ["link", arguments.kb, arguments.texts, "-o", os.devnull]
    started = time.perf_counter()
    code = entlink([*words, "--candidates"] if arguments.candidates else words)
    seconds = time.perf_counter() - started
    if code:
        raise SystemExit(code)
    print(json.dumps({"mb_s": arguments.bytes / 1e6 / seconds, "peak_mb": own_peak_mb()}))


if __name__ == "__main__":
    main()
