from __future__ import annotations

import bz2
import random
from importlib import import_module

import pytest

from entlink.errors import InputError, SourceError
from entlink.io.checksums import checksums
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.sources import WikiOptions
from wiki_dumps import WikiPage, export, write_dump

PAGES = [
    WikiPage("Mercury (planet)", "'''Mercury''' is a [[planet]] near the [[Star|star]]. Mercury is small."),
    WikiPage("Sun", "The '''Sun''' is a star. See [[Mercury (planet)|Mercury]] and [[mercury (planet)]]."),
    WikiPage("Planet", "A '''planet''' goes round a [[star]], like [[Quicksilver world|Mercury]]; [[Nowhere]]."),
    WikiPage("Star", redirect="Day star"),
    WikiPage("Day star", redirect="Sun"),
    WikiPage("Quicksilver world", redirect="Mercury (planet)"),
    WikiPage("Ring", redirect="Ring 2"),
    WikiPage("Ring 2", redirect="Ring"),
    WikiPage("Mercury", "May be:\n* [[Mercury (planet)]]\n* [[Star]]\n{{disambig}}"),
    WikiPage("Talk:Sun", "[[Sun]]", ns=1),
    WikiPage("1984", "A '''year'''."),
]
TABLE = """-- MySQL dump 10.19
-- Host: localhost    Database: testwiki
CREATE TABLE `page_props` (
  `pp_page` int(10) unsigned NOT NULL,
  `pp_propname` varbinary(60) NOT NULL,
  `pp_value` blob NOT NULL,
  `pp_sortkey` float DEFAULT NULL
) ENGINE=InnoDB;
INSERT INTO `page_props` VALUES (2,'wikibase_item','Q525',NULL),
(3,'disambiguation','',NULL),(1,'wikibase_item','q308',NULL);
"""


@pytest.fixture
def dump(tmp_path):
    return write_dump(tmp_path / "wiki.xml", PAGES)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "testwiki-page_props.sql"
    path.write_text(TABLE)
    return path


@pytest.fixture
def kb(dump, tmp_path, opened):
    build([dump], tmp_path / "wiki.kb")
    return opened(tmp_path / "wiki.kb")


def test_articles_become_entities(kb):
    assert [entity.id for entity in kb] == ["Mercury (planet)", "Sun", "Planet", "1984"]


def test_redirects_and_disambiguations_become_aliases(kb):
    aliases = {entity.id: set(entity.aliases) for entity in kb}
    assert aliases["Sun"] == {"Star", "Day star", "Mercury"}
    assert aliases["Mercury (planet)"] == {"Quicksilver world", "Mercury"}


def test_links_are_counted_by_title_and_through_redirects(kb):
    manifest = kb.manifest()
    assert (manifest.links, manifest.links_unresolved) == (6, 1)
    names = {(row.surface, row.entity): row.count for row in anchors(kb)}
    assert names == {
        ("planet", "Planet"): 1,
        ("star", "Sun"): 2,
        ("Mercury", "Mercury (planet)"): 2,
        ("mercury (planet)", "Mercury (planet)"): 1,
    }


def anchors(kb):
    import duckdb

    from entlink.documents import Record

    class Row(Record, frozen=True):
        surface: str
        entity: str
        count: int

    path = kb.folder / "counts" / "base" / "anchors.parquet"
    rows = duckdb.execute("SELECT surface, entity, count FROM read_parquet(?)", [str(path)]).fetchall()
    return [Row(surface, kb.head(key)[0], count) for surface, key, count in rows]


def test_identifiers_resolve(kb):
    for identifier in ("Star", "Day_star", "page:2", "https://test.org/wiki/Star"):
        assert kb.resolve(identifier).id == "Sun"
    assert kb.resolve("2") is None  # which may be a title, and is not the second page
    assert kb.resolve("Ring") is None
    assert kb.resolve("1984").id == "1984"


def test_the_manifest_tells_what_became_of_everything(kb):
    manifest = kb.manifest()
    assert manifest.wiki is not None
    assert (manifest.wiki.redirects, manifest.wiki.loops, manifest.wiki.to_nothing) == (5, 2, 0)
    assert manifest.wiki.meanings == 1
    assert sum(manifest.sources[0].left_out.values()) == 1
    assert manifest.sources[0].records == 4


def test_texts_are_counted_outside_of_links(kb):
    assert kb.occurrences("Mercury")["Mercury"] == 2  # in the planet's own text


def test_tables_bring_wikidata_ids_and_disambiguations(dump, table, tmp_path, opened):
    build([dump, table], tmp_path / "both.kb")
    kb = opened(tmp_path / "both.kb")
    assert {entity.id: entity.external.get("wikidata") for entity in kb} == {
        "Mercury (planet)": "Q308",
        "Sun": "Q525",
        "1984": None,
    }
    assert kb.resolve("Q525").id == "Sun"


def test_ids_by_wikidata(dump, table, tmp_path, opened):
    build([dump, table], tmp_path / "q.kb", BuildOptions(wiki=WikiOptions(ids="wikidata")))
    assert [entity.id for entity in opened(tmp_path / "q.kb")] == ["Q308", "Q525", "1984"]


def test_ids_by_page_do_not_mix_up_numbers_and_titles(tmp_path, opened):
    pages = [WikiPage("1984", "A '''year'''.", id=7), WikiPage("Orwell", "Wrote [[1984|it]] and [[7]].", id=1984)]
    build([write_dump(tmp_path / "w.xml", pages)], tmp_path / "w.kb", BuildOptions(wiki=WikiOptions(ids="page")))
    kb = opened(tmp_path / "w.kb")
    assert [(row.surface, row.entity) for row in anchors(kb)] == [("it", "7")]
    assert kb.manifest().links_unresolved == 1


def test_tables_alone_make_a_knowledge_base_of_titles(tmp_path, opened):
    page = tmp_path / "testwiki-page.sql"
    page.write_text(
        "-- Host: x    Database: testwiki\nCREATE TABLE `page` (\n  `page_id` int,\n  `page_namespace` int,\n"
        "  `page_title` varbinary(255),\n  `page_is_redirect` tinyint\n);\n"
        "INSERT INTO `page` VALUES (1,0,'Day_star',0),(2,0,'Sun',1),(3,1,'Day_star',0);\n"
    )
    redirect = tmp_path / "testwiki-redirect.sql"
    redirect.write_text(
        "-- Host: x    Database: testwiki\nCREATE TABLE `redirect` (\n  `rd_from` int,\n  `rd_namespace` int,\n"
        "  `rd_title` varbinary(255)\n);\nINSERT INTO `redirect` VALUES (2,0,'Day_star');\n"
    )
    build([page, redirect], tmp_path / "t.kb")
    (entity,) = opened(tmp_path / "t.kb")
    assert (entity.id, entity.aliases, entity.external) == ("Day star", ("Sun",), {"page": "1"})


def test_several_dumps_make_one_knowledge_base(dump, tmp_path, opened):
    other = write_dump(tmp_path / "b.xml", [WikiPage("太陽", "'''太陽'''是[[恆星]]。")], name="zh", language="zh")
    build([dump, other], tmp_path / "two.kb")
    kb = opened(tmp_path / "two.kb")
    assert [entity.id for entity in kb][-1] == "太陽"
    assert kb.require("太陽").language == "zh"


def many(count: int = 400) -> list[WikiPage]:
    pick = random.Random(3)
    words = ["alpha", "beta", "gamma", "delta", "thing", "place"]
    return [
        WikiPage(
            f"Thing {n}",
            f"'''Thing {n}''' is near [[Thing {pick.randrange(count)}|{pick.choice(words)}]] and "
            + " ".join(pick.choice(words) for _ in range(60)),
        )
        if n % 7
        else WikiPage(f"Thing {n}", redirect=f"Thing {n - 1 or 5}")
        for n in range(count)
    ]


@pytest.mark.parametrize("pack", ["xml", "xml.bz2"])
def test_the_result_does_not_depend_on_processes_or_packing(tmp_path, monkeypatch, pack):
    module = import_module("entlink.sources.mediawiki.dumps.parts")  # the package has a function of this name
    monkeypatch.setattr("entlink.kb.build.source_parts._WORTH_A_POOL", 0)
    monkeypatch.setattr(module, "PLAIN_PART", 40_000)
    monkeypatch.setattr(module, "BZIP2_PART", 10_000)
    plain = write_dump(tmp_path / "many.xml", many())
    source = plain
    if pack != "xml":
        source = tmp_path / f"many.{pack}"
        source.write_bytes(b"".join(bz2.compress(piece) for piece in halves(plain.read_bytes())))
    found = []
    for processes in (1, 2):
        folder = tmp_path / f"{processes}.kb"
        build([source], folder, BuildOptions(processes=processes))
        found.append(checksums(folder / "counts") | checksums(folder / "index-1"))
    reference = tmp_path / "reference.kb"
    monkeypatch.setattr(module, "PLAIN_PART", 1 << 30)
    build([plain], reference, BuildOptions(processes=1))
    expected = checksums(reference / "counts") | checksums(reference / "index-1")
    for files in (*found, expected):
        for card in ("index.json", "short/complete.json"):  # which say when they were made
            files.pop(card, None)
    assert found == [expected, expected]


def halves(data: bytes) -> list[bytes]:
    return [data[start : start + 30_000] for start in range(0, len(data), 30_000)]


def test_the_first_pages_only(tmp_path, opened):
    build([write_dump(tmp_path / "many.xml", many())], tmp_path / "few.kb", BuildOptions(limit=10))
    kb = opened(tmp_path / "few.kb")
    assert len(kb) == 10
    assert [entity.title for entity in kb][:3] == ["Thing 1", "Thing 2", "Thing 3"]


def test_a_dump_that_is_cut_off(tmp_path, opened):
    whole = export(many())
    path = tmp_path / "cut.xml"
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match=r"cut\.xml, byte"):
        build([path], tmp_path / "cut.kb")
    manifest = build([path], tmp_path / "cut.kb", BuildOptions(on_error="skip"))
    assert 150 < manifest.entities < 200
    assert manifest.sources[0].skipped == 1


def test_doubled_pages_stop_or_are_skipped(tmp_path):
    pages = [WikiPage("Ant", "[[Ant|one]]", id=3), WikiPage("Ant", "[[Ant|two]]", id=3)]
    dump = write_dump(tmp_path / "w.xml", pages)
    with pytest.raises(SourceError, match=r"page 'Ant' \(number 3\) appears a second time"):
        build([dump], tmp_path / "w.kb")
    manifest = build([dump], tmp_path / "w.kb", BuildOptions(on_error="skip"))
    assert (manifest.entities, manifest.links, manifest.sources[0].skipped) == (1, 1, 1)


def test_two_pages_of_one_title_are_told_apart_by_their_numbers(tmp_path, opened):
    pages = [WikiPage("Ant", "An ant is [[Ant|one]].", id=3), WikiPage("Ant", "Is [[Ant|two]].", id=9)]
    build([write_dump(tmp_path / "w.xml", pages)], tmp_path / "w.kb")
    kb = opened(tmp_path / "w.kb")
    assert [(entity.id, entity.title) for entity in kb] == [("Ant", "Ant"), ("Ant#9", "Ant")]
    assert {(row.surface, row.entity) for row in anchors(kb)} == {("one", "Ant"), ("two", "Ant")}
    assert kb.resolve("page:9").id == "Ant#9"


@pytest.mark.parametrize("ids", ["title", "page", "wikidata"])
def test_the_past_title_of_a_moved_page_is_a_version_with_all_its_names(tmp_path, opened, ids):
    revisions = [
        ("2001-05-01T00:00:00Z", "new", "Swaziland is a country."),
        ("2018-04-19T12:00:00Z", "Ed moved page [[Swaziland]] to [[Eswatini]]: renamed", "Swaziland is a country."),
        ("2019-01-01T00:00:00Z", "", "Eswatini is a country."),
    ]
    pages = [
        WikiPage("Eswatini", revisions=revisions, id=1),
        WikiPage("Swaziland", redirect="Eswatini", id=2),
        WikiPage("Kingdom of Swaziland", redirect="Eswatini", id=3),
    ]
    table = tmp_path / "p.sql"
    table.write_text(TABLE)
    build([write_dump(tmp_path / "w.xml", pages), table], tmp_path / "w.kb", BuildOptions(wiki=WikiOptions(ids=ids)))
    kb = opened(tmp_path / "w.kb")
    (entity,) = kb
    assert entity.id == {"title": "Eswatini", "page": "1", "wikidata": "Q308"}[ids]
    past = kb.as_of("2015-01-01").require(entity.id)
    assert (past.title, past.aliases, past.description) == ("Swaziland", ("Kingdom of Swaziland",), "")
    assert kb.occurrences("Eswatini") == {"Eswatini": 1}


# Several wikis


ENGLISH = [
    WikiPage("Paris", "A city in [[France]].", id=10),
    WikiPage("France", "Has [[Paris]] and [[Chat]].", id=11),
    WikiPage("Chat", redirect="Talk", id=12),
    WikiPage("Talk", "Words.", id=13),
]
FRENCH = [
    WikiPage("Paris", "Une ville.", id=10),
    WikiPage("Chat", "Un animal.", id=11),
    WikiPage("Seine", "Passe [[Paris|la capitale]] ; un [[Chat]].", id=12),
]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ("title", {"Paris": "Paris", "la capitale": "Paris#frwiki", "Chat": {"Talk", "Chat"}}),
        ("page", {"Paris": "10", "la capitale": "10#frwiki", "Chat": {"13", "11#frwiki"}}),
    ],
)
def test_wikis_keep_their_titles_and_numbers_apart(tmp_path, opened, ids, expected):
    english = write_dump(tmp_path / "en.xml", ENGLISH, name="enwiki")
    french = write_dump(tmp_path / "fr.xml", FRENCH, name="frwiki", language="fr")
    build([english, french], tmp_path / "both.kb", BuildOptions(wiki=WikiOptions(ids=ids)))
    kb = opened(tmp_path / "both.kb")
    assert len(kb) == 6
    found: dict[str, set[str]] = {}
    for row in anchors(kb):
        found.setdefault(row.surface, set()).add(row.entity)
    for surface, entities in expected.items():
        assert found[surface] == ({entities} if isinstance(entities, str) else entities)


def test_a_table_of_another_wiki_is_refused(tmp_path, table):
    french = write_dump(tmp_path / "fr.xml", FRENCH, name="frwiki", language="fr")
    with pytest.raises(InputError, match=r"is a table of the wiki testwiki, and the exports are of frwiki"):
        build([french, table], tmp_path / "fr.kb")


def test_an_export_without_a_name_takes_the_tables_it_is_given(tmp_path, table, opened):
    build([write_dump(tmp_path / "w.xml", PAGES, name=""), table], tmp_path / "w.kb")
    kb = opened(tmp_path / "w.kb")
    assert [entity.id for entity in kb] == ["Mercury (planet)", "Sun", "1984"]
    assert kb.resolve("Q525").id == "Sun"


def test_a_page_that_is_in_two_dumps_of_a_wiki_counts_once(tmp_path):
    moved = [
        ("2001-05-01T00:00:00Z", "", "See [[B]]."),
        ("2002-05-01T00:00:00Z", "Ed moved page [[C]] to [[A]]", "See [[B]]."),
    ]
    first = write_dump(tmp_path / "a.xml", [WikiPage("A", "See [[B]].", id=1), WikiPage("B", "It.", id=2)])
    second = write_dump(tmp_path / "b.xml", [WikiPage("A", revisions=moved, id=1)])
    manifest = build([first, second], tmp_path / "w.kb", BuildOptions(on_error="skip"))
    assert (manifest.entities, manifest.links, manifest.sources[1].skipped) == (2, 1, 2)


def test_moves_with_odd_times_do_no_harm(tmp_path, opened):
    revisions = [
        ("2001-05-01T00:00:00Z", "Ed moved page [[A]] to [[B]]", "x"),
        ("2001-05-01T00:00:00Z", "Ed moved page [[B]] to [[C]]", "x"),
        ("", "Ed moved page [[C]] to [[D]]", "x"),
        ("2001-06-01T00:00:00Z", "Ed moved page [[C]] to [[D]]", "x"),
    ]
    build([write_dump(tmp_path / "w.xml", [WikiPage("D", revisions=revisions)])], tmp_path / "w.kb")
    (entity,) = opened(tmp_path / "w.kb")
    assert entity.title == "D"


def test_the_limit_counts_pages_and_not_their_past_titles(tmp_path, opened):
    pages = [
        WikiPage(
            f"New {n}",
            revisions=[
                ("2001-01-01T00:00:00Z", "", "x"),
                ("2002-01-01T00:00:00Z", f"moved [[Old {n}]] to [[New {n}]]", "x"),
            ],
        )
        for n in range(5)
    ]
    build([write_dump(tmp_path / "w.xml", pages)], tmp_path / "w.kb", BuildOptions(limit=3))
    kb = opened(tmp_path / "w.kb")
    assert [entity.id for entity in kb] == ["New 0", "New 1", "New 2"]
    assert kb.as_of("2001-06-01").require("New 2").title == "Old 2"


def test_a_build_is_not_taken_up_with_other_rules(tmp_path, opened, monkeypatch):
    rules = tmp_path / "rules.toml"
    rules.write_text('[t]\ntext = "OLD"\n')
    dump = write_dump(tmp_path / "w.xml", [WikiPage("A", "hello {{t}} world")])
    options = BuildOptions(wiki=WikiOptions(rules=str(rules)))
    with monkeypatch.context() as patch:
        patch.setattr("entlink.kb.build.steps.create_indexes", lambda store: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build([dump], tmp_path / "w.kb", options)
    rules.write_text('[t]\ntext = "NEW"\n')
    build([dump], tmp_path / "w.kb", options)
    assert next(iter(opened(tmp_path / "w.kb"))).description == "hello NEW world"


def test_lists_of_disambiguations_do_not_outlive_their_build(tmp_path, table, opened):
    dump = write_dump(tmp_path / "wiki.xml", PAGES)
    build([dump, table], tmp_path / "w.kb")
    assert len(opened(tmp_path / "w.kb")) == 3
    table.write_text(TABLE.replace("'disambiguation'", "'other'"))
    build([dump, table], tmp_path / "w.kb", replace=True)
    assert len(opened(tmp_path / "w.kb")) == 4


def test_folders_that_look_like_patterns(tmp_path, dump, opened):
    for name in ("p=7", "g[1]", "a*b?"):
        (tmp_path / name).mkdir()
        build([dump], tmp_path / name / "w.kb")
        assert len(opened(tmp_path / name / "w.kb")) == 4


def test_a_table_whose_wiki_has_a_hostile_name(tmp_path, dump):
    evil = tmp_path / "evil.sql"
    evil.write_text(TABLE.replace("testwiki", "../../../pwned"))
    with pytest.raises(InputError, match="pwned"):
        build([dump, evil], tmp_path / "w.kb")
    build([write_dump(tmp_path / "n.xml", PAGES, name=""), evil], tmp_path / "n.kb")
    assert not list(tmp_path.parent.rglob("pwned*"))


def test_namespaces_of_tables(tmp_path, opened):
    page = tmp_path / "testwiki-page.sql"
    page.write_text(
        "-- Host: x    Database: testwiki\nCREATE TABLE `page` (\n  `page_id` int,\n  `page_namespace` int,\n"
        "  `page_title` varbinary(255),\n  `page_is_redirect` tinyint\n);\n"
        "INSERT INTO `page` VALUES (1,14,'Cats',0),(2,14,'Felines',1),(3,0,'Cats',0);\n"
    )
    redirect = tmp_path / "testwiki-redirect.sql"
    redirect.write_text(
        "-- Host: x    Database: testwiki\nCREATE TABLE `redirect` (\n  `rd_from` int,\n  `rd_namespace` int,\n"
        "  `rd_title` varbinary(255)\n);\nINSERT INTO `redirect` VALUES (2,14,'Cats');\n"
    )
    build([page, redirect], tmp_path / "c.kb", BuildOptions(wiki=WikiOptions(("Category",))))
    (entity,) = opened(tmp_path / "c.kb")
    assert (entity.title, entity.aliases) == ("Category:Cats", ("Category:Felines",))
    with pytest.raises(InputError, match="no namespace 'Portal'"):
        build([page], tmp_path / "p.kb", BuildOptions(wiki=WikiOptions(("Portal",))))
