"""Types of entities: transitive ones against brute force, coarse and fine ones, edits, filters."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import entlink
from entlink import Entity, KnowledgeBase
from entlink.errors import InputError, SourceError
from entlink.kb.types.facts import is_date
from entlink.kb.types.hierarchy import Hierarchy
from entlink.kb.types.overview import coverage, types_overview

PARENTS = [
    ("Q5", "Q215627"),
    ("Q6581097", "Q48264"),
    ("Q515", "Q486972"),
    ("Q486972", "Q618123"),
    ("Q4830453", "Q43229"),
]
# Cycles as Wikidata has them, one of them above a coarse type.
CYCLES = [("Q215627", "Q830077"), ("Q830077", "Q215627"), ("Q1", "Q2"), ("Q2", "Q1")]
ROWS = [
    {
        "id": "ada",
        "title": "Ada",
        "types": ["Q5"],
        "claims": {"P31": ["Q5"], "P27": ["Q145"], "P569": ["1815-12-10"]},
    },
    {"id": "bob", "title": "Bob", "types": ["Q5"], "claims": {"P31": ["Q5"], "P27": ["Q30"]}},
    {"id": "rome", "title": "Rome", "types": ["Q515"], "claims": {"P31": ["Q515"]}},
    {"id": "acme", "title": "Acme", "types": ["Q99", "Q4830453"], "claims": {"P31": ["Q99", "Q4830453"]}},
    {"id": "both", "title": "Both", "types": ["Q4830453", "Q5"], "claims": {"P31": ["Q4830453", "Q5"]}},
    {"id": "loop", "title": "Loop", "types": ["Q1"], "claims": {"P31": ["Q1"]}},
    {"id": "bare", "title": "Bare"},
]


def built(folder: Path, rows: Iterable[Mapping[str, Any]], name: str = "made") -> KnowledgeBase:
    table = folder / f"{name}.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    entlink.build(table, folder / f"{name}.kb")
    return KnowledgeBase.open(folder / f"{name}.kb")


@pytest.fixture
def wikidata(tmp_path: Path) -> KnowledgeBase:
    kb = built(tmp_path, ROWS)
    kb.set_types(hierarchy=[*PARENTS, *CYCLES], names=[("Q5", "human"), ("Q515", "city")])
    return kb


def test_types_above_through_a_cycle(wikidata: KnowledgeBase) -> None:
    assert wikidata.types("ada") == ("Q5",)
    assert wikidata.types.all_types("ada") == {"Q5", "Q215627", "Q830077"}
    assert wikidata.types.all_types("bare") == wikidata.types.all_types("nobody") == frozenset()
    assert (wikidata.types.name("Q5"), wikidata.types.name("Q1")) == ("human", "Q1")


def test_coarse_types_are_those_of_table_2_in_its_order(wikidata: KnowledgeBase) -> None:
    ids = ("ada", "rome", "acme", "both", "loop", "bare")
    # `both` names the company first: a person is first in the table.
    assert [wikidata.types.coarse(id) for id in ids] == ["PER", "LOC", "ORG", "PER", "OTHER", None]
    assert wikidata.types.coarse_counts() == {"PER": 3, "LOC": 1, "ORG": 1, "OTHER": 1}


def test_categories_beside_types_of_wikidata_have_no_coarse_type(tmp_path: Path) -> None:
    rows = [("ada", ["Q5"]), ("heron", ["Birds"]), ("both", ["Birds", "Q5"]), ("rest", ["Q77"])]
    kb = built(tmp_path, [{"id": id, "title": id, "types": types} for id, types in rows])
    assert [kb.types.coarse(id) for id, _ in rows] == ["PER", None, "PER", "OTHER"]


edges = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=14, unique=True)


@given(edges, st.sets(st.sampled_from("abcdefg")))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_types_above_and_below_are_the_closure(pairs: list[tuple[str, str]], used: set[str]) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE type_parents (type, parent); CREATE TABLE types (type, entity);")
    connection.executemany("INSERT INTO type_parents VALUES (?, ?)", pairs)
    connection.executemany("INSERT INTO types VALUES (?, 1)", [(one,) for one in used])
    closure = {(one, one) for one in "abcdefg"} | set(pairs)
    while more := {(a, d) for a, b in closure for c, d in closure if b == c} - closure:
        closure |= more
    hierarchy = Hierarchy(connection)
    for one in "abcdefg":
        assert hierarchy.above(one) == {above for below, above in closure if below == one}
        assert hierarchy.below(one) == {below for below, above in closure if above == one} & used
    connection.close()


def test_fine_types_are_the_most_frequent_pairs(wikidata: KnowledgeBase) -> None:
    wikidata.index(fine_types=3)
    assert wikidata.types.fine_counts() == {"P31-Q5": 3, "P31-Q4830453": 2, "P27-Q145": 1}  # of equals, the first
    assert wikidata.types.fine("ada") == ("P31-Q5", "P27-Q145")
    assert wikidata.types.fine("both") == ("P31-Q5", "P31-Q4830453")
    wikidata.index()  # as many again with the next index
    assert len(wikidata.types.fine_counts()) == 3


def test_fine_types_without_a_limit_leave_out_dates_only(wikidata: KnowledgeBase) -> None:
    pairs = [(p, v) for row in ROWS for p, values in row.get("claims", {}).items() for v in values]  # type: ignore[attr-defined]
    expected = {f"{p}-{v}": pairs.count((p, v)) for p, v in pairs if p != "P569"}
    assert wikidata.types.fine_counts() == expected


@pytest.mark.parametrize("date", ["1976", "1976-04", "1976-04-01", "197X", "-0043", "-0043-03-15", "0000"])
def test_dates_however_precise_are_dates(date: str) -> None:
    assert is_date(date)


@pytest.mark.parametrize("value", ["Q1976", "19761", "1976 AD", "art", "ISO-8601"])
def test_other_values_are_no_dates(value: str) -> None:
    assert not is_date(value)


def test_counting_in_pieces_gives_the_same(wikidata: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = wikidata.types.fine_counts()
    monkeypatch.setattr("entlink.kb.types.top_snaks._IN_MEMORY", 2)
    wikidata.index()
    assert list(wikidata.types.fine_counts().items()) == list(whole.items())


def test_without_claims_fine_types_are_of_types_and_cover_new_entities(tmp_path: Path) -> None:
    kb = built(tmp_path, [{"id": "a", "title": "A", "types": ["physics"]}, {"id": "b", "title": "B"}])
    assert kb.types.fine("a") == ("type-physics",)
    rows = [("a", ["art"]), ("c", ["physics", "art"]), ("d", ["art"]), ("e", [])]  # a is known, so that it is not new
    new = built(tmp_path, [{"id": id, "title": id, "types": types} for id, types in rows], "new")
    found = coverage(kb, new)
    assert (found.entities, found.with_facts, found.covered) == (3, 2, 1)
    assert found.share == pytest.approx(1 / 3)


def test_own_types_are_coarse_by_their_topmost(tmp_path: Path) -> None:
    rows = [("owl", ["Science.Biology.Birds", "Art"]), ("pi", ["Mathematics"]), ("bare", [])]
    kb = built(tmp_path, [{"id": id, "title": id, "types": types} for id, types in rows])
    assert [kb.types.coarse(id) for id, _ in rows] == ["Science.Biology.Birds", "Mathematics", None]
    assert kb.set_types(separator=".").parents == 2
    assert [kb.types.coarse(id) for id, _ in rows] == ["Science", "Mathematics", None]
    assert kb.types.all_types("owl") == {"Science.Biology.Birds", "Science.Biology", "Science", "Art"}
    kb.set_types(coarse=[("NATURE", "Science"), ("NUMBER", "Mathematics")])
    assert [kb.types.coarse(id) for id, _ in rows] == ["NATURE", "NUMBER", None]
    kb.set_types(coarse=[])
    assert kb.types.coarse("owl") == "Science"


def test_files_of_two_columns(tmp_path: Path) -> None:
    kb = built(tmp_path, [{"id": "owl", "title": "Owl", "types": ["bird"]}])
    (tmp_path / "up.tsv").write_text("child\tparent\nbird\tanimal\n\nanimal\tbeing\n")
    (tmp_path / "names.csv").write_text('\ufeffbird,"birds, all"\n', encoding="utf8")
    (tmp_path / "coarse.csv").write_text("coarse,type\nLIFE,being\n")
    report = kb.set_types(
        hierarchy=tmp_path / "up.tsv", names=tmp_path / "names.csv", coarse=str(tmp_path / "coarse.csv")
    )
    assert (report.parents, report.names, report.coarse) == (2, 1, 1)
    assert (kb.types.coarse("owl"), kb.types.name("bird")) == ("LIFE", "birds, all")


@pytest.mark.parametrize("text", ["bird\tanimal\nbird\n", "bird\tanimal\nbird\ta\tb\n", "bird\tanimal\nbird\t \n"])
def test_a_bad_row_is_named_and_nothing_is_changed(tmp_path: Path, text: str) -> None:
    kb = built(tmp_path, [{"id": "owl", "title": "Owl", "types": ["bird"]}])
    kb.set_types(hierarchy=[("bird", "being")])
    (tmp_path / "up.tsv").write_text(text)
    with pytest.raises(SourceError, match=r"up\.tsv, line 2: .* two are needed"):
        kb.set_types(hierarchy=tmp_path / "up.tsv", names=[("bird", "birds")])
    assert kb.types.all_types("owl") == {"bird", "being"}
    assert kb.types.name("bird") == "bird"


@pytest.mark.parametrize("text", ["bird,a\rb", "type,parent\n", ""])
def test_a_file_that_says_nothing_changes_nothing(tmp_path: Path, text: str) -> None:
    kb = built(tmp_path, [{"id": "owl", "title": "Owl", "types": ["bird"]}])
    kb.set_types(hierarchy=[("bird", "being")])
    (tmp_path / "up.csv").write_text(text, newline="")
    with pytest.raises(InputError, match=r"up\.csv"):
        kb.set_types(hierarchy=tmp_path / "up.csv")
    assert kb.types.all_types("owl") == {"bird", "being"}


def test_an_empty_file_of_coarse_types_brings_the_default_back(wikidata: KnowledgeBase, tmp_path: Path) -> None:
    wikidata.set_types(coarse=[("FOLK", "Q5")])
    (tmp_path / "coarse.tsv").touch()
    wikidata.set_types(coarse=tmp_path / "coarse.tsv")
    assert wikidata.types.coarse("ada") == "PER"


@pytest.mark.parametrize("pair", [(None, "b"), ("a", ""), ("a", "b", "c"), "ab"])
def test_pairs_that_are_none(wikidata: KnowledgeBase, pair: Any) -> None:
    with pytest.raises(InputError, match="is no pair of texts"):
        wikidata.set_types(coarse=[pair])
    assert wikidata.types.coarse("ada") == "PER"


def test_nothing_to_set_is_an_error(wikidata: KnowledgeBase) -> None:
    with pytest.raises(InputError, match="nothing to set"):
        wikidata.set_types()


def test_edits_of_others_are_seen(wikidata: KnowledgeBase) -> None:
    assert wikidata.types.coarse("loop") == "OTHER"
    with KnowledgeBase.open(wikidata.folder) as other:
        other.set_types(hierarchy=[("Q1", "Q1656682")])
        other.add(Entity("ada", "Ada", types=("Q515",)), replace=True)
    wikidata.refresh()
    assert (wikidata.types.coarse("loop"), wikidata.types("ada")) == ("EVENT", ("Q515",))


def test_a_store_without_the_tables_has_types_and_takes_a_hierarchy(tmp_path: Path) -> None:
    kb = built(tmp_path, [{"id": "owl", "title": "Owl", "types": ["bird"]}])
    kb.close()
    with sqlite3.connect(tmp_path / "made.kb" / "kb.sqlite") as connection:
        connection.executescript("DROP TABLE type_parents; DROP TABLE type_names")
    with KnowledgeBase.open(tmp_path / "made.kb") as old:
        assert old.types.all_types("owl") == {"bird"}
        assert (old.types.coarse("owl"), old.types.name("bird")) == ("bird", "bird")
        assert old.types.kinds_of(["bird"]) == {"bird"}
        old.set_types(hierarchy=[("bird", "animal")])
        assert old.types.all_types("owl") == {"bird", "animal"}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Q5", {"Q5"}),
        ("Q215627", {"Q5"}),
        ("PER", {"Q5"}),
        ("Human", {"Q5"}),
        ("ORG", {"Q4830453"}),
        ("OTHER", {"Q99", "Q1"}),
        ("nothing so", set()),
    ],
)
def test_what_a_filter_asks_for(wikidata: KnowledgeBase, asked: str, found: set[str]) -> None:
    in_use = {type for type, _ in wikidata.type_counts()}
    kinds = wikidata.types.kinds_of([asked])
    assert kinds & in_use == found
    assert kinds  # never empty, which would mean all


def test_merged_knowledge_bases_keep_what_is_known_of_types(wikidata: KnowledgeBase, tmp_path: Path) -> None:
    other = built(tmp_path, [{"id": "z", "title": "Z", "types": ["Qz"]}], "other")
    other.set_types(hierarchy=[("Qz", "Q5")], coarse=[("MAN", "Q5")])
    KnowledgeBase.merge([wikidata, other], tmp_path / "merged.kb")
    with KnowledgeBase.open(tmp_path / "merged.kb") as merged:
        assert merged.types.all_types("z") == {"Qz", "Q5", "Q215627", "Q830077"}
        assert (merged.types.name("Q5"), merged.types.coarse("z")) == ("human", "MAN")


def test_the_overview_counts_each_entity_once(wikidata: KnowledgeBase) -> None:
    told = types_overview(wikidata, wikidata, largest=2)
    assert (sum(told.coarse.values()), told.untyped, told.type_count, told.fine_count) == (6, 1, 5, 7)
    assert [(one.name, one.entities) for one in told.largest] == [("human", 3), ("Q4830453", 2)]
    assert told.coverage is not None
    assert told.coverage.entities == 0
