from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from entlink.errors import EntlinkError, LockedError
from entlink.io.atomic import write_lock
from entlink.kb.store.store import STORE_VERSION, Store
from entlink.kb.store.writing import create_store, statements, transaction

HOLD = """
import sys
from pathlib import Path
from entlink.io.atomic import write_lock
with write_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def store(tmp_path):
    create_store(tmp_path)
    store = Store(tmp_path, writable=True)
    yield store
    store.close()


def test_a_new_store_is_empty_and_of_this_version(store):
    assert store.count() == 0
    assert store.meta("store_version") == str(STORE_VERSION)
    assert store.meta("nothing so", "default") == "default"


def test_a_transaction_is_all_or_nothing(store):
    with pytest.raises(ZeroDivisionError), transaction(store) as connection:
        connection.execute("INSERT INTO meta VALUES ('a', 'b')")
        _ = 1 / 0
    assert store.meta("a") == ""
    with transaction(store) as connection:
        connection.execute("INSERT INTO meta VALUES ('a', 'b')")
    assert store.meta("a") == "b"


def test_a_full_disk_is_told_in_words(store):
    store.connection.execute("PRAGMA max_page_count = 20")
    with pytest.raises(EntlinkError, match="the disk is full; nothing was changed"), transaction(store) as connection:
        connection.execute("INSERT INTO meta VALUES ('big', zeroblob(1000000))")
    assert store.meta("big") == ""


def test_another_connection_that_writes(store, tmp_path):
    other = sqlite3.connect(tmp_path / "kb.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store.connection.execute("PRAGMA busy_timeout = 1")
    with pytest.raises(LockedError), transaction(store):
        pass
    other.execute("ROLLBACK")
    other.close()


def test_any_other_problem_of_the_database(store):
    with pytest.raises(EntlinkError, match="no such table"), transaction(store) as connection:
        connection.execute("DELETE FROM nothing_so")


def test_the_lock_is_held_across_processes_and_goes_with_them(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(LockedError, match="another process"), write_lock(tmp_path):
        pass
    holder.kill()
    holder.communicate()
    with write_lock(tmp_path):
        pass


def test_statements_of_a_script():
    script = "-- a comment; with a semicolon\nCREATE TABLE a (b);\n\nINSERT INTO a VALUES (1);\n"
    assert [statement.strip() for statement in statements(script)] == [
        "CREATE TABLE a (b)",
        "INSERT INTO a VALUES (1)",
    ]


def test_a_read_only_store_has_no_room_for_transactions(tmp_path):
    create_store(tmp_path)
    store = Store(tmp_path)
    with pytest.raises(EntlinkError), transaction(store):
        pass
    store.close()
