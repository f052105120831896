"""The engine on Spark keeps to what `Engine` says, and builds what the one in the box builds."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import pool_tasks
import spark_runs
from entlink.datasets.hyperlinks.build import HyperlinkOptions, build_hyperlinks
from entlink.datasets.wikient import WikiEntOptions, build_wikient
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import JsonFiles, ParquetFiles, Task
from entlink.engine.spark import SparkEngine
from entlink.errors import EntlinkError, InputError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.sources import WikiOptions
from knowledge_bases import SHARED_DATA, WORLD, write_articles

pytestmark = spark_runs.needs_spark
WIKI = Path(__file__).parents[2] / "samples" / "wiki"
DUMPS = SHARED_DATA / "mediawiki"


@pytest.fixture(scope="module")
def engine() -> Iterator[SparkEngine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", spark_runs.environment()["PYTHONPATH"])
        with SparkEngine(master="local[2]", memory="1GB") as made:
            yield made


def tasks(count: int) -> list[Task]:
    return [Task(f"out-{number}.txt", (number,)) for number in range(count)]


def test_every_task_has_its_file_in_order_and_what_is_there_is_not_made_again(engine, tmp_path):
    (tmp_path / "out-1.txt").write_text("kept")
    counted: list[Path] = []
    paths = engine.map_to_files(pool_tasks.write_square, tasks(5), tmp_path, done=counted.append)
    assert [path.read_text().split()[0] for path in paths] == ["0", "kept", "4", "9", "16"]
    assert sorted(counted) == paths
    assert str(os.getpid()) not in paths[0].read_text()


def test_what_runs_here_does_not_run_on_a_worker(engine, tmp_path):
    engine.map_to_files(pool_tasks.write_square, tasks(1), tmp_path, here=True)
    assert (tmp_path / "out-0.txt").read_text().split()[-1] == str(os.getpid())


def test_an_error_of_a_task_is_raised_as_it_is_and_leaves_no_output(engine, tmp_path):
    with pytest.raises(ValueError, match=r"number \d is bad"):
        engine.map_to_files(pool_tasks.fail, tasks(3), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_attempt_left_is_taken_away(engine, tmp_path):
    left = tmp_path / f"out-0.txt.{'0' * 32}.partial"
    left.mkdir()
    (left / "half").write_text("half")
    (tmp_path / "other.partial").write_text("not ours")
    engine.map_to_files(pool_tasks.write_square, tasks(1), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.partial", "out-0.txt"]


def test_a_full_disk_is_told_with_its_place_and_worker(engine, tmp_path):
    with pytest.raises(OSError, match="No space left") as raised:
        engine.map_to_files(pool_tasks.fill_the_disk, tasks(2), tmp_path)
    assert raised.value.filename.startswith(str(tmp_path))
    assert "worker" in raised.value.__notes__[0]


@pytest.mark.parametrize("function", [pool_tasks.die, pool_tasks.run_out_of_memory])
def test_a_task_that_runs_out_of_memory_says_which_option_helps(engine, tmp_path, function):
    with pytest.raises(EntlinkError, match=r"memory.*spark\.executor\.memoryOverhead"):
        engine.map_to_files(function, tasks(1), tmp_path)


def test_a_long_stream_of_tasks_is_not_taken_in_at_once(engine, tmp_path):
    drawn = []

    def stream():
        for task in tasks(12):
            drawn.append(task)
            assert len(drawn) - len(list(tmp_path.glob("out-*.txt"))) <= 2 * 2 + 1
            yield task

    engine.map_to_files(pool_tasks.write_square, stream(), tmp_path)
    assert len(drawn) == 12


def test_progress_of_a_stage_runs_to_its_end(engine, tmp_path):
    seen = []
    own = SparkEngine(engine.session, progress=lambda *step: seen.append(step))
    own.map_to_files(pool_tasks.write_square, tasks(2), tmp_path, stage="squaring")
    assert seen == [("squaring", 1, 2), ("squaring", 2, 2)]


def test_a_share_can_be_an_argument_of_a_task(engine):
    share = pickle.loads(pickle.dumps(engine.share(4)))
    assert (share.processes, type(share)) == (1, LocalEngine)


@pytest.mark.parametrize("name", ["it's", 'ünï 编 "b"', "'; DROP TABLE x; --", "a[b]*?{c}%20", "c=3", "_hidden"])
def test_files_of_any_name(engine, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    path, table = folder / "rows", folder / "rows.parquet"
    path.write_text('{"a": 1}\n')
    with engine.sql(folder) as session:
        session.view("lines", JsonFiles([path, tmp_path / "missing", path], {"a": "BIGINT"}))
        assert list(session.rows("SELECT * FROM lines")) == [(1,), (1,)]
        session.write("SELECT a FROM lines", table)
        session.view("kept", ParquetFiles([table, table]))
        assert list(session.rows("SELECT * FROM kept")) == [(1,)] * 4
    assert sorted(each.name for each in folder.iterdir()) == ["rows", "rows.parquet"]


def test_rows_are_the_same_whatever_the_texts(engine, tmp_path):
    """Ends of lines of every kind, quotes, what JSON escapes, what is more than 16 bits, and nulls."""
    texts = [
        "a\nb",
        "a\r\nb",
        "a\u2028b",
        "a\x85b",
        '"q"',
        "back\\slash",
        "\x00\x01",
        "𝔘 编",
        "",
        " ",
        "\u00e9",
        "e\u0301",
        "Z",
        "a",
    ]
    path = tmp_path / "rows.jsonl"
    lines = [msgspec.json.encode({"n": number, "t": text}) for number, text in enumerate(texts)]
    path.write_bytes(b"\n".join([*lines, b'{"n": -1}', b'{"n": 9007199254740993, "t": null}']) + b"\n")
    query = (
        "SELECT coalesce(t, '-') AS u, count(*) AS c, CAST(sum(n) AS BIGINT) AS s FROM lines GROUP BY t ORDER BY u, s"
    )
    found = []
    for each in (engine, LocalEngine()):
        with each.sql(tmp_path) as session:
            session.view("lines", JsonFiles([path], {"n": "BIGINT", "t": "STRING"}), cached=True)
            found.append(list(session.rows(query)))
    assert found[0] == found[1]
    assert len(found[0]) == len(texts) + 1


def test_no_files_are_no_rows(engine, tmp_path):
    with engine.sql(tmp_path) as session:
        session.view("nothing", JsonFiles([], {"a": "BIGINT", "b": "STRING", "c": "SMALLINT"}), cached=True)
        session.write("SELECT a, b FROM nothing ORDER BY a", tmp_path / "nothing.parquet")
        session.view("written", ParquetFiles([tmp_path / "nothing.parquet"]))
        assert list(session.rows("SELECT a, b FROM written")) == []
        assert session.number("SELECT coalesce(sum(a), 0) FROM nothing") == 0


def test_a_table_takes_the_place_of_the_one_it_is_made_from(engine, tmp_path):
    with engine.sql(tmp_path) as session:
        session.table("counted", "SELECT 1 AS n")
        for _ in range(3):
            session.table("counted", "SELECT n + 1 AS n FROM counted")
        assert session.number("SELECT n FROM counted") == 4
    with pytest.raises(EntlinkError, match="counted"), engine.sql(tmp_path) as session:
        session.number("SELECT n FROM counted")


def test_rows_in_a_folder_for_each_value(engine, tmp_path):
    rows = "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2 AS a, 'y' AS b UNION ALL SELECT 2 AS a, 'z' AS b"
    with engine.sql(tmp_path) as session:
        session.partition(rows, "a", tmp_path / "out")
        session.view("second", ParquetFiles(sorted((tmp_path / "out" / "a=2").glob("*.parquet"))))
        assert list(session.rows("SELECT * FROM second ORDER BY b")) == [("y",), ("z",)]


def test_a_query_that_fails_leaves_what_was_there_and_no_scratch(engine, tmp_path):
    path = tmp_path / "rows.parquet"
    with engine.sql(tmp_path) as session:
        session.write("SELECT 1 AS a", path)
    before = path.read_bytes()
    with pytest.raises(EntlinkError, match=r"CAST_INVALID_INPUT|cannot be cast"), engine.sql(tmp_path) as session:
        session.write("SELECT CAST(concat('x', a) AS BIGINT) AS a FROM (SELECT 1 AS a) b", path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["rows.parquet"]


@pytest.mark.parametrize("descriptions", ["full", "opening"])
def test_a_wiki_becomes_the_same_knowledge_base(engine, tmp_path, descriptions):
    options = BuildOptions(processes=1, descriptions=descriptions)
    for name, each in (("spark", engine), ("local", None)):
        build(sorted(WIKI.iterdir()), tmp_path / f"{name}.kb", options, engine=each)
    spark_runs.assert_equal(tmp_path / "spark.kb", tmp_path / "local.kb")


def test_wikidata_with_a_wiki_becomes_the_same_knowledge_base(engine, tmp_path):
    sources = [WIKI.parent / "wikidata.json", WIKI / "samplewiki-zh.xml"]
    options = BuildOptions(processes=1, language="zh", wiki=WikiOptions(ids="wikidata"))
    for name, each in (("spark", engine), ("local", None)):
        build(sources, tmp_path / f"{name}.kb", options, engine=each)
    spark_runs.assert_equal(tmp_path / "spark.kb", tmp_path / "local.kb")


def test_a_table_and_articles_become_the_same_knowledge_base(engine, tmp_path):
    articles = write_articles(tmp_path / "world.jsonl", WORLD)
    for name, each in (("spark", engine), ("local", None)):
        build(
            [articles, WIKI.parent / "products.csv"], tmp_path / f"{name}.kb", BuildOptions(processes=1), engine=each
        )
    spark_runs.assert_equal(tmp_path / "spark.kb", tmp_path / "local.kb")


@pytest.mark.parametrize(
    "name",
    [
        "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
        "aawiki-20260101-pages-meta-current.xml.bz2",
        "smallwiki-latest-pages-articles.xml",
    ],
)
def test_a_real_dump_becomes_the_same_knowledge_base(engine, tmp_path, name):
    if not (DUMPS / name).exists():
        pytest.skip(f"{DUMPS / name} is not here")
    for kind, each in (("spark", engine), ("local", None)):
        build([DUMPS / name], tmp_path / f"{kind}.kb", BuildOptions(on_error="skip"), engine=each)
    spark_runs.assert_equal(tmp_path / "spark.kb", tmp_path / "local.kb")


def test_contexts_of_hyperlinks_are_the_same(engine, tmp_path):
    for name, each in (("spark", engine), ("local", None)):
        build_wikient(WIKI / "samplewiki.xml", tmp_path / name, WikiEntOptions(processes=1), engine=each)
    for file in ("contexts.jsonl", "descriptions.jsonl", "DATASHEET.md"):
        assert (tmp_path / "spark" / file).read_bytes() == (tmp_path / "local" / file).read_bytes() != b""


def test_hyperlinks_become_the_same_corpus(engine, tmp_path):
    options = HyperlinkOptions(processes=1, nil=True, split={"train": 0.7, "test": 0.3})
    build(WIKI / "samplewiki.xml", tmp_path / "wiki.kb", BuildOptions(processes=1))
    for name, each in (("spark", engine), ("local", None)):
        (tmp_path / name).mkdir()
        build_hyperlinks(
            WIKI / "samplewiki.xml", tmp_path / name / "links.jsonl", options, kb=tmp_path / "wiki.kb", engine=each
        )
    for file in ("links.train.jsonl", "links.test.jsonl"):
        assert (tmp_path / "spark" / file).read_bytes() == (tmp_path / "local" / file).read_bytes() != b""


def command(folder: Path, *words: object, **env: str) -> subprocess.CompletedProcess[str]:
    return spark_runs.entlink(
        "kb", "build", WIKI.parent / "products.csv", "-o", folder / "x.kb", "--engine", "spark", *words, env=env
    )


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--master", "spark://127.0.0.1:1"], "the Spark master cannot be reached (127.0.0.1:1: ", 1),
        (["--master", "spark://nowhere"], "is not a master such as spark://host:7077", 3),
    ],
)
def test_a_master_that_cannot_be_reached(tmp_path, words, said, code):
    ran = command(tmp_path, *words)
    assert ran.returncode == code
    assert said in ran.stderr


def test_no_java_and_another_java(tmp_path):
    ran = command(tmp_path, JAVA_HOME=str(tmp_path))
    assert (ran.returncode, "needs Java 17 or newer, and JAVA_HOME is" in ran.stderr) == (1, True), ran.stderr
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    assert "is version 11. Install it" in command(tmp_path, JAVA_HOME=str(tmp_path)).stderr


def test_settings_of_spark_need_spark(tmp_path):
    ran = spark_runs.entlink("kb", "build", WIKI.parent / "products.csv", "-o", tmp_path / "x.kb", "--master", "yarn")
    assert (ran.returncode, "--master and --conf need --engine spark" in ran.stderr) == (2, True)


def write_one(python: Path, folder: Path) -> str:
    """What is said where the workers run a certain Python."""
    script = (
        "from pathlib import Path; import pool_tasks; from entlink.engine.protocol import Task\n"
        "from entlink.engine.spark import SparkEngine\n"
        "engine = SparkEngine(master='local[1]', conf={'spark.executorEnv.PYTHONPATH': ''})\n"
        "import os; os.environ['PYTHONPATH'] = ''\n"
        "engine.map_to_files(pool_tasks.write_square, [Task('out', (1,))], Path('.'))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=spark_runs.environment(PYSPARK_PYTHON=str(python)),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
    )
    return ran.stderr


def test_workers_without_entlink(tmp_path):
    """A Python of the same version that has nothing installed."""
    venv.create(tmp_path / "bare", symlinks=True)
    said = write_one(tmp_path / "bare" / "bin" / "python", tmp_path)
    assert "entlink is not installed for the Python of the workers" in said


def test_workers_with_another_python(tmp_path):
    """As users have it: the workers are given what this process finds its modules by."""
    beside = [*Path(sys.base_prefix).parent.glob("*/bin/python3.1?"), *Path("/usr/bin").glob("python3.1?")]
    other = next((path for path in beside if path.name != f"python3.{sys.version_info.minor}"), None)
    if other is None:
        pytest.skip("there is no other Python here")
    ran = command(tmp_path, "--master", "local[1]", "--replace", PYSPARK_PYTHON=str(other))
    assert (ran.returncode, "the workers run another Python than this one" in ran.stderr) == (1, True), ran.stderr


def test_what_is_no_amount_of_memory():
    with pytest.raises(InputError, match="512MB"):
        _ = SparkEngine(master="local[1]", memory="plenty").session
