from __future__ import annotations

import sqlite3

import pytest

from entlink.errors import DamagedError, EntlinkError, NotFoundError, VersionError
from entlink.kb.store.store import DATABASE, STORE_VERSION
from entlink.kb.store.upgrade import upgrade


@pytest.fixture
def old(own_world):
    """A store as version 1 kept it."""
    connection = sqlite3.connect(own_world / DATABASE)
    with connection:
        connection.execute("DROP TABLE rules")
        connection.execute("CREATE TABLE pins (surface TEXT PRIMARY KEY, entity INTEGER NOT NULL)")
        connection.execute("CREATE TABLE blocks (surface TEXT PRIMARY KEY)")
        connection.execute("INSERT INTO pins VALUES ('Mercury', 2)")
        connection.execute("INSERT INTO blocks VALUES ('York')")
        connection.execute("UPDATE meta SET value = '1' WHERE name = 'store_version'")
    connection.close()
    return own_world


def test_an_old_store_is_brought_up_with_its_rules(old, opened):
    assert upgrade(old) == (1, STORE_VERSION)
    kb = opened(old)
    assert [name.entity for name in kb.aliases("Mercury")] == ["element"]
    assert kb.meaning("York").blocked


def test_a_store_from_before_texts_were_shared_is_read_as_it_is(own_world, opened):
    connection = sqlite3.connect(own_world / DATABASE)
    with connection:
        connection.execute("UPDATE meta SET value = '2' WHERE name = 'store_version'")
    connection.close()
    before = list(opened(own_world))
    assert upgrade(own_world) == (2, STORE_VERSION)
    assert list(opened(own_world)) == before


def test_upgrading_again_does_nothing(old):
    upgrade(old)
    assert upgrade(old) == (STORE_VERSION, STORE_VERSION)


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(old):
    connection = sqlite3.connect(old / DATABASE)
    with connection:
        connection.execute("DROP TABLE blocks")
    with pytest.raises(EntlinkError, match="blocks; nothing was changed"):
        upgrade(old)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    assert "pins" in tables
    assert "rules" not in tables


def test_what_cannot_be_upgraded(own_world, tmp_path):
    with pytest.raises(NotFoundError):
        upgrade(tmp_path / "none.kb")
    connection = sqlite3.connect(own_world / DATABASE)
    with connection:
        connection.execute(f"UPDATE meta SET value = '{STORE_VERSION + 1}' WHERE name = 'store_version'")
    with pytest.raises(VersionError, match="newer"):
        upgrade(own_world)
    with connection:
        connection.execute("DELETE FROM meta WHERE name = 'store_version'")
    connection.close()
    with pytest.raises(DamagedError, match="does not say its version"):
        upgrade(own_world)
