"""What stands between the same two words: the numbers, the folder that keeps them, and the retriever."""

from __future__ import annotations

from math import log

import msgspec
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.candidates import slot_model as model_of_slots
from entlink.candidates.slot_model import read_slots, slot_number, slot_of, write_slots
from entlink.candidates.slots import SlotsRetriever
from entlink.documents import TURN_SEPARATOR, Candidate, Document, Mention, Span
from entlink.errors import DamagedError, MissingModelError
from entlink.interfaces import Question, Rescorer, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt.slots import USE, nearest, slot_model
from entlink.linking.config import make_stage
from entlink.testing import check_retriever
from knowledge_bases import article, make_kb

CARD, ARRAYS = "slots.json", "slots.npz"
TONGUES, LANDS = ["latin", "spanish"], ["spain", "peru"]
ENTITIES = [*TONGUES, *LANDS]
NEAR = numpy.array([[0, 1], [1, 0], [2, 3], [3, 2]], numpy.int32)
COLON, IN = slot_number("(", ":"), slot_number("in", ".")


def quiet(stage, done, total):
    pass


def uses(*pairs):
    return numpy.array(list(pairs), USE)


def made(times=1):
    """Latin stands four times before a colon, and the lands forty times elsewhere; or all so many times as often."""
    return slot_model(ENTITIES, uses(*[(COLON, 0)] * 4 * times, *[(IN, 2), (IN, 3)] * 20 * times), NEAR)


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    rows = [article(one, one.title(), f"{one.title()} is old.") for one in ENTITIES]
    with KnowledgeBase.open(make_kb(tmp_path_factory.mktemp("slots"), rows)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "name", "before", "after"),
    [
        ("Peru (Spanish: Perú)", "Spanish", "(", ":"),
        ("He Spoke  Spanish Well", "Spanish", "spoke", "well"),
        ("Spanish", "Spanish", "^", "$"),
        ("spoken\nSpanish, too", "Spanish", "^", ","),
        (f"Who?{TURN_SEPARATOR}Spanish{TURN_SEPARATOR}Why?", "Spanish", "^", "$"),
        ("他说西班牙语很好", "西班牙语", "说", "很"),
        ("हिन्दी में Latin भाषा", "Latin", "में", "भाषा"),
        ("a b西 Latin西班", "Latin", "西", "西"),
    ],
)
def test_a_slot_is_what_stands_on_both_sides(text, name, before, after):
    start = text.index(name)
    assert slot_of(text, Span(start, start + len(name))) == slot_number(before, after)


def test_scores_by_hand():
    # Spanish stands before no colon. Latin, which is most like it, does four times of the 44 uses in all.
    share, prior = 4 / 44, 300
    assert log((4 + prior * share) / (4 + prior) / share) - 1 < 0  # four are too few to be sure
    assert made().scores(COLON, ["spanish", "spain", "unknown"]) == [0.0, 0.0, 0.0]
    expected = log((4000 + prior * share) / (4000 + prior) / share) - 1
    assert expected > 1
    assert made(1000).scores(COLON, ["peru", "spanish", "latin"]) == pytest.approx([0.0, expected, expected])


def test_an_entity_that_was_added_later_does_not_lose_by_it():
    found = made(1000).scores(COLON, ["peru", "added", "spanish"])
    assert found[1] == found[2] > 1
    assert made(1000).scores(COLON, ["added"]) == [0.0]


def test_one_use_in_a_rare_slot_is_not_worth_more_than_the_most():
    rare = slot_number("a", "b")
    found = slot_model(ENTITIES, uses((rare, 0), (rare, 2), (rare, 2), *[(IN, 2)] * 100_000), NEAR)
    share, prior = 3 / 100_003, 300
    assert log((1 + prior * share) / (1 + prior) / share) - 1 > 3
    assert found.scores(rare, ["latin", "spain"]) == [3.0, 0.0]


def test_rare_slots_are_left_out():
    found = slot_model(ENTITIES, uses((COLON, 0), (COLON, 1), (IN, 2), (IN, 3), (IN, 3)), NEAR)
    assert found.slots.tolist() == [IN]
    assert (found.fillers.tolist(), found.counts.tolist()) == ([2, 3], [1, 2])
    assert found.often.tolist() == [1, 1, 1, 2]
    assert found.scores(COLON, ["latin"]) == [0.0]
    none = slot_model(ENTITIES, uses((COLON, 0), (IN, 2)), NEAR)
    assert none.slots.tolist() == []
    assert none.scores(IN, ["spain"]) == [0.0]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=3, max_size=200),
    st.integers(0, 6),
    st.integers(0, 99),
)
def test_scores_are_as_counted_one_by_one(pairs, slot, seed):
    vectors = numpy.random.default_rng(seed).standard_normal((10, 3)).astype(numpy.float32)
    entities = [f"e{row}" for row in range(10)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_of_slots, "_PRIOR", 3.0)  # so that few uses tell
        patch.setattr(model_of_slots, "_SURE", 0.0)
        scores = slot_model(entities, uses(*pairs), nearest(vectors, quiet)).scores(slot, entities)
    here = [row for other, row in pairs if other == slot]
    share = len(here) / len(pairs)
    apart = vectors - vectors.mean(0)
    apart /= numpy.linalg.norm(apart, axis=1, keepdims=True)
    for row, score in enumerate(scores):
        alike = set(numpy.argsort(-(apart @ apart[row]))[:2].tolist())  # one in fifty, at least one, and itself
        expected = 0.0
        if len(here) >= 3:
            often = sum(one in alike for _, one in pairs)
            expected = log((sum(one in alike for one in here) + 3 * share) / (often + 3) / share)
        assert score == pytest.approx(min(3.0, max(0.0, expected)), abs=1e-6)


@pytest.mark.parametrize(("count", "width"), [(1, 1), (2, 2), (10, 2), (200, 5)])
def test_an_entity_is_like_itself(count, width):
    near = nearest(numpy.ones((count, 3), numpy.float32), quiet)  # all are the same
    assert near.shape == (count, width)
    assert all(row in near[row] for row in range(count))
    assert all(len(set(row)) == width for row in near.tolist())


def test_what_is_written_is_read(tmp_path):
    write_slots(tmp_path / "slots", made())
    found = read_slots(tmp_path / "slots")
    assert found.card.entities == ENTITIES
    assert found.card.uses == 44
    for name in ("slots", "starts", "fillers", "counts", "near", "often"):
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
    write_slots(tmp_path / "slots", made(1000))
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
