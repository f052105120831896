from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from entlink.documents import Entity
from entlink.errors import ExistsError, InputError, LockedError, NotFoundError
from entlink.io.atomic import write_lock
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import SyncPlan, SyncReport, add, block, pin, remove, sync, unrule
from entlink.kb.store.store import Store
from entlink.linking.linker import load
from entlink.sources.page import Page
from knowledge_bases import article, make_kb, supports


@pytest.fixture
def kb(own_world, opened):
    return opened(own_world)


@pytest.fixture
def linker(own_world):
    linker = load(own_world, config="lexical")
    yield linker
    linker.kb.close()


@pytest.fixture
def lexical(own_world):
    """One that links a name by itself to whom it means most often."""
    linker = load(own_world, config="lexical")
    yield linker
    linker.kb.close()


def linked(linker, text: str) -> dict[str, str]:
    return {link.mention.text: link.entity for link in linker.link(text).links}


# Seen at once


def test_an_added_entity_is_seen_at_once(own_world, kb, linker):
    assert linked(linker, "A Zork is here.") == {}
    assert add(own_world, [Entity("zork", "Zork", aliases=("Great Zork",))]) == 1
    assert linked(linker, "A Zork, the great zork, is here.") == {"Zork": "zork", "great zork": "zork"}
    assert kb.get("zork") is not None
    assert kb.refresh()
    assert not kb.refresh()
    assert supports(kb, "Zork") == {"zork": 3 + 1}  # the title, and the weight an average name has
    assert kb.pending_edits == 1


def test_a_change_is_seen_at_once(own_world, kb, linker):
    add(own_world, [Entity("venus", "Morning Star", types=("planet",))], replace=True)
    kb.refresh()
    assert kb.require("venus").title == "Morning Star"
    assert linked(linker, "The Morning Star rises.") == {"Morning Star": "venus"}
    assert kb.types("venus") == ("planet",)


def test_a_removal_is_seen_at_once(own_world, kb, lexical):
    assert linked(lexical, "Mercury") == {"Mercury": "planet"}
    assert remove(own_world, ["planet"]) == 1
    assert linked(lexical, "Mercury") == {"Mercury": "element"}
    kb.refresh()
    assert kb.get("planet") is None
    assert kb.resolve("Q308") is None
    assert "planet" not in supports(kb, "Mercury")


def test_a_removed_entity_is_gone_after_an_index_too(own_world, opened):
    remove(own_world, ["planet", "sun"])
    reindex(own_world, processes=1)
    kb = opened(own_world)
    assert supports(kb, "Mercury") == {"element": 2}
    assert supports(kb, "Sun") == {}
    assert "sun" not in kb.alias_index


def test_another_process_sees_an_edit(own_world):
    script = "import sys, entlink; kb = entlink.KnowledgeBase.open(sys.argv[1]); print(kb.aliases('Zork')[0].entity)"
    add(own_world, [Entity("zork", "Zork")])
    ran = subprocess.run([sys.executable, "-c", script, own_world], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "zork"


def test_an_edit_of_another_process_is_seen(own_world, linker):
    script = "import sys; from entlink.kb.store.edits import *; add(sys.argv[1], [Entity('zork', 'Zork')])"
    assert linked(linker, "Zork") == {}
    subprocess.run([sys.executable, "-c", script, own_world], check=True)
    assert linked(linker, "Zork") == {"Zork": "zork"}


def test_two_linkers_on_one_knowledge_base_both_see_an_edit(own_world, lexical):
    from entlink.linking.linker import Linker

    other = Linker(lexical.kb, lexical.detector, lexical.retrievers, lexical.ranker, lexical.nil)
    other.retrievers = [type(lexical.retrievers[0])(lexical.kb)]
    assert linked(lexical, "Mercury") == linked(other, "Mercury") == {"Mercury": "planet"}
    remove(own_world, ["planet"])
    assert linked(lexical, "Mercury") == {"Mercury": "element"}
    assert linked(other, "Mercury") == {"Mercury": "element"}


# What an edit does


def test_a_rename_drops_the_old_name_and_keeps_the_links(own_world, kb):
    before = supports(kb, "Venus")
    assert before == {"venus": 2 + 3}
    add(own_world, [Entity("venus", "Morning Star")], replace=True)
    kb.refresh()
    assert supports(kb, "Venus") == {"venus": 2}
    assert supports(kb, "Morning Star") == {"venus": 3}


def test_a_name_nobody_linked_is_gone_after_a_rename(own_world, kb):
    add(own_world, [Entity("beijing", "Peking")], replace=True)
    kb.refresh()
    assert supports(kb, "北京市") == {}


def test_an_entity_added_again_after_removal_begins_anew(own_world, kb):
    remove(own_world, ["planet"])
    add(own_world, [Entity("planet", "Mercury (planet)", types=("planet",))])
    kb.refresh()
    # One for the title without parenthesis and one for an average name: the links went with the old one.
    assert supports(kb, "Mercury")["planet"] == 2
    reindex(own_world, processes=1)
    kb.refresh()
    assert supports(kb, "Mercury")["planet"] == 2


def test_a_new_entity_never_inherits_the_links_of_a_removed_one(tmp_path, opened):
    folder = make_kb(tmp_path, [article("a", "Ant", "[[last|Last]]"), article("last", "Last", "")])
    remove(folder, ["last"])
    add(folder, [Entity("new", "New")], weight=0)
    assert supports(opened(folder), "Last") == {}
    reindex(folder, processes=1)
    assert supports(opened(folder), "Last") == {}
    assert supports(opened(folder), "New") == {"new": 3}


@pytest.mark.parametrize(("weight", "support"), [(0, 3), (10, 13), (None, 4)])
def test_the_weight_of_an_added_entity(own_world, opened, weight, support):
    add(own_world, [Entity("zork", "Zork")], weight=weight)
    assert supports(opened(own_world), "Zork") == {"zork": support}
    reindex(own_world, processes=1)
    assert supports(opened(own_world), "Zork") == {"zork": support}


def test_a_weight_can_be_changed_with_the_entity(own_world, opened):
    add(own_world, [Entity("zork", "Zork")], weight=1)
    add(own_world, [Entity("zork", "Zork")], weight=7, replace=True)
    assert supports(opened(own_world), "Zork") == {"zork": 10}
    add(own_world, [Entity("zork", "Zork")], replace=True)
    assert supports(opened(own_world), "Zork") == {"zork": 10}


def test_an_undated_change_of_a_dated_entity_keeps_its_dates(own_world, opened):
    add(own_world, [Entity("swazi", "Kingdom of Eswatini")], replace=True)
    kb = opened(own_world)
    assert [(v.entity.title, v.valid_from, v.valid_to) for v in kb.versions("swazi")] == [
        ("Swaziland", None, "2018-04-19"),
        ("Kingdom of Eswatini", "2018-04-19", None),
    ]


# All or nothing


def test_adding_what_is_there_changes_nothing(own_world, kb):
    with pytest.raises(ExistsError, match="'sun' is there already"):
        add(own_world, [Entity("new", "New"), Entity("sun", "Sun again")])
    assert not kb.refresh()
    assert kb.get("new") is None


def test_removing_something_unknown_changes_nothing(own_world, kb):
    with pytest.raises(NotFoundError, match="no entity 'nothing so'"):
        remove(own_world, ["sun", "nothing so"])
    with pytest.raises(NotFoundError):
        remove(own_world, ["sun", "sun"])
    assert kb.get("sun") is not None


def test_a_version_from_a_date_that_has_one(own_world):
    with pytest.raises(ExistsError, match="has a version from 2018-04-19 already"):
        add(own_world, [Page(Entity("swazi", "Again"), valid_from="2018-04-19")])


@pytest.mark.parametrize(
    "entity",
    [
        Entity("", "No id"),
        Entity("x", "  "),
        Entity("x\0", "NUL in the id"),
        Entity("x", "NUL \0"),
        Entity("x", "X", aliases=("a\0b",)),
        Entity("x", "lone \ud800 surrogate"),
        Entity("x", "X", description="\udfff"),
    ],
)
def test_entities_that_cannot_be(own_world, kb, entity):
    with pytest.raises(InputError):
        add(own_world, [Entity("fine", "Fine"), entity])
    assert kb.get("fine") is None


def test_a_second_writer_is_told_to_wait(own_world):
    with write_lock(own_world), pytest.raises(LockedError, match="another process is writing"):
        add(own_world, [Entity("zork", "Zork")])
    add(own_world, [Entity("zork", "Zork")])


def test_there_is_nothing_to_edit(tmp_path):
    with pytest.raises(NotFoundError):
        add(tmp_path / "none.kb", [])
    assert not (tmp_path / "none.kb").exists()


# Pins and blocks


def test_a_pin_decides_and_can_be_lifted(own_world, kb, lexical):
    pin(own_world, "Mercury", "element")
    assert linked(lexical, "Mercury mercury") == {"Mercury": "element", "mercury": "element"}
    kb.refresh()
    assert kb.meaning("Mercury").pinned
    assert unrule(own_world, "Mercury") == 1
    assert linked(lexical, "Mercury") == {"Mercury": "planet"}
    assert unrule(own_world, "Mercury") == 0


def test_a_pinned_surface_is_found_though_nothing_is_called_so(own_world, linker):
    pin(own_world, "that shiny thing", "sun")
    assert linked(linker, "Look at that shiny thing!") == {"that shiny thing": "sun"}
    unrule(own_world, "that shiny thing")
    assert linked(linker, "Look at that shiny thing!") == {}


def test_a_block_and_its_lifting(own_world, linker):
    block(own_world, "venus")
    assert linked(linker, "Venus and VENUS and York") == {"York": "york"}
    unrule(own_world, "venus")
    assert linked(linker, "Venus") == {"Venus": "venus"}


def test_a_case_sensitive_block_spares_other_writings(own_world, opened):
    block(own_world, "mercury", case_sensitive=True)
    kb = opened(own_world)
    assert kb.meaning("mercury").blocked
    assert kb.meaning("Mercury").entries
    assert kb.meaning("MERCURY").entries


def test_a_case_sensitive_rule_comes_before_a_general_one(own_world, opened):
    block(own_world, "Mercury")
    pin(own_world, "Mercury", "element", case_sensitive=True)
    kb = opened(own_world)
    assert [entry.entity for entry in kb.meaning("Mercury").entries] == [2]
    assert kb.meaning("mercury").blocked


def test_rules_outlive_an_index_and_go_with_their_entity(own_world, linker):
    pin(own_world, "Mercury", "element")
    block(own_world, "York")
    reindex(own_world, processes=1)
    assert linked(linker, "Mercury in York") == {"Mercury": "element"}
    remove(own_world, ["element"])
    assert linked(linker, "Mercury in York") == {"Mercury": "planet"}


def test_rules_do_not_mind_white_space(own_world, kb):
    block(own_world, "  New \n York ")
    kb.refresh()
    assert kb.meaning("New York").blocked
    assert unrule(own_world, "New  York") == 1


def test_rules_on_nothing_or_for_nobody(own_world):
    with pytest.raises(InputError, match="empty surface"):
        block(own_world, " ")
    with pytest.raises(NotFoundError):
        pin(own_world, "Mercury", "nothing so")


# Sync


@pytest.fixture
def table(tmp_path):
    folder = tmp_path / "table"
    folder.mkdir()
    return make_kb(folder, [article("a", "Ant"), article("b", "Bee"), article("c", "Cat")])


def pages(**titles: str) -> list[Page]:
    return [Page(Entity(id, title)) for id, title in titles.items()]


def test_sync_adds_and_changes(table):
    assert sync(table, pages(a="Ant", b="Bumblebee", d="Dog")) == SyncReport(added=1, changed=1, unchanged=1)
    with KnowledgeBase.open(table) as kb:
        assert {entity.id: entity.title for entity in kb} == {"a": "Ant", "b": "Bumblebee", "c": "Cat", "d": "Dog"}
    assert sync(table, pages(a="Ant", b="Bumblebee", d="Dog")) == SyncReport(unchanged=3)


def test_sync_with_delete_removes_what_the_table_lacks(table):
    assert sync(table, pages(a="Ant", d="Dog"), delete=True) == SyncReport(added=1, unchanged=1, removed=2)
    with KnowledgeBase.open(table) as kb:
        assert [entity.id for entity in kb] == ["a", "d"]
        assert supports(kb, "Bee") == {}


def test_an_id_twice_in_the_table_is_an_error(table):
    with pytest.raises(InputError, match="'a' appears twice"):
        sync(table, [*pages(a="Ant"), *pages(a="Aunt")])


def test_a_dry_run_of_a_sync_tells_what_it_would_do_and_does_nothing(table):
    before = contents(table)
    plan = sync(table, pages(a="Aunt", b="Bee", d="Dog"), delete=True, dry_run=True)
    ids = {"added": ["d"], "changed": ["a"], "removed": ["c"]}
    assert plan == SyncPlan(added=1, changed=1, unchanged=1, removed=1, ids=ids)
    assert contents(table) == before
    done = sync(table, pages(a="Aunt", b="Bee", d="Dog"), delete=True)
    assert done == SyncReport(plan.added, plan.changed, plan.unchanged, plan.removed)


def test_a_dry_run_fails_where_the_sync_would(table):
    with pytest.raises(InputError, match="'a' appears twice"):
        sync(table, [*pages(a="Ant"), *pages(a="Aunt")], dry_run=True)


def test_a_dry_run_of_many_names_the_first_hundred(table):
    many = [Page(Entity(f"e{number}", f"Thing {number}")) for number in range(150)]
    plan = sync(table, many, dry_run=True)
    assert (plan.added, plan.ids["added"]) == (150, [f"e{number}" for number in range(100)])


def contents(folder: Path) -> list[tuple[object, ...]]:
    """All that a store holds."""
    store = Store(folder)
    try:
        tables = [row[0] for row in store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [row for table in tables for row in store.connection.execute(f"SELECT * FROM {table}").fetchall()]
    finally:
        store.close()


@pytest.mark.parametrize(
    "edit",
    [
        lambda kb: kb.add(Entity("d", "Dog")),
        lambda kb: kb.remove("a"),
        lambda kb: kb.sync([Entity("a", "Aunt")]),
        lambda kb: kb.pin("Bug", "a"),
        lambda kb: kb.block("Ant"),
        lambda kb: kb.unpin("Beast"),
        lambda kb: kb.unblock("Cow"),
    ],
    ids=["add", "remove", "sync", "pin", "block", "unpin", "unblock"],
)
def test_an_edit_waits_for_another_writer_if_asked_to(table, caplog, edit):
    pin(table, "Beast", "b")
    block(table, "Cow")
    before = contents(table)
    with KnowledgeBase.open(table) as hasty, write_lock(table), pytest.raises(LockedError):
        edit(hasty)
    with KnowledgeBase.open(table, wait=True) as patient, ThreadPoolExecutor(1) as pool:
        with write_lock(table):
            done = pool.submit(edit, patient)
            wait_until(lambda: "this one waits until that is done" in caplog.text)
            assert contents(table) == before
        done.result(timeout=30)
    assert contents(table) != before


def wait_until(is_so):
    deadline = time.monotonic() + 30
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert is_so()


def test_sync_of_another_table(table):
    many = [Page(Entity(f"e{number}", f"Thing {number}")) for number in range(7)]
    assert sync(table, many, delete=True) == SyncReport(added=7, removed=3)


def test_sync_takes_changed_dates_in(table):
    dated = [Page(Entity("a", "Ant"), valid_from="2000-01-01")]
    assert sync(table, dated).changed == 1
    assert sync(table, dated).unchanged == 1
    assert sync(table, pages(a="Ant")).unchanged == 1
    with KnowledgeBase.open(table, date="1999-01-01") as kb:
        assert kb.get("a") is None
