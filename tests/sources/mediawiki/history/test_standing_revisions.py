from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.sources.mediawiki.dumps.standing import LostTextError, StandingRevisions, Windows
from histories import stable_place

DAY = 86_400
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
# Few moments, so that revisions share them and meet the ends of windows.
MOMENTS = st.integers(0, 12)
REVISIONS = st.lists(st.tuples(MOMENTS, st.booleans()), max_size=12)
SNAPSHOTS = st.sets(MOMENTS, min_size=1, max_size=4).map(sorted)


def stamp(moment: float) -> str:
    return f"{EPOCH + timedelta(days=moment):%Y-%m-%dT%H:%M:%SZ}"


def windows(ends: list[int], length: int) -> Windows:
    return Windows(tuple(stamp(end - length) for end in ends), tuple(map(stamp, ends)))


def feed(revisions: list[tuple[int, int, bool]], ends: list[int], length: int) -> StandingRevisions:
    standing = StandingRevisions(windows(ends, length))
    for moment, id, has_text in revisions:
        standing.add(stamp(moment).encode(), id, b"%d" % id if has_text else None)
    return standing


def chosen(standing: StandingRevisions) -> dict[int, int]:
    return {at: int(revision.data) for revision in standing.stable() for at in revision.snapshots}


def plainly_chosen(revisions: list[tuple[int, int, bool]], ends: list[int], length: int) -> dict[int, int]:
    ordered = sorted(revisions)
    moments, texts = [each[0] for each in ordered], [each[2] for each in ordered]
    places = {at: stable_place(moments, texts, end - length, end) for at, end in enumerate(ends)}
    return {at: ordered[place][1] for at, place in places.items() if place is not None}


@st.composite
def histories(draw):
    """Revisions with numbers of their own, in any order."""
    rows = [(moment, id, has_text) for id, (moment, has_text) in enumerate(draw(REVISIONS), 1)]
    return draw(st.permutations(rows))


@given(histories(), SNAPSHOTS, st.integers(1, 6))
def test_the_same_as_the_rule_in_any_order(revisions, ends, length):
    assert chosen(feed(revisions, ends, length)) == plainly_chosen(revisions, ends, length)


@given(histories(), SNAPSHOTS, st.integers(1, 6))
def test_the_latest_is_known(revisions, ends, length):
    latest = max(revisions)[1] if revisions else None
    stable = feed(revisions, ends, length).stable()
    assert [int(each.data) for each in stable if each.is_latest] in ([], [latest])
    assert {int(each.data) for each in stable if not each.is_latest} <= {each[1] for each in revisions} - {latest}


@given(histories(), SNAPSHOTS, st.integers(1, 6))
def test_what_is_let_go_is_missed_only_out_of_order_and_then_said(revisions, ends, length):
    standing = StandingRevisions(windows(ends, length))
    for moment, id, has_text in revisions:
        standing.add(stamp(moment).encode(), id, b"%d" % id if has_text else None)
        standing.let_go()
    if revisions == sorted(revisions):
        assert chosen(standing) == plainly_chosen(revisions, ends, length)
        return
    try:
        found = chosen(standing)
    except LostTextError:
        return
    assert found == plainly_chosen(revisions, ends, length)


@given(st.lists(MOMENTS, min_size=1, max_size=30).map(sorted), SNAPSHOTS, st.integers(1, 6))
def test_no_more_is_held_than_can_be_chosen(moments, ends, length):
    standing = feed([(moment, 10 + id, True) for id, moment in enumerate(moments)], ends, length)
    following = [*moments[1:], None]
    can = [
        moment
        for moment, later in zip(moments, following, strict=True)
        if later is None or any(moment < end and later > end - length for end in ends)
    ]
    assert standing.held == 2 * len(can)


def test_a_thousand_versions_of_one_window_cost_what_is_chosen():
    standing = StandingRevisions(windows([3000], 3000))
    for moment in range(1000):
        standing.add(stamp(moment).encode(), moment, b"x" * 1000)
        if standing.held > 10_000:
            standing.let_go()
    assert standing.held <= 10_000
    assert [each.snapshots for each in standing.stable()] == [(0,)]


def test_out_of_order_what_was_let_go_is_an_error():
    standing = feed([(0, 1, True), (5, 2, True)], [20], 20)
    standing.let_go()  # 1 stood five days, 2 fifteen: so far
    standing.add(stamp(6).encode(), 4, b"4")
    standing.add(stamp(12).encode(), 5, b"5")
    assert chosen(standing) == {0: 5}
    for moment in (8, 10, 14, 16, 18):
        standing.add(stamp(moment).encode(), 10 + moment, None)
    with pytest.raises(LostTextError):
        standing.stable()
