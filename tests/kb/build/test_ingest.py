from __future__ import annotations

import pytest

from entlink.documents import Entity
from entlink.engine.local import LocalEngine
from entlink.errors import SourceError
from entlink.io.progress import ignore_progress
from entlink.kb.build import fill_store as module
from entlink.kb.build.fill_store import KEYS, Ingestion, pieces_of, with_extras
from entlink.kb.build.part_files import LINKS
from entlink.kb.build.read_sources import Stager
from entlink.kb.build.wiki_names import ALIAS, EXTERNAL, Extra
from entlink.kb.store.store import Store
from entlink.kb.store.writing import create_store
from entlink.sources import open_source, part
from knowledge_bases import article, write_articles

ROWS = [article(f"e{number}", f"Entity {number}", f"[[e{number}|it]] and it") for number in range(10)]


@pytest.fixture
def store(tmp_path):
    (tmp_path / "work").mkdir()
    create_store(tmp_path / "work")
    store = Store(tmp_path / "work", writable=True)
    yield store
    store.close()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(part, "PART_PAGES", 3)


def staged(path, rows=ROWS, *, skip: bool = False, limit: int | None = None):
    source = open_source(
        write_articles(path / "rows.jsonl", rows), format="articles", on_error="skip" if skip else "stop"
    )
    stager = Stager(LocalEngine(processes=1), path / "parts", texts=True, limit=limit, total=source.size)
    return pieces_of(path / "parts", [stager.stage(source, 0)], [source])


def taken_in(store, path, rows=ROWS, *, skip: bool = False, limit: int | None = None, extras=()):
    pieces = staged(path, rows, skip=skip, limit=limit)
    ingestion = Ingestion(store, skip=skip, limit=limit, extras=iter(extras))
    return ingestion.run(pieces, ignore_progress)


def test_everything_is_read_in_parts(store, tmp_path):
    checkpoint = taken_in(store, tmp_path)
    assert (checkpoint.read, checkpoint.parts, checkpoint.doubles) == ({0: 10}, 4, {})
    assert (store.count(), checkpoint.texts) == (10, 10)
    assert len(list((tmp_path / "parts").glob("part-*"))) == 4


def test_storing_goes_on_after_the_last_part_that_was_committed(store, tmp_path, monkeypatch):
    real, calls = module.JsonLines, []

    def fail_at_the_third(path):
        calls.append(path.parent.name)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return real(path)

    monkeypatch.setattr(module, "JsonLines", fail_at_the_third)
    with pytest.raises(OSError, match="No space left"):
        taken_in(store, tmp_path)
    assert store.count() == 6
    checkpoint = taken_in(store, tmp_path)
    assert (checkpoint.read, store.count()) == ({0: 10}, 10)
    assert calls == [f"part-00000{number}" for number in (0, 1, 2, 2, 3)]


def test_what_is_finished_is_not_done_again(store, tmp_path):
    first = taken_in(store, tmp_path)
    assert taken_in(store, tmp_path) == first
    assert store.count() == 10


def test_a_doubled_id_rolls_its_part_back(store, tmp_path):
    rows = [*ROWS[:4], ROWS[1]]
    with pytest.raises(SourceError, match="record 5"):
        taken_in(store, tmp_path, rows)
    assert store.count() == 3


def test_doubled_ids_are_skipped_and_counted(store, tmp_path):
    checkpoint = taken_in(store, tmp_path, [*ROWS[:4], ROWS[1], ROWS[2], ROWS[9]], skip=True)
    assert store.count() == 5
    assert checkpoint.doubles == {0: 2}
    assert ["record 5" in problem or "record 6" in problem for problem in checkpoint.problems] == [True, True]


def test_a_double_has_no_key(store, tmp_path):
    taken_in(store, tmp_path, [ROWS[0], ROWS[0], ROWS[1]], skip=True)
    assert (tmp_path / "parts" / "part-000000" / KEYS).read_text().splitlines() == [
        '{"p":0,"r":0,"e":1}',
        '{"p":0,"r":2,"e":2}',
    ]


@pytest.mark.parametrize("limit", [1, 3, 4, 10, 11])
def test_a_limit_takes_the_first_pages_and_no_more_parts_than_needed(store, tmp_path, limit):
    checkpoint = taken_in(store, tmp_path, limit=limit)
    assert store.count() == checkpoint.pages == min(limit, 10)
    assert [store.key(f"e{number}") is not None for number in range(10)] == [number < limit for number in range(10)]
    assert checkpoint.parts == -(-min(limit, 10) // 3)


def test_parts_are_bounded_by_their_text_too(store, tmp_path, monkeypatch):
    monkeypatch.setattr(part, "PART_CHARACTERS", 20)
    assert taken_in(store, tmp_path).parts > 4


def test_links_of_white_space_are_none(tmp_path):
    row = article("a", "A", "")
    row["paragraphs"] = [{"text": "a   b", "links": [[1, 3, "a"], [0, 5, "a"]]}]
    staged(tmp_path, [row])
    (line,) = (tmp_path / "parts" / "part-000000" / LINKS).read_text().splitlines()
    assert '"f":"a b"' in line


def test_extras_go_to_their_pages_and_no_others(store, tmp_path):
    extras = [
        Extra(0, 1, ALIAS, "", "Second"),
        Extra(1, 0, ALIAS, "", "Fourth"),
        Extra(1, 0, EXTERNAL, "wikidata", "Q4"),
        Extra(9, 0, ALIAS, "", "Nobody"),
    ]
    taken_in(store, tmp_path, extras=extras)
    entities = {key: store.entity(key) for key in range(1, 11)}
    assert {key: entity.aliases for key, entity in entities.items() if entity.aliases} == {
        2: ("Second",),
        4: ("Fourth",),
    }
    assert entities[4].external == {"wikidata": "Q4"}
    assert store.resolve("Q4") == 4


def test_extras_do_not_repeat_or_overrule_what_a_page_says():
    entity = Entity("a", "Ant", aliases=("Emmet",), external={"wikidata": "Q1"}, images=("a.jpg",))
    extras = [
        Extra(0, 0, ALIAS, "", "Ant"),
        Extra(0, 0, ALIAS, "", "Emmet"),
        Extra(0, 0, ALIAS, "", "Pismire"),
        Extra(0, 0, EXTERNAL, "image", "b.jpg"),
        Extra(0, 0, EXTERNAL, "wikidata", "Q2"),
    ]
    assert with_extras(entity, extras) == Entity(
        "a", "Ant", aliases=("Emmet", "Pismire"), external={"wikidata": "Q1"}, images=("a.jpg", "b.jpg")
    )
    assert with_extras(entity, []) is entity
