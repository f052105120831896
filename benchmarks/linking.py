"""Dictionary linking, JSONL to JSONL, in this process: prints megabytes of text a second as JSON.

python benchmarks/linking.py KB TEXTS.jsonl BYTES [--candidates]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import entlink
from entlink.formats.documents import encode_document, read_documents


def link_file(kb: Path, texts: Path, *, candidates: bool) -> tuple[float, int]:
    """Seconds and links for a whole file, reading and writing included."""
    linker = entlink.load(kb)
    links = 0
    started = time.perf_counter()
    with Path(os.devnull).open("wb") as out:
        for document in linker.link_all(read_documents(texts)):
            out.write(encode_document(document, candidates=candidates) + b"\n")
            links += len(document.links)
    return time.perf_counter() - started, links


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kb", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("bytes", type=int)
    parser.add_argument("--candidates", action="store_true")
    arguments = parser.parse_args()
    seconds, links = link_file(arguments.kb, arguments.texts, candidates=arguments.candidates)
    print(json.dumps({"mb_s": arguments.bytes / 1e6 / seconds, "links": links}))


if __name__ == "__main__":
    main()
