"""Training a detector: what it learns from, calibration, thresholds, and what it refuses."""

from __future__ import annotations

import random
from itertools import combinations

import msgspec
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detector_world import conversations, detector_kb
from entlink.documents import Document, GoldLink, Span, Turn
from entlink.errors import InputError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.detector import training as detector_training
from entlink.learning.detector.data import GoldText, SeenCounts, gold_texts
from entlink.learning.detector.training import _calibrated, _calibration_error, _choices, _Table, train_detector
from entlink.mentions.learned import likeliest
from entlink.mentions.span_features import Seen
from entlink.mentions.span_model import read_model


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    with KnowledgeBase.open(detector_kb(tmp_path_factory.mktemp("talk"))) as opened:
        yield opened


# What is learnt from


def test_the_annotated_turns_of_conversations_and_whole_documents():
    turns = [Turn("Paris!"), Turn("and York, my city"), Turn("no")]
    gold = (
        GoldLink(Span(0, 5), ("paris",)),
        GoldLink(Span(12, 16), ("york",)),
        GoldLink(Span(18, 25), ("york",), meta={"personal": True}),
        GoldLink(Span(8, 11), ("and",), optional=True),
    )
    talk = Document.of_turns("talk", turns, gold=gold, meta={"annotated_turns": [0, 1]})
    plain = Document("plain", "In Paris.", gold=(GoldLink(Span(3, 8), ()),))
    assert list(gold_texts([talk, plain])) == [
        GoldText("talk", "Paris!", frozenset({(0, 5)})),
        GoldText("talk", "and York, my city", frozenset({(4, 8)}), frozenset({(0, 3)})),
        GoldText("plain", "In Paris.", frozenset({(3, 8)})),
    ]
    every = msgspec.structs.replace(talk, meta={})
    assert [one.text for one in gold_texts([every])] == [turn.text for turn in turns]


def test_counts_of_names_by_hand(kb):
    texts = [
        GoldText("one", "Paris, paris and York", frozenset({(0, 5), (17, 21)})),
        GoldText("one", "York is York", frozenset({(0, 4)})),
        GoldText("two", "paris in a day", frozenset()),
        GoldText("three", "a day", frozenset()),
    ]
    counts = SeenCounts(kb, texts)
    assert counts.all == {"paris": Seen(1, 3), "york": Seen(2, 3)}
    assert counts.own == {
        "one": {"paris": Seen(1, 2), "york": Seen(2, 3)},
        "two": {"paris": Seen(0, 1)},
        "three": {},
    }


def test_counts_without_a_document_are_those_of_the_others(kb):
    """What is subtracted for a document is what a model without it would have counted."""
    documents = conversations(6)
    whole = SeenCounts(kb, list(gold_texts(documents)))
    card = detector_training.DetectorCard(encoder=None, seen=whole.all, own=whole.own)
    for left in documents:
        others = SeenCounts(kb, list(gold_texts([one for one in documents if one.id != left.id]))).all
        known = card.seen_elsewhere(left.id)
        assert {key: known(key) for key in others} == others
        assert all(known(key) == Seen(0, 0) for key in whole.all.keys() - others.keys())


# What is made of it


def test_calibration_makes_chances_true():
    chance = numpy.random.default_rng(0)
    true = chance.standard_normal(20_000) * 2 - 1
    right = chance.random(20_000) < 1 / (1 + numpy.exp(-true))
    for scale, moved in ((1.0, 0.0), (4.0, -3.0), (0.2, 1.0), (60.0, 5.0)):
        logits = (true * scale + moved).astype(numpy.float32)
        slope, shift = _calibrated(logits, right)
        assert slope == pytest.approx(1 / scale, rel=0.05)
        assert shift == pytest.approx(-moved / scale, abs=0.05, rel=0.03)
        assert _calibration_error(1 / (1 + numpy.exp(-(slope * logits + shift))), right) < 0.015


def test_calibration_of_logits_that_part_all_or_nothing():
    right = numpy.array([False] * 50 + [True] * 50)
    slope, _ = _calibrated(numpy.where(right, 8.0, -8.0).astype(numpy.float32), right)
    assert slope >= 1
    slope, shift = _calibrated(numpy.where(right, -8.0, 8.0).astype(numpy.float32), right)
    assert (slope, shift) == (0.001, pytest.approx(0, abs=0.01))  # never turned round


def test_the_calibration_error_by_hand():
    chances = numpy.array([0.05, 0.05, 0.75, 0.75, 1.0])
    right = numpy.array([False, False, True, False, True])
    assert _calibration_error(chances, right) == pytest.approx((2 * 0.05 + 2 * 0.25 + 1 * 0.0) / 5)


def test_thresholds_by_hand():
    spans = [(0, 4), (0, 9), (5, 9), (0, 3), (4, 8)]
    chances = numpy.array([0.9, 0.5, 0.3, 0.35, 0.05])
    right = numpy.array([True, False, True, True, False])
    table = _Table(numpy.zeros((5, 1)), right, numpy.array([0, 0, 0, 1, 1]), spans)
    found = {one.threshold: one[1:] for one in _choices(table, chances, 4)}  # one mention is no proposal
    # [0, 9) overlaps the likelier [0, 4), and is never taken.
    assert found[0.02] == pytest.approx((3 / 4, 3 / 4, 6 / 8))
    assert found[0.3] == pytest.approx((1.0, 3 / 4, 6 / 7))
    assert found[0.4] == pytest.approx((1.0, 1 / 4, 2 / 5))
    assert found[0.98] == (1.0, 0.0, 0.0)


SCORED = st.dictionaries(
    st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda place: (place[0], sum(place))),
    st.sampled_from([0.1, 0.4, 0.6, 0.9]),
    max_size=12,
).map(lambda scores: [(start, end, score) for (start, end), score in scores.items()])


def overlap(one, other):
    return one[0] < other[1] and other[0] < one[1]


@given(SCORED)
def test_the_likeliest_are_taken_one_after_the_other(spans):
    left, kept = list(spans), []
    while left:
        best = min(left, key=lambda one: (-one[2], -(one[1] - one[0]), one[0]))
        kept.append(best)
        left = [one for one in left if not overlap(one, best)]
    assert likeliest(spans) == sorted(kept)
    assert not any(overlap(*pair) for pair in combinations(likeliest(spans), 2))


@given(SCORED, st.sampled_from([0.1, 0.4, 0.6, 0.9]))
def test_a_higher_threshold_only_removes(spans, threshold):
    over = [one for one in spans if one[2] >= threshold]
    assert likeliest(over) == [one for one in likeliest(spans) if one[2] >= threshold]


# The whole


@pytest.fixture(scope="module")
def trained(kb, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "detector"
    heard = []
    report = train_detector(
        kb,
        conversations(24),
        folder,
        encoder=None,
        progress=lambda stage, done, total: heard.append((stage, done / total)),
        command="entlink train detector",
        data=lambda: [{"path": "talk.jsonl"}],
    )
    return folder, report, heard


def test_it_learns_what_is_linked(trained):
    folder, report, heard = trained
    card = read_model(folder).card
    assert (report.texts, report.mentions) == (144, sum(len(one.gold) for one in conversations(24)))
    assert report.reachable == report.mentions
    assert report.f1 > 0.95
    assert report.calibration_error < 0.05
    assert (card.threshold, card.choices) == (report.threshold, report.choices)
    assert max(one.f1 for one in report.choices) == report.f1
    assert (card.command, card.data, card.encoder) == ("entlink train detector", [{"path": "talk.jsonl"}], None)
    assert list(dict.fromkeys(stage for stage, _ in heard)) == ["reading texts", "training"]
    assert heard[-1] == ("training", 1.0)
    assert list(folder.parent.iterdir()) == [folder]


def test_documents_of_a_fold_are_held_out_together(trained):
    card = read_model(trained[0]).card
    assert sorted(card.folds) == sorted(one.id for one in conversations(24))
    assert [list(card.folds.values()).count(fold) for fold in range(4)] == [6, 6, 6, 6]


def test_the_same_seed_makes_the_same_detector(kb, trained, tmp_path):
    for seed, same in ((0, True), (1, False)):
        train_detector(kb, conversations(24), tmp_path / str(seed), encoder=None, seed=seed)
        one, other = read_model(trained[0]), read_model(tmp_path / str(seed))
        assert (one.card.sha256 == other.card.sha256) is same
        assert (one.card.folds == other.card.folds) is same


def test_what_counts_for_a_document_does_not_depend_on_its_gold(kb, trained, tmp_path):
    """Without the gold of one document the same is known of names in it; other nets learnt from it."""
    folder, _, _ = trained
    fold = read_model(folder).card.folds["c3"]
    documents = [msgspec.structs.replace(one, gold=()) if one.id == "c3" else one for one in conversations(24)]
    train_detector(kb, documents, tmp_path / "other", encoder=None)
    before, after = read_model(folder), read_model(tmp_path / "other")
    assert before.card.folds == after.card.folds
    known, then = before.card.seen_elsewhere("c3"), after.card.seen_elsewhere("c3")
    assert all(known(key) == then(key) for key in before.card.seen)
    assert any(
        not numpy.array_equal(before.nets[one].hidden, after.nets[one].hidden) for one in range(4) if one != fold
    )


def test_more_rows_than_can_be_learnt_from(kb, tmp_path, monkeypatch):
    monkeypatch.setattr(detector_training, "_MOST_ROWS", 400)
    monkeypatch.setattr(detector_training, "_ROWS_AT_ONCE", 64)
    sizes = []
    fit = detector_training.fit_net

    def counted(rows, right, *how):
        sizes.append((len(rows), int(right.sum())))
        return fit(rows, right, *how)

    monkeypatch.setattr(detector_training, "fit_net", counted)
    report = train_detector(kb, conversations(24), tmp_path / "small", encoder=None)
    assert all(rows == 400 and 0 < right < 200 for rows, right in sizes)
    assert sum(right for _, right in sizes) == 3 * report.mentions
    assert report.f1 > 0.5


# What is refused


def test_too_few_mentions(kb, tmp_path):
    with pytest.raises(InputError, match="have 0 gold mentions in 1 texts, and 50 are needed"):
        train_detector(kb, [Document("d", "Paris")], tmp_path / "none", encoder=None)
    with pytest.raises(InputError, match="Give more documents with gold, or use the detector dictionary"):
        train_detector(kb, conversations(4), tmp_path / "none", encoder=None)
    assert list(tmp_path.iterdir()) == []


def test_too_few_documents(kb, tmp_path):
    parts = conversations(30)
    whole = Document.of_turns("whole", [turn for one in parts for turn in one.turns])
    chance = random.Random(0)
    gold = tuple(
        GoldLink(Span(start, start + 3), ()) for start in chance.sample(range(0, len(whole.text) - 3, 3), 80)
    )
    documents = [msgspec.structs.replace(whole, gold=gold), Document("b", "x"), Document("c", "x")]
    with pytest.raises(InputError, match="in 3 documents, and 4 are needed"):
        train_detector(kb, documents, tmp_path / "none", encoder=None)
    with pytest.raises(InputError, match="all gold mentions are in few documents"):
        train_detector(kb, [*documents, Document("d", "x")], tmp_path / "none", encoder=None)


def test_gold_that_no_proposal_reaches(kb, tmp_path):
    text = "one two three four five six seven"
    gold = tuple(GoldLink(Span(0, end), ()) for end in range(20, len(text) + 1))
    documents = [Document(str(number), text, gold=gold) for number in range(5)]
    with pytest.raises(InputError, match="no gold mention is a run of up to four words or a name"):
        train_detector(kb, documents, tmp_path / "none", encoder=None)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_replaced_unasked(kb, trained, tmp_path):
    folder, _, _ = trained
    with pytest.raises(InputError, match="a detector is there already"):
        train_detector(kb, conversations(24), folder, encoder=None)
    (tmp_path / "notes").mkdir()
    for there in (tmp_path / "notes", folder / "detector.json"):
        with pytest.raises(InputError, match="is no trained detector"):
            train_detector(kb, conversations(24), there, encoder=None, replace=True)
