from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entlink.engine.local import LocalEngine
from entlink.errors import InputError
from entlink.kb.build import wikidata_items
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.build.part_files import INSTANCES, TYPE_NAMES, TYPE_PARENTS
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.index_rows import write_rows
from entlink.sources import WikiOptions
from knowledge_bases import write_articles
from wiki_dumps import WikiPage, export
from wiki_dumps import write_dump as write_wiki
from wikidata_items import item, write_dump

PAGES = [
    WikiPage("水星", "'''水星'''是[[行星]]，又名[[辰星]]。\n\n由[[信使号]]探测。"),
    WikiPage("辰星", redirect="水星"),
    WikiPage("行星", "'''行星'''绕恒星。见[[水星|它]]。"),
    WikiPage("信使号", "'''信使号'''是探测器。"),
    WikiPage("行星列表", "'''列表'''：[[水星]]。"),
]
ITEMS = [
    item("Q634", {"zh": "行星", "en": "planet"}, claims={"P279": ["Q6999"]}, sitelinks={"testwiki": "行星"}),
    item("Q6999", {"en": "astronomical object"}, claims={"P279": ["Q488383", "Q634"]}),  # a ring
    item("Q488383", {"zh": "物体"}),
    item(
        "Q308",
        {"zh-hant": "水星"},
        descriptions={"zh": "太阳系行星"},
        aliases={"zh": ["Mercury星"]},
        claims={"P31": ["Q634", ("Q17362350", "deprecated")], "P18": ["Mercury.jpg"], "P397": ["Q525"]},
        sitelinks={"testwiki": "水星", "enwiki": "Mercury (planet)"},
    ),
    item("Q525", {"zh": "太阳"}, claims={"P31": ["Q6999"]}),
    item("Q13406463", {"en": "Wikimedia list article"}),
    item("Q77", {"en": "list of lists"}, claims={"P279": ["Q13406463"]}),
    item("Q78", {"zh": "行星列表"}, claims={"P31": ["Q77"]}, sitelinks={"testwiki": "行星列表"}),
    {"entity": "Q3080", "redirect": "Q308"},
]
BY_ITEM = WikiOptions(ids="wikidata")


@pytest.fixture
def dump(tmp_path) -> Path:
    return write_dump(tmp_path / "wikidata.json", ITEMS)


@pytest.fixture
def wiki(tmp_path) -> Path:
    path = tmp_path / "wiki.xml"
    path.write_text(export(PAGES, name="testwiki", language="zh"), encoding="utf8")
    return path


@pytest.fixture
def joined(dump, wiki, tmp_path, opened) -> KnowledgeBase:
    build([wiki, dump], tmp_path / "zh.kb", BuildOptions(language="zh", wiki=BY_ITEM))
    return opened(tmp_path / "zh.kb")


def rows(kb: Path, table: str) -> set[tuple[str, str]]:
    with sqlite3.connect(kb / "kb.sqlite") as connection:
        found = set(connection.execute(f"SELECT * FROM {table}"))
    connection.close()
    return found


class TestItemsAlone:
    def test_become_entities_but_for_what_is_wikimedias_own(self, dump, tmp_path, opened):
        manifest = build(dump, tmp_path / "w.kb", BuildOptions(language="zh"))
        kb = opened(tmp_path / "w.kb")
        assert [entity.id for entity in kb] == ["Q634", "Q6999", "Q488383", "Q308", "Q525"]
        assert manifest.sources[0].left_out == {"of the types to leave out, such as templates and lists": 3}
        assert kb.resolve("Q3080").id == "Q308"

    def test_the_hierarchy_has_what_the_types_of_entities_are_kinds_of(self, dump, tmp_path):
        build(dump, tmp_path / "w.kb", BuildOptions(language="zh"))
        assert rows(tmp_path / "w.kb", "type_parents") == {
            ("Q634", "Q6999"),
            ("Q6999", "Q634"),
            ("Q6999", "Q488383"),
        }
        assert rows(tmp_path / "w.kb", "type_names") == {
            ("Q634", "行星"),
            ("Q6999", "astronomical object"),
            ("Q488383", "物体"),
        }

    def test_with_a_page_only(self, dump, tmp_path, opened):
        options = BuildOptions(language="en", wiki=WikiOptions(with_page=True))
        build(dump, tmp_path / "w.kb", options)
        assert [entity.id for entity in opened(tmp_path / "w.kb")] == ["Q308"]
        assert ("Q6999", "astronomical object") in rows(
            tmp_path / "w.kb", "type_names"
        )  # of items that were left out

    def test_no_page_in_the_language(self, dump, tmp_path, caplog):
        build(dump, tmp_path / "w.kb", BuildOptions(language="fr", wiki=WikiOptions(with_page=True)))
        assert "without a page in frwiki (--language names the Wikipedia)" in caplog.text

    @pytest.mark.parametrize("edit", [KnowledgeBase.add, KnowledgeBase.sync])
    def test_are_not_taken_in_by_an_edit(self, edit, dump, tmp_path, opened):
        build(dump, tmp_path / "w.kb", BuildOptions(language="zh"))
        with pytest.raises(InputError, match=r"only a build .* `entlink kb merge`"):
            edit(opened(tmp_path / "w.kb"), str(dump))

    def test_a_users_types_are_left_out_with_their_kinds(self, dump, tmp_path, opened):
        drop = tmp_path / "drop.txt"
        drop.write_text("\ufeff# no planets\nQ634  # and nothing that is one\n\n")
        build(dump, tmp_path / "w.kb", BuildOptions(wiki=WikiOptions(drop_types=str(drop))))
        assert [entity.id for entity in opened(tmp_path / "w.kb")] == ["Q488383"]

    def test_a_file_of_types_with_anything_else(self, dump, tmp_path):
        (tmp_path / "drop.txt").write_text("Q5\nhuman\n")
        with pytest.raises(InputError, match=r"drop\.txt, line 2: 'human' is no id of an item"):
            build(dump, tmp_path / "w.kb", BuildOptions(wiki=WikiOptions(drop_types=str(tmp_path / "drop.txt"))))

    def test_a_file_of_types_that_is_not_there(self, dump, tmp_path):
        with pytest.raises(InputError, match=r"none\.txt: the types to leave out cannot be read"):
            build(dump, tmp_path / "w.kb", BuildOptions(wiki=WikiOptions(drop_types=str(tmp_path / "none.txt"))))


class TestJoined:
    def test_a_page_and_its_item_are_one_entity(self, joined):
        mercury = joined.get("Q308")
        assert (mercury.title, mercury.description) == ("水星", "水星是行星，又名辰星。\n\n由信使号探测。")
        assert mercury.aliases == ("辰星", "Mercury星")
        assert (mercury.types, mercury.images) == (("Q634",), ("Mercury.jpg",))
        assert mercury.claims == {"P31": ("Q634",), "P397": ("Q525",)}
        assert mercury.external == {"page": "1", "wikidata": "Q308", "wikipedia": "水星"}

    def test_items_without_a_page_and_pages_without_an_item_stay(self, joined):
        assert [entity.id for entity in joined] == ["Q634", "Q6999", "Q488383", "Q308", "Q525", "信使号"]
        assert joined.get("Q525").title == "太阳"

    def test_a_page_of_a_kind_that_is_left_out_goes_with_its_item(self, joined):
        assert joined.resolve("行星列表") is None
        left_out = {source.format: source.left_out for source in joined.manifest().sources}
        assert left_out["mediawiki"] == {"of the types to leave out, such as templates and lists": 1}

    def test_links_lead_to_items(self, joined):
        assert [name.entity for name in joined.aliases("它")] == ["Q308"]
        assert {entity for _, entity in joined.hyperlinks("Q308")} == {"Q634", "Q308", "信使号"}

    def test_few_words_about_an_item_are_no_text(self, joined):
        assert joined.texts == 4  # paragraphs of the three pages

    def test_with_a_page_only(self, dump, wiki, tmp_path, opened):
        options = BuildOptions(language="zh", wiki=WikiOptions(ids="wikidata", with_page=True))
        build([dump, wiki], tmp_path / "p.kb", options)
        assert [entity.id for entity in opened(tmp_path / "p.kb")] == ["Q634", "Q308", "信使号"]

    def test_the_language_is_that_of_the_wiki_where_none_is_given(self, dump, tmp_path, opened):
        pages = tmp_path / "enwiki.xml"
        pages.write_text(export([WikiPage("Mercury (planet)", "A planet.")], name="enwiki"), encoding="utf8")
        build([dump, pages], tmp_path / "en.kb", BuildOptions(wiki=BY_ITEM))
        kb = opened(tmp_path / "en.kb")
        assert (kb.get("Q308").title, kb.get("Q308").aliases) == ("Mercury (planet)", ("水星",))
        assert kb.get("Q634").title == "planet"

    def test_a_table_of_the_wiki_knows_items_whose_titles_have_changed(self, wiki, tmp_path, opened):
        dump = write_dump(tmp_path / "w.json", [item("Q9", {"zh": "信使"}, sitelinks={"testwiki": "信使号探测器"})])
        table = tmp_path / "testwiki-page_props.sql"
        table.write_text(
            "CREATE TABLE `page_props` (`pp_page` int, `pp_propname` blob, `pp_value` blob, `pp_sortkey` int);\n"
            "INSERT INTO `page_props` VALUES (4,'wikibase_item','Q9',NULL),(1,'wikibase_item','Q8',NULL);\n"
        )
        build([table, wiki, dump], tmp_path / "t.kb", BuildOptions(language="zh", wiki=BY_ITEM))
        kb = opened(tmp_path / "t.kb")
        assert (kb.get("Q9").title, kb.get("Q9").aliases) == ("信使号", ("信使",))
        assert kb.get("Q8").title == "水星"

    def test_a_page_that_was_moved_keeps_its_earlier_title(self, tmp_path, opened):
        moved = "R moved page [[Old name]] to [[New name]]"
        pages = [
            WikiPage(
                "New name", revisions=[("2019-01-01T00:00:00Z", "", "It."), ("2020-01-01T00:00:00Z", moved, "It.")]
            )
        ]
        (tmp_path / "w.xml").write_text(export(pages, name="enwiki"), encoding="utf8")
        dump = write_dump(tmp_path / "w.json", [item("Q1", {"en": "It"}, sitelinks={"enwiki": "New name"})])
        build([dump, tmp_path / "w.xml"], tmp_path / "m.kb", BuildOptions(wiki=BY_ITEM))
        kb = opened(tmp_path / "m.kb")
        assert [entity.id for entity in kb] == ["Q1"]
        assert [version.entity.title for version in kb.versions("Q1")] == ["Old name", "New name"]

    def test_what_cannot_be_joined(self, dump, wiki, tmp_path):
        with pytest.raises(InputError, match="are joined by the ids of items: add --ids wikidata"):
            build([dump, wiki], tmp_path / "x.kb")
        with pytest.raises(InputError, match="with_page is about items of Wikidata"):
            build(wiki, tmp_path / "x.kb", BuildOptions(wiki=WikiOptions(with_page=True)))
        with pytest.raises(InputError, match="a limit would cut one of them off"):
            build([dump, wiki], tmp_path / "x.kb", BuildOptions(limit=3, wiki=BY_ITEM))
        other = write_wiki(tmp_path / "other.xml", [WikiPage("A", "B")])
        other.write_text(other.read_text().replace("testwiki", "otherwiki"))
        with pytest.raises(InputError, match="can be joined with one wiki only, and the exports are of 2"):
            build([dump, wiki, other], tmp_path / "x.kb", BuildOptions(wiki=BY_ITEM))


def test_the_result_does_not_depend_on_processes(dump, wiki, tmp_path):
    for number in (1, 2):
        options = BuildOptions(language="zh", wiki=BY_ITEM, processes=number)
        build([dump, wiki], tmp_path / f"{number}.kb", options)
    tables = ("entities", "types", "type_names", "type_parents", "redirects", "identifiers")
    assert [rows(tmp_path / "1.kb", table) for table in tables] == [
        rows(tmp_path / "2.kb", table) for table in tables
    ]


GRAPHS = st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 9), max_size=3), max_size=10)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=12)
@given(parents=GRAPHS, instances=GRAPHS, drop=st.sets(st.integers(0, 9), max_size=2))
def test_what_is_left_out_is_what_a_walk_over_the_graph_finds(tmp_path_factory, parents, instances, drop):
    folder = tmp_path_factory.mktemp("graph")
    part = write_graph(folder / "part", parents, instances)
    totals = wikidata_items.join_items(LocalEngine(), [part], [f"Q{each}" for each in drop], folder / "out", folder)
    kinds = reached(drop, parents, parents)
    dropped = {id for id in range(10) if id in kinds or instances.get(id, set()) & kinds}
    assert totals.dropped == len(dropped)
    used = set().union(*(types for id, types in instances.items() if id not in dropped))
    while (more := used.union(*(parents.get(type, set()) for type in used))) != used:
        used = more
    assert totals.types == len(used)


def reached(drop: set[int], classes: Iterable[int], parents: Mapping[int, set[int]]) -> set[int]:
    """The types to leave out and all from which a way along parents leads to one."""
    found = set(drop)
    while more := {each for each in classes if parents[each] & found} - found:
        found |= more
    return found


def write_graph(part: Path, parents: Mapping[int, set[int]], instances: Mapping[int, set[int]]) -> Path:
    part.mkdir()
    lines = {
        wikidata_items.ITEMS: [{"p": 0, "r": id, "i": f"Q{id}", "t": None} for id in range(10)],
        INSTANCES: [{"p": 0, "r": id, "t": f"Q{type}"} for id, types in instances.items() for type in types],
        TYPE_NAMES: [{"t": f"Q{id}", "n": str(id)} for id in range(10)],
        TYPE_PARENTS: [{"t": f"Q{id}", "parent": f"Q{one}"} for id, some in parents.items() for one in some],
    }
    for name, some in lines.items():
        write_rows(some, part / name)
    return part


def test_a_table_of_things_is_not_joined_with_a_page_of_the_same_id(wiki, tmp_path, opened):
    table = write_articles(tmp_path / "a.jsonl", [{"id": "水星", "title": "Another", "paragraphs": []}])
    build([table, wiki], tmp_path / "b.kb")
    assert opened(tmp_path / "b.kb").get("水星").title == "Another"
