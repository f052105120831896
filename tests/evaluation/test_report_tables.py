"""Tables of a report before they are written: marks, formats, names, what is left out."""

from __future__ import annotations

from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.evaluation.intervals.resampling import Interval
from entlink.evaluation.report.content import gather
from entlink.evaluation.report.elements import table_element
from entlink.evaluation.report.heat import heat_class, heat_style, relative_class, relative_style
from entlink.evaluation.report.loss_tables import STAGES, Slices, shares_of, slice_table
from entlink.evaluation.report.markup import Html, as_html, readable, tag
from entlink.evaluation.report.plots import PALETTE
from entlink.evaluation.report.runs import named_runs, same_gold, why_apart
from entlink.evaluation.report.table import (
    Amount,
    Chance,
    Gap,
    Group,
    Part,
    Score,
    Shade,
    Table,
    marked,
    without_empty,
    words,
)
from entlink.evaluation.scoring.blame import STAGE_OF
from report_runs import GOLD, made_run


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, ("–", "")),
        ("a", ("a", "")),
        (1234, ("1,234", "")),
        (0.5, ("0.500", "")),
        (Score(0.12345), ("0.123", "")),
        (Score(0.5, Interval(0.4, 0.61)), ("0.500", "0.400–0.610")),
        (Gap(-0.05, Interval(-0.1, 0.02)), ("−0.050", "−0.100 to +0.020")),
        (Gap(0.05), ("+0.050", "")),
        (Part(12, 0.25), ("12", "0.250")),
        (Amount(3.14159), ("3.14", "")),
        (Chance(0.00012), ("0.0001", "")),
    ],
)
def test_cells_in_words(cell, shown):
    assert words(cell) == shown


def test_the_best_is_marked_and_what_overlaps_it():
    best, near, far = Score(0.8, Interval(0.7, 0.9)), Score(0.7, Interval(0.6, 0.75)), Score(0.5, Interval(0.4, 0.6))
    assert [one and one.mark for one in marked([far, best, None, near])] == ["", "best", None, "near"]
    assert [one.mark for one in marked([best, best])] == ["best", "best"]
    assert [one.mark for one in marked([Score(0.2), Score(0.1)])] == ["best", ""]
    assert [one.mark for one in marked([best])] == [""]


def test_columns_in_which_there_is_nothing_go():
    table = Table("t", "T", ("a", "b", "c"), [Group("", [("x", None, 1), ("y", None, None)])])
    assert without_empty(table).columns == ("a", "c")
    assert without_empty(table).rows == [("x", 1), ("y", None)]


def test_runs_of_one_name_are_numbered_and_long_ones_cut_in_the_middle():
    base = made_run(count=3, rounds=0)
    names = ["a", "a", "a #1", "", "long " * 20 + "x", "long " * 20 + "y", "é" * 60, "é" * 61]
    runs = named_runs([msgspec.structs.replace(base, name=name) for name in names])
    assert [run.name for run in runs[:4]] == ["a #2", "a #3", "a #1", "(no name)"]
    assert len({run.name for run in runs}) == len({run.label for run in runs}) == len(names)
    assert runs[4].label == "long long long…ng long long x"
    assert runs[6].label.endswith("é #1")


def test_gold_is_the_same_by_file_or_by_documents():
    one, other = made_run("one"), made_run("other", 0.5)
    assert same_gold(one, other)
    without = msgspec.structs.replace(other, gold=None)
    assert same_gold(one, without)
    assert not same_gold(one, msgspec.structs.replace(other, gold=msgspec.structs.replace(GOLD, sha256="x")))
    assert not same_gold(one, made_run(count=39))
    fewer = msgspec.structs.replace(other.per_document, ids=[f"x{id}" for id in other.per_document.ids])
    assert not same_gold(one, msgspec.structs.replace(other, per_document=fewer))
    assert why_apart(named_runs([one, without])) == []


def test_shares_of_misses_add_up_to_what_is_lost():
    blame = made_run().blame
    parts = shares_of(blame, blame.misses)
    assert sum(part.share for part in parts.values()) == pytest.approx(1 - blame.ceilings.final)
    total = sum(blame.misses.values())
    cause, count = next(iter(blame.misses.items()))
    assert parts[cause].number == count
    assert parts[cause].share == pytest.approx(count / (total / (1 - blame.ceilings.final)))


def test_a_perfect_run_has_nothing_to_blame():
    perfect = made_run("perfect", count=4)
    blame = msgspec.structs.replace(perfect.blame, misses={}, stages={}, wrong={}, examples=[])
    found = gather([msgspec.structs.replace(perfect, blame=blame)], title=None, command="")
    assert not {"causes", "wrong"} & set(found.tables)
    assert {"scores", "ceilings", "accuracy", "spans"} <= set(found.tables)


def test_every_stage_has_a_colour():
    assert set(STAGES) == set(STAGE_OF.values())
    assert len(STAGES) <= len(PALETTE)


def test_a_slice_that_only_one_run_has():
    one, other = made_run("one", slices=("type",)), made_run("other", slices=("meta:domain",))
    report = gather([one, other], title=None, command="")
    table = report.tables["recall"]
    assert [group.title for group in table.groups] == ["type", "meta:domain"]
    news = next(row for row in table.rows if row[0] == "news")
    assert news[2] is None
    assert news[3] == next(part.el_recall for part in other.slices if part.value == "news")


def test_slices_of_documents_have_precision():
    runs = named_runs([made_run(slices=("domain",))])
    table = slice_table(Slices(runs), "domain")
    assert table.columns == ("value", "gold", "documents", "MD recall", "EL recall", "EL precision", "EL F1")
    row = next(row for row in table.rows if row[0] == "news")
    part = next(part for part in runs[0].evaluation.slices if part.value == "news")
    assert row[4] == Score(part.el_recall, part.intervals.recall)
    assert row[6] == Score(part.f1, part.intervals.f1)


def test_differences_say_who_is_better():
    report = gather([made_run("bad", 0.4), made_run("good", 0.9)], title=None, command="")
    table = report.tables["differences"]
    name, *_, gap, chance, better, worse, equal = table.groups[3].rows[0]
    assert (name, table.groups[3].title) == ("good", "EL: mentions with the right entity")
    assert gap.value == pytest.approx(report.runs[1].evaluation.el.micro.f1 - report.runs[0].evaluation.el.micro.f1)
    assert gap.interval.low <= gap.value <= gap.interval.high
    assert chance.p < 0.01
    assert better > worse
    assert better + worse + equal == 40


def test_shares_beyond_the_ends_take_the_last_colour():
    assert [heat_class(share) for share in (-0.1, 0.0, 0.5, 1.0, 1.1)] == ["h0", "h0", "h10", "h20", "h20"]
    assert ".h20{background:#0a375c;color:#fff}" in heat_style()
    assert ".h0{background:#faf4d6;color:#111}" in heat_style()


def test_relative_heat_is_white_in_the_middle():
    assert [relative_class(share) for share in (-2, -1, -0.5, 0, 0.5, 1, 2)] == [
        *("r0", "r0", "r5", "r10", "r15", "r20", "r20")
    ]
    assert ".r10{background:#ffffff;color:#111}" in relative_style()
    ends = [f".r{step}{{background:" in relative_style() for step in range(21)]
    assert all(ends)


def test_a_shaded_cell_is_its_value_in_a_colour():
    table = Table("t", "T", ("row", "a", "b"), [Group("", [("x", Shade(0.25, -1.0), Shade(0.5, 0.0))])])
    element = table_element(table)
    assert '<td class="r0">0.250</td><td class="r10">0.500</td>' in element
    assert '<table class="shades">' in element


class Texts(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.feed(markup)
        self.close()

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, attrs))


@given(st.text())
def test_any_text_is_only_text(text):
    markup = tag("p", text, title=text)
    markup.encode()
    read = Texts(markup)
    assert read.text == readable(text)
    assert read.tags == [("p", [("title", readable(text))])]


def test_markup_is_escaped_once():
    assert as_html(as_html("<&>")) == "&lt;&amp;&gt;"
    assert tag("b", Html("<i>x</i>"), "<", class_="a", hidden=True, lang=None, aria_label="z") == (
        '<b class="a" hidden aria-label="z"><i>x</i>&lt;</b>'
    )
