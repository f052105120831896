"""Builds on a standalone cluster of processes, the commands as users run them, and what goes wrong there."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import spark_runs
from entlink.kb.build.from_sources import build
from entlink.linking.linker import load

pytestmark = spark_runs.needs_spark
WIKI = Path(__file__).parents[2] / "samples" / "wiki"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[spark_runs.Cluster]:
    with spark_runs.cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(scope="module")
def dump(tmp_path_factory) -> Path:
    return spark_runs.write_long_dump(tmp_path_factory.mktemp("dump") / "long.xml")


@pytest.fixture(scope="module")
def expected(dump) -> Path:
    """What the engine in the box makes of the dump."""
    build([dump], dump.with_name("local.kb"))
    return dump.with_name("local.kb")


def on(cluster: spark_runs.Cluster) -> list[str]:
    return ["--engine", "spark", "--master", cluster.master, "--conf", "spark.executor.memory=500m"]


def started(*words: object) -> subprocess.Popen[str]:
    """A command that runs while the test goes on."""
    command = [sys.executable, "-m", "entlink", *map(str, words)]
    return subprocess.Popen(command, env=spark_runs.environment(), stderr=subprocess.PIPE, text=True)


def parts(kb: Path) -> list[Path]:
    return [
        path for path in (kb.with_name(f"{kb.name}.building") / "staging/parts").glob("part-*") if path.suffix == ""
    ]


def test_a_wiki_and_its_hyperlinks(cluster, tmp_path):
    """Paths are told as a user tells them, from the folder they are in."""
    sources = [f"wiki/{path.name}" for path in sorted(WIKI.iterdir())]
    shutil.copytree(WIKI, tmp_path / "wiki")
    for kind, engine in (("spark", on(cluster)), ("local", [])):
        ran = spark_runs.entlink("kb", "build", *sources, "-o", f"{kind}.kb", *engine, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        words = ["datasets", "build", "hyperlinks", "wiki/samplewiki.xml", "-o", f"{kind}.jsonl", "--kb", "local.kb"]
        if kind == "local":
            assert spark_runs.entlink(*words, cwd=tmp_path).returncode == 0
    words[5:6] = ["spark.jsonl"]
    ran = spark_runs.entlink(*words, *on(cluster), cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    spark_runs.assert_equal(tmp_path / "spark.kb", tmp_path / "local.kb")
    assert (tmp_path / "spark.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes() != b""


def test_a_temporal_dataset(cluster, tmp_path):
    history = WIKI.parent / "history" / "aurora.xml"
    for kind, engine in (("spark", on(cluster)), ("local", [])):
        words = [history, "-o", tmp_path / kind, "--config", "tempel-small", "--snapshots", "2013-01-01,2014-01-01"]
        ran = spark_runs.entlink("datasets", "build", "temporal", *words, *engine)
        assert ran.returncode == 0, ran.stderr
    made, expected = (
        {path.name: path.read_bytes() for path in (tmp_path / kind).rglob("*.jsonl")} for kind in ("spark", "local")
    )
    assert made == expected
    assert b"".join(made.values())


def test_a_page_of_fifty_megabytes(cluster, tmp_path):
    """It is one task's work, and comes to the same as on one machine."""
    dump = spark_runs.write_long_dump(tmp_path / "long.xml", parts=1)
    head, last = dump.read_text(encoding="utf8").rsplit("<page>", 1)
    huge = "<page><title>Huge</title><ns>0</ns><id>1000000</id><revision><id>1000000</id><text>"
    text = "'''Huge''' is near [[Place 1]]. " + "word [[Place 2|two]] " * 2_500_000
    dump.write_text(f"{head}{huge}{text}</text></revision></page>\n<page>{last}", encoding="utf8")
    for kind, engine in (("spark", on(cluster)), ("local", [])):
        ran = spark_runs.entlink("kb", "build", dump, "-o", tmp_path / f"{kind}.kb", "--on-error", "skip", *engine)
        assert ran.returncode == 0, ran.stderr
    spark_runs.assert_equal(tmp_path / "spark.kb", tmp_path / "local.kb")


def test_a_limit_of_memory(cluster, tmp_path):
    """What a Python worker may take is a setting of Spark; a task that needs more says which."""
    script = (
        "import sys; from pathlib import Path; import pool_tasks; from entlink.engine.protocol import Task\n"
        "from entlink.engine.spark import SparkEngine\n"
        "conf = {'spark.executor.memory': '500m', 'spark.executor.pyspark.memory': '300m'}\n"
        "SparkEngine(master=sys.argv[1], conf=conf).map_to_files(\n"
        "    pool_tasks.write_gigabytes, [Task('out', (2,))], Path(sys.argv[2]))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, cluster.master, tmp_path],
        env=spark_runs.environment(),
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert "a task ran out of memory" in ran.stderr, ran.stderr
    assert "spark.executor.pyspark.memory" in ran.stderr, ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_is_killed_in_the_middle(tmp_path, dump, expected):
    """The build goes on with the other worker, and nothing is missing or double."""
    kb = tmp_path / "spark.kb"
    with spark_runs.cluster(tmp_path / "cluster") as cluster:
        building = started("kb", "build", dump, "-o", kb, *on(cluster))
        spark_runs.wait_for(lambda: parts(kb), building)
        assert len(parts(kb)) < 4
        cluster.kill("worker-0")
        _, said = building.communicate(timeout=500)
    assert building.returncode == 0, said
    spark_runs.assert_equal(kb, expected)


def test_a_driver_that_is_killed_goes_on_from_there(cluster, tmp_path, dump, expected):
    kb = tmp_path / "spark.kb"
    words: list[Any] = ["kb", "build", dump, "-o", kb, *on(cluster)]
    building = started(*words)
    spark_runs.wait_for(lambda: len(parts(kb)) >= 2, building)
    building.send_signal(signal.SIGKILL)
    building.communicate()
    before = {path: path.stat().st_mtime_ns for path in parts(kb)}
    assert before
    again = started(*words)
    spark_runs.wait_for(lambda: len(parts(kb)) >= 4, again)
    kept = {path: path.stat().st_mtime_ns for path in before if path.exists()}
    _, said = again.communicate(timeout=500)
    assert again.returncode == 0, said
    assert kept == before
    spark_runs.assert_equal(kb, expected)


def test_a_full_disk_of_the_workers(cluster, tmp_path):
    """The output is on a file system of three megabytes; when it is larger, the same command goes on."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", small], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        dump = spark_runs.write_long_dump(tmp_path / "long.xml", parts=2)
        words = ["kb", "build", dump, "-o", small / "x.kb", *on(cluster)]
        ran = spark_runs.entlink(*words)
        assert (ran.returncode, "no space left on device" in ran.stderr.lower()) == (1, True), ran.stderr
        subprocess.run(["mount", "-o", "remount,size=400m", small], check=True)
        assert spark_runs.entlink(*words).returncode == 0
    finally:
        subprocess.run(["umount", small], check=True)


def test_workers_that_do_not_see_what_the_driver_sees(tmp_path):
    """A folder is another one for them: a build stops, and a knowledge base can be sent."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    if subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", hidden], capture_output=True
    ).returncode:
        pytest.skip("processes cannot have file systems of their own here")
    build([WIKI / "samplewiki.xml"], hidden / "wiki.kb")
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"id": "1", "text": "Mercury is the planet nearest to the Sun."}\n')
    with spark_runs.cluster(tmp_path / "cluster", 1, hidden) as cluster:
        ran = spark_runs.entlink("kb", "build", WIKI / "samplewiki.xml", "-o", hidden / "x.kb", *on(cluster))
        assert (ran.returncode, "does not see" in ran.stderr) == (3, True), ran.stderr
        words = ["link", hidden / "wiki.kb", texts, "-o", tmp_path / "out.parquet", *on(cluster)]
        ran = spark_runs.entlink(*words)
        assert (ran.returncode, "wiki.kb. Have the knowledge base under a path" in ran.stderr) == (1, True), (
            ran.stderr
        )
        words[3:4] = ["-o"]
        words[4] = tmp_path / "sent.parquet"
        ran = spark_runs.entlink(*words, "--ship")
        assert ran.returncode == 0, ran.stderr
    with duckdb.connect() as database:
        [(links,)] = database.execute(f"SELECT links FROM '{tmp_path}/sent.parquet/*.parquet'").fetchall()
    assert [link["text"] for link in links] == [
        link.mention.text for link in load(hidden / "wiki.kb").link("Mercury is the planet nearest to the Sun.").links
    ]


def test_a_cluster_without_workers(tmp_path):
    script = (
        "import sys; from pathlib import Path; from entlink.engine import spark, spark_session\n"
        "spark_session._WORKERS_PATIENCE = 3.0\n"
        "spark.SparkEngine(master=sys.argv[1]).map_to_files(print, [], Path('out'))\n"
    )
    with spark_runs.cluster(tmp_path / "cluster", 0) as cluster:
        ran = subprocess.run(
            [sys.executable, "-c", script, cluster.master],
            env=spark_runs.environment(),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=200,
        )
    assert "no worker took a task within 3 s" in ran.stderr, ran.stderr
