from __future__ import annotations

from collections import Counter
from math import log

import bm25s
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.kb.indexes.words import bm25 as word_scores
from entlink.kb.indexes.words.bm25 import Scorer, Wanted
from entlink.kb.indexes.words.postings import WordIndex
from entlink.kb.indexes.words.terms import hash_of

WORDS = "abcdefgh"
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=30)
queries = st.lists(st.sampled_from(WORDS + "z"), min_size=1, max_size=5)


def index_of(rows: list[list[str]]) -> WordIndex:
    counted = [Counter(row) for row in rows]
    arrays = [
        (numpy.array([hash_of(term) for term in one], numpy.uint64), numpy.array([*one.values()], numpy.uint16))
        for one in counted
    ]
    return WordIndex.of(arrays, [len(row) for row in rows])


def idf(rows: list[list[str]], term: str) -> float:
    held = sum(term in row for row in rows)
    return log(1 + (len(rows) - held + 0.5) / (held + 0.5))


def wanted(index: WordIndex, rows: list[list[str]], query: list[str], k1: float) -> list[Wanted]:
    weights = Counter(query)
    postings = index.find([hash_of(term) for term in weights])
    return [
        Wanted(one, weight * idf(rows, term) * (k1 + 1))
        for one, (term, weight) in zip(postings, weights.items(), strict=True)
    ]


def mean_of(rows: list[list[str]]) -> float:
    return sum(map(len, rows)) / len(rows) or 1.0


def textbook(rows: list[list[str]], query: list[str], k1: float, b: float) -> list[float]:
    mean = mean_of(rows)
    return [
        sum(
            idf(rows, term) * row.count(term) * (k1 + 1) / (row.count(term) + k1 * (1 - b + b * len(row) / mean))
            for term in query
            if term in row
        )
        for row in rows
    ]


@pytest.mark.parametrize("dense", [0, 8])
@given(
    rows=texts,
    query=queries,
    limit=st.integers(0, 12),
    k1=st.floats(0, 3),
    b=st.floats(0, 1),
    allowed=st.none() | st.lists(st.booleans(), min_size=30, max_size=30),
)
def test_the_best_are_those_of_scoring_every_row(dense, rows, query, limit, k1, b, allowed):
    index = index_of(rows)
    scorer = Scorer(index.lengths, mean_of(rows), k1, b)
    terms = wanted(index, rows, query, k1)
    everything = numpy.arange(len(rows), dtype=numpy.uint32)
    scores, _ = scorer.at(terms, everything)
    assert scores.tolist() == pytest.approx(textbook(rows, query, k1, b))
    mask = None if allowed is None else numpy.array(allowed[: len(rows)], numpy.bool_)
    findable = [row for row in everything.tolist() if scores[row] > 0 and (mask is None or mask[row])]
    expected = sorted(findable, key=lambda row: (-scores[row], row))[:limit]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_scores, "_DENSE", dense)
        best, best_scores = scorer.best(terms, limit, mask)
    assert best.tolist() == expected
    assert best_scores.tolist() == scores[expected].tolist()


@given(rows=texts, query=queries)
def test_the_least_count_of_any_term(rows, query):
    index = index_of(rows)
    everything = numpy.arange(len(rows), dtype=numpy.uint32)
    _, counts = Scorer(index.lengths, 1.0, 1.2, 0.75).at(wanted(index, rows, query, 1.2), everything)
    assert counts.tolist() == [min(row.count(term) for term in query) for row in rows]


@given(
    rows=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=30),
    query=queries,
    k1=st.floats(0.5, 2),
    b=st.floats(0, 1),
)
def test_scores_are_those_of_bm25s(rows, query, k1, b):
    other = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    other.index(rows, show_progress=False)
    known = [term for term in dict.fromkeys(query) if any(term in row for row in rows)]
    if not known:
        return
    index = index_of(rows)
    everything = numpy.arange(len(rows), dtype=numpy.uint32)
    scores, _ = Scorer(index.lengths, mean_of(rows), k1, b).at(wanted(index, rows, known, k1), everything)
    # Lucene leaves out the factor that is the same for all.
    assert (scores / (k1 + 1)).tolist() == pytest.approx(other.get_scores(known).tolist(), rel=1e-6, abs=1e-9)


def test_long_postings_are_looked_up_and_not_read_when_no_new_row_can_win():
    rows = [["rare", "common"]] * 3 + [["common"]] * 200
    index = index_of(rows)
    scorer = Scorer(index.lengths, mean_of(rows), 1.2, 0.75)
    read = []
    original = scorer._all
    scorer._all = lambda term, mask: read.append(len(term.postings.rows)) or original(term, mask)
    best, _ = scorer.best(wanted(index, rows, ["common", "rare"], 1.2), 3)
    assert best.tolist() == [0, 1, 2]
    assert read == [3]


def test_nothing_to_look_for():
    index = index_of([["a"]])
    scorer = Scorer(index.lengths, 1.0, 1.2, 0.75)
    assert scorer.best([], 5)[0].tolist() == []
    assert scorer.best(wanted(index, [["a"]], ["b"], 1.2), 5)[0].tolist() == []
    scores, counts = scorer.at([], numpy.array([0], numpy.uint32))
    assert (scores.tolist(), counts.tolist()) == ([0.0], [0])
