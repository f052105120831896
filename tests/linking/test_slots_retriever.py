"""What stands between the same two words: the numbers, the folder that keeps them, and the retriever."""

from __future__ import annotations

from math import log

import msgspec
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.candidates.slot_model import ARRAYS, CARD, read_slots, slot_of, write_slots
from entlink.candidates.slots import SlotsRetriever
from entlink.config import make_stage
from entlink.documents import Candidate, Document, Mention, Span
from entlink.errors import DamagedError, MissingModelError
from entlink.interfaces import Question, Rescorer, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.word_terms import hash_of
from entlink.learning.adapt_slots import slot_model
from entlink.testing import check_retriever
from knowledge_bases import article, make_kb

USE = [("slot", "u8"), ("row", "i4")]
TONGUES, LANDS = ["latin", "spanish"], ["spain", "peru"]
ENTITIES = [*TONGUES, *LANDS]
VECTORS = numpy.array([[1, 0.1], [1, -0.1], [-1, 0.1], [-1, -0.1]], numpy.float32)
COLON, IN = hash_of("( :"), hash_of("in .")


def uses(*pairs):
    return numpy.array(list(pairs), USE)


def made():
    """Latin stands four times before a colon, and the lands forty times elsewhere."""
    return slot_model(ENTITIES, uses(*[(COLON, 0)] * 4, *[(IN, 2), (IN, 3)] * 20), VECTORS, "any")


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    rows = [article(one, one.title(), f"{one.title()} is old.") for one in ENTITIES]
    with KnowledgeBase.open(make_kb(tmp_path_factory.mktemp("slots"), rows)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "name", "slot"),
    [
        ("Peru (Spanish: Perú)", "Spanish", "( :"),
        ("He Spoke  Spanish Well", "Spanish", "spoke well"),
        ("Spanish", "Spanish", "^ $"),
        ("in\nSpanish, too", "Spanish", "in ,"),
        ("他说西班牙语很好", "西班牙语", "说 很"),
    ],
)
def test_a_slot_is_what_stands_on_both_sides(text, name, slot):
    start = text.index(name)
    assert slot_of(text, Span(start, start + len(name))) == hash_of(slot)


def test_scores_by_hand():
    # Spanish stands before no colon. Latin, which is most like it, does four times of the 44 uses in all.
    share, prior = 4 / 44, 300
    expected = log((4 + prior * share) / (4 + prior) / share) - 1
    assert expected < 0  # four are too few to be sure
    assert made().scores(COLON, ["spanish", "spain", "unknown"]) == [0.0, 0.0, 0.0]
    many = slot_model(ENTITIES, uses(*[(COLON, 0)] * 4000, *[(IN, 2), (IN, 3)] * 20000), VECTORS, "any")
    share = 4000 / 44000
    expected = log((4000 + prior * share) / (4000 + prior) / share) - 1
    assert many.scores(COLON, ["peru", "spanish", "latin"]) == pytest.approx([0.0, expected, expected])
    assert expected > 1


def test_rare_slots_are_left_out():
    found = slot_model(ENTITIES, uses((COLON, 0), (COLON, 1), (IN, 2), (IN, 3), (IN, 3)), VECTORS, "any")
    assert found.slots.tolist() == [IN]
    assert (found.fillers.tolist(), found.counts.tolist()) == ([2, 3], [1, 2])
    assert found.scores(COLON, ["latin"]) == [0.0]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=3, max_size=200),
    st.integers(0, 6),
    st.integers(0, 99),
)
def test_scores_are_as_counted_one_by_one(pairs, slot, seed):
    vectors = numpy.random.default_rng(seed).standard_normal((10, 3)).astype(numpy.float32)
    entities = [f"e{row}" for row in range(10)]
    model = slot_model(entities, uses(*pairs), vectors, "any")
    apart = vectors - vectors.mean(0)
    apart /= numpy.linalg.norm(apart, axis=1, keepdims=True)
    here = [row for other, row in pairs if other == slot]
    for row, score in enumerate(model.scores(slot, entities)):
        if len(here) < 3:
            assert score == 0
            continue
        alike = set(numpy.argsort(-(apart @ apart[row]))[:2].tolist())  # one in fifty, at least one, and itself
        share = len(here) / len(pairs)
        kept = {other for other, _ in pairs if sum(one == other for one, _ in pairs) >= 3}
        times = (sum(one in alike for one in here) + 300 * share) / (
            sum(one in alike for other, one in pairs if other in kept) + 300
        )
        assert score == pytest.approx(max(0.0, log(times / share) - 1), abs=1e-6)


def test_what_is_written_is_read(tmp_path):
    write_slots(tmp_path / "slots", made())
    found = read_slots(tmp_path / "slots")
    assert found.card.entities == ENTITIES
    assert found.card.uses == 44
    for name in ("slots", "starts", "fillers", "counts", "near"):
        assert numpy.array_equal(getattr(found, name), getattr(made(), name))


def test_damage_is_told(tmp_path):
    folder = tmp_path / "slots"
    with pytest.raises(MissingModelError, match="no slots are there"):
        read_slots(folder)
    write_slots(folder, made())
    arrays = (folder / ARRAYS).read_bytes()
    (folder / ARRAYS).write_bytes(arrays[:-9])
    with pytest.raises(DamagedError, match="missing or altered"):
        read_slots(folder)
    (folder / ARRAYS).write_bytes(arrays)
    card = msgspec.json.decode((folder / CARD).read_bytes())
    (folder / CARD).write_bytes(msgspec.json.encode({**card, "format": 99}))
    with pytest.raises(DamagedError, match="another version"):
        read_slots(folder)
    (folder / CARD).write_bytes(b"{")
    with pytest.raises(DamagedError, match="cannot be read"):
        read_slots(folder)


def test_the_retriever_scores_what_others_found(kb, tmp_path):
    many = slot_model(ENTITIES, uses(*[(COLON, 0)] * 4000, *[(IN, 2), (IN, 3)] * 20000), VECTORS, "any")
    write_slots(tmp_path / "slots", many)
    retriever = make_stage("retriever", {"name": "slots", "model": str(tmp_path / "slots")}, kb)
    assert isinstance(retriever, SlotsRetriever)
    assert isinstance(retriever, Rescorer)
    document, mention = Document("d", "Peru (Spanish: Perú)"), Mention(Span(6, 13), "Spanish")
    candidates = [Candidate("spain", 0.5), Candidate("spanish", 0.4)]
    [[land, tongue]] = retriever.rescore([Shortlist(document, mention, candidates)])
    assert land == 0.0
    assert tongue > 1.0
    assert retriever.retrieve([Question(document, [mention])]) == [[()]]
    check_retriever(retriever, [Question(document, [mention])])
