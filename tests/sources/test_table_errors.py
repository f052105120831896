from __future__ import annotations

import json

import duckdb
import pytest

from entlink.errors import SourceError
from entlink.io import lines
from entlink.sources import open_source
from entlink.text import field_limits as texts

GOOD = '{"id": 1, "title": "one"}\n'
LAST = '{"id": 3, "title": "three"}\n'


def error_of(path, **options) -> str:
    with pytest.raises(SourceError) as caught:
        list(open_source(path, **options))
    return str(caught.value)


BAD_LINES = {
    "no id": ('{"title": "two"}', "there is no id"),
    "empty id": ('{"id": " ", "title": "two"}', "column 'id' is empty"),
    "null id": ('{"id": null, "title": "two"}', "column 'id' is empty"),
    "no title": ('{"id": 2, "text": "two"}', "there is no title"),
    "empty title": ('{"id": 2, "title": ""}', "column 'title' is empty"),
    "id of a wrong type": ('{"id": 2.5, "title": "two"}', "column 'id' is a number where"),
    "id true": ('{"id": true, "title": "two"}', "column 'id' is true or false where"),
    "title of a wrong type": ('{"id": 2, "title": ["two"]}', "column 'title' is a list where text"),
    "text of a wrong type": (
        '{"id": 2, "title": "two", "text": {}}',
        "column 'text' is an object where text",
    ),
    "list of numbers": ('{"id": 2, "title": "two", "aliases": [1]}', "column 'aliases' holds a number"),
    "list of a wrong type": ('{"id": 2, "title": "two", "types": 4}', "column 'types' is a number"),
    "external a text": ('{"id": 2, "title": "two", "external": "Q2"}', "column 'external' is text"),
    "external nested": ('{"id": 2, "title": "two", "external": {"a": []}}', "column 'external' is a list"),
    "claims a list": ('{"id": 2, "title": "two", "claims": ["P31"]}', "column 'claims' is a list"),
    "url of a wrong type": ('{"id": 2, "title": "two", "url": []}', "column 'url' is a list"),
    "bad date": ('{"id": 2, "title": "two", "created": "May 2001"}', "column 'created' holds the bad date"),
    "no such day": ('{"id": 2, "title": "two", "from": "2021-02-30"}', "column 'from' holds the impossible"),
    "period": ('{"id": 2, "title": "two", "from": "2021", "to": "2020-12"}', "is not after valid_from"),
    "empty period": ('{"id": 2, "title": "two", "from": "2021", "to": "2021-01-01"}', "is not after"),
    "escaped NUL": ('{"id": 2, "title": "t\\u0000"}', "column 'title' holds a NUL character"),
    "NUL in a list": ('{"id": 2, "title": "t", "aliases": ["\\u0000"]}', "column 'aliases' holds a NUL"),
    "raw NUL": ('{"id": 2, "title": "t\x00"}', "NUL byte at byte 21"),
    "not an object": ("[2]", "Expected `object`, got `array`"),
    "not JSON": ("two", "the JSON is bad"),
    "too deep": ('{"id": 2, "title": ' + "[" * 100_000, "nested too deeply"),
    "half a surrogate pair": ('{"id": 2, "title": "\\ud800"}', "the JSON is bad"),
}


@pytest.mark.parametrize(("line", "problem"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_bad_line_is_named_or_skipped(write, line, problem):
    path = write("a.jsonl", GOOD + line + "\n" + LAST)
    message = error_of(path)
    assert problem in message
    assert f"{path}, line 2:" in message
    source = open_source(path, on_error="skip")
    assert [page.entity.title for page in source] == ["one", "three"]
    assert source.skipped == 1
    assert source.problems == [message]


def test_escaped_backslash_before_u0000_is_no_nul(write):
    (page,) = open_source(write("a.jsonl", r'{"id": 1, "title": "\\u0000"}'))
    assert page.entity.title == r"\u0000"


def test_missing_required_column_lists_those_there_are(write):
    message = error_of(write("a.csv", "sku,name\n1,x\n"))
    assert "there is no id" in message
    assert "'sku', 'name'" in message
    assert "Map a column to it: id=COLUMN (--columns on the command line, columns= in Python)" in message


def test_a_header_of_one_column_tells_its_separator(write):
    assert "the separator seems to be ';'. Read it as the format csv" in error_of(write("a.tsv", "id;title\n1;x\n"))
    assert "the separator" not in error_of(write("b.tsv", "id\n1\n"))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_mapped_column_that_is_nowhere(write, tmp_path, name, on_error):
    path = tmp_path / name
    if name == "a.parquet":
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.execute(f"COPY (SELECT 1 AS id, 'x' AS title) TO '{path}' (FORMAT parquet)")
    else:
        contents = {"a.csv": "id,title\n1,x\n", "a.tsv": "id\ttitle\n1\tx\n", "a.jsonl": GOOD}
        write(name, contents[name])
    message = error_of(path, columns={"description": "blurb"}, on_error=on_error)
    assert "there is no column 'blurb'; the columns are 'id', 'title'" in message


def test_mapped_id_that_a_row_lacks(write):
    message = error_of(write("a.jsonl", GOOD), columns={"id": "sku"})
    assert "line 1: there is no column 'sku'; the columns are 'id', 'title'" in message


def test_header_that_names_a_column_twice(write):
    assert "names the column 'id' twice" in error_of(write("a.csv", "id,title,id\n1,x,2\n"))


def test_doubled_column_that_is_not_used_is_no_matter(write):
    assert len(list(open_source(write("a.csv", "id,title,,\n1,x,,\n")))) == 1


@pytest.mark.parametrize("row", ["1,x", "1,x,y,z"])
def test_row_with_too_few_or_too_many_cells(write, row):
    path = write("a.csv", f"id,title,text\n{row}\n2,b,c\n")
    cells = row.count(",") + 1
    assert f"line 2: the row has {cells} cells, the header 3" in error_of(path)
    assert [page.entity.id for page in open_source(path, on_error="skip")] == ["2"]


@pytest.mark.parametrize("row", ['1,"x"y', '1,"x" '])
def test_bad_quoting_leaves_out_one_row(write, row):
    path = write("a.csv", f"id,title\n{row}\n2,b\n")
    assert "line 2: bad CSV" in error_of(path)
    source = open_source(path, on_error="skip")
    assert [page.entity.id for page in source] == ["2"]
    assert source.skipped == 1


def test_quote_that_is_never_closed(write):
    message = error_of(write("a.csv", 'id,title\n1,"x\n2,b\n'))
    assert "line 2: bad CSV: unexpected end of data (the record ends at line 3)" in message


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_a_first_line_that_is_nested_too_deeply(write, suffix):
    """The first lines are also looked at to find out the format."""
    path = write(f"a.{suffix}", '{"id": 2, "title": "two", "x": ' + "[" * 100_000 + "\n" + GOOD)
    assert f"{path}, line 1: the JSON is nested too deeply" in error_of(path)
    assert [page.entity.id for page in open_source(path, on_error="skip")] == ["1"]


@pytest.mark.parametrize("column", ["aliases", "external"])
def test_a_cell_that_is_nested_too_deeply(write, column):
    opened, closed = ("[", "]") if column == "aliases" else ("{'a':", "}")
    cell = (opened * 100_000 + closed * 100_000).replace("'", '""')
    path = write("a.csv", f'id,title,{column}\n1,x,"{cell}"\n2,y,\n')
    assert f"{path}, line 2: column '{column}' holds JSON that is nested too deeply" in error_of(path)
    assert [page.entity.id for page in open_source(path, on_error="skip")] == ["2"]


def test_external_cell_that_is_not_json(write):
    message = error_of(write("a.csv", "id,title,external\n1,x,Q1\n"))
    assert "column 'external' is not a JSON object" in message


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_nul_in_a_cell(write, name):
    separator = "," if name == "a.csv" else "\t"
    path = write(name, "\n".join(separator.join(row) for row in [("id", "title"), ("1", "a\x00"), ("2", "b")]))
    assert "line 2: column 'title' holds a NUL character" in error_of(path)
    assert [page.entity.id for page in open_source(path, on_error="skip")] == ["2"]


def test_nul_in_a_column_that_is_not_used_is_no_matter(write):
    assert len(list(open_source(write("a.csv", "id,title,junk\n1,a,\x00\n")))) == 1


@pytest.mark.parametrize(
    ("name", "content", "byte"),
    [
        ("a.jsonl", b'{"id": 1, "title": "one"}\n{"id": 2, "title": "caf\xe9"}\n{"id": 3, "title": "c"}', 23),
        ("a.csv", b"id,title\r\n2,caf\xe9\r\n3,c\r\n", 5),
        ("a.csv", b'id,title\n2,"x\ncaf\xe9\ny"\n3,c\n', 3),
        ("a.tsv", b"id\ttitle\n2\tcaf\xe9\n3\tc\n", 5),
    ],
)
def test_bytes_that_are_not_utf8(write, name, content, byte):
    path = write(name, content)
    message = error_of(path)
    line = content[: content.index(b"\xe9")].count(b"\n") + 1
    assert f"{path}, line {line}: byte {byte} of the line, 0xe9, is not valid UTF-8" in message
    source = open_source(path, on_error="skip")
    assert [page.entity.id for page in source][-1] == "3"
    assert source.skipped == 1


def test_json_cut_off(write):
    path = write("a.jsonl", GOOD + '{"id": 2, "ti')
    message = error_of(path)
    assert "line 2: the JSON is bad or cut off" in message
    assert "is the file complete?" in message


def test_json_that_is_spread_over_lines(write):
    message = error_of(write("a.jsonl", '[\n{"id": 1, "title": "one"}\n]'))
    assert "Each line must hold one whole record" in message


TEXT_FILES = ["a.jsonl", "a.csv", "a.tsv", "a.ttl", "a.nt", "a.rdf", "a.jsonld"]


@pytest.mark.parametrize(
    ("name", "content"),
    [(name, b"") for name in [*TEXT_FILES, "a.parquet"]] + [(name, b"\xef\xbb\xbf") for name in TEXT_FILES],
)
def test_empty_file_has_no_pages(write, name, content):
    source = open_source(write(name, content))
    assert list(source) == []
    assert source.skipped == 0


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv"])
def test_byte_order_mark_and_windows_line_ends(write, name):
    contents = {"a.jsonl": GOOD, "a.csv": "id,title\n1,one\n\n", "a.tsv": "id\ttitle\n1\tone\n\n"}
    path = write(name, b"\xef\xbb\xbf" + contents[name].replace("\n", "\r\n").encode())
    (page,) = open_source(path)
    assert (page.entity.id, page.entity.title) == ("1", "one")


def test_field_over_the_limit(write):
    row = {"id": 2, "title": "two", "text": "x" * (texts.MAX_FIELD + 1)}
    path = write("a.jsonl", GOOD + json.dumps(row) + "\n" + LAST)
    message = error_of(path)
    assert "line 2: column 'text' holds 50,000,001 bytes, over the limit of 50,000,000" in message
    assert [page.entity.id for page in open_source(path, on_error="skip")] == ["1", "3"]


def test_field_at_the_limit(write):
    row = {"id": 2, "title": "two", "text": "x" * texts.MAX_FIELD}
    (page,) = open_source(write("a.jsonl", json.dumps(row)))
    assert len(page.entity.description) == texts.MAX_FIELD


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_limit_counts_bytes_of_one_field(write, tmp_path, monkeypatch, name):
    monkeypatch.setattr(texts, "MAX_FIELD", 100)
    path = tmp_path / name
    rows = [("1", "é" * 50, "x" * 100), ("2", "é" * 50 + "e", "x")]
    if name == "a.parquet":
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.execute("CREATE TABLE rows (id TEXT, title TEXT, text TEXT)")
            connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
            connection.execute(f"COPY rows TO '{path}' (FORMAT parquet)")
    elif name == "a.jsonl":
        write(
            name,
            "".join(json.dumps(dict(zip(("id", "title", "text"), row, strict=True))) + "\n" for row in rows),
        )
    else:
        separator = "," if name == "a.csv" else "\t"
        write(name, "\n".join(separator.join(row) for row in [("id", "title", "text"), *rows]))
    source = open_source(path, on_error="skip")
    assert [page.entity.id for page in source] == ["1"]
    assert "column 'title' holds 101 bytes, over the limit of 100" in source.problems[0]


def test_csv_field_larger_than_the_csv_module_allows_by_default(write):
    (page,) = open_source(write("a.csv", "id,title,text\n1,x," + "y" * 200_000))
    assert len(page.entity.description) == 200_000


def test_line_that_never_ends(write, monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE", 64)
    path = write("a.jsonl", GOOD + "x" * 1000 + "\n" + LAST)
    assert "line 2: the line is longer than 64 bytes" in error_of(path)
    source = open_source(path, on_error="skip")
    assert [page.entity.id for page in source] == ["1", "3"]
    assert source.skipped == 1


def test_parquet_that_is_none(write):
    message = error_of(write("a.parquet", "id,title\n1,x\n"))
    assert "the Parquet data cannot be read" in message
    assert "0 records were read" in message


def test_parquet_cut_off(tmp_path):
    path = tmp_path / "a.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"COPY (SELECT 1 AS id, 'x' AS title) TO '{path}' (FORMAT parquet)")
    path.write_bytes(path.read_bytes()[:-10])
    source = open_source(path, on_error="skip")
    assert list(source) == []
    assert "the Parquet data cannot be read" in source.problems[0]


def test_bad_parquet_row_is_named_or_skipped(tmp_path):
    path = tmp_path / "a.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        query = "SELECT i AS id, CASE WHEN i <> 1500 THEN 'x' END AS title FROM range(3000) r(i) ORDER BY i"
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    assert f"{path}, row 1501: column 'title' is empty" in error_of(path)
    source = open_source(path, on_error="skip")
    assert sum(1 for _ in source) == 2999
    assert source.skipped == 1


def test_field_that_does_not_exist():
    with pytest.raises(SourceError, match=r"'titel' is not a field.*Did you mean 'title'"):
        open_source("nowhere.csv", columns={"titel": "name"})
    with pytest.raises(SourceError, match="is not a field"):
        open_source("nowhere.csv", columns={"external.": "name"})
