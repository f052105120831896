from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import pool_tasks
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import JsonFiles, ParquetFiles, Task, default_processes
from entlink.errors import EntlinkError, InputError

DIGITS = "SELECT 0 AS d" + "".join(f" UNION ALL SELECT {n} AS d" for n in range(1, 10))
MILLION = ", ".join(f"digits d{n}" for n in range(6))


def tasks(count: int) -> list[Task]:
    return [Task(f"out-{number}.txt", (number,)) for number in range(count)]


def first_words(paths: list[Path]) -> list[str]:
    return [path.read_text().split()[0] for path in paths]


@pytest.mark.parametrize("processes", [1, 2])
def test_every_task_has_its_file_in_order(tmp_path, processes):
    paths = LocalEngine(processes=processes).map_to_files(pool_tasks.write_square, tasks(7), tmp_path / "out")
    assert first_words(paths) == ["0", "1", "4", "9", "16", "25", "36"]
    ran_here = str(os.getpid()) in paths[0].read_text()
    assert ran_here is (processes == 1)


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_there_is_not_made_again(tmp_path, processes):
    (tmp_path / "out-1.txt").write_text("kept")
    counted = []
    paths = LocalEngine(processes=processes).map_to_files(
        pool_tasks.write_square, tasks(3), tmp_path, done=counted.append
    )
    assert first_words(paths) == ["0", "kept", "4"]
    assert sorted(counted) == paths


@pytest.mark.parametrize("processes", [1, 2])
def test_a_task_that_fails_leaves_no_output(tmp_path, processes):
    with pytest.raises(ValueError, match=r"number \d is bad"):
        LocalEngine(processes=processes).map_to_files(pool_tasks.fail, tasks(3), tmp_path)
    assert not list(tmp_path.glob("out-*.txt"))


def test_a_worker_that_dies_is_told_in_words(tmp_path):
    with pytest.raises(EntlinkError, match="want of memory"):
        LocalEngine(processes=2).map_to_files(pool_tasks.die, tasks(2), tmp_path)


def test_a_long_stream_of_tasks_is_not_taken_in_at_once(tmp_path):
    drawn = []

    def stream():
        for task in tasks(30):
            drawn.append(task)
            assert len(drawn) - len(list(tmp_path.glob("out-*.txt"))) <= 2 * 2 + 1
            yield task

    LocalEngine(processes=2).map_to_files(pool_tasks.write_square, stream(), tmp_path)
    assert len(drawn) == 30


def test_no_tasks_are_no_files(tmp_path):
    assert LocalEngine().map_to_files(pool_tasks.write_square, [], tmp_path / "new") == []
    assert (tmp_path / "new").is_dir()


def test_default_processes_are_at_least_one():
    assert 1 <= default_processes() <= 8


def test_progress_of_a_stage_runs_to_its_end(tmp_path):
    seen = []
    engine = LocalEngine(processes=1, progress=lambda *step: seen.append(step))
    engine.map_to_files(pool_tasks.write_square, tasks(2), tmp_path, stage="squaring")
    assert seen == [("squaring", 1, 2), ("squaring", 2, 2)]


@pytest.mark.parametrize(("count", "at_most"), [(1, None), (5, 1)])
def test_no_pool_is_started_where_one_process_will_do(tmp_path, count, at_most):
    paths = LocalEngine(processes=4).map_to_files(pool_tasks.write_square, tasks(count), tmp_path, at_most=at_most)
    assert str(os.getpid()) in paths[0].read_text()


@pytest.mark.parametrize(
    ("memory", "processes", "count", "share"),
    [("2GB", 4, 2, "1.000GB"), ("2GB", 2, 64, "1.000GB"), ("512MB", 1, 9, "512MB"), ("2 GB", 8, 1, "2 GB")],
)
def test_tasks_share_the_memory(memory, processes, count, share):
    engine = LocalEngine(processes=processes, memory=memory).share(count)
    assert (engine.processes, engine.memory) == (1, share)
    assert pickle.loads(pickle.dumps(engine)).memory == share


@pytest.mark.parametrize(
    "name", ["plain", "it's", 'a "b"', "ünï 编", "semi;colon", "'; DROP TABLE x; --", "a[b]*?", "c=3"]
)
def test_files_of_any_name(tmp_path, name):
    (tmp_path / name).mkdir()
    path, table = tmp_path / name / "rows", tmp_path / name / "rows.parquet"
    path.write_text('{"a": 1}\n')
    missing = tmp_path / "missing"
    with LocalEngine().sql(tmp_path) as session:
        session.view("lines", JsonFiles([path, missing, path], {"a": "BIGINT"}))
        assert list(session.rows("SELECT a FROM lines")) == [(1,), (1,)]
        session.write("SELECT a FROM lines", table)
        session.view("kept", ParquetFiles([table, table]))
        assert list(session.rows("SELECT a FROM kept")) == [(1,)] * 4
    assert sorted(each.name for each in (tmp_path / name).iterdir()) == ["rows", "rows.parquet"]


@pytest.mark.parametrize("cached", [False, True])
def test_no_files_are_no_rows(tmp_path, cached):
    with LocalEngine().sql(tmp_path) as session:
        session.view("nothing", JsonFiles([], {"a": "BIGINT", "b": "STRING", "c": "SMALLINT"}), cached=cached)
        assert list(session.rows("SELECT a, b, c FROM nothing")) == []
        assert session.number("SELECT coalesce(sum(a), 0) FROM nothing") == 0


def test_a_table_takes_the_place_of_the_one_it_is_made_from(tmp_path):
    with LocalEngine().sql(tmp_path) as session:
        session.table("counted", "SELECT 1 AS n")
        for _ in range(3):
            session.table("counted", "SELECT n + 1 AS n FROM counted")
        assert session.number("SELECT n FROM counted") == 4


def test_cached_rows_do_not_change_with_their_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n')
    with LocalEngine().sql(tmp_path) as session:
        for name in ("cached", "fresh"):
            session.view(name, JsonFiles([path], {"a": "BIGINT"}), cached=name == "cached")
        path.write_text('{"a": 2}\n')
        assert [session.number(f"SELECT a FROM {name}") for name in ("cached", "fresh")] == [1, 2]


def test_a_query_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "rows.parquet"
    with LocalEngine().sql(tmp_path) as session:
        session.write("SELECT 1 AS a", path)
    before = path.read_bytes()
    with pytest.raises(EntlinkError), LocalEngine().sql(tmp_path) as session:
        session.write("SELECT CAST('x' AS BIGINT) AS a", path)
    assert path.read_bytes() == before


def test_rows_in_a_folder_for_each_value(tmp_path):
    rows = "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2 AS a, 'y' AS b UNION ALL SELECT 2 AS a, 'z' AS b"
    with LocalEngine().sql(tmp_path) as session:
        session.partition(rows, "a", tmp_path / "out")
        session.view("second", ParquetFiles(sorted((tmp_path / "out" / "a=2").glob("*.parquet"))))
        assert list(session.rows("SELECT b FROM second ORDER BY b")) == [("y",), ("z",)]
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["a=1", "a=2"]


def test_more_than_the_memory_is_told_with_the_option(tmp_path):
    with pytest.raises(EntlinkError, match="--memory"), LocalEngine(memory="10MB").sql(tmp_path) as session:
        session.table("digits", DIGITS)
        session.table("one_row", f"SELECT array_agg(repeat('x', 100)) AS t FROM {MILLION}")  # which cannot be spilled


def test_what_is_more_than_the_memory_is_spilled_into_a_folder_that_need_not_be_there(tmp_path):
    distinct = ", '-', ".join(f"d{n}.d" for n in range(6))
    with LocalEngine(memory="40MB").sql(tmp_path / "new" / "work") as session:
        session.table("digits", DIGITS)
        session.table("many", f"SELECT concat({distinct}, repeat('x', 99)) AS t FROM {MILLION}")
        assert session.number("SELECT count(*) FROM many") == 1_000_000
        assert any((tmp_path / "new" / "work" / "spill").iterdir())


def test_what_is_no_amount_of_memory(tmp_path):
    with pytest.raises(InputError, match="512MB"), LocalEngine(memory="plenty").sql(tmp_path):
        pass


def test_problems_of_the_database_are_ours(tmp_path):
    with pytest.raises(EntlinkError, match="nothing_so") as raised, LocalEngine().sql(tmp_path) as session:
        session.number("SELECT * FROM nothing_so")
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
        LocalEngine(processes=processes).map_to_files(pool_tasks.fill_the_disk, tasks(3), tmp_path)
    assert raised.value.filename.startswith(str(tmp_path))
