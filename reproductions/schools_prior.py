"""Prior accuracy on Schools Wikipedia: spans given, names and priors from the training links alone.

    python reproductions/schools_prior.py ../shared/data/schools_wikipedia

The knowledge base has all 4,655 articles as entities; its links are those of `mentions_train.jsonl.xz`. Every
mention of `mentions_test.jsonl.xz` is linked to its most likely entity. Accuracy is over all mentions, NIL is an
error. Beside it stands the same figure counted without entlink, by dictionaries alone.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import entlink
from entlink.documents import Document, Mention, Span


def read(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf8") as lines:
        for line in lines:
            yield json.loads(line)


def write_articles(data: Path, out: Path) -> None:
    """The articles with nothing but their title, and the training paragraphs of each with its links."""
    paragraphs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read(data / "mentions_train.jsonl.xz"):
        links = [[mention["start"], mention["end"], mention["entity"]] for mention in row["mentions"]]
        paragraphs[row["id"].rsplit("#", 1)[0]].append({"text": row["text"], "links": links})
    with out.open("w", encoding="utf8") as file:
        for article in read(data / "articles.jsonl.xz"):
            row = {"id": article["id"], "title": article["title"], "paragraphs": paragraphs[article["id"]]}
            file.write(json.dumps(row) + "\n")


def linked_accuracy(data: Path, kb: Path, split: str) -> tuple[int, int]:
    """Mentions right and all, through the linker."""
    linker = entlink.load(kb, mentions="given")
    rows = list(read(data / f"mentions_{split}.jsonl.xz"))
    right = total = 0
    for row, document in zip(rows, linker.link_all(map(_document, rows)), strict=True):
        for mention, link in zip(row["mentions"], document.links, strict=True):
            right += link.entity == mention["entity"]
            total += 1
    return right, total


def _document(row: dict[str, Any]) -> Document:
    mentions = (Mention(Span(m["start"], m["end"]), m["text"]) for m in row["mentions"])
    return Document(row["id"], row["text"], mentions=tuple(mentions))


def counted_accuracy(data: Path, split: str) -> tuple[int, int]:
    """The same by counting: the surface's most frequent target, as written, else in any case, else as a title."""
    exact: dict[str, Counter[str]] = defaultdict(Counter)
    folded: dict[str, Counter[str]] = defaultdict(Counter)
    for article in read(data / "articles.jsonl.xz"):
        exact[article["title"]][article["id"]] += 1
        folded[article["title"].casefold()][article["id"]] += 1
    for row in read(data / "mentions_train.jsonl.xz"):
        for mention in row["mentions"]:
            exact[mention["text"]][mention["entity"]] += 1
            folded[mention["text"].casefold()][mention["entity"]] += 1
    right = total = 0
    for row in read(data / f"mentions_{split}.jsonl.xz"):
        for mention in row["mentions"]:
            targets = exact.get(mention["text"]) or folded.get(mention["text"].casefold())
            total += 1
            if targets:
                right += max(targets, key=lambda target: (targets[target], target)) == mention["entity"]
    return right, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        articles, kb = Path(folder) / "articles.jsonl", Path(folder) / "schools.kb"
        write_articles(arguments.data, articles)
        entlink.build([articles], kb, entlink.BuildOptions(count_text=False, names_in_openings=False))
        right, total = linked_accuracy(arguments.data, kb, arguments.split)
    counted, _ = counted_accuracy(arguments.data, arguments.split)
    figures = {"split": arguments.split, "mentions": total, "entlink": right / total, "counted": counted / total}
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
