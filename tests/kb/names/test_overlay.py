from __future__ import annotations

import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.overlay import Overlay
from entlink.kb.store.edits import add, block, pin, remove, unrule
from entlink.kb.store.store import Store
from entlink.linking.linker import load
from entlink.sources.page import Page
from knowledge_bases import article, make_kb

BASE = [
    article("a", "Mercury", "[[b|Mercury]] [[a|mercury]] [[c|Quick silver]] Sun sun"),
    article("b", "Quicksilver", "[[b|Mercury]] Mercury [[a|Sun]]", aliases=["Mercury"]),
    article("c", "Sun (star)", "[[c|Sun]] Quicksilver", aliases=["Sol"]),
]
SURFACES = ["Mercury", "mercury", "MERCURY", "Quicksilver", "Quick silver", "Sun", "sun", "Sol", "Suns", "Mercuries"]
DATES = [None, "1990-01-01", "2010-01-01"]
TEXT = "Mercury and quicksilver, the Suns of Sol; MERCURY, quick silver, a sun."

IDS = st.sampled_from(["a", "b", "c", "d", "e"])
NAMES = st.sampled_from(["Mercury", "Sun", "Sun (star)", "Quicksilver", "quick-silver", "Sol"])
ALIASES = st.lists(NAMES, max_size=2).map(tuple)
STEPS = st.one_of(
    st.tuples(st.just("put"), IDS, NAMES, ALIASES, st.sampled_from([None, 0, 5])),
    st.tuples(st.just("version"), IDS, NAMES, ALIASES, st.sampled_from(["1980-01-01", "2000-01-01"])),
    st.tuples(st.just("remove"), IDS),
    st.tuples(st.just("pin"), NAMES, IDS),
    st.tuples(st.just("block"), NAMES),
    st.tuples(st.just("unrule"), NAMES),
)


@pytest.fixture(scope="module")
def overlay_base(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("base"), BASE, "base")


def apply(folder, step) -> None:
    """One edit; those that do not fit the state of things are left out."""
    kind, *given = step
    with KnowledgeBase.open(folder) as kb:
        there = {entity.id for entity in kb}
        starts = {id: {version.valid_from for version in kb.versions(id)} for id in there}
    if kind == "put":
        id, title, aliases, weight = given
        add(folder, [Entity(id, title, aliases=aliases)], weight=weight, replace=id in there)
    elif kind == "version":
        id, title, aliases, date = given
        if date not in starts.get(id, ()):
            add(folder, [Page(Entity(id, title, aliases=aliases), valid_from=date)])
    elif kind == "remove" and given[0] in there:
        remove(folder, given)
    elif kind == "pin" and given[1] in there:
        pin(folder, *given)
    elif kind == "block":
        block(folder, *given)
    elif kind == "unrule":
        unrule(folder, *given)


def meanings(folder) -> dict:
    """Everything the names mean, now and then, whatever the order of their forms.

    Not how often they stand in the texts: a name that nothing bore at one index is counted from the next on.
    """
    found = {}
    for date in DATES:
        with KnowledgeBase.open(folder, date=date) as kb:
            for surface in SURFACES:
                meaning = kb.meaning(surface)
                found[date, surface] = (kb.aliases(surface), meaning.linked, set(meaning.forms))
    linker = load(folder, config="lexical")
    found["links"] = [(link.mention.span, link.entity, link.score) for link in linker.link(TEXT).links]
    linker.kb.close()
    return found


@settings(max_examples=10, deadline=None)
@given(steps=st.lists(STEPS, min_size=1, max_size=6), cut=st.integers(0, 5))
def test_edits_laid_over_the_index_mean_what_a_new_index_means(overlay_base, tmp_path_factory, steps, cut):
    folder = shutil.copytree(overlay_base, tmp_path_factory.mktemp("edited") / "edited.kb")
    with KnowledgeBase.open(folder) as follower:
        for number, step in enumerate(steps):
            apply(folder, step)
            follower.refresh()
            if number == cut:
                reindex(folder, processes=1)
        follower.refresh()
        followed = {surface: follower.aliases(surface) for surface in SURFACES}
    over = meanings(folder)
    assert followed == {surface: over[None, surface][0] for surface in SURFACES}
    reindex(folder, processes=1)
    assert meanings(folder) == over
    with KnowledgeBase.open(folder) as kb:
        assert kb.pending_edits == 0


def test_an_overlay_takes_in_only_what_is_new(own_world):
    add(own_world, [Entity("zork", "Zork")])
    store, overlay = Store(own_world), Overlay()
    overlay.refresh(store)
    assert overlay.keys() == ["zork"]
    assert overlay
    remove(own_world, ["zork"])
    overlay.refresh(store)
    assert overlay.keys() == []
    assert not overlay
    assert len(overlay.changed) == 1
    store.close()


def test_plurals_of_fresh_names_are_found_before_and_after_an_index(own_world):
    add(own_world, [Entity("w", "Widget"), Entity("b", "Busfox")])
    linker = load(own_world)
    for _ in range(2):
        links = linker.link("Widgets and busfoxes").links
        assert [link.entity for link in links] == ["w", "b"]
        reindex(own_world, processes=1)
    linker.kb.close()


def test_many_changes_are_warned_of(own_world, monkeypatch, caplog):
    monkeypatch.setattr("entlink.kb.knowledge_base.OVERLAY_CAP", 1)
    add(own_world, [Entity("x", "X"), Entity("y", "Y")])
    with KnowledgeBase.open(own_world) as kb:
        assert kb.pending_edits == 2
    assert "entlink kb index" in caplog.text
