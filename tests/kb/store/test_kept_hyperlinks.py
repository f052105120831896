"""Links that a build keeps with the descriptions they stand in."""

from __future__ import annotations

import json
import lzma
import sqlite3
from itertools import islice

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Entity, Span
from entlink.errors import DamagedError
from entlink.kb.build import steps
from entlink.kb.build.from_sources import SUFFIX, BuildOptions, build
from entlink.kb.build.merge import merge
from entlink.kb.store.edits import add, remove, sync
from entlink.kb.store.hyperlinks import decode_hyperlinks, description_checksum, encode_hyperlinks
from entlink.kb.store.store import DATABASE
from entlink.kb.store.transfer import export
from entlink.sources import Page, WikiOptions
from knowledge_bases import SHARED_DATA, article, make_kb
from wiki_dumps import WikiPage, write_dump

ROWS = [
    article(
        "sun",
        "Sun",
        "",
        "The 𝔖𝔲𝔫 😀 of [[mercury|𝔐ercury 😀]] and [[nowhere|nobody]].",
        " \n ",
        "Nothing here.",
        "[[venus|Venus]], [[Mercury|Mercury]] again, e\u0301 [[sun|the 太陽]].",
    ),
    article("mercury", "Mercury", "Near to the [[sun|Sun]]."),
    article("venus", "Venus"),
]


def links(kb, id):
    """The links of an entity as (surface, target)."""
    description = kb.require(id).description
    return [(description[span.start : span.end], target) for span, target in kb.hyperlinks(id)]


def rows(folder):
    connection = sqlite3.connect(folder / DATABASE)
    found = connection.execute("SELECT count(*) FROM hyperlinks").fetchone()[0]
    connection.close()
    return found


def without_table(folder):
    """As a store was before links were kept."""
    connection = sqlite3.connect(folder / DATABASE)
    with connection:
        connection.execute("DROP TABLE hyperlinks")
    connection.close()


@pytest.fixture
def full(copied_kb):
    return copied_kb(ROWS, descriptions="full")


def test_links_stand_where_the_source_has_them(full, opened):
    kb = opened(full)
    assert kb.has_hyperlinks
    assert links(kb, "sun") == [
        ("𝔐ercury 😀", "mercury"),
        ("Venus", "venus"),
        ("Mercury", "mercury"),
        ("the 太陽", "sun"),
    ]
    assert kb.hyperlinks("mercury") == [(Span(12, 15), "sun")]
    assert kb.hyperlinks(kb.key("mercury")) == kb.hyperlinks("mercury")
    assert kb.hyperlinks("venus") == kb.hyperlinks("none") == kb.hyperlinks(99) == []


def test_openings_keep_none(tmp_path, opened):
    kb = opened(make_kb(tmp_path, ROWS, descriptions="opening"))
    assert not kb.has_hyperlinks
    assert kb.hyperlinks("mercury") == []


def test_links_come_in_order_and_may_overlap(tmp_path, opened):
    paragraph = {"text": "New York", "links": [[4, 8, "a"], [0, 8, "a"], [3, 4, "a"]]}
    row = {"id": "a", "title": "A", "paragraphs": [paragraph]}
    kb = opened(make_kb(tmp_path, [row], descriptions="full"))
    assert links(kb, "a") == [("New York", "a"), ("York", "a")]  # a blank is no surface


@pytest.mark.parametrize("ids", ["title", "page"])
def test_targets_of_a_wiki_are_found_through_redirects(tmp_path, opened, ids):
    pages = [
        WikiPage("Sun", "A [[star]].\n\n== Near ==\n\n* [[Hermes|the ''planet'']] is [[Mercury]]; [[2]] [[Gone]]."),
        WikiPage("Mercury", "See [[sun]]s."),
        WikiPage("Hermes", "#REDIRECT [[Mercury]]", redirect="Mercury"),
        WikiPage("2", "A number."),
    ]
    dump = write_dump(tmp_path / "w.xml", pages)
    build(dump, tmp_path / "w.kb", BuildOptions(processes=1, descriptions="full", wiki=WikiOptions(ids=ids)))
    kb = opened(tmp_path / "w.kb")
    named = [(surface, kb.require(target).title) for surface, target in links(kb, kb.require("Sun").id)]
    assert named == [("the planet", "Mercury"), ("Mercury", "Mercury"), ("2", "2")]
    assert links(kb, kb.require("Mercury").id) == [("suns", kb.require("Sun").id)]


def test_each_wiki_links_to_its_own_pages(tmp_path, opened):
    english = write_dump(tmp_path / "en.xml", [WikiPage("Gift", "A [[Gift|gift]].")], name="enwiki")
    german = write_dump(tmp_path / "de.xml", [WikiPage("Gift", "Ein [[Gift]].")], name="dewiki", language="de")
    build([english, german], tmp_path / "w.kb", BuildOptions(processes=1, descriptions="full"))
    kb = opened(tmp_path / "w.kb")
    assert {entity.id: links(kb, entity.id) for entity in kb} == {
        "Gift": [("gift", "Gift")],
        "Gift#dewiki": [("Gift", "Gift#dewiki")],
    }


def test_versions_have_their_own(tmp_path, opened):
    kb = make_kb(
        tmp_path,
        [
            article("swazi", "Swaziland", "[[south|SA]] is near [[swazi|Swaziland]].", valid_to="2018-04-19"),
            article("swazi", "Eswatini", "Now [[swazi|Eswatini]].", valid_from="2018-04-19"),
            article("south", "South Africa", valid_from="1994"),
        ],
        descriptions="full",
    )
    assert opened(kb).hyperlinks("swazi") == [(Span(4, 12), "swazi")]
    assert [target for _, target in opened(kb, date="2000-01-01").hyperlinks("swazi")] == ["south", "swazi"]
    assert [target for _, target in opened(kb, date="1990-01-01").hyperlinks("swazi")] == ["swazi"]


def test_a_changed_description_drops_its_links(full, opened):
    kb = opened(full)
    sun = kb.require("sun")
    sync(full, [Page(msgspec.structs.replace(sun, title="Sol"))])
    assert len(kb.hyperlinks("sun")) == 4
    add(full, [msgspec.structs.replace(sun, description=sun.description + " ")], replace=True)
    assert kb.hyperlinks("sun") == []
    assert rows(full) == 1
    add(full, [Entity("mercury", "Mercury", "Other.")], replace=True)
    assert not kb.has_hyperlinks


def test_a_further_version_leaves_those_of_the_others(full, opened):
    add(full, [Page(Entity("mercury", "Merkur", "Planet."), valid_from="2030")])
    assert opened(full).hyperlinks("mercury") == []
    assert opened(full, date="2020-01-01").hyperlinks("mercury") == [(Span(12, 15), "sun")]


def test_links_of_and_to_a_removed_entity_go(full, opened):
    remove(full, ["mercury"])
    kb = opened(full)
    assert [target for _, target in kb.hyperlinks("sun")] == ["venus", "sun"]
    assert kb.hyperlinks("mercury") == []
    assert rows(full) == 1


def test_a_store_without_the_table_has_none(full, opened):
    without_table(full)
    kb = opened(full)
    assert not kb.has_hyperlinks
    assert kb.hyperlinks("sun") == []
    add(full, [Entity("venus", "Venus", "New.")], replace=True)
    assert remove(full, ["sun"]) == 1


def test_links_that_cannot_be_read(full, opened):
    connection = sqlite3.connect(full / DATABASE)
    with connection:
        connection.execute("UPDATE hyperlinks SET links = ?", (b"\x92\x01\x02",))
    connection.close()
    with pytest.raises(DamagedError, match="links of entity 1 cannot be read"):
        opened(full).hyperlinks("sun")


def test_a_build_killed_after_some_links_keeps_each_once(tmp_path, opened, monkeypatch):
    original = steps.store_hyperlinks

    def stop(*arguments, **settings):
        original(*arguments, **settings)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(steps, "store_hyperlinks", stop)
        with pytest.raises(KeyboardInterrupt):
            make_kb(tmp_path, ROWS, descriptions="full")
    assert rows(tmp_path / f"made.kb{SUFFIX}") == 2
    folder = make_kb(tmp_path, ROWS, descriptions="full")
    assert rows(folder) == 2
    assert len(opened(folder).hyperlinks("sun")) == 4


def test_a_merge_takes_them_along(tmp_path, full, opened):
    other = make_kb(
        tmp_path,
        [article("io", "Io"), article("venus", "Venus", "[[io|Io]], not [[venus|V]].")],
        "other",
        descriptions="full",
    )
    merge([other, full], tmp_path / "both.kb", on_conflict="first", processes=1)
    merge([other, full], tmp_path / "last.kb", on_conflict="last", processes=1)
    both, last = opened(tmp_path / "both.kb"), opened(tmp_path / "last.kb")
    assert links(both, "sun") == links(last, "sun") == links(opened(full), "sun")
    assert links(both, "venus") == [("Io", "io"), ("V", "venus")]
    assert last.hyperlinks("venus") == []
    assert (rows(both.folder), rows(last.folder)) == (3, 2)


def test_of_one_text_the_first_has_its_say(tmp_path, opened):
    ends = [article("a", "A"), article("b", "B")]
    one = make_kb(tmp_path, [article("x", "X", "[[a|It]] is."), *ends], "one", descriptions="full")
    two = make_kb(tmp_path, [article("x", "X", "[[b|It]] is."), *ends], "two", descriptions="full")
    merge([two, one], tmp_path / "both.kb", processes=1)
    assert links(opened(tmp_path / "both.kb"), "x") == [("It", "b")]


def test_a_merge_with_a_store_that_lacks_the_table(tmp_path, full, opened):
    old = make_kb(tmp_path, [article("io", "Io")], "old")
    without_table(old)
    merge([old, full], tmp_path / "both.kb", processes=1)
    assert links(opened(tmp_path / "both.kb"), "mercury") == [("Sun", "sun")]


def test_an_export_leaves_them_behind(tmp_path, full, opened):
    export(full, tmp_path / "out.jsonl")
    build(tmp_path / "out.jsonl", tmp_path / "back.kb", BuildOptions(processes=1, descriptions="full"))
    back = opened(tmp_path / "back.kb")
    assert back.require("sun").description == opened(full).require("sun").description
    assert not back.has_hyperlinks


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**5), st.integers(1, 2**40))))
def test_what_is_encoded_is_decoded(given_links):
    spans = [(start, start + length, target) for start, length, target in given_links]
    assert decode_hyperlinks(encode_hyperlinks(spans)) == sorted(spans)


@given(st.text(), st.text())
def test_checksums_tell_descriptions_apart(one, other):
    assert (description_checksum(one) == description_checksum(other)) == (one == other)
    assert -(2**63) <= description_checksum(one) < 2**63


SCHOOLS = SHARED_DATA / "schools_wikipedia" / "articles.jsonl.xz"


@pytest.mark.skipif(not SCHOOLS.exists(), reason="the shared data is not there")
def test_real_articles(tmp_path, opened):
    with lzma.open(SCHOOLS, "rt", encoding="utf8") as file:
        articles = [json.loads(line) for line in islice(file, 30)]
    expected = {
        row["id"]: [
            (paragraph["text"][start:end], target)
            for paragraph in row["paragraphs"]
            for start, end, target in sorted(paragraph["links"])
        ]
        for row in articles
    }
    targets = {target for found in expected.values() for _, target in found} - expected.keys()
    stubs = [article(target, target) for target in sorted(targets)]
    kb = opened(make_kb(tmp_path, [*articles, *stubs], descriptions="full", count_text=False))
    assert {id: links(kb, id) for id in expected} == expected
    assert sum(map(len, expected.values())) > 1000
