"""Reading wikitext beside a floor: a pattern that finds plain links and nothing else. Prints seconds as JSON.

python benchmarks/scanner.py DUMP.xml.bz2
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dump_files import page_texts
from entlink.sources.dumps import read_site
from entlink.sources.wikitext import parse
from entlink.sources.wikitext.expansion import load_rules

LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]*))?\]\]")
ROUNDS = 3


def seconds(step: Callable[[str], object], texts: Sequence[str]) -> float:
    """How long a step takes over all the texts."""
    started = time.perf_counter()
    for text in texts:
        step(text)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path)
    dump: Path = parser.parse_args().dump
    texts = [text for _, text in page_texts(dump)]
    site, expand = read_site(dump), load_rules()

    def read(text: str) -> object:
        return parse(text, site, expand)

    # In turns, so that both meet the machine in the same state; the quickest round of each counts.
    rounds = [(seconds(LINK.findall, texts), seconds(read, texts)) for _ in range(ROUNDS)]
    floor, reading = map(min, zip(*rounds, strict=True))
    size = sum(map(len, texts)) / 1e6
    print(json.dumps({"floor": floor, "reading": reading, "megabytes": size, "pages": len(texts)}))


if __name__ == "__main__":
    main()
