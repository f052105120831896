"""Fused retrieval over Simple Wikipedia, beside the time the encoder needs for the mentions alone.

python benchmarks/retrieval.py [--mentions 2000]

Names, words and vectors on demand, as the linker called zero-shot puts them together. The first pass begins without
any vector of an entity; the second finds those of the first. Fresh entities: 500 that are added after the vectors
were indexed, against the same 500 indexed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter

import msgspec

import workspace
from entlink.config import LinkerConfig, read_config
from entlink.documents import Document, Mention
from entlink.evaluation.files import File
from entlink.interfaces import DualEncoder, Question
from entlink.linker import Linker, load

MENTIONS = 2_000
_BATCH = 64
TEST = workspace.SHARED / "schools_wikipedia" / "mentions_test.jsonl.xz"


def measure(mentions: int = MENTIONS) -> dict[str, float]:
    """Print all of it, and return the figures; nothing where the model or the texts are not at hand."""
    from entlink.encoders.dual import load_dual
    from entlink.errors import MissingModelError

    try:
        dual = load_dual("minilm")
    except MissingModelError as problem:
        print(f"  left out: {problem}")
        return {}
    if not TEST.exists():
        print("  left out: it needs the mentions of Schools Wikipedia")
        return {}
    kb, name = workspace.small_kb()
    questions = list(_questions(mentions))
    count = sum(len(question.mentions) for question in questions)
    linker = _linker(kb)
    linker.candidates(Document("warm", "Paris"), [])
    alone = _encoding(dual, questions)
    first, second = _retrieving(linker, questions), _retrieving(linker, questions)
    print(f"  {count:,} mentions of Schools Wikipedia, {name}")
    print(f"  encoding the mentions alone    {1e3 * alone / count:8.2f} ms a mention")
    for when, seconds in (("first pass", first), ("second pass", second)):
        ratio = seconds / alone
        print(
            f"  fused retrieval, {when:<12}  {1e3 * seconds / count:8.2f} ms a mention   {ratio:.2f} x   target <= 3"
        )
    return {"encoding_ms": 1e3 * alone / count, "first_ratio": first / alone, "second_ratio": second / alone}


def _linker(kb: Path) -> Linker:
    """Without the vectors of an earlier run."""
    shutil.rmtree(kb / "vectors", ignore_errors=True)
    linker = load(kb, config=_config(), mentions="given")
    assert linker.pooling is not None
    return linker


def _config() -> LinkerConfig:
    config = read_config("zero-shot")
    searched = [
        {**one, "search": "never"} if one["name"] == "dense" else one
        for one in config.retriever
        if one["name"] != "edit-distance"
    ]
    return msgspec.structs.replace(config, retriever=searched)


def _questions(mentions: int) -> Iterator[Question]:
    for document in File(TEST, "gold"):
        if mentions <= 0:
            return
        asked = [Mention(gold.span, document.text[gold.span.start : gold.span.end]) for gold in document.gold]
        mentions -= len(asked)
        yield Question(document, asked)


def _encoding(dual: DualEncoder, questions: list[Question]) -> float:
    started = perf_counter()
    for batch in _batches(questions):
        dual.encode_mentions([(document, mention) for document, asked in batch for mention in asked])
    return perf_counter() - started


def _retrieving(linker: Linker, questions: list[Question]) -> float:
    started = perf_counter()
    for batch in _batches(questions):
        linker.retrieve(batch)
    return perf_counter() - started


def _batches(questions: list[Question]) -> Iterator[list[Question]]:
    coming = iter(questions)
    while batch := list(islice(coming, _BATCH)):
        yield batch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mentions", type=int, default=MENTIONS)
    json.dump(measure(parser.parse_args().mentions), sys.stdout)


if __name__ == "__main__":
    main()
