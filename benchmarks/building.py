"""Build a knowledge base: prints seconds, the peak memory of all processes together, and its size as JSON.

python benchmarks/building.py OUT.kb SOURCE…
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import entlink
from processes import PeakOfTree


def main() -> None:
    out, *sources = map(Path, sys.argv[1:])
    started = time.perf_counter()
    with PeakOfTree() as memory:
        manifest = entlink.build(sources, out, replace=True)
    seconds = time.perf_counter() - started
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak_mb": memory.peak_mb,
                "disk_mb": size / 1e6,
                "entities": manifest.entities,
            }
        )
    )


if __name__ == "__main__":
    main()
