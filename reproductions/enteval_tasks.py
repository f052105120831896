"""The probing tasks of EntEval that can be built of what is at hand, each in its own folder, with their sizes.

    python reproductions/enteval_tasks.py DATA --folder build/enteval

DATA has FEVER's `paper_dev.jsonl`, WikiSRS's similarity, ConceptNet's English triples, GloVe's vectors, Simple
Wikipedia and Schools Wikipedia. Descriptions are of Simple Wikipedia, or, for tasks of links, of Schools Wikipedia
with the links of its training pages alone. CAP, ET, NED and Rare are variants of the paper's, of these links.
`wikient` in the folder is what EntELMo is trained on: the training pages alone, so that no test sentence is in it.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from schools_prior import read

import entlink
from entlink.datasets.probes import ProbeOptions, build_probes
from entlink.datasets.wikient import build_wikient

SIMPLE, SCHOOLS, GLOVE, WIKIENT = "simple.kb", "schools-train.kb", "glove.txt", "wikient"
LINKS = tuple(f"schools_wikipedia/mentions_{split}.jsonl.xz" for split in ("train", "dev", "test"))
CONCEPTNET = ("conceptnet_en_subset.tsv.xz",)


class Task(NamedTuple):
    """A task: what it is called, what builds it of what, and with which knowledge base."""

    name: str
    task: str
    sources: tuple[str, ...]
    kb: str | None
    options: ProbeOptions = ProbeOptions()
    needs_vectors: bool = False


TASKS = (
    Task("cap-schools-across", "cap-links-across", LINKS, None, needs_vectors=True),
    Task("cerp", "cerp", CONCEPTNET, SIMPLE, needs_vectors=True),
    Task("efp", "efp", ("fever/data/paper_dev.jsonl",), SIMPLE),
    Task("et-schools", "et-links", LINKS, SCHOOLS),
    Task("esr-wikisrs-similarity", "esr-wikisrs-similarity", ("wikisrs/WikiSRS_similarity.csv",), SIMPLE),
    Task("ert-conceptnet", "ert", CONCEPTNET, SIMPLE, needs_vectors=True),
    Task("ned-schools", "ned-links", LINKS, SCHOOLS, ProbeOptions(sizes=(6000, 4790, 4481), ambiguous=True)),
    Task("rare-schools", "rare-links", LINKS, SCHOOLS, ProbeOptions(sizes=(4000, 4000, 4000), rare=20)),
)


def articles(data: Path, *, others: bool) -> Iterator[dict[str, Any]]:
    """The pages that `mentions_train` is of; and with `others` all other pages, without their links."""
    pages = {row["id"].rsplit("#", 1)[0] for row in read(data / LINKS[0])}
    for article in read(data / "schools_wikipedia" / "articles.jsonl.xz"):
        if article["id"] in pages:
            yield article
        elif others:
            for paragraph in article["paragraphs"]:
                paragraph["links"] = []
            yield article


def write_articles(data: Path, file: Path, *, others: bool) -> Path:
    """The same as a file of JSON lines."""
    file.write_text("".join(json.dumps(row) + "\n" for row in articles(data, others=others)), encoding="utf8")
    return file


def prepare(data: Path, folder: Path) -> None:
    """The knowledge bases and the unpacked vectors, those that are not there yet."""
    if not (folder / SIMPLE).is_dir():
        entlink.build([data / "simplewiki_2021_kb.jsonl.xz"], folder / SIMPLE)
    if not (folder / SCHOOLS).is_dir():
        entlink.build([write_articles(data, folder / "articles.jsonl", others=True)], folder / SCHOOLS)
    if not (folder / WIKIENT).is_dir():
        build_wikient([write_articles(data, folder / "training-pages.jsonl", others=False)], folder / WIKIENT)
    if not (folder / GLOVE).is_file():
        with lzma.open(data / "glove_100d_150k.txt.xz") as packed, (folder / GLOVE).open("wb") as plain:
            shutil.copyfileobj(packed, plain)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    prepare(arguments.data, arguments.folder)
    for task in TASKS:
        report = build_probes(
            task.task,
            [arguments.data / source for source in task.sources],
            arguments.folder / task.name,
            task.options,
            kb=arguments.folder / task.kb if task.kb else None,
            vectors=arguments.folder / GLOVE if task.needs_vectors else None,
            name=task.name,
            replace=True,
        )
        card = report.card
        figures = {"task": task.name, **card.sizes, "covered": card.covered, "of": card.of}
        sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
