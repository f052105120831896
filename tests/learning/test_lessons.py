"""What a bi-encoder is taught, and what its figure counts."""

from __future__ import annotations

import pytest
from tiny_training import make_config, make_examples

from entlink.documents import Document, Mention, Span
from entlink.encoders.pair_tokens import PairReader
from entlink.encoders.reporting import ignore_progress
from entlink.learning.base import load_base
from entlink.learning.batches import Chosen, Material
from entlink.learning.examples import Example
from entlink.learning.learners import columns_of, comparable

TEXT = Document("one", "bridge crew")
BRIDGE, CREW = Mention(Span(0, 6), "bridge"), Mention(Span(7, 11), "crew")


def material(stage, base, examples):
    reader = PairReader(load_base(str(base)).tokenizer, make_config(base).model.pairs)
    return Material(stage, reader, examples, ignore_progress, "")


# What is right is not taught as wrong


@pytest.fixture
def ambiguous(stage, base):
    """A mention that may mean two, another of its document, and a document that brings all of them up."""
    others = [
        Example(Document("two", "bridge"), BRIDGE, "bridge-play"),
        Example(Document("three", "crew"), Mention(Span(0, 4), "crew"), "crew-water"),
        Example(Document("four", "line"), Mention(Span(0, 4), "line"), "line-play"),
    ]
    own = [
        Example(TEXT, BRIDGE, "bridge-water"),
        Example(TEXT, BRIDGE, "bridge-play"),
        Example(TEXT, CREW, "crew-water"),
    ]
    return material(stage, base, [*own, *others])


def test_what_is_right_by_an_example_of_another_batch_is_not_wrong(ambiguous):
    """Other documents bring the entities into the batch of the first example; its own document's are not in it."""
    chosen = [Chosen(at, ()) for at in (0, 3, 4, 5)]
    columns = columns_of(ambiguous, chosen)
    right = {columns[ambiguous.own[1]], columns[ambiguous.own[2]]}
    first, *others = comparable(ambiguous, chosen, columns).tolist()
    assert {column for column, one in enumerate(first) if not one} == right
    assert all(all(row) for row in others)


def test_what_is_right_is_not_wrong_among_all_entities(ambiguous):
    """As with vectors of entities that do not change: all are columns."""
    columns = {row: row for row in range(len(ambiguous.entities))}
    (found,) = comparable(ambiguous, [Chosen(2, ())], columns).tolist()
    assert {row for row, one in enumerate(found) if not one} == {ambiguous.own[0], ambiguous.own[1]}
    (named,) = comparable(ambiguous, [Chosen(2, (ambiguous.own[0],))], columns).tolist()
    assert {row for row, one in enumerate(named) if not one} == {ambiguous.own[1]}
    (itself,) = comparable(ambiguous, [Chosen(0, (ambiguous.own[1],))], columns).tolist()
    assert not itself[ambiguous.own[1]]


def test_a_document_with_one_entity_leaves_nothing_out(stage, base):
    found = material(stage, base, make_examples(20))
    assert (found.right_in, found.right_at) == ({}, {})
