"""Fused retrieval over Simple Wikipedia, beside the time the encoder needs for the mentions alone.

python benchmarks/retrieval.py [--mentions 2000]

Names, words and vectors on demand, as the linker called zero-shot puts them together. The first pass begins without
any vector of an entity; the second, by another linker, finds those of the first on disk.
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
from entlink.documents import Document, Mention, Span
from entlink.evaluation.files import File
from entlink.interfaces import DualEncoder, Question
from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.linker import Linker, load

MENTIONS = 100_000  # more than there are
FIRST = 1_500
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
    shutil.rmtree(kb / "vectors", ignore_errors=True)  # of an earlier run
    _linker(kb).candidates(Document("warm", "Paris"), [Mention(Span(0, 5), "Paris")])
    alone = _encoding(dual, questions)
    (coldest, first), (_, second) = _retrieving(_linker(kb), questions), _retrieving(_linker(kb), questions)
    print(f"  {count:,} mentions of Schools Wikipedia, {name}")
    print(f"  encoding the mentions alone    {1e3 * alone / count:8.2f} ms a mention")
    for when, seconds in (("first pass", first), ("second pass", second)):
        ratio = seconds / alone
        print(
            f"  fused retrieval, {when:<12}  {1e3 * seconds / count:8.2f} ms a mention   {ratio:.2f} x   target <= 3"
        )
    cold = coldest / (alone * min(FIRST, count) / count)
    print(f"  the first {FIRST:,} of the first pass                          {cold:.2f} x")
    return {
        "encoding_ms": 1e3 * alone / count,
        "first_ratio": first / alone,
        "second_ratio": second / alone,
        "coldest_ratio": cold,
    }


def _linker(kb: Path) -> Linker:
    """One that has seen no mention yet."""
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


def _retrieving(linker: Linker, questions: list[Question]) -> tuple[float, float]:
    """Seconds for the first mentions, and for all."""
    started = perf_counter()
    done, first = 0, 0.0
    for batch in _batches(questions):
        linker.retrieve(batch)
        done += sum(len(question.mentions) for question in batch)
        if not first and done >= FIRST:
            first = (perf_counter() - started) * FIRST / done
    seconds = perf_counter() - started
    return first or seconds, seconds


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
