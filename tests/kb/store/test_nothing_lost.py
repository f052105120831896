"""What must never be lost, guessed or half done."""

from __future__ import annotations

import pytest

from entlink.documents import Document, Entity, Turn
from entlink.errors import DamagedError, InputError, LockedError, NotFoundError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.search import search
from entlink.kb.store.edits import add, block, open_for_writing, pin, remove, sync
from entlink.linking.linker import load
from entlink.sources.page import Page
from knowledge_bases import article, make_kb, supports, write_articles


def linked(folder, text, **settings) -> list[tuple[str, str | None]]:
    return [(link.mention.text, link.entity) for link in load(folder, **settings).link(text).links]


def test_a_knowledge_base_that_is_being_edited_is_not_replaced(own_world, tmp_path):
    source = write_articles(tmp_path / "new.jsonl", [article("a", "Ant")])
    options = BuildOptions(format="articles", processes=1)
    with open_for_writing(own_world), pytest.raises(LockedError):
        build([source], own_world, options, replace=True)
    with KnowledgeBase.open(own_world) as kb:
        assert kb.get("planet") is not None
    build([source], own_world, options, replace=True)
    with KnowledgeBase.open(own_world) as kb:
        assert [entity.id for entity in kb] == ["a"]


def test_a_table_without_rows_deletes_nothing(own_world):
    with pytest.raises(InputError, match="no rows"):
        sync(own_world, [], delete=True)
    with KnowledgeBase.open(own_world) as kb:
        assert kb.get("planet") is not None


def test_a_sync_that_fails_changes_nothing(own_world):
    rows = [Page(Entity(f"new-{number}", f"New {number}")) for number in range(1_500)]
    with pytest.raises(InputError, match="twice"):
        sync(own_world, [*rows, rows[0]])
    with KnowledgeBase.open(own_world) as kb:
        assert kb.get("new-1") is None


@pytest.mark.parametrize("change", [lambda kb, name: remove(kb, [name]), lambda kb, name: pin(kb, "M", name)])
def test_an_identifier_that_means_several_is_not_guessed(own_world, change):
    add(own_world, [Entity("one", "Doppel"), Entity("two", "Doppel")])
    with pytest.raises(InputError, match="'one', 'two'"):
        change(own_world, "Doppel")
    change(own_world, "two")


def test_a_cut_off_replacement_is_told_to_readers(own_world):
    own_world.rename(own_world.with_name("own.kb.replaced"))
    with pytest.raises(NotFoundError, match=r"own\.kb\.replaced"):
        load(own_world)


def test_a_refresh_that_fails_is_tried_again(own_world, monkeypatch):
    with KnowledgeBase.open(own_world) as kb:
        add(own_world, [Entity("late", "Latecomer")])
        reindex(own_world, processes=1)

        def fail(*_: object) -> None:
            raise OSError(24, "Too many open files")

        with monkeypatch.context() as patch:
            patch.setattr("entlink.kb.knowledge_base.AliasIndex", fail)
            with pytest.raises(OSError, match="Too many"):
                kb.refresh()
        kb.refresh()
        assert supports(kb, "Latecomer").keys() == {"late"}


def test_doubles_that_are_skipped_count_for_nothing(tmp_path):
    rows = [article("a", "Ant", "[[b|Bee]] and Ant."), article("b", "Bee", "Bee.")]
    once = make_kb(tmp_path, rows, "once")
    twice = make_kb(tmp_path, [*rows, rows[0]], "twice", on_error="skip")
    with KnowledgeBase.open(once) as one, KnowledgeBase.open(twice) as two:
        assert one.meaning("Bee") == two.meaning("Bee")
        assert one.meaning("Ant") == two.meaning("Ant")
        assert one.texts == two.texts
        assert two.manifest().sources[0].skipped == 1


# Rules and types


def test_a_pinned_name_does_not_cross_turns(own_world):
    pin(own_world, "New York", "new-york")
    conversation = Document.of_turns("c", [Turn("I bought it New"), Turn("York is far.")])
    assert [link.mention.text for link in load(own_world).link(conversation).links] == ["York"]


def test_rules_cover_the_plurals_that_are_found(own_world):
    block(own_world, "Venus")
    add(own_world, [Entity("cat", "Jaguar"), Entity("car", "Jaguar Cars", aliases=("Jaguar",))])
    pin(own_world, "Jaguar", "car")
    assert linked(own_world, "Two Venuses and two Jaguars") == [("Jaguars", "car")]


def test_a_block_covers_the_sign_a_name_ends_with(own_world):
    block(own_world, "U.S.", case_sensitive=True)
    assert linked(own_world, "The U.S. is big.") == []


def test_the_best_entity_of_a_type_is_linked_however_many_others_there_are(tmp_path):
    rows = [article(f"p{number}", "John Smith", types=["person"]) for number in range(40)]
    rows = [{**row, "title": f"John Smith ({row['id']})"} for row in rows]
    folder = make_kb(tmp_path, [*rows, article("s", "John Smith (ship)", types=["ship"])])
    (link,) = load(folder, config="lexical", types=["ship"]).link("The John Smith sank.").links
    assert (link.entity, link.score) == ("s", 1.0)


def test_a_name_of_another_type_does_not_hide_one_inside_it(tmp_path):
    rows = [article("t", "New York Times", types=["paper"]), article("n", "New York", types=["city"])]
    folder = make_kb(tmp_path, rows)
    assert linked(folder, "I read the New York Times.", types=["city"]) == [("New York", "n")]


def test_search_shows_a_name_that_is_the_entitys_own(tmp_path):
    folder = make_kb(tmp_path, [article("film", "Us"), article("land", "United States", aliases=["US"])])
    with KnowledgeBase.open(folder) as kb:
        assert {found.entity: found.name for found in search(kb, "us", 5)} == {"film": "Us", "land": "US"}


def test_an_index_is_not_made_without_the_counts(own_world):
    (own_world / "counts" / "base" / "anchors.parquet").unlink()
    with pytest.raises(DamagedError, match=r"anchors\.parquet"):
        reindex(own_world, processes=1)
    with KnowledgeBase.open(own_world) as kb:
        assert supports(kb, "Mercury")["planet"] > 1


def test_one_source_and_one_type_need_no_list(tmp_path):
    source = write_articles(tmp_path / "a.jsonl", [article("a", "Ant", types=["insect"]), article("b", "Bolt")])
    assert build(str(source), tmp_path / "a.kb", BuildOptions(format="articles")).entities == 2
    assert linked(tmp_path / "a.kb", "Ant and Bolt", types="insect") == [("Ant", "a")]


def test_what_is_no_text_is_told_so(own_world):
    linker = load(own_world)
    with pytest.raises(InputError, match="bytes"):
        linker.link(b"Mercury")
    with pytest.raises(InputError, match="several"):
        list(linker.link_all("Mercury"))
