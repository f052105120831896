"""Linking on Spark gives the rows that `link_all` gives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import entlink
import spark_runs
from entlink.documents import Document
from entlink.engine.spark import SparkEngine
from entlink.engine.spark_session import telling
from entlink.errors import EntlinkError, InputError
from entlink.formats.documents.lines import encode_document, read_documents
from knowledge_bases import WORLD, make_kb

pytestmark = spark_runs.needs_spark
SAMPLES = Path(__file__).parents[2] / "samples"
TEXTS = ["Mercury is near the Sun.", "", None, "Venus 编 and MERCURY!", "no name here"] * 30


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", spark_runs.environment()["PYTHONPATH"])
        with SparkEngine(master="local[2]", memory="1GB") as engine:
            yield engine.session


@pytest.fixture(scope="module")
def kb(tmp_path_factory) -> Path:
    return make_kb(tmp_path_factory.mktemp("kb"), WORLD)


def written(document: Document) -> list[dict[str, Any]]:
    """The links of a document as `entlink link` writes them, with what Spark writes for no turn."""
    keys = ("start", "end", "text", "entity", "title", "score", "nil_type", "turn")
    return [{key: link.get(key) for key in keys} for link in json.loads(encode_document(document)).get("links", [])]


def collected(frame: Any, by: str) -> list[list[dict[str, Any]]]:
    return [[link.asDict() for link in row.links] for row in sorted(frame.collect(), key=lambda row: row[by])]


@pytest.mark.parametrize("config", ["everyday", "lexical"])
def test_texts_have_the_links_of_link_all(spark, kb, config):
    frame = spark.createDataFrame(list(enumerate(TEXTS)), "n int, said string").repartition(5)
    from entlink.plugs.spark import link_frame

    linked = link_frame(frame, kb, text="said", config=config)
    expected = entlink.load(kb, config=config).link_all([text or "" for text in TEXTS])
    assert linked.columns == ["n", "said", "links"]
    assert collected(linked, "n") == list(map(written, expected))
    assert any(row.links for row in linked.collect())


def test_documents_and_conversations_have_the_links_of_link_all(spark, kb):
    from entlink.plugs.spark import link_frame

    path = SAMPLES / "conversations.jsonl"
    lines = [(document.id, encode_document(document).decode()) for document in read_documents(str(path))]
    linked = link_frame(spark.createDataFrame(lines, "id string, line string"), kb, document="line")
    expected = sorted(entlink.load(kb).link_all(read_documents(str(path))), key=lambda document: document.id)
    assert collected(linked, "id") == list(map(written, expected))


def test_rows_of_turns_have_the_links_of_their_conversation(spark, kb):
    from entlink.plugs.spark import conversations, link_frame

    turns = [(f"talk-{talk}", turn, "ana", text or "-") for talk in (1, 2) for turn, text in enumerate(TEXTS[:4])]
    frame = conversations(
        spark.createDataFrame(turns[::-1], "conversation string, turn int, speaker string, text string")
    )
    of_turns = [entlink.Turn(text, "ana") for _, _, _, text in turns[:4]]
    expected = entlink.load(kb).link_all(Document.of_turns(name, of_turns) for name in ("talk-1", "talk-2"))
    assert collected(link_frame(frame, kb), "id") == list(map(written, expected)) != [[], []]


def test_the_options_of_a_linker_are_kept(spark, kb):
    from entlink.plugs.spark import link_frame

    frame = spark.createDataFrame([(0, TEXTS[0])], "n int, text string")
    for options in ({"types": ["star"]}, {"as_of": "1990-01-01"}, {"min_score": 0.99}):
        expected = written(entlink.load(kb, **options).link(TEXTS[0]))
        assert collected(link_frame(frame, kb, **options), "n") == [expected]


def test_a_knowledge_base_with_its_saved_linker_is_sent_along(spark, kb, tmp_path):
    from entlink.plugs.spark import link_frame

    own = Path(shutil.copytree(kb, tmp_path / "sent.kb"))
    linker = tmp_path / "sent.linker"
    linker.mkdir()
    (linker / "linker.toml").write_text('[detector]\nname = "dictionary"\ncase = "exact"\n')
    expected = written(entlink.load(own).link("Mercury and MERCURY"))
    frame = link_frame(spark.createDataFrame([(0, "Mercury and MERCURY")], "n int, text string"), own, ship=True)
    shutil.rmtree(own)
    shutil.rmtree(linker)
    assert collected(frame, "n") == [expected]


def test_a_knowledge_base_that_workers_do_not_see(spark, kb, tmp_path):
    from entlink.plugs.spark import link_frame

    own = Path(shutil.copytree(kb, tmp_path / "gone.kb"))
    frame = link_frame(spark.createDataFrame([(0, "Mercury")], "n int, text string"), own)
    shutil.rmtree(own)
    with pytest.raises(EntlinkError, match=r"does not see .*gone\.kb"), telling():
        frame.collect()


def test_documents_that_cannot_be_read(spark, kb):
    from entlink.plugs.spark import link_frame

    frame = spark.createDataFrame([(0, '{"text": "Mercury"}'), (1, "{")], "n int, line string")
    with pytest.raises(EntlinkError, match="JSON is bad or cut off"), telling():
        link_frame(frame, kb, document="line").collect()
    rows = link_frame(frame, kb, document="line", skip=True).collect()
    assert [row.links is None for row in sorted(rows)] == [False, True]


def test_columns_that_are_not_there(spark, kb):
    from entlink.plugs.spark import link_frame

    frame = spark.createDataFrame([(0, "Mercury")], "n int, links string")
    with pytest.raises(InputError, match="no column 'text'; its columns are 'n', 'links'"):
        link_frame(frame, kb)
    with pytest.raises(InputError, match="'links' already"):
        link_frame(frame, kb, text="n")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_the_command_links_files(spark, kb, tmp_path, kind):
    given, made = tmp_path / f"given.{kind}", tmp_path / "linked.parquet"
    rows = [{"id": str(number), "text": text or ""} for number, text in enumerate(TEXTS[:10])]
    if kind == "jsonl":
        given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        spark.createDataFrame([(row["id"], row["text"]) for row in rows], "id string, text string").write.parquet(
            str(given)
        )
    ran = spark_runs.entlink("link", kb, given, "--engine", "spark", "--master", "local[2]", "-o", made)
    assert ran.returncode == 0, ran.stderr
    expected = entlink.load(kb).link_all(row["text"] for row in rows)
    assert collected(spark.read.parquet(str(made)), "id") == list(map(written, expected))
