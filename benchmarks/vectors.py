"""Searching 196,052 entities by vectors: what lists around centres find of what comparing with all finds, and when.

The knowledge base gets an index over the vectors of `minilm` first, which takes some twenty minutes on two cores;
an interrupted run goes on. It needs `entlink models pull minilm`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import numpy
from numpy.typing import NDArray

from entlink.candidates.alias import AliasRetriever
from entlink.candidates.bm25 import BM25Retriever
from entlink.candidates.dense import DenseRetriever
from entlink.documents import Document, Mention
from entlink.encoders.dual import load_dual
from entlink.interfaces import DualEncoder, Question, Retriever, Shortlist
from entlink.io.progress import ignore_progress
from entlink.kb.indexes.vectors.index import VectorIndex, index_name, nearest
from entlink.kb.indexes.vectors.writing import build_vectors
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.mentions.dictionary import DictionaryDetector
from workspace import small_kb, texts

MENTIONS, WANTED, A_BATCH = 2_000, 64, 256
Result = TypeVar("Result")


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    started = perf_counter()
    done = work()
    return done, perf_counter() - started


def questions(kb: KnowledgeBase) -> list[Question]:
    """Names found in paragraphs, as many as are asked about."""
    import msgspec

    found: list[Question] = []
    detector = DictionaryDetector(kb)
    count = 0
    with texts(2_000_000).path.open("rb") as lines:
        while count < MENTIONS and (batch := list(islice(lines, A_BATCH))):
            documents = [msgspec.json.decode(line, type=Document) for line in batch]
            for document, mentions in zip(documents, detector.detect(documents), strict=True):
                if mentions and count < MENTIONS:
                    found.append(Question(document, mentions))
                    count += len(mentions)
    return found


def compared(index: VectorIndex, queries: NDArray[numpy.float32], mask: NDArray[numpy.bool_]) -> list[set[int]]:
    """The nearest rows of all in a mask, by comparing with each of them."""
    found = numpy.flatnonzero(mask)
    vectors = index.vectors(found)
    best = [found[nearest(queries[at : at + 16], vectors, WANTED)] for at in range(0, len(queries), 16)]
    return [set(row) for row in numpy.concatenate(best).tolist()]


def recall(index: VectorIndex, queries: NDArray[numpy.float32]) -> None:
    rng = numpy.random.default_rng(1)
    masks = {"all": numpy.ones(len(index), bool), "a third": rng.random(len(index)) < 1 / 3}
    for name, mask in masks.items():
        expected = compared(index, queries, mask)
        for probed in (64, 256, 512, 640, 768):
            index._listed(queries[:1], WANTED, mask, probed)
            started = process_time()
            rows = index._listed(queries, 2 * WANTED, mask, probed)
            seconds = process_time() - started
            ordered = list(index._ordered(queries, rows, WANTED))
            hits = sum(
                len(wanted & set(found.tolist())) for wanted, (found, _) in zip(expected, ordered, strict=True)
            )
            share = hits / (WANTED * len(queries))
            print(
                f"{name:>8}  nprobe {probed:>3}  recall@{WANTED} {share:.4f}  {seconds / len(queries) * 1e3:.2f} ms"
            )


def batches(asked: Sequence[Question]) -> list[Sequence[Question]]:
    return [asked[start : start + 64] for start in range(0, len(asked), 64)]


def shortlists(retrievers: Sequence[Retriever], asked: Sequence[Question]) -> list[Shortlist]:
    """What the retrievers find, pooled, 48 at most a mention."""
    pools: list[dict[str, None]] = [{} for question in asked for _ in question.mentions]
    known = {}
    for retriever in retrievers:
        lists = (one for each in retriever.retrieve(asked) for one in each)
        for pool, candidates in zip(pools, lists, strict=True):
            pool.update(dict.fromkeys(one.entity for one in candidates))
            known.update({one.entity: one for one in candidates})
    mentions = [(question.document, mention) for question in asked for mention in question.mentions]
    return [
        Shortlist(document, mention, [known[id] for id in list(pool)[:48]])
        for (document, mention), pool in zip(mentions, pools, strict=True)
    ]


def on_demand(kb: KnowledgeBase, dual: DualEncoder, asked: Sequence[Question]) -> None:
    """What a mention costs beside the encoding of the mention itself, when vectors come from an index."""
    others: list[Retriever] = [AliasRetriever(kb), BM25Retriever(kb)]
    pairs: list[tuple[Document, Mention]] = [(one.document, mention) for one in asked for mention in one.mentions]
    _, own = timed(lambda: [dual.encode_mentions(pairs[at : at + A_BATCH]) for at in range(0, len(pairs), A_BATCH)])
    pools = [shortlists(others, batch) for batch in batches(asked)]
    found, others_took = timed(lambda: [shortlists(others, batch) for batch in batches(asked)])
    width = sum(len(one.candidates) for pool in pools for one in pool) / len(pairs)
    print(f"{len(pairs)} mentions, {width:.1f} candidates each, encoding one takes {own / len(pairs) * 1e3:.2f} ms")
    print(f"finding the candidates of one (alias, words)  {others_took / len(pairs) * 1e3:.2f} ms")
    for name, search in (("scoring what they found", False), ("the same and searching", True)):
        dense = DenseRetriever(kb, encoder=dual)

        def work(dense: DenseRetriever = dense, search: bool = search) -> None:
            for batch, pool in zip(batches(asked), found, strict=True):
                if search:
                    dense.retrieve(batch)
                dense.gather(pool)

        _, took = timed(work)
        print(f"{name:<45} {took / len(pairs) * 1e3:.2f} ms, {took / own:.2f} times the encoder's own")


def main() -> None:
    folder, name = small_kb()
    dual = load_dual("minilm")
    card, seconds = timed(lambda: build_vectors(Path(folder), dual, ignore_progress))
    print(f"{name}: {card.rows:,} vectors, {seconds:.0f} s to make them or to find them there")
    with KnowledgeBase.open(folder) as kb:
        asked = questions(kb)
        index = VectorIndex(kb.index_folder / index_name(dual), dual)
        pairs = [(one.document, mention) for one in asked for mention in one.mentions][:500]
        recall(index, dual.encode_mentions(pairs))
        on_demand(kb, dual, asked)


if __name__ == "__main__":
    main()
