"""Makes the list of English word frequencies in the box: counts of Simple and Schools Wikipedia, chats and tweets.

python reproductions/word_frequency.py DATA
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
import sys
from collections import Counter
from collections.abc import Iterator
from math import log10
from pathlib import Path

from entlink.text.word_frequency import WORDS_FILE

_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
_BEGINNING = re.compile(r"(?:^|[.!?:;\"“(\n•*]\s*)[A-Za-z'’]+")  # a capital there says nothing
_MOST_WORDS = 40_000
_FEWEST = 8  # occurrences


def texts(data: Path) -> Iterator[str]:
    """Texts of an encyclopaedia."""
    with lzma.open(data / "simplewiki_2021_kb.jsonl.xz", "rt", encoding="utf8") as lines:
        for line in lines:
            yield json.loads(line)["text"]
    with lzma.open(data / "schools_wikipedia" / "articles.jsonl.xz", "rt", encoding="utf8") as lines:
        for line in lines:
            yield from (paragraph["text"] for paragraph in json.loads(line)["paragraphs"])


def main(data: Path) -> None:
    """Count words inside sentences, in lower case and with a capital, and write the most frequent ones."""
    written: Counter[str] = Counter()
    for text in texts(data):
        written.update(_WORD.findall(_BEGINNING.sub(" ", text)))
    lower: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for word, count in written.items():
        (lower if word.islower() else capital)[word.lower()] += count
    total = written.total()
    every = lower + capital
    rows = []
    for word, count in sorted(every.most_common(_MOST_WORDS), key=lambda one: one[0]):
        if count >= _FEWEST:
            per_million = (1e6 * lower[word] / total, 1e6 * capital[word] / total)
            rows.append(" ".join((word, *(str(max(0, round(10 * (2 + log10(one or 1e-9))))) for one in per_million))))
    WORDS_FILE.write_bytes(gzip.compress("\n".join(rows).encode(), mtime=0))
    sys.stderr.write(f"{len(rows)} words of {total}, {WORDS_FILE.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
