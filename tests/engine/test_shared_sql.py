"""Every SQL text that builds run means the same to DuckDB and to Spark."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

import entlink
from entlink.datasets.hyperlinks.build import HyperlinkOptions, build_hyperlinks
from entlink.datasets.temporal.build import extend_temporal
from entlink.datasets.wikient import WikiEntOptions, build_wikient
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import JsonFiles, ParquetFiles, SqlSession
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.build.merge import merge
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.profile import profile
from entlink.sources import WikiOptions
from knowledge_bases import WORLD, write_articles
from temporal_sets import ALONE, AURORA, build_aurora

ROOT = Path(entlink.__file__).parent
SAMPLES = Path(__file__).parents[2] / "samples"
# Functions that both have with the same meaning, and what else counts as a function to the parser.
SHARED = (
    *(exp.Count, exp.Sum, exp.Min, exp.Coalesce, exp.BitwiseOrAgg, exp.Cast, exp.Exists, exp.And, exp.Or),
    *(exp.RowNumber, exp.DenseRank),  # what they sort by is never null
)
NOT_IN_SPARK = (exp.Qualify, exp.Lambda)
NOT_COMPARED = {"as", "nulls", "first", "last"}  # what is sorted by is never null, as the recorder checks


def words(sql: str) -> list[tuple[str, bool]]:
    """The words of a query as Spark sees them, with whether each is a text."""
    tokens = sqlglot.tokenize(sql, "spark")
    return [
        (text, token.token_type == sqlglot.TokenType.STRING)
        for token in tokens
        if (text := token.text.lower()) not in NOT_COMPARED
    ]


def unshared(query: str) -> list[str]:
    """What keeps a query from being the same in both; nothing, if all is well."""
    try:
        duckdb, spark = sqlglot.parse_one(query, dialect="duckdb"), sqlglot.parse_one(query, dialect="spark")
    except sqlglot.errors.SqlglotError as error:
        return [f"one of them cannot read it: {error}"]
    found = [] if isinstance(duckdb, exp.Query) else [f"{duckdb.key} is no query"]
    if words(duckdb.sql("spark")) != words(spark.sql("spark")):
        found.append(f"Spark reads it as {spark.sql('spark')}")
    if Counter(words(duckdb.sql("spark"))) != Counter(words(query)):  # it may put NOT elsewhere
        found.append(f"Spark says {duckdb.sql('spark')}")
    found += [f"{call.sql()} is not shared" for call in duckdb.find_all(exp.Func) if not isinstance(call, SHARED)]
    found += [f"{node.sql()} is not Spark's" for node in duckdb.find_all(*NOT_IN_SPARK)]
    return found


class Recorder:
    """A session that notes every query and the module it is from, and checks what DuckDB and Spark sort unlike."""

    def __init__(self, session: SqlSession, noted: list[tuple[str, str]]) -> None:
        self._session, self._noted = session, noted

    def view(self, name: str, files: ParquetFiles | JsonFiles, *, cached: bool = False) -> None:
        self._session.view(name, files, cached=cached)

    def table(self, name: str, query: str) -> None:
        self._note(query)
        self._session.table(name, query)

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        self._note(query)
        return self._session.rows(query)

    def number(self, query: str) -> int:
        self._note(query)
        return self._session.number(query)

    def write(self, query: str, path: Path) -> None:
        self._note(query)
        self._session.write(query, path)

    def partition(self, query: str, column: str, folder: Path) -> None:
        self._note(query)
        self._session.partition(query, column, folder)

    def _note(self, query: str) -> None:
        self._noted.append((sys._getframe(2).f_globals["__name__"], query))
        order = sqlglot.parse_one(query, dialect="duckdb").args.get("order")
        if order:
            is_null = " OR ".join(f"{each.this.name} IS NULL" for each in order.expressions)
            assert not self._session.number(f"SELECT count(*) FROM ({query}) q WHERE {is_null}"), query


@contextmanager
def recorded() -> Iterator[list[tuple[str, str]]]:
    """Notes the queries of all engines of this process."""
    noted: list[tuple[str, str]] = []
    plain = LocalEngine.sql

    @contextmanager
    def sql(self: LocalEngine, work: Path | None = None) -> Iterator[SqlSession]:
        with plain(self, work) as session:
            yield Recorder(session, noted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "sql", sql)
        yield noted


@pytest.fixture(scope="module")
def queries(tmp_path_factory) -> list[tuple[str, str]]:
    """What builds of every kind run, each in one process."""
    folder = tmp_path_factory.mktemp("recorded")
    one = BuildOptions(processes=1)
    full = BuildOptions(processes=1, descriptions="full")
    articles = write_articles(folder / "world.jsonl", WORLD)
    wiki = SAMPLES / "wiki"
    with recorded() as noted:
        build(SAMPLES / "products.csv", folder / "table.kb", one)
        build(articles, folder / "articles.kb", BuildOptions(format="articles", processes=1, descriptions="full"))
        build(sorted(wiki.glob("samplewiki[.-][xp]*")), folder / "wiki.kb", full)
        build(sorted(wiki.iterdir()), folder / "wikis.kb", full)
        items = [wiki / "samplewiki-zh.xml", SAMPLES / "wikidata.json"]
        build(items, folder / "items.kb", BuildOptions(processes=1, wiki=WikiOptions(ids="wikidata")))
        merge([folder / "table.kb", folder / "articles.kb", folder / "wiki.kb"], folder / "merged.kb", processes=1)
        reindex(folder / "merged.kb", processes=1)
        build_hyperlinks(
            wiki / "samplewiki.xml", folder / "corpus.jsonl", HyperlinkOptions(processes=1), kb=folder / "wiki.kb"
        )
        build_wikient(wiki / "samplewiki.xml", folder / "wikient", WikiEntOptions(processes=1))
        with KnowledgeBase(folder / "articles.kb") as kb:
            profile(kb, WORLD[0]["id"])
        build_aurora(folder / "aurora")
        extend_temporal(AURORA, folder / "aurora", "2013-11-15", ALONE)
    return noted


def test_all_modules_that_run_sql_were_recorded(queries):
    files = (path for room in ("kb", "datasets") for path in (ROOT / room).rglob("*.py"))
    running = [path for path in files if ".sql(" in path.read_text(encoding="utf8")]
    names = {".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in running}
    assert {module for module, _ in queries} == names


def test_the_sql_of_builds_is_what_duckdb_and_spark_share(queries):
    problems = {query: found for query in dict.fromkeys(query for _, query in queries) if (found := unshared(query))}
    assert problems == {}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sum(n)::BIGINT AS n FROM a",
        "SELECT * FROM read_parquet('a.parquet')",
        "SELECT * FROM read_json('a.jsonl', columns = {a: 'BIGINT'})",
        "SELECT * EXCLUDE (a) FROM b",
        "SELECT unnest(a) AS a FROM b",
        "SELECT explode(a) AS a FROM b",
        "SELECT list_sum(a) AS a FROM b",
        "SELECT CAST(a AS UTINYINT) AS a FROM b",
        "SELECT CAST(a AS VARCHAR[]) AS a FROM b",
        'SELECT "a" FROM b',
        "SELECT a // 2 AS a FROM b",
        "SELECT a[1] AS a FROM b",
        "SELECT a FROM b WHERE a = 'it''s'",
        "SELECT a FROM b QUALIFY row_number() OVER (PARTITION BY a ORDER BY c) = 1",
        "SELECT a FROM b USING SAMPLE 5",
        "SELECT a FROM b WHERE regexp_matches(a, 'x')",
        "COPY (SELECT a FROM b) TO 'a.parquet' (FORMAT parquet)",
        "CREATE TEMP TABLE a AS SELECT b FROM c",
        "INSERT INTO a SELECT b FROM c",
        "DELETE FROM a WHERE b = 1",
    ],
)
def test_what_only_duckdb_has_is_caught(query):
    assert unshared(query)


def test_sorting_by_what_may_be_null_is_caught():
    with recorded(), LocalEngine().sql() as session:
        session.table("a", "SELECT 1 AS n UNION ALL SELECT NULL AS n")
        with pytest.raises(AssertionError, match="ORDER BY n"):
            session.rows("SELECT n FROM a ORDER BY n")
