from __future__ import annotations

import sqlite3

import pytest

from entlink.errors import DamagedError, NotFoundError, VersionError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.store import DATABASE, STORE_VERSION, Store, covers


def run(folder, *statements: str) -> None:
    connection = sqlite3.connect(folder / DATABASE)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.fixture
def store(own_world):
    store = Store(own_world)
    yield store
    store.close()


@pytest.mark.parametrize(
    ("identifier", "id"),
    [
        ("planet", "planet"),
        ("Mercury (planet)", "planet"),
        ("Mercury_(planet)", "planet"),
        ("Q308", "planet"),
        ("https://en.wikipedia.org/wiki/Mercury_(planet)", "planet"),
        ("https://en.wikipedia.org/wiki/Mercury_%28planet%29?action=raw#Orbit", "planet"),
        ("http://www.wikidata.org/entity/Q308", "planet"),
        ("new York City", "nyc"),
        ("https://zh.wikipedia.org/wiki/%E5%8C%97%E4%BA%AC", "beijing"),
        ("Saturn", None),
        ("", None),
        ("https://", None),
    ],
)
def test_resolving_identifiers(world, identifier, id):
    found = world.resolve(identifier)
    assert (found.id if found else None) == id


def test_an_address_of_a_title_with_a_slash(own_world, opened):
    run(
        own_world,
        "UPDATE entities SET title = 'AC/DC' WHERE id = 'venus'",
        "UPDATE entities SET title = 'DC' WHERE id = 'york'",
    )
    kb = opened(own_world)
    assert kb.require("https://en.wikipedia.org/wiki/AC/DC").id == "venus"


def test_an_id_comes_before_a_title_and_an_identifier_before_a_redirect(own_world, opened):
    run(
        own_world,
        "UPDATE entities SET title = 'sun' WHERE id = 'york'",
        "INSERT INTO redirects VALUES ('Q308', 'venus')",
    )
    kb = opened(own_world)
    assert (kb.require("sun").id, kb.require("Q308").id) == ("sun", "planet")


def test_redirects_are_followed_to_their_end_and_out_of_loops(own_world, opened):
    run(
        own_world,
        "INSERT INTO redirects VALUES ('Sol', 'The Sun')",
        "INSERT INTO redirects VALUES ('The Sun', 'Sun')",
        "INSERT INTO redirects VALUES ('Ring', 'Loop')",
        "INSERT INTO redirects VALUES ('Loop', 'Ring')",
        "INSERT INTO redirects VALUES ('Self', 'Self')",
        "INSERT INTO redirects VALUES ('Dead end', 'Nowhere')",
    )
    kb = opened(own_world)
    assert kb.require("Sol").id == "sun"
    assert kb.require("https://example.org/wiki/The_Sun").id == "sun"
    assert [kb.resolve(name) for name in ("Ring", "Self", "Dead end")] == [None, None, None]


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "date", "expected"),
    [
        (None, None, "2020-01-01", True),
        ("2020-01-01", None, "2020-01-01", True),
        ("2020-01-01", None, "2019-12-31", False),
        (None, "2020-01-01", "2020-01-01", False),
        (None, "2020-01-01", "2019-12-31", True),
        ("2020-01-01", "2021-01-01", "2020-12-31T23:59:59+00:00", True),
        ("2020-01-01T12:00:00+00:00", "2021-01-01", "2020-01-01", False),
    ],
)
def test_periods_are_half_open(valid_from, valid_to, date, expected):
    assert covers(valid_from, valid_to, date) is expected


def test_heads_are_cached_until_told_to_forget(store):
    assert store.head(1) == ("planet", "Mercury (planet)")
    run(store.folder, "UPDATE entities SET title = 'Changed' WHERE key = 1")
    assert store.head(1) == ("planet", "Mercury (planet)")
    store.forget()
    assert store.head(1) == ("planet", "Changed")
    assert store.head(99) is None


def test_a_reader_cannot_write(store):
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.connection.execute("DELETE FROM entities")


def test_types_are_counted_most_frequent_first(store):
    assert store.type_counts()[0] == ("city", 3)


def test_removed_keys_are_the_gaps(own_world):
    run(own_world, "DELETE FROM entities WHERE key IN (2, 10)")
    store = Store(own_world)
    assert store.removed_keys() == {2, 10}
    store.close()


def test_no_removed_keys_in_a_fresh_one(store):
    assert store.removed_keys() == set()


def test_there_is_no_knowledge_base(tmp_path):
    with pytest.raises(NotFoundError, match="entlink kb build"):
        KnowledgeBase.open(tmp_path / "none.kb")
    (tmp_path / "empty.kb").mkdir()
    with pytest.raises(NotFoundError, match="no knowledge base there"):
        KnowledgeBase.open(tmp_path / "empty.kb")


def test_a_store_of_a_newer_release(own_world):
    run(own_world, f"UPDATE meta SET value = '{STORE_VERSION + 1}' WHERE name = 'store_version'")
    with pytest.raises(VersionError, match="newer entlink"):
        KnowledgeBase.open(own_world)


def test_a_store_of_an_older_release(own_world):
    run(own_world, "UPDATE meta SET value = '1' WHERE name = 'store_version'")
    with pytest.raises(VersionError, match="entlink kb upgrade"):
        KnowledgeBase.open(own_world)


@pytest.mark.parametrize("content", [b"", b"no database, but long enough to be taken for one" * 100])
def test_a_file_that_is_no_database(own_world, content):
    (own_world / DATABASE).write_bytes(content)
    with pytest.raises((DamagedError, VersionError)):
        KnowledgeBase.open(own_world)


@pytest.mark.parametrize("kept", [100, 4096, 0.5, 0.9])
def test_a_database_cut_off(own_world, kept):
    path = own_world / DATABASE
    data = path.read_bytes()
    path.write_bytes(data[: kept if isinstance(kept, int) else int(len(data) * kept)])
    with pytest.raises(DamagedError, match="Restore it from a copy"):
        KnowledgeBase.open(own_world)


def test_a_store_without_its_tables(own_world):
    run(own_world, "DROP TABLE meta")
    with pytest.raises(DamagedError):
        KnowledgeBase.open(own_world)
