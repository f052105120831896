"""The everyday paragraphs fit together, and their scorer counts as its README says."""

from __future__ import annotations

import importlib
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from entlink.documents import Link, Mention, Span

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "everyday"


@pytest.fixture
def score(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("score")


@pytest.fixture
def paragraphs(score):
    return score.read()


def linked(text, surface, entity, score=0.9, start=None):
    start = text.index(surface) if start is None else start
    return Link(Mention(Span(start, start + len(surface)), surface), entity, score, title=entity)


def test_there_are_sixty_a_quarter_chinese_half_for_reporting(paragraphs):
    assert len({one.id for one in paragraphs}) == len(paragraphs) == 60
    assert Counter(one.split for one in paragraphs) == {"tune": 30, "report": 30}
    assert Counter(one.language for one in paragraphs) == {"en": 45, "zh": 15}
    kinds = Counter((one.kind, one.split) for one in paragraphs)
    assert all(abs(kinds[kind, "tune"] - kinds[kind, "report"]) <= 1 for kind, _ in kinds)


def test_spans_cover_their_surfaces(paragraphs):
    for one in paragraphs:
        for wanted in one.wanted:
            start, end = wanted.spans[0]
            assert one.text[start:end] == wanted.surface, one.id
            for other in wanted.spans[1:]:
                shorter, longer = sorted((one.text[slice(*other)], wanted.surface), key=len)
                assert shorter in longer, one.id
        for marked in (*one.tolerated, *one.forbidden):
            assert one.text[slice(*marked.span)] == marked.surface, one.id


def test_no_two_wanted_links_overlap_and_no_span_has_two_answers(paragraphs):
    for one in paragraphs:
        for left, right in combinations(one.wanted, 2):
            for start, end in left.spans:
                assert all(end <= other or last <= start for other, last in right.spans), (one.id, left.surface)
        places = [span for wanted in one.wanted for span in wanted.spans] + [also.span for also in one.tolerated]
        assert len(set(places)) == len(places), one.id


def test_lengths_are_those_of_paragraphs(paragraphs):
    for one in paragraphs:
        if one.language == "zh":
            assert 60 <= len(one.text) <= 200, one.id
        else:
            assert 40 <= len(one.text.split()) <= 130, one.id


def test_links_are_judged_by_span_and_entity(score):
    text = "The Lakers beat Boston on Friday, next to Lake Erie."
    paragraph = score.Paragraph(
        "made", "tune", "sport", "en", text,
        (
            score.Wanted(((4, 10), (0, 10)), "Lakers", "Los Angeles Lakers"),
            score.Wanted(((16, 22),), "Boston", "Boston Celtics", ("Boston",)),
            score.Wanted(((42, 51),), "Lake Erie", "Lake Erie"),
        ),
        (score.Tolerated((26, 32), "Friday", ("Friday",)),),
        (score.Trap((34, 38), "next", "ordinary word"),),
    )  # fmt: skip
    ids = {title: title for title in paragraph.titles()}
    links = [
        linked(text, "The Lakers", "Los Angeles Lakers"),
        linked(text, "Boston", "Boston", 0.8),
        linked(text, "Friday", "Friday"),
        linked(text, "next", "NeXT", 0.3),
        linked(text, "Erie", "Lake Erie", 0.3),
        linked(text, "to", None),
    ]
    result = score.judge(paragraph, links, ids)
    assert [one.verdict for one in result.links] == ["ok", "ok", "tolerated", "WRONG", "WRONG"]
    assert result.links[3].why == "ordinary word"
    assert [one.surface for one in result.missed] == ["Lake Erie"]
    counted = score.Score.over([result])
    assert (counted.precision, counted.recall, counted.tolerated) == (0.5, pytest.approx(2 / 3), 1)
    assert counted.calibration == pytest.approx((0.1 + 0.2 + 0.6) / 4)


def test_calibration_error_weighs_bins_by_their_links(score):
    scored = [(0.95, True), (0.95, True), (0.15, False), (1.0, False)]
    judged = [score.Scored(probability, right, nil=False) for probability, right in scored]
    assert score.calibration_error(score.reliability(judged)) == pytest.approx((abs(2.9 - 2) + 0.15) / 4)
    assert score.calibration_error(score.reliability([])) == 0.0
