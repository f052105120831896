"""Gold and predictions that do not fit together are told, with what and where."""

from __future__ import annotations

import math

import pytest

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.errors import InputError, SpanError
from entlink.evaluation import EvaluationOptions, Matching, evaluate
from entlink.evaluation.aligning import Aligned
from entlink.evaluation.offsets import OffsetWatch
from worked import TEXT, counts, gold, link


def wanted(id: str = "d", text: str = TEXT) -> Document:
    return Document(id, text, gold=(gold("Paris", "paris"),))


def given(id: str = "d", text: str = TEXT, *links: Link) -> Document:
    return Document(id, text, links=links or (link("Paris", "paris"),))


def score(golds, predictions, **options):
    return evaluate(golds, predictions, EvaluationOptions(rounds=0, **options))


def test_other_documents_stop_the_scoring_and_are_named():
    with pytest.raises(
        InputError, match=r"1 of 2 gold documents have no predictions \('b'\) and 1 documents"
    ) as told:
        score([wanted("a"), wanted("b")], [given("a"), given("c")])
    assert "'c'" in str(told.value)
    assert "--missing empty" in str(told.value)


def test_what_is_missing_can_count_as_empty_or_be_left_out():
    golds, predictions = [wanted("a"), wanted("b")], [given("a"), given("c")]
    empty = score(golds, predictions, missing="empty")
    assert (counts(empty, "el"), empty.documents) == ((1, 2, 2), 3)
    assert any("gold documents without predictions: 1" in note for note in empty.notes)
    skipped = score(golds, predictions, missing="skip")
    assert (counts(skipped, "el"), skipped.documents) == ((1, 1, 1), 1)


def test_any_order_is_aligned_and_the_usual_one_held_one_at_a_time():
    ids = [str(number) for number in range(20)]
    aligned = Aligned([wanted(id) for id in ids], (given(id) for id in reversed(ids)))
    assert [(pair.gold.id, pair.predicted.id) for pair in aligned] == [(id, id) for id in ids]
    in_order = Aligned([wanted(id) for id in ids], (given(id) for id in ids))
    held = [len(in_order._waiting) for _ in in_order]
    assert max(held) == 0


@pytest.mark.parametrize(("golds", "predictions"), [("aa", "a"), ("a", "aa"), ("ab", "bba")])
def test_two_documents_with_one_id(golds, predictions):
    with pytest.raises(InputError, match="have the id"):
        score([wanted(id) for id in golds], [given(id) for id in predictions], missing="empty")


def test_different_texts_are_shown_where_they_differ():
    with pytest.raises(InputError, match=r"different texts from character 6 on: 'met Berlin.*' and 'saw Berlin"):
        score([wanted()], [given(text=TEXT.replace("met", "saw"))])


def test_a_score_that_is_no_number():
    with pytest.raises(InputError, match=r"document 'd': the score of 'Paris' is not a number \(NaN\)"):
        score([wanted()], [given("d", TEXT, link("Paris", "paris", score=math.nan))])


def test_nothing_to_score():
    with pytest.raises(InputError, match="nothing to score"):
        score([Document("d", TEXT)], [given()])
    with pytest.raises(InputError, match="nothing to score"):
        score([], [])


ACCENTS = "Été à Zürich: Renée aime Paris."


@pytest.mark.parametrize(
    ("span", "unit"),
    [
        (Span(len(ACCENTS[:25].encode()), len(ACCENTS[:30].encode())), "bytes"),
        (Span(5, 6), "tokens"),
        (Span(25, 29), "characters with the end included"),
        (Span(26, 31), "characters counted from 1"),
    ],
)
def test_offsets_that_count_something_else_are_told(span, unit):
    text = ACCENTS.replace("Paris.", "Paris .")
    golds = [Document("d", text, gold=(GoldLink(Span(25, 30), ("paris",)),))]
    with pytest.raises(SpanError, match=f"counts {unit}.*count characters"):
        score(golds, [Document("d", text, links=(Link(Mention(span, "Paris"), "paris", 1.0),))])


def test_a_span_outside_the_text():
    far = Link(Mention(Span(900, 905), "Nowhere"), "x", 1.0)
    with pytest.raises(SpanError, match="900-905 of 'Nowhere' lies outside the text of 75 characters"):
        score([wanted()], [Document("d", TEXT, links=(far,))])


def test_gold_offsets_that_look_like_tokens_are_noted():
    text = "The committee members discussed several important questions concerning international railway traffic."
    tokens = [GoldLink(Span(place, place + 1), ("x",)) for place in (1, 2, 4, 5, 6, 7)]
    golds = [Document(str(number), text, gold=tuple(tokens)) for number in range(4)]
    found = score(golds, [Document(str(number), text) for number in range(4)])
    assert any("look like tokens" in note for note in found.notes)


def test_spans_of_whole_words_raise_no_doubt():
    watch = OffsetWatch("gold")
    for _ in range(20):
        watch.see(TEXT, [link.span for link in (gold("Paris", "a"), gold("New York City", "b"))])
    assert (watch.spans, watch.cut, watch.verdict()) == (40, 0, None)


def test_a_script_without_spaces_is_not_judged_by_words():
    watch = OffsetWatch("gold")
    watch.see("北京是中华人民共和国的首都" * 5, [Span(0, 2)] * 50)
    assert watch.verdict() is None


def test_overlapping_gold_counts_and_is_noted():
    golds = [Document("d", TEXT, gold=(gold("New York", "ny"), gold("New York City", "nyc")))]
    found = score(golds, [Document("d", TEXT, links=(link("New York City", "nyc"),))])
    assert counts(found, "el") == (1, 1, 2)
    assert "gold spans that overlap another: 1; each counts" in found.notes


def test_no_entity_agrees_though_mentions_do():
    text = " ".join("abcdefghijkl")
    golds = [Document("d", text, gold=tuple(gold(one, f"Q{ord(one)}", text=text) for one in text.split()))]
    answers = [Document("d", text, links=tuple(link(one, one.upper(), text=text) for one in text.split()))]
    found = score(golds, answers)
    assert any("different identifiers" in note and "--kb" in note for note in found.notes)


def test_strict_matching_cannot_be_without_offsets():
    rows = Document(
        "d", "Paris", links=(Link(Mention(Span(0, 5), "Paris"), "paris", 1.0),), meta={"lacks": "offsets"}
    )
    with pytest.raises(InputError, match="the predictions have no offsets, so that strict"):
        score([wanted()], [rows], matching=Matching.STRICT)
    assert score([wanted()], [rows]).convention.matching == "string"
