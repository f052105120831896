from __future__ import annotations

import csv
import io
import json
import tracemalloc

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.sources import ColumnMapping, Page, open_source

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
NAME = TEXT.filter(lambda text: text.strip())
FLAT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\t\r\n"), max_size=30)
ROW = st.fixed_dictionaries({"id": NAME, "title": NAME, "description": TEXT, "aliases": st.lists(TEXT, max_size=4)})
ROWS = st.lists(ROW, max_size=6)


def page_of(row: dict[str, object]) -> Page:
    names = [alias.strip() for alias in row["aliases"]]
    aliases = tuple(dict.fromkeys(name for name in names if name))
    return Page(Entity(row["id"], row["title"], row["description"], aliases))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@given(ROWS, st.booleans())
def test_jsonl_gives_back_what_was_written(folder, rows, ensure_ascii):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=ensure_ascii) + "\n" for row in rows), "utf-8")
    assert list(open_source(path)) == [page_of(row) for row in rows]


@given(ROWS, st.sampled_from([("\r\n", csv.QUOTE_MINIMAL), ("\n", csv.QUOTE_ALL)]))
def test_csv_gives_back_what_was_written(folder, rows, style):
    path = folder / "rows.csv"
    text = io.StringIO()
    columns = ["id", "title", "description", "aliases"]
    writer = csv.DictWriter(text, columns, lineterminator=style[0], quoting=style[1])
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "aliases": json.dumps(row["aliases"])})
    path.write_bytes(text.getvalue().encode())
    assert list(open_source(path)) == [page_of(row) for row in rows]


@given(st.lists(st.tuples(FLAT.filter(str.strip), FLAT.filter(str.strip), FLAT), max_size=6))
def test_tsv_takes_quotes_as_they_are(folder, rows):
    path = folder / "rows.tsv"
    lines = ["id\ttitle\tdescription", *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8", newline="")
    assert [(page.entity.id, page.entity.title, page.entity.description) for page in open_source(path)] == rows


@settings(max_examples=15, deadline=None)
@given(ROWS)
def test_parquet_gives_back_what_was_written(folder, rows):
    path = folder / "rows.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("CREATE TABLE rows (id TEXT, title TEXT, description TEXT, aliases TEXT[])")
        for row in rows:
            connection.execute("INSERT INTO rows VALUES ($id, $title, $description, $aliases)", row)
        connection.execute(f"COPY rows TO '{path}' (FORMAT parquet)")
    assert list(open_source(path)) == [page_of(row) for row in rows]


def test_default_columns_of_every_field(write_rows):
    path = write_rows(
        {
            "key": 7,
            "name": "Mercury",
            "text": "The planet nearest to the Sun.",
            "synonyms": ["Mercurius", "", "Mercurius"],
            "category": "planet",
            "images": ["a.png", "b.png"],
            "created_at": "2001-02",
            "lang": "en",
            "from": "2002",
            "to": "2003-01-01",
            "external": {"geonames": 12, "none": None},
            "claims": {"orbits": "Sun", "visited by": ["Mariner 10", "MESSENGER"], "moons": []},
            "qid": "Q308",
            "url": "https://example.org/mercury",
            "wikipedia": "Mercury (planet)",
        }
    )
    (page,) = open_source(path)
    assert page == Page(
        Entity(
            "7",
            "Mercury",
            "The planet nearest to the Sun.",
            aliases=("Mercurius",),
            types=("planet",),
            images=("a.png", "b.png"),
            language="en",
            created="2001-02",
            external={
                "geonames": "12",
                "wikidata": "Q308",
                "url": "https://example.org/mercury",
                "wikipedia": "Mercury (planet)",
            },
            claims={"orbits": ("Sun",), "visited by": ("Mariner 10", "MESSENGER")},
        ),
        (),
        "2002",
        "2003-01-01",
    )


def test_qid_is_the_id_only_where_there_is_no_other(write_rows):
    path = write_rows({"qid": "Q1", "label": "universe"}, {"id": "u", "qid": "Q1", "label": "universe"})
    first, second = (page.entity for page in open_source(path))
    assert (first.id, first.external) == ("Q1", {})
    assert (second.id, second.external) == ("u", {"wikidata": "Q1"})


def test_mapped_columns(write):
    path = write("goods.csv", "sku,name,qid,ean,type\n4,Desk,Q1,977,x\n")
    columns = {"id": "sku", "title": "name", "external.wikidata": "qid", "external.gtin": "ean", "types": ""}
    (page,) = open_source(path, columns=columns)
    assert page.entity == Entity("4", "Desk", external={"wikidata": "Q1", "gtin": "977"})


def test_column_names_match_whatever_their_case(write):
    (page,) = open_source(write("a.csv", "ID, Title ,altlabels\n1,Rome,Roma|Urbs\n"))
    assert page.entity == Entity("1", "Rome", aliases=("Roma", "Urbs"))


def test_exact_name_goes_before_another_case():
    assert ColumnMapping().resolve(["ID", "id", "title"])["id"] == "id"


@pytest.mark.parametrize(
    ("cell", "aliases"),
    [
        ("", ()),
        ("one", ("one",)),
        ("one | two||one", ("one", "two")),
        ('"[""a|b"", ""c""]"', ("a|b", "c")),
        ("[sic]", ("[sic]",)),
        ("[1", ("[1",)),
    ],
)
def test_list_cells_of_csv(write, cell, aliases):
    (page,) = open_source(write("a.csv", f"id,title,aliases\n1,x,{cell}\n"))
    assert page.entity.aliases == aliases


def test_external_cell_of_csv_is_a_json_object(write):
    path = write("a.csv", 'id,title,external\n1,x,"{""viaf"": ""9""}"\n2,y,\n')
    assert [page.entity.external for page in open_source(path)] == [{"viaf": "9"}, {}]


def test_csv_cell_with_line_ends_keeps_the_line_numbers_right(write):
    path = write("a.csv", 'id,title,text\n1,x,"two\nlines"\n,y,z\n')
    source = open_source(path, on_error="skip")
    assert [page.entity.description for page in source] == ["two\nlines"]
    assert "line 4" in source.problems[0]


def test_jsonl_rows_may_leave_out_columns(write_rows):
    rows = [{"id": str(number), "title": "t", f"extra{number}": 1} for number in range(1500)]
    path = write_rows(*rows, {"title": "last", "aliases": ["z"], "id": "z"})
    pages = list(open_source(path, columns={"aliases": "aliases"}))
    assert [page.entity.id for page in pages] == [*map(str, range(1500)), "z"]
    assert pages[-1].entity.aliases == ("z",)


def test_parquet_types(tmp_path):
    path = tmp_path / "odd [name] *.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            "COPY (SELECT 5::UBIGINT AS id, 'x' AS title, DATE '2020-01-31' AS created,"
            " TIMESTAMP '2020-02-01 10:00:00' AS valid_from,"
            " TIMESTAMPTZ '2020-03-01 10:00:00+00' AS valid_to,"
            " {'viaf': '9', 'none': NULL} AS external, uuid '00000000-0000-0000-0000-00000000000a' AS url,"
            f" NULL::TEXT[] AS aliases, 1.5 AS ignored) TO '{path}' (FORMAT parquet)"
        )
    (page,) = open_source(path)
    external = {"viaf": "9", "url": "00000000-0000-0000-0000-00000000000a"}
    assert page.entity == Entity("5", "x", created="2020-01-31", external=external)
    assert (page.valid_from, page.valid_to) == ("2020-02-01 10:00:00", "2020-03-01 10:00:00+00")


def test_parquet_columns_do_not_come_from_the_folder_names(tmp_path):
    folder = tmp_path / "language=xx"
    folder.mkdir()
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"COPY (SELECT 1 AS id, 'x' AS title) TO '{folder}/a.parquet' (FORMAT parquet)")
    (page,) = open_source(folder / "a.parquet")
    assert page.entity.language is None


def test_language_of_the_source_is_that_of_rows_without_one(write_rows):
    path = write_rows({"id": 1, "title": "a"}, {"id": 2, "title": "b", "lang": "de"})
    assert [page.entity.language for page in open_source(path, language="fr")] == ["fr", "de"]


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_memory_does_not_grow_with_the_rows(write, suffix):
    if suffix == "csv":
        content = "id,title\n" + "".join(f"{number},title {number}\n" for number in range(30_000))
    else:
        content = "".join(f'{{"id": {number}, "title": "title {number}"}}\n' for number in range(30_000))
    path = write(f"rows.{suffix}", content)
    sum(1 for _ in open_source(path))
    tracemalloc.start()
    assert sum(1 for _ in open_source(path)) == 30_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 900_000


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_header_of_csv_shows_the_separator(write, separator):
    rows = [["id", "title", "a,b;c|d\te"], ["1", f"a {separator} b", "x"], ["2", 'say "so"', "y"]]
    lines = [separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    pages = open_source(write("a.csv", "\n\n" + "\n".join(lines) + "\n"))
    assert [page.entity.title for page in pages] == [f"a {separator} b", 'say "so"']


def test_the_comma_separates_where_the_header_does_not_tell(write):
    (page,) = open_source(write("a.csv", "id,title;note\n1,x;y\n"), columns={"title": "title;note"})
    assert page.entity.title == "x;y"


@pytest.fixture
def write_table(write):
    """Write rows of texts in the format of a name, and give the path."""

    def write_table(name, rows):
        lines = write("written.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        if name == "a.jsonl":
            return lines
        path = lines.with_name(name)
        kind = "FORMAT parquet" if name == "a.parquet" else f"DELIMITER '{',' if name == 'a.csv' else chr(9)}'"
        with duckdb.connect(config={"threads": 1}) as connection:
            columns = ", ".join(f"'{column}': 'VARCHAR'" for column in rows[0])
            query = f"SELECT * FROM read_json('{lines}', format = 'nd', columns = {{{columns}}})"
            connection.execute(f"COPY ({query}) TO '{path}' ({kind})")
        return path

    return write_table


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize(
    ("columns", "description", "paragraphs"),
    [
        ({}, "short", ["short", "long"]),
        ({"text": "body"}, "short", ["short", "body"]),
        ({"description": "body"}, "body", ["body", "long"]),
        ({"description": "text"}, "long", []),
        ({"text": ""}, "short", []),
        ({"description": ""}, "", []),
    ],
)
def test_a_description_beside_a_text(write_table, name, columns, description, paragraphs):
    row = {"id": "1", "title": "x", "description": "short", "text": "long", "body": "body"}
    (page,) = open_source(write_table(name, [row]), columns=columns)
    assert page.entity.description == description
    assert [paragraph.text for paragraph in page.paragraphs] == paragraphs


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_columns_that_are_not_used_are_told_once(write_table, name, caplog):
    rows = [{"id": str(number), "title": "x", "weight": "7", "colour": "red"} for number in range(3)]
    path = write_table(name, rows)
    assert len(list(open_source(path))) == 3
    (told,) = caplog.messages
    mapping = "--columns on the command line, columns= in Python"
    assert told == f"{path}: columns not used: weight, colour (map them with {mapping})"
    caplog.clear()
    list(open_source(path, columns={"types": "colour", "external.grams": "weight"}))
    assert caplog.messages == []


def test_a_column_that_some_rows_use_is_used(write_rows, caplog):
    list(open_source(write_rows({"id": 1, "name": "a"}, {"id": 2, "name": "b", "title": "c"})))
    assert caplog.messages == []


def test_control_characters_in_the_name_of_a_column_do_not_reach_the_terminal(write, caplog):
    list(open_source(write("a.csv", "id,title,,\x1b[2J\n1,a,,\n")))
    assert "columns not used: '\\x1b[2J' (" in caplog.text
