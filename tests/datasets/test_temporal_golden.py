"""`samples/history/aurora.xml` as of two dates: what each filter leaves was counted by hand.

Links to articles at the beginning of 2013, by target. P is 1 where it is not said.

    Aurora River (1)   Aurora River 2 and once in a table, Aurora 2 (P 2/5), stream 1 (1/2), quayside 1 (1/3),
                       floodland 1 (1/2), Aurora Rivers 1 (1/2), light 1 (1/6), ford 1 by way of a redirect (1/2)
    Aurora Town (2)    Aurora 3 (3/5), stream 1 (1/2), quayside 2 (2/3), floodland 1 (1/2), light 5 (5/6)
    Stub Hill (3)      Stub Hill 1, Aurora Rivers 1 (1/2), ford 1 (1/2)
    Lone Rock (4)      Lone Rock 1, the rock 1 (1/2)
    Comet Wren (5)     Comet Wren 1, the rock 1 (1/2), visitor 1 (1/2), snowball 1 (1/2)
    Harbour Light (7)  Harbour Light 1, visitor 1 (1/2), snowball 1 (1/2)

In running text that is 10 + 12 + 3 + 2 + 4 + 3 = 34 mentions. What a vandal added to page 10 for the two hours around
the snapshot, nine more links, is not among them. A link to no page makes 36 links of the wiki.

2014 has besides: Aurora → 1 once more (now 3/6, and 3/6 → 2); Comet Lark (6) with Comet Lark 1, guest, iceball and
wanderer 1 each (1/2); guest and iceball → 7 (1/2); wanderer → 4 (1/2). 34 + 1 + 4 + 2 + 1 = 42 mentions, 44 links.
Stub Hill is called Stub Mount by then, and its links lead there through the redirect that the move left.
"""

from __future__ import annotations

import msgspec
import pytest

from entlink.datasets.temporal.card import TemporalReport
from entlink.datasets.temporal.rows import SUBSETS, TemporalRow, read_temporal
from entlink.errors import InputError
from temporal_sets import DATES, all_rows, build_aurora, left_by


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("golden") / "aurora"
    return build_aurora(out), out


LEFT = {
    # The best name of each target: 2 + 5 (light) + 1 + 1 + 1 + 1 = 11 of 34; in 2014 Comet Lark, too.
    "min_men_prior_rank": [23, 30],
    # quayside 2 and Aurora 3 → Aurora Town in 2013; in 2014 Aurora means it no more often than not.
    "max_men_prior": [18, 28],
    # Lone Rock has 2 links in 2013, 3 in 2014.
    "min_nr_inlinks": [17, 28],
    # Stub Hill: Aurora Rivers, ford.
    "min_len_target_ent": [15, 26],
    "min_ent_prior": [15, 26],
    "max_ent_prior": [15, 26],
    # light → Aurora River.
    "min_men_prior": [14, 25],
    "min_mens_per_ent": [14, 25],
    # Aurora Rivers → Aurora River: 1 edit of 13.
    "ed_men_title": [13, 24],
    # ford → Aurora River.
    "redirects": [12, 23],
    # In 2014 the three of Comet Wren, which was created in 2012.
    "category": [12, 20],
    # 2013: Aurora Town (2) and Harbour Light (2) have too few names. 2014: Lone Rock (2).
    "ed_men_subsets": [8, 18],
    # One continual entity: Aurora River, which has names enough at both dates, before Aurora Town (5) and Harbour
    # Light (4).
    "nr_ct_ents_per_cut": [8, 9],
    "max_mens_per_ent": [8, 9],
    # The third Aurora of 2014 has none beside it in 2013.
    "equal_snapshots": [8, 8],
}


def test_what_each_filter_leaves(built):
    report, _ = built
    assert left_by(report) == LEFT
    assert [step.number for step in report.additions[0].filters] == [1, 1, 2, 2, 2, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10]
    assert report.additions[0].filters[0].before == [34, 42]


ALONE = {
    "min_men_prior_rank": [11, 12],
    # Titles 2 + 1 + 1 + 1 + 1, light 5, quayside 2, Aurora 3; in 2014 Comet Lark, but not Aurora.
    "max_men_prior": [16, 14],
    "min_nr_inlinks": [2, 0],
    "min_len_target_ent": [3, 3],
    "min_men_prior": [1, 1],
    # Mentions that are the title, and Aurora Rivers; Stub Hill is not the title any more in 2014.
    "ed_men_title": [7, 7],
    # ford → Aurora River, and all three of Stub Hill in 2014.
    "redirects": [1, 4],
}


@pytest.mark.parametrize("name", ALONE)
def test_what_each_filter_would_remove_alone(built, name):
    report, _ = built
    assert next(step for step in report.additions[0].filters if step.name == name).alone == ALONE[name]


@pytest.mark.parametrize(
    ("settings", "name", "left"),
    [
        # Aurora 2 → Aurora River; nothing else of what is left is linked twice.
        ({"min_mens_per_ent": 2}, "min_mens_per_ent", [2, 6]),
        # By the rank of the target among those of the mention, all are first but Aurora 2 and quayside 1 → 1, light
        # 1 → 1: ties are one rank. In 2014 Aurora is a tie, too.
        ({"rank_among": "entities"}, "min_men_prior_rank", [4, 2]),
        ({"min_men_prior_rank": 1}, "min_men_prior_rank", [34, 42]),
        # Links in all: 35 in 2013, 43 in 2014. A tenth is 3.5 and 4.3: Lone Rock, Stub Hill and Harbour Light have
        # fewer in 2013 (3 of the 15 that are left: Harbour Light 2); in 2014 Comet Wren and Comet Lark (3 + 3), and
        # Lone Rock (2), but not Harbour Light, which has 5.
        ({"min_ent_prior": 0.1}, "min_ent_prior", [13, 18]),
        # Half of all links: nobody has so many. A quarter, 8.75: Aurora River and Aurora Town.
        ({"max_ent_prior": 0.5}, "max_ent_prior", [15, 26]),
        ({"max_ent_prior": 0.25}, "max_ent_prior", [5, 12]),
        ({"nr_ct_ents_per_cut": 10}, "nr_ct_ents_per_cut", [8, 18]),
        ({"equal_snapshots": False}, "equal_snapshots", [8, 9]),
        ({"max_mens_per_ent": [1, 1, 1]}, "max_mens_per_ent", [6, 6]),
    ],
)
def test_other_values_of_a_setting(tmp_path, settings, name, left):
    try:
        found = left_by(build_aurora(tmp_path / "set", **settings))[name]
    except InputError as problem:  # nothing is left in the end; the message says what each left in all
        assert f"{name} left {sum(left)};" in f"{problem};".replace(")", ";")
    else:
        assert found == left


def test_the_card_counts_the_wiki(built):
    report, _ = built
    assert [(one.date, one.since) for one in report.contents] == [
        ("2013-01-01T00:00:00Z", "2012-01-02T00:00:00Z"),
        ("2014-01-01T00:00:00Z", "2013-01-01T00:00:00Z"),
    ]
    # Pages 1 to 5, 7, and 10 to 15, 17; a year later 6 and 16 as well. Redirects, the disambiguation page and the
    # talk page are no entities.
    assert [one.pool for one in report.contents] == [13, 15]
    assert [(one.links, one.resolved) for one in report.contents] == [(36, 35), (44, 43)]
    assert [one.entities for one in report.contents] == [{"continual": 1, "new": 1}] * 2


def test_the_rows_are_those_that_were_counted(built):
    _, out = built
    rows = all_rows(out)
    found = {(row.snapshot[:4], row.target_title, row.category): [] for row in rows}
    for row in rows:
        found[row.snapshot[:4], row.target_title, row.category].append(row.mention)
    river = ["Aurora", "Aurora", "floodland", "quayside", "stream"]
    assert {key: sorted(mentions) for key, mentions in found.items()} == {
        ("2013", "Aurora_River", "continual"): river,
        ("2013", "Comet_Wren", "new"): ["snowball", "the rock", "visitor"],
        ("2014", "Aurora_River", "continual"): river,
        ("2014", "Comet_Lark", "new"): ["guest", "iceball", "wanderer"],
    }


RIVER = "The Aurora River rises in the northern hills and runs through a wide green valley down to the sea."


def test_all_attributes_of_a_row(built):
    """Mention quayside of Aurora River as of 2014."""
    _, out = built
    row = next(row for row in all_rows(out) if (row.snapshot, row.mention) == (DATES[1], "quayside"))
    # Its mentions by P in 2014: Aurora River 1; Aurora, stream, floodland, Aurora Rivers, ford 1/2 each; quayside
    # 1/3; light 1/6. The mean of the eight is (1 + 5/2 + 1/3 + 1/6) ÷ 8 = 1/2.
    assert row.avg_men_prior == pytest.approx(0.5)
    expected = {
        "subset": row.subset,
        "target_page_id": 1,
        "target_qid": None,
        "snapshot": "2014-01-01T00:00:00Z",
        "target": RIVER,
        "target_len": 19,
        "target_title": "Aurora_River",
        "category": "continual",
        "mention": "quayside",
        "ed_men_title": 8 / 12,  # u, a, i and e stay
        "overlap_type": "LOW_OVERLAP",
        "men_prior": 1 / 3,
        "men_prior_rank": 3,
        "avg_men_prior": row.avg_men_prior,
        "ent_prior": 12 / 43,
        "nr_inlinks": 12,
        "nr_dist_mens": 8,
        "nr_mens_per_ent": 1,
        "nr_mens_extracted": 1,
        "anchor_creation_date": "2010-01-01T08:00:00Z",
        "anchor_revision_date": "2013-03-01T08:00:00Z",
        "target_creation_date": "2009-03-01T08:00:00Z",
        "target_revision_date": "2009-03-01T08:00:00Z",
    }
    told = msgspec.structs.asdict(row)
    assert list(told) == list(TemporalRow.__struct_fields__)
    assert {name: told[name] for name in expected if name != "nr_mens_extracted"} == {
        name: value for name, value in expected.items() if name != "nr_mens_extracted"
    }
    assert row.nr_mens_extracted == sum(
        other.target_page_id == 1 and (other.snapshot, other.subset) == (row.snapshot, row.subset)
        for other in all_rows(out)
    )
    assert row.context_left.endswith("where the Aurora is wide. Along the stream they reach the ")
    assert row.context_right.startswith(" and the floodland. Some call all of it the Aurora Rivers")
    assert row.context_right.endswith("\n\nIn the evening the Aurora is red.")
    assert row.anchor_len == len(f"{row.context_left}quayside{row.context_right}".split())


def test_the_pool_is_the_wiki_as_of_its_date(built):
    _, out = built
    dataset = read_temporal(out)
    titles = [{entity.target_page_id: entity.target_title for entity in dataset.pool(date)} for date in DATES]
    assert [pages[3] for pages in titles] == ["Stub_Hill", "Stub_Mount"]
    assert [6 in pages for pages in titles] == [False, True]
    guide = next(entity for entity in dataset.pool(DATES[0]) if entity.target_page_id == 10)
    assert guide.target.count("Aurora") == 5  # and not the vandal's nine more
    assert guide.target_revision_date == "2010-01-01T08:00:00Z"


def test_every_mention_is_where_its_contexts_say(built):
    _, out = built
    dataset = read_temporal(out)
    texts = {date: [entity.target for entity in dataset.pool(date)] for date in DATES}
    for row in all_rows(out):
        around = row.context_left + row.mention + row.context_right
        assert any(around in text for text in texts[row.snapshot]), row


def test_the_card_can_be_read_again(built):
    report, out = built
    assert msgspec.json.decode((out / "card.json").read_bytes(), type=TemporalReport) == report
    files = [out / folder / f"{subset}.jsonl" for folder in ("2013-01-01", "2014-01-01") for subset in SUBSETS]
    assert sum(len(path.read_bytes().splitlines()) for path in files) == report.rows == 16
