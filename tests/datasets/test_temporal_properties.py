"""What holds of every temporal dataset: subsets apart, equal numbers, the same bytes whoever builds it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import combinations
from math import floor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.datasets.temporal.build import Reading, build_temporal
from entlink.datasets.temporal.distances import Nearness, edit_distance
from entlink.datasets.temporal.options import checked
from entlink.datasets.temporal.rows import read_temporal, snapshot_folder
from entlink.datasets.temporal.subsets import Splitter, full_snapshots
from temporal_sets import ALONE, all_rows, build_aurora, contents, temporal_options
from wiki_dumps import WikiPage, export

WORDS = ("mill", "tower", "bridge", "garden", "abbey", "market", "quarry", "orchard", "lantern", "harvest")
DAYS = ("2010-01-01", "2011-03-01", "2012-02-01", "2013-02-01", "2014-02-01")


def made_history(path: Path, seed: int, pages: int = 60) -> Path:
    """Pages that link each other by two words of ten, so that most names mean several; some begin later."""
    pick = random.Random(seed)
    titles = [f"{pick.choice(WORDS).title()} {number} of the {pick.choice(WORDS)}" for number in range(pages)]

    def text(day: int) -> str:
        known = titles[: pages // 2 + day * pages // 10]
        recent = known[-(pages // 10) :] if day else known
        targets = (pick.choice(pick.choice((known, recent))) for _ in range(6 + 5 * day))
        links = (f"[[{target}|{pick.choice(WORDS)} {pick.choice(WORDS)}]]" for target in targets)
        return " ".join(f"Something is said here of {link}." for link in links)

    def revisions(number: int) -> list[tuple[str, str, str]]:
        first = 0 if number < pages // 2 else 1 + (number - pages // 2) * 10 // pages
        return [(f"{DAYS[day]}T00:00:00Z", "", text(day)) for day in range(min(first, 4), 5)]

    path.write_text(export(WikiPage(title, revisions=revisions(number)) for number, title in enumerate(titles)))
    return path


SETTINGS = {
    "snapshots": ("2012-01-01", "2013-01-01", "2014-01-01", "2015-01-01"),
    "min_nr_inlinks": 2,
    "max_mens_per_ent": (20, 3, 3),
    "nr_ct_ents_per_cut": 12,
}


@pytest.fixture(scope="module", params=[1, 2])
def made(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("properties")
    history = made_history(folder / "history.xml", request.param)
    report = build_temporal(history, folder / "set", temporal_options(**SETTINGS), ALONE)
    return history, folder / "set", report


def test_mentions_of_different_subsets_are_apart_in_all_snapshots(made):
    _, out, _ = made
    subsets: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in all_rows(out):
        subsets[row.target_page_id][row.subset].add(row.mention)
    pairs = 0
    for entity in subsets.values():
        for first, second in combinations(entity.values(), 2):
            for one in first:
                for other in second:
                    pairs += 1
                    assert edit_distance(one, other) >= 0.2, (one, other)
    assert pairs > 20


def test_numbers_are_equal_in_all_snapshots(made):
    _, out, report = made
    curves: dict[tuple[str, str], dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for row in all_rows(out):
        curves[row.category, row.subset][row.snapshot][row.target_page_id] += 1
    assert {category for category, _ in curves} == {"continual", "new"}
    for of_snapshots in curves.values():
        assert len(of_snapshots) == 4
        assert len({tuple(sorted(counts.values())) for counts in of_snapshots.values()}) == 1
    assert len({tuple(one.entities.values()) for one in report.contents}) == 1


def test_every_row_passes_every_filter(made):
    _, out, _ = made
    rows = all_rows(out)
    counts = Counter((row.snapshot, row.subset, row.target_page_id) for row in rows)
    for row in rows:
        assert row.men_prior_rank >= 2
        assert 0.0001 <= row.men_prior <= 0.5
        assert row.nr_inlinks >= 2
        assert row.target_len >= 10
        assert row.ed_men_title >= 0.2
        assert row.nr_mens_extracted == counts[row.snapshot, row.subset, row.target_page_id]
        assert row.nr_mens_extracted <= (20 if row.subset == "train" else 3)
        assert row.ed_men_title == edit_distance(row.mention, row.target_title)


def test_categories_are_what_they_say(made):
    _, out, report = made
    dataset = read_temporal(out)
    pools = {date: {entity.target_page_id for entity in dataset.pool(date)} for date in dataset.dates}
    since = {one.date: one.since for one in report.contents}
    for row in all_rows(out):
        if row.category == "continual":
            assert all(row.target_page_id in pool for pool in pools.values())
            assert row.target_creation_date <= min(since.values())
        else:
            assert since[row.snapshot] < row.target_creation_date <= row.snapshot
        assert row.target_page_id in pools[row.snapshot]


def test_the_same_seed_gives_the_same_bytes_with_two_processes(made, tmp_path, monkeypatch):
    from entlink.datasets.temporal import steps

    history, out, _ = made
    monkeypatch.setattr(steps, "_SMALL", 0)
    build_temporal(history, tmp_path / "two", temporal_options(**SETTINGS), Reading(processes=2))
    assert contents(tmp_path / "two") == contents(out)


def test_another_seed_gives_other_rows_of_the_same_number(made, tmp_path):
    history, out, _ = made
    other = tmp_path / "other"
    build_temporal(history, other, temporal_options(**SETTINGS, seed=1), ALONE)
    assert contents(other) != contents(out)


def test_snapshots_need_not_be_equal(made, tmp_path):
    history, out, _ = made
    report = build_temporal(history, tmp_path / "free", temporal_options(**SETTINGS, equal_snapshots=False), ALONE)
    step = report.additions[0].filters[-1]
    assert step.before == step.left
    assert len(all_rows(tmp_path / "free")) > len(all_rows(out))


# Distances


def test_the_published_distances():
    """Tables 3 and 4, which cut off after four places: 16 ÷ 17 and 20 ÷ 37."""
    assert floor(edit_distance("host", "Sacramental_bread") * 10**4) == 9411
    assert floor(edit_distance("COVID-19 pandemic", "COVID-19_pandemic_in_Portland,_Oregon") * 10**4) == 5405


@given(st.text(max_size=12), st.text(max_size=12), st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0]))
def test_near_is_below_the_bound(one, other, bound):
    one, other = one.replace("_", " "), other.replace("_", " ")
    assert Nearness(bound)(one, other) == (edit_distance(one, other) < bound)
    shorter, longer = sorted((len(one), len(other)))
    assert Nearness(bound).may_be(shorter, longer) or not Nearness(bound)(one, other)


USES = st.dictionaries(
    st.text("abc", min_size=1, max_size=9),
    st.dictionaries(st.integers(0, 3), st.integers(1, 5), min_size=1),
    max_size=12,
)


@given(USES, st.integers(0, 5))
def test_subsets_of_any_mentions_are_apart(uses, seed):
    splitter = Splitter(temporal_options(seed=seed))
    places = splitter.split(7, uses, {})
    assert places.keys() == uses.keys()
    for one, other in combinations(uses, 2):
        if edit_distance(one, other) < 0.2:
            assert places[one] == places[other]
    assert places == splitter.split(7, dict(reversed(uses.items())), {})
    for snapshot in full_snapshots(uses, places):
        assert {places[mention] for mention in uses if snapshot in uses[mention]} == {0, 1, 2}


@given(USES, st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(0, 2), max_size=6))
def test_what_is_placed_already_stays(uses, fixed):
    places = Splitter(temporal_options()).split(7, uses, fixed)
    for mention, place in places.items():
        assert fixed.get(mention, place) == place
        for other, taken in fixed.items():
            if mention not in fixed and edit_distance(mention, other) < 0.2:
                assert taken == place


def test_three_names_of_one_snapshot_go_into_three_subsets():
    uses = {"alpha": {0: 3}, "beta": {0: 1}, "gamma": {0: 1}, "gamma!": {0: 1}}
    places = Splitter(temporal_options()).split(1, uses, {})
    assert places["alpha"] == 0
    assert {places["beta"], places["gamma"]} == {1, 2}
    assert places["gamma"] == places["gamma!"]


def test_names_that_fill_a_gap_go_where_it_is():
    """In snapshot 1 only `delta` and `epsilon` are there beside `alpha`."""
    uses = {"alpha": {0: 9, 1: 9}, "beta": {0: 2}, "gamma": {0: 2}, "delta": {1: 1}, "epsilon": {1: 1}}
    for seed in range(5):
        places = Splitter(temporal_options(seed=seed)).split(1, uses, {})
        assert full_snapshots(uses, places) == {0, 1}


def test_folders_are_named_by_day_or_moment():
    assert snapshot_folder("2013-01-01T00:00:00Z") == "2013-01-01"
    assert snapshot_folder("2013-01-01T12:30:00Z") == "2013-01-01T123000Z"


def test_settings_as_read_are_checked_alike():
    assert checked({"max_mens_per_ent": [5, 2, 1]}).max_mens_per_ent == (5, 2, 1)


def test_a_row_of_the_sample_has_the_seed_of_its_settings(tmp_path):
    assert build_aurora(tmp_path / "a", seed=5).options["seed"] == 5
