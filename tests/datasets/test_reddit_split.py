"""The cap on trivial threads, and both splits."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.datasets.conversations.options import last_second
from entlink.datasets.conversations.split import cap_exact, most_exact, split
from entlink.datasets.conversations.staging import CROSSING, DROPPED, TEST, TRAIN, staging
from entlink.documents import Document, GoldLink, Span, Turn

LAST = last_second("2015-01-01")


def thread(id: str, utterances: int, annotations: int, *, exact: bool = False) -> Document:
    """A thread of the conversation that the first letter of its id names."""
    turns = [Turn("abcdefghij")] * utterances
    meta = {"by": "link", "exact": True} if exact else {"by": "link"}
    gold = tuple(GoldLink(Span(n, n + 1), ("e",), meta=meta) for n in range(annotations))
    return Document.of_turns(id, turns, gold=gold, meta={"conversation": id[0], "utterances": [id] * utterances})


def places(folder: Path, threads, *, share=1.0, limit=None, seed=0) -> dict[str, int]:
    with staging(folder) as shelf:
        with shelf.writing_threads(seed) as writer:
            for document, time in threads:
                writer.add(document, time)
        cap_exact(shelf.connection, share)
        split(shelf.connection, LAST, limit)
        return dict(shelf.connection.execute("SELECT id, place FROM threads").fetchall())


def test_the_day_itself_is_for_training():
    assert last_second("1970-01-01") == 86_399
    assert LAST == 1420156799


def test_the_densest_thread_of_a_later_conversation_is_for_testing(tmp_path):
    threads = [
        *((thread(id, 5, 1), LAST) for id in ("a1", "a2")),
        (thread("b1", 10, 3), LAST + 1),
        (thread("b2", 5, 2), LAST + 1),
        (thread("b3", 20, 7), LAST + 1),
        (thread("c1", 5, 1), LAST + 9),
    ]
    assert places(tmp_path, threads) == {
        "a1": TRAIN,
        "a2": TRAIN,
        "b1": CROSSING,
        "b2": TEST,
        "b3": CROSSING,
        "c1": TEST,
    }


def test_of_equally_dense_threads_the_one_with_more_annotations_then_the_first_id(tmp_path):
    threads = [(thread(id, size, gold), LAST + 1) for id, size, gold in [("b2", 5, 1), ("b1", 10, 2), ("b0", 10, 2)]]
    assert places(tmp_path, threads) == {"b2": CROSSING, "b1": CROSSING, "b0": TEST}


def test_a_limit_takes_the_densest_and_leaves_the_rest_for_training(tmp_path):
    threads = [(thread(id, 5, gold), LAST + 1) for id, gold in [("a1", 1), ("b1", 3), ("c1", 2), ("c2", 1)]]
    assert places(tmp_path, threads, limit=2) == {"a1": TRAIN, "b1": TEST, "c1": TEST, "c2": CROSSING}


def test_a_dropped_thread_is_not_tested_on(tmp_path):
    threads = [(thread("a1", 5, 5, exact=True), LAST + 1), (thread("a2", 5, 1), LAST + 1)]
    assert places(tmp_path, threads, share=0.05) == {"a1": DROPPED, "a2": TEST}


@pytest.mark.parametrize(("share", "kept"), [(0.0, 0), (0.05, 2), (0.5, 38), (1.0, 60)])
def test_trivial_threads_are_a_share_of_those_that_stay(tmp_path, share, kept):
    trivial = [(thread(f"x{n}", 5, 1, exact=True), 0) for n in range(60)]
    others = [(thread(f"y{n}", 5, 1), 0) for n in range(38)]
    found = places(tmp_path, [*trivial, *others], share=share)
    assert sum(place == TRAIN for id, place in found.items() if id[0] == "x") == kept
    assert all(place == TRAIN for id, place in found.items() if id[0] == "y")


def test_which_trivial_threads_stay_depends_on_the_seed_and_not_on_their_order(tmp_path):
    trivial = [(thread(f"x{n}", 5, 1, exact=True), 0) for n in range(40)]
    others = [(thread(f"y{n}", 5, 1), 0) for n in range(40)]
    found = []
    for name, threads, seed in [
        ("a", [*trivial, *others], 0),
        ("b", [*others, *trivial[::-1]], 0),
        ("c", trivial, 1),
    ]:
        (tmp_path / name).mkdir()
        rows = threads if name != "c" else [*threads, *others]
        kept = places(tmp_path / name, rows, share=0.2, seed=seed)
        found.append({id for id, place in kept.items() if place == TRAIN and id[0] == "x"})
    assert len(found[0]) == 10
    assert found[0] == found[1] != found[2]


@given(st.integers(0, 500), st.integers(0, 500), st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.95, 1.0]))
def test_as_many_as_may_stay_and_not_one_more(exact, other, share):
    kept = most_exact(exact, other, share)
    assert 0 <= kept <= exact
    assert kept <= share * (kept + other) + 1e-9
    assert kept == exact or kept + 1 > share * (kept + 1 + other) - 1e-9
