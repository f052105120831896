from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import DamerauLevenshtein

from entlink.documents import Entity
from entlink.kb.names.neighbours import edits_of, near_keys
from entlink.kb.store.edits import add
from knowledge_bases import article, make_kb


def test_a_name_is_no_neighbour_of_itself(world):
    assert all(near != "mercury" for near, _ in near_keys(world, "mercury"))


def test_closer_names_come_first(tmp_path, opened):
    rows = [article("a", "Kettles"), article("b", "Kettle Ltd"), article("c", "Nettle"), article("d", "Kettle")]
    near = near_keys(opened(make_kb(tmp_path, rows)), "kettel", similarity=0.5)
    assert near[0][0] == "kettle"
    assert [alike for _, alike in near] == sorted((alike for _, alike in near), reverse=True)
    assert all(DamerauLevenshtein.distance("kettel", key) <= 2 for key, _ in near)


def test_neighbours_are_those_that_trying_every_key_finds(tmp_path, opened):
    names = ["Kettle", "Kettles", "Kettle Ltd", "Nettle", "Mettle", "Kettl", "Ketle", "Settler", "Kettering", "Kttle"]
    kb = opened(make_kb(tmp_path, [article(str(number), name) for number, name in enumerate(names)]))
    for key in ("kettle", "nettles", "ketering", "kett", "mercury"):
        expected = set()
        for other in map(str.lower, names):
            edits = DamerauLevenshtein.distance(key, other)
            is_reached = edits == 1 or other.startswith(key[: max(3, len(key) // 3)])
            if 0 < edits <= 2 and is_reached and 1 - edits / max(len(key), len(other)) >= 0.5:
                expected.add(other)
        assert {near for near, _ in near_keys(kb, key, similarity=0.5)} == expected


def test_a_name_just_added_is_a_neighbour(tmp_path, opened):
    kb = opened(make_kb(tmp_path, [article("a", "Kettle")]))
    assert near_keys(kb, "mettle") == [("kettle", 1 - 1 / 6)]
    add(kb.folder, [Entity("b", "Nettle")])
    kb.refresh()
    assert sorted(near_keys(kb, "mettle")) == [("kettle", 1 - 1 / 6), ("nettle", 1 - 1 / 6)]


@given(st.text(alphabet="abc ", max_size=6))
def test_edits_are_all_that_is_one_step_away(key):
    made = edits_of(key)
    assert key not in made
    assert all(DamerauLevenshtein.distance(key, other) == 1 for other in made)
    assert {key[:at] + key[at + 1 :] for at in range(len(key))} - {key} <= made
    assert {key[:at] + "q" + key[at:] for at in range(len(key) + 1)} <= made
    assert {key[:at] + "q" + key[at + 1 :] for at in range(len(key))} <= made


def test_a_mention_as_long_as_a_page_has_no_neighbours(world):
    assert near_keys(world, "mercury " * 5_000) == []
