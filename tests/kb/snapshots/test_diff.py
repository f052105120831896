"""What changed from one snapshot to another, or from one knowledge base to another."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import entlink
from entlink import KnowledgeBase
from entlink.documents import Entity
from entlink.kb.snapshots.diff import Changed, Named, Renamed, diff, similarity

TEMPORAL = Path(__file__).parents[4] / "shared" / "data" / "zhwiki_temporal_changed_20k.jsonl.xz"


def test_what_appeared_was_renamed_and_changed(made):
    with KnowledgeBase.open(made) as kb:
        first, second = kb.diff("2013-06-01", "2018"), kb.diff("2018", "2020")
        back = kb.diff("2018", "2013")
    assert (first.before, first.after) == ("2013-01-01", "2018-01-01")
    assert {one.title for one in first.appeared} == {"Larkham Lantern Night", "Heron (café)", "Mira Solano"}
    assert Named("Mira Solano", "Mira Solano", "7") in first.appeared == back.gone
    assert second.renamed == [Renamed("Anna Bright Bridge", "Anna Bright Bridge", "Old Bridge")]
    assert [one.title for one in second.changed] == ["Heron (ferry)", "Larkham", "Heron (café)", "Anna Bright Bridge"]
    assert Changed("Heron (café)", "Heron (café)", 0.7586, 11, 18) in second.changed
    assert second.counts == {
        "before": 6,
        "after": 6,
        "appeared": 0,
        "gone": 0,
        "renamed": 1,
        "changed": 4,
        "unchanged": 2,
        "names_before": 9,
        "names_after": 10,
        "names_appeared": 1,
        "names_gone": 0,
        "names_moved": 1,
    }


def test_names_that_moved(made):
    with KnowledgeBase.open(made) as kb:
        (moved,) = kb.diff("2018", "2020").names_moved
    assert (moved.name, moved.moved) == ("Heron", 0.1667)
    assert (moved.before.id, moved.before.probability) == ("Heron (ferry)", 0.5)
    assert (moved.after.id, moved.after.probability) == ("Heron (café)", 0.6667)


def test_a_limit_lists_the_largest_and_counts_all(made):
    with KnowledgeBase.open(made) as kb:
        found, all_of_them = kb.diff("2013", "2020", limit=1), kb.diff("2013", "2020")
    assert found.counts == all_of_them.counts
    assert found.changed == all_of_them.changed[:1] and found.appeared == all_of_them.appeared[:1]


def test_nothing_changed_from_a_snapshot_to_itself(made):
    with KnowledgeBase.open(made) as kb:
        counts = kb.diff("2018", "2018").counts
    changed = ("appeared", "gone", "renamed", "changed", "names_appeared", "names_gone", "names_moved")
    assert counts["unchanged"] == 6 and not any(counts[name] for name in changed)


def test_edits_since_a_snapshot(own):
    with KnowledgeBase.open(own) as kb, kb.as_of("2020") as then:
        kb.add(Entity("Heron (bus)", "Heron (bus)"), weight=40)
        kb.remove("Mira Solano")
        found = diff(then, kb)
    assert [one.id for one in found.appeared] == ["Heron (bus)"] and [one.id for one in found.gone] == ["Mira Solano"]
    assert [(one.name, one.after.id) for one in found.names_moved] == [("Heron", "Heron (bus)")]
    assert found.before.endswith("2020-01-01") or found.before == "2020-01-01"


def test_two_knowledge_bases_by_id(tmp_path):
    for name, rows in (("a", [("1", "One"), ("2", "Two")]), ("b", [("2", "Zwei"), ("3", "Three")])):
        table = tmp_path / f"{name}.jsonl"
        table.write_text("".join(json.dumps({"id": id, "title": title}) + "\n" for id, title in rows))
        entlink.build(table, tmp_path / f"{name}.kb")
    with KnowledgeBase.open(tmp_path / "a.kb") as a, KnowledgeBase.open(tmp_path / "b.kb") as b:
        found = diff(a, b)
    assert [one.id for one in found.gone] == ["1"] and [one.id for one in found.appeared] == ["3"]
    assert found.renamed == [Renamed("2", "Zwei", "Two")]
    assert (found.before, found.after) == (str(tmp_path / "a.kb"), str(tmp_path / "b.kb"))


def test_another_page_with_the_same_title_is_another_entity(own, tmp_path):
    """An id may be a title, and the title go to another page."""
    changed = shutil.copytree(own, tmp_path / "changed.kb")
    with KnowledgeBase.open(changed) as kb:
        kb.remove("Mira Solano")
        kb.add(Entity("Mira Solano", "Mira Solano", external={"page": "99"}))
    with KnowledgeBase.open(own) as a, KnowledgeBase.open(changed) as b:
        found = diff(a, b)
    assert [(one.page, one.id) for one in found.gone] == [("7", "Mira Solano")]
    assert [(one.page, one.id) for one in found.appeared] == [("99", "Mira Solano")]


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_similarity_is_the_share_of_words_that_both_have_in_one_order(one, two):
    longest = _longest_common(one, two)
    expected = 2 * longest / (len(one) + len(two)) if one or two else 1.0
    assert similarity(" ".join(one), " ".join(two)) == (pytest.approx(expected, abs=1e-4), len(one), len(two))


def _longest_common(one, two):
    row = [0] * (len(two) + 1)
    for word in one:
        before = row[:]
        for place, other in enumerate(two, 1):
            row[place] = before[place - 1] + 1 if word == other else max(before[place], row[place - 1])
    return row[-1]


def test_where_words_have_no_spaces_characters_count():
    assert similarity("水星是行星。", "水星是恒星。") == (pytest.approx(10 / 12, abs=1e-4), 6, 6)


@pytest.mark.skipif(not TEMPORAL.exists(), reason=f"{TEMPORAL} is not here")
def test_two_extracts_of_the_chinese_wikipedia(tmp_path):
    """Pages are known by their id, and the texts of both years are compared by characters."""
    with lzma.open(TEMPORAL, "rt", encoding="utf8") as rows:
        pages = [json.loads(row) for row, _ in zip(rows, range(300), strict=False)]
    for year in ("2019", "2020"):
        table = tmp_path / f"{year}.jsonl"
        lines = (
            {"id": str(one["id"]), "title": one[f"title_{year}"], "description": one[f"text_{year}"]} for one in pages
        )
        table.write_text("".join(json.dumps(line) + "\n" for line in lines))
        entlink.build(table, tmp_path / f"{year}.kb", entlink.BuildOptions(language="zh"))
    with KnowledgeBase.open(tmp_path / "2019.kb") as a, KnowledgeBase.open(tmp_path / "2020.kb") as b:
        counts = diff(a, b).counts
    assert counts["appeared"] == counts["gone"] == 0
    assert counts["renamed"] == sum(one["title_2019"] != one["title_2020"] for one in pages)
    assert counts["changed"] == sum(one["text_2019"] != one["text_2020"] for one in pages)
