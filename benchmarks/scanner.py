"""Reading wikitext, in full and its links in bulk, beside a floor: a pattern that finds plain links and nothing else.

Prints seconds of processor time as JSON, the best of some rounds. From the second round on all links have been seen
before, as most have in a long dump; `links_first` is the first round.

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
from entlink.sources.mediawiki.dumps import read_site
from entlink.sources.wikitext import parse
from entlink.sources.wikitext.link_scan import scan_links
from entlink.sources.wikitext.templates.expansion import load_rules

LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]*))?\]\]")
ROUNDS = 5


def seconds(step: Callable[[str], object], texts: Sequence[str]) -> float:
    """The processor time that a step takes over all the texts."""
    started = time.process_time()
    for text in texts:
        step(text)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path)
    dump: Path = parser.parse_args().dump
    texts = [text for _, text in page_texts(dump)]
    site, expand = read_site(dump), load_rules()

    def read(text: str) -> object:
        return parse(text, site, expand)

    def count_links(text: str) -> object:
        links = scan_links(text, site)
        return read(text) if links is None else links

    steps: dict[str, Callable[[str], object]] = {"floor": LINK.findall, "links": count_links, "reading": read}
    # In turns, so that all meet the machine in the same state; the quickest round of each counts.
    rounds = [{name: seconds(step, texts) for name, step in steps.items()} for _ in range(ROUNDS)]
    quickest = {name: min(each[name] for each in rounds) for name in steps}
    size = sum(map(len, texts)) / 1e6
    fallen_back = sum(scan_links(text, site) is None for text in texts)
    first = {"links_first": rounds[0]["links"], "read_for_links": fallen_back}
    print(json.dumps({**quickest, **first, "megabytes": size, "pages": len(texts)}))


if __name__ == "__main__":
    main()
