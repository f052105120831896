from __future__ import annotations

import gzip
import json
import subprocess
import sys

import duckdb
import pytest

from entlink.errors import SourceError
from entlink.sources import FORMATS, Source, open_source

ROW = '{"id": 1, "title": "x"}\n'
ARTICLE = '{"id": 1, "title": "x", "paragraphs": []}\n'
ZESHEL = '{"title": "x", "text": "y", "document_id": "1"}\n'
WIKI = '{"id": "1", "url": "u", "title": "x", "text": "y"}\n'
DOC = '<doc id="1" url="u" title="x">\nx\n</doc>\n'
RDF = '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"></rdf:RDF>'


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.jsonl", ROW, "jsonl"),
        ("a.ndjson", ROW, "jsonl"),
        ("a.json", ROW, "jsonl"),
        ("A.JSONL", ROW, "jsonl"),
        ("a", ROW, "jsonl"),
        ("a.jsonl", "", "jsonl"),
        ("a.jsonl", "broken\n", "jsonl"),
        ("a.jsonl", ARTICLE, "articles"),
        ("a.jsonl", "broken\n\n" + ARTICLE, "articles"),
        ("a.jsonl", b"\xef\xbb\xbf" + ARTICLE.encode(), "articles"),
        ("a.jsonl", WIKI, "jsonl"),
        ("wiki_07", WIKI, "wikiextractor"),
        ("wiki_07", DOC, "wikiextractor"),
        ("export.txt", DOC, "wikiextractor"),
        ("world.json", ZESHEL, "zeshel"),
        ("a.csv", "id,title\n", "csv"),
        ("a.tsv", "id\ttitle\n", "tsv"),
        ("a.tab", "id\ttitle\n", "tsv"),
        ("a.pq", "", "parquet"),
        ("a.ttl", "", "skos"),
        ("a.nt", "", "skos"),
        ("a.owl", RDF, "skos"),
        ("a.xml", RDF, "skos"),
        ("a.obo", "format-version: 1.2\n", "obo"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_format_is_told_by_name_and_first_record(write, name, content, format, packed):
    content = content.encode() if isinstance(content, str) else content
    path = write(f"{name}.gz", gzip.compress(content)) if packed else write(name, content)
    assert open_source(path).format == format


def test_columns_make_it_a_table(write):
    row = json.dumps({"document_id": 4, "title": "x", "text": "y"})
    source = open_source(write("a.jsonl", row), columns={"id": "document_id"})
    assert source.format == "jsonl"
    assert [page.entity.id for page in source] == ["4"]
    assert open_source(write("no_suffix", row), columns={"id": "document_id"}).format == "jsonl"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.doc", "words"), ("a.xml", "<feed>\n</feed>"), ("a.bin", b"\xff\xfe\x00")],
)
def test_unknown_format_lists_the_known_ones(write, name, content):
    path = write(name, content)
    with pytest.raises(SourceError, match="format of this file is not recognised") as caught:
        open_source(path)
    message = str(caught.value)
    assert str(path) in message
    assert "Name one (--format on the command line, format= in Python)" in message
    assert all(name in message for name in FORMATS)


def test_unknown_folder(tmp_path):
    with pytest.raises(SourceError, match="format of this folder is not recognised"):
        open_source(tmp_path)


def test_folder_of_a_format_of_single_files(tmp_path):
    with pytest.raises(SourceError, match="this is a folder, and csv is read from a file"):
        open_source(tmp_path, format="csv")


def test_format_that_does_not_exist(write):
    with pytest.raises(SourceError, match=r"there is no format 'jsnl'\. Did you mean 'jsonl'"):
        open_source(write("a.jsonl", ROW), format="jsnl")


def test_named_format_goes_before_the_name(write):
    source = open_source(write("a.txt", "id,title\n1,x\n"), format="csv")
    assert [page.entity.title for page in source] == ["x"]


def test_missing_file(tmp_path):
    with pytest.raises(SourceError, match="there is no such file") as caught:
        open_source(tmp_path / "none.jsonl")
    assert "none.jsonl" in str(caught.value)


def test_columns_for_a_format_without_any(write):
    with pytest.raises(SourceError, match="the format articles has no columns to map"):
        open_source(write("a.jsonl", ARTICLE), format="articles", columns={"id": "key"})


def test_on_error_is_checked(write):
    with pytest.raises(SourceError, match="on_error is 'ignore'"):
        open_source(write("a.jsonl", ROW), on_error="ignore")


WIKI = ["mediawiki", "mediawiki-sql", "wikidata"]


def test_every_format_has_a_reader_and_a_summary():
    assert list(FORMATS) == [
        "jsonl",
        "csv",
        "tsv",
        "parquet",
        "articles",
        "wikiextractor",
        "zeshel",
        "skos",
        "obo",
        *WIKI,
    ]
    for name, format in FORMATS.items():
        assert format.name == name
        assert callable(format.splitter() if name in WIKI else format.reader())
        assert format.summary


def test_source_can_be_read_again(write):
    source = open_source(write("a.jsonl", ROW + "broken\n" + ROW), on_error="skip")
    assert isinstance(source, Source)
    for _ in range(2):
        assert len(list(source)) == 2
        assert source.skipped == 1
        assert len(source.problems) == 1
        assert source.position() == source.size
    iter(source)
    assert (source.position(), source.skipped, source.problems) == (0, 0, [])


def test_two_readings_do_not_disturb_each_other(write):
    path = write("a.jsonl", "".join(f'{{"id": {number}, "title": "x"}}\n' for number in range(5)))
    source = open_source(path)
    pairs = [(one.entity.id, other.entity.id) for one, other in zip(source, source, strict=True)]
    assert pairs == [(str(number), str(number)) for number in range(5)]


def test_only_the_first_hundred_problems_are_kept(write):
    source = open_source(write("a.jsonl", ROW + "broken\n" * 250), on_error="skip")
    assert len(list(source)) == 1
    assert source.skipped == 250
    assert len(source.problems) == 100
    assert "line 101" in source.problems[-1]


def test_position_of_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"COPY (SELECT i AS id, 'x' AS title FROM range(2500) r(i)) TO '{path}' (FORMAT parquet)")
    source = open_source(path)
    positions = {source.position() for _ in source}
    assert len(positions) == 3
    assert max(positions) < source.position() == source.size


def test_import_is_cheap():
    heavy = "{'duckdb', 'pyoxigraph', 'lzma', 'bz2', 'gzip', 'csv'}"
    code = f"import sys, entlink.sources; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("content", "problem"), [("", "the file is empty"), ("<!doctype html>\n<HTML>", "a web page")]
)
def test_a_download_that_went_wrong_is_told_so(write, content, problem):
    with pytest.raises(SourceError, match=f"{problem}.*etch it again"):
        open_source(write("a.xml", content))
