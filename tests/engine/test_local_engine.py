from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import pool_tasks
from entlink.engine.local import Task, default_processes, json_rows, literal, map_to_files, parquet_rows, sql
from entlink.errors import EntlinkError, InputError


def tasks(count: int) -> list[Task]:
    return [Task(f"out-{number}.txt", (number,)) for number in range(count)]


def first_words(paths: list[Path]) -> list[str]:
    return [path.read_text().split()[0] for path in paths]


@pytest.mark.parametrize("processes", [1, 2])
def test_every_task_has_its_file_in_order(tmp_path, processes):
    paths = map_to_files(pool_tasks.write_square, tasks(7), tmp_path / "out", processes=processes)
    assert first_words(paths) == ["0", "1", "4", "9", "16", "25", "36"]
    ran_here = str(os.getpid()) in paths[0].read_text()
    assert ran_here is (processes == 1)


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_there_is_not_made_again(tmp_path, processes):
    (tmp_path / "out-1.txt").write_text("kept")
    counted = []
    paths = map_to_files(pool_tasks.write_square, tasks(3), tmp_path, processes=processes, done=counted.append)
    assert first_words(paths) == ["0", "kept", "4"]
    assert sorted(counted) == paths


@pytest.mark.parametrize("processes", [1, 2])
def test_a_task_that_fails_leaves_no_output(tmp_path, processes):
    with pytest.raises(ValueError, match=r"number \d is bad"):
        map_to_files(pool_tasks.fail, tasks(3), tmp_path, processes=processes)
    assert not list(tmp_path.glob("out-*.txt"))


def test_a_worker_that_dies_is_told_in_words(tmp_path):
    with pytest.raises(EntlinkError, match="want of memory"):
        map_to_files(pool_tasks.die, tasks(2), tmp_path, processes=2)


def test_a_long_stream_of_tasks_is_not_taken_in_at_once(tmp_path):
    drawn = []

    def stream():
        for task in tasks(30):
            drawn.append(task)
            assert len(drawn) - len(list(tmp_path.glob("out-*.txt"))) <= 2 * 2 + 1
            yield task

    map_to_files(pool_tasks.write_square, stream(), tmp_path, processes=2)
    assert len(drawn) == 30


def test_no_tasks_are_no_files(tmp_path):
    assert map_to_files(pool_tasks.write_square, [], tmp_path / "new") == []
    assert (tmp_path / "new").is_dir()


def test_default_processes_are_at_least_one():
    assert 1 <= default_processes() <= 8


@pytest.mark.parametrize(
    "name", ["plain", "it's", 'a "b"', "ünï 编", "semi;colon", "'; DROP TABLE x; --", "a[b]*?", "c=3"]
)
def test_files_of_any_name(tmp_path, name):
    (tmp_path / name).mkdir()
    path, table = tmp_path / name / "rows", tmp_path / name / "rows.parquet"
    path.write_text('{"a": 1}\n')
    missing = tmp_path / "missing"
    with sql(tmp_path) as connection:
        assert connection.execute(f"SELECT {literal(path)}").fetchall() == [(str(path),)]
        rows = json_rows([path, missing, path], "{a: 'BIGINT'}")
        assert connection.execute(rows).fetchall() == [(1,), (1,)]
        connection.execute(f"COPY ({rows}) TO {literal(table)} (FORMAT parquet)")
        assert connection.execute(f"SELECT * FROM {parquet_rows(table, table)}").fetchall() == [(1,)] * 4


def test_no_files_are_no_rows(tmp_path):
    with sql(tmp_path) as connection:
        found = connection.execute(json_rows([], "{a: 'BIGINT', b: 'VARCHAR[]'}"))
        assert (found.fetchall(), [column[0] for column in found.description]) == ([], ["a", "b"])


def test_more_than_the_memory_is_told_with_the_option(tmp_path):
    with pytest.raises(EntlinkError, match="--memory"), sql(tmp_path, memory="20MB", threads=1) as connection:
        connection.execute("SET temp_directory = ''")
        connection.execute("CREATE TABLE a AS SELECT range AS n, repeat('x', 100) AS t FROM range(3000000)")
        connection.execute("SELECT * FROM a ORDER BY t, n").fetchall()


def test_what_is_no_amount_of_memory(tmp_path):
    with pytest.raises(InputError, match="512MB"), sql(tmp_path, memory="plenty"):
        pass


def test_problems_of_the_database_are_ours(tmp_path):
    with pytest.raises(EntlinkError, match="nothing_so") as raised, sql(tmp_path) as connection:
        connection.execute("SELECT * FROM nothing_so")
    assert isinstance(raised.value.__cause__, duckdb.Error)


def test_a_script_needs_no_main_guard(tmp_path):
    rows = "".join(
        json.dumps({"id": str(n), "title": f"Name {n}", "description": "of it " * 20}) + "\n" for n in range(8_000)
    )
    (tmp_path / "rows.jsonl").write_text(rows, encoding="utf8")
    script = tmp_path / "script.py"
    script.write_text("import entlink\nprint(entlink.build(['rows.jsonl'], 'rows.kb').entities)\n", encoding="utf8")
    ran = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, "8000\n"), ran.stderr


@pytest.mark.parametrize("processes", [1, 2])
def test_a_full_disk_is_told_with_its_place(tmp_path, processes):
    with pytest.raises(OSError, match="No space left") as raised:
        map_to_files(pool_tasks.fill_the_disk, tasks(3), tmp_path, processes=processes)
    assert raised.value.filename.startswith(str(tmp_path))
