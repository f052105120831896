from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.errors import SourceError
from entlink.sources.columns import ColumnMapping
from entlink.sources.mediawiki import sql_dumps, sql_values
from entlink.sources.mediawiki.sql_dumps import (
    LanguageRow,
    PropertyRow,
    identifiers,
    read_langlinks,
    read_page_props,
    read_pages,
    rows,
)
from entlink.sources.reading import Reading

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
PROPS = """CREATE TABLE `page_props` (
  `pp_page` int(10) unsigned NOT NULL,
  `pp_propname` varbinary(60) NOT NULL,
  `pp_value` blob NOT NULL,
  `pp_sortkey` float DEFAULT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`)
);
"""


ROWS = """INSERT INTO `page_props` VALUES (1,'a','Zürich',NULL),
(2,'b','it\\'s; (so)',0.5),
(3,'c','',NULL);
/*!40000 ALTER TABLE `page_props` ENABLE KEYS */;
-- Dump completed
"""


def reading_of(path: Path, on_error: str = "stop") -> Reading:
    return Reading((path,), ColumnMapping(None), on_error, None)


def skipping(reader, path: Path, *arguments):
    """What a reader gives when bad rows are left out, and the messages about them."""
    reading = reading_of(path, "skip")
    return list(reader(path, reading, *arguments)), reading.problems


def given_before(rows):
    """What is given before the error, and the error."""
    given = []
    with pytest.raises(SourceError) as caught:
        for row in rows:
            given.append(row)
    return given, caught.value


# --- values ---


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("''", ""),
        (r"'\\'", "\\"),
        (r"'\\\''", "\\'"),
        (r"'a\'\"\n\r\t\b\Z\\n'", "a'\"\n\r\t\b\x1a\\n"),
        (r"'\q\%\_'", "q\\%\\_"),
        ("'a\nb'", "a\nb"),
        ("'\\'\n'", "'\n"),
        ("1" * 5000, float("inf")),
        ("'),('", "),("),
        ("'; INSERT INTO `page_props` VALUES ('", "; INSERT INTO `page_props` VALUES ("),
        ("NULL", None),
        ("null", None),
        ("'NULL'", "NULL"),
        ("-12", -12),
        ("007", 7),
        ("0.25", 0.25),
        ("-1e-05", -1e-05),
        ("0x4bc3b66c6e", "Köln"),
        ("0x", ""),
        ("_binary 'K\\'ln'", "K'ln"),
        (" 5 ", 5),
        (" 'a'", "a"),
    ],
)
def test_values(write, written, value):
    path = write("a.sql", f"{PROPS}INSERT INTO `page_props` VALUES (1,{written},'x',NULL),(2,'b',{written},NULL);")
    given = list(rows(path, reading_of(path), ["pp_page", "pp_propname", "pp_value"]))
    assert given == [(1, value, "x"), (2, "b", value)]
    assert [type(row[1]) for row in given] == [type(value), str]


@pytest.mark.parametrize("written", ["", "Q5", "1_0x", "0x4", "nan", "1 2", "'a' b", "a'b'"])
def test_no_values(write, written):
    path = write(
        "a.sql", f"{PROPS}INSERT INTO `page_props` VALUES (1,'a','x',NULL),\n(2,{written},'y',0),(3,'b','z',0);"
    )
    given, problems = skipping(rows, path, ["pp_page", "pp_propname"])
    assert given == [(1, "a"), (3, "b")]
    (problem,) = problems
    assert re.search(r"line 9, byte \d+: .*row 2|row 2, line 9", problem)


def test_typed_columns_hold_their_type(write):
    head, tail = "INSERT INTO langlinks VALUES (1,'de','Ei'),", ",(4,'fr','\\\\uf');"
    path = write("a.sql", head + "(NULL,'de','Huhn'),('2','de','Huhn'),(3,'de',NULL),(3,'de',7)" + tail)
    given, problems = skipping(read_langlinks, path)
    assert given == [LanguageRow(1, "de", "Ei"), LanguageRow(4, "fr", "\\uf")]
    assert [problem.partition(", row ")[2] for problem in problems] == [
        "2, line 1, byte 43: column 'll_from' holds NULL instead of a number",
        "3, line 1, byte 62: column 'll_from' holds '2' instead of a number",
        "4, line 1, byte 80: column 'll_title' holds NULL instead of a text",
        "5, line 1, byte 94: column 'll_title' holds 7 instead of a text",
    ]


def test_bytes_that_are_not_utf8_are_bad_only_where_they_are_wanted(write):
    dump = PROPS.encode() + b"INSERT INTO `page_props` VALUES (1,'templatedata','\x1f\x8b\xff\\0\0',NULL),"
    second = b"(2,'wikibase_item','Q2',NULL),"
    path = write("a.sql", dump + second + b"(3,'page_image','K\xf6ln',0);")
    given, problems = skipping(read_page_props, path)
    assert given == [PropertyRow(2, "wikibase_item", "Q2")]
    (problem,) = problems
    assert "row 3, line 8, byte " in problem
    assert "column 'pp_value' holds the byte 0xf6, which is not valid UTF-8" in problem
    assert f"byte {len(dump) + len(second)}: " in problem
    assert [row[0] for row in rows(path, reading_of(path), ["pp_page", "pp_sortkey"])] == [1, 2, 3]


@pytest.mark.parametrize("written", [b"'a\0b'", rb"'a\0b'", b"0x610062"])
def test_a_nul(write, written):
    path = write("a.sql", b"INSERT INTO langlinks VALUES (1,'de','Ei'),(2,'de'," + written + b"),(3,'fr','uf');")
    given, problems = skipping(read_langlinks, path)
    assert [link.title for link in given] == ["Ei", "uf"]
    assert problems == [
        f"{path}, row 2, line 1, byte 43: column 'll_title' holds a NUL character, the 2. of its text"
    ]


# --- damage ---


@pytest.mark.parametrize("reader", [identifiers, read_pages, lambda path, reading: rows(path, reading, ["a"])])
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "holds no table"),
        ("-- MySQL dump 10.11\n", "holds no table"),
        ("DROP TABLE `page`;", "holds no table"),
        ("<mediawiki xmlns='x'><page>;", "line 1, byte 0: .<mediawiki xmlns=.*is no SQL: this is not a dump"),
        ("\n\n{}", "line 3, byte 2: '{}.*is no SQL"),
        ("page_id,title\n1,Hen;\n", "is no SQL"),
        ("\0\0\0\0", "is no SQL"),
        (b"\x89PNG\r\n\x1a\n\xff\xff\xff\xff;;;;;;;;;;;;", "is no SQL"),
        ("-- x\nCREATE TABLE `page` (\n`page_id` int", "line 2, byte 5: the file ends in the middle of a statement"),
        ("/* never closed", "ends in the middle of a statement; 0 rows were read before that"),
        ("INSERT INTO `page` SELECT * FROM `other`;", "names no table with VALUES"),
        ("INSERT INTO `unheard_of` VALUES (1);", "nothing tells the columns of the table unheard_of"),
    ],
)
def test_no_dump_of_a_table(write, content, problem, reader):
    path = write("a.sql", content)
    with pytest.raises(SourceError, match=problem) as caught:
        list(reader(path, reading_of(path, "skip")))
    assert caught.value.file == str(path)


@pytest.mark.parametrize("bad", ["(2,'x')", "(2,'x','y',NULL,5)", "()", "(2,'x;','y'"])
def test_a_row_with_the_wrong_number_of_values(write, bad):
    path = write("a.sql", f"{PROPS}INSERT INTO `page_props` VALUES (1,'a','b',NULL),\n{bad},\n(3,'c','d',NULL);\n")
    given, error = given_before(rows(path, reading_of(path), ["pp_page"]))
    assert given == [(1,)]
    assert error.position.startswith("line 9, byte ")
    if bad.endswith(")"):
        assert "row 2" in error.problem
        assert skipping(rows, path, ["pp_page"])[0] == [(1,), (3,)]


@pytest.mark.parametrize("garbage", ["x", "(4,'e','f',NULL)", "ON DUPLICATE KEY UPDATE a=1"])
def test_what_cannot_follow_a_row(write, garbage):
    path = write(
        "a.sql", f"{PROPS}INSERT INTO `page_props` VALUES (1,'a','b',NULL),(2,'c','d',0) {garbage},(3,'c','d',0);"
    )
    given, problems = skipping(rows, path, ["pp_page"])
    assert given == [(1,)]
    assert [problem for problem in problems if "follows a row. Is the file damaged?" in problem] == problems != []


def test_a_comma_without_a_row(write):
    good = f"{PROPS}INSERT INTO `page_props` VALUES (1,'a','b',NULL),  \n"
    path = write("a.sql", good + "what else;")
    given, problems = skipping(rows, path, ["pp_page"])
    assert given == [(1,)]
    assert f"line 9, byte {len(good)}: a row should begin here, not 'what else;" in problems[0]


def test_brackets_in_a_row(write):
    path = write("a.sql", f"{PROPS}INSERT INTO `page_props` VALUES (1,'a','b',NULL),(2,NOW(),'y',0),(3,'c','d',0);")
    given, problems = skipping(rows, path, ["pp_page"])
    assert given == [(1,)]
    assert "row 2 has 2 values, but the table 4 columns" in problems[0]
    assert "a row should begin here, not \"'y',0),(3" in problems[1]


def test_a_second_table(write):
    path = write("a.sql", PROPS + ROWS + "INSERT INTO `page` VALUES (1);")
    given, error = given_before(rows(path, reading_of(path), ["pp_page"]))
    assert given == [(1,), (2,), (3,)]
    assert "rows of a second table, page" in str(error)


def many_rows(count: int) -> str:
    values = ",".join(f"({number},'wikibase_item','Q{number * 7919 % 10007}',NULL)" for number in range(count))
    return f"{PROPS}INSERT INTO `page_props` VALUES {values};\n"


@pytest.mark.parametrize("suffix", PACK)
def test_packed_data_that_is_cut_off(write, suffix):
    first, second = (PACK[suffix](many_rows(20_000).encode()) for _ in range(2))
    path = write(f"a.sql.{suffix}", first + second[: len(second) // 2])
    given, error = given_before(read_page_props(path, reading_of(path)))
    assert len(given) >= 20_000
    assert [row.id for row in given] == [number % 20_000 for number in range(len(given))]
    assert f"the compressed data is cut off; {len(given)} rows were read before that" in error.problem
    assert re.fullmatch(r"line \d+, byte \d+", error.position)
    assert skipping(read_page_props, path)[0] == given


def test_packed_data_that_is_cut_off_at_any_place(write):
    packed = gzip.compress((PROPS + ROWS).encode())
    path = write("a.sql.gz", packed)
    ends = set()
    for cut in range(12, len(packed) - 8):
        path.write_bytes(packed[:cut])
        with pytest.raises(SourceError, match=r"the compressed data is cut off; [0-3] rows were read") as caught:
            list(rows(path, reading_of(path), ["pp_page"]))
        ends.add(caught.value.problem)
    assert len(ends) == 4


def test_any_beginning_of_a_dump_gives_the_rows_that_it_has(write):
    whole = (PROPS + ROWS).encode()
    start, end = len(PROPS), whole.index(b";\n/*")
    path = write("a.sql", whole)
    complete = list(rows(path, reading_of(path), ["pp_page", "pp_value"]))
    assert complete == [(1, "Zürich"), (2, "it's; (so)"), (3, "")]
    for cut in range(start + len("INSERT"), end + 1):
        path.write_bytes(whole[:cut])
        given, (problem,) = skipping(rows, path, ["pp_page", "pp_value"])
        assert given == complete[: whole[:cut].count(b"),")]
        assert "the file ends in the middle of a " in problem
        assert f"; {len(given)} rows were read before that" in problem


def test_a_quote_left_open_does_not_fill_the_memory(write, monkeypatch):
    monkeypatch.setattr(sql_values, "MAX_ROW", 1000)
    monkeypatch.setattr(sql_values, "BLOCK", 100)
    path = write("a.sql", f"{PROPS}INSERT INTO `page_props` VALUES (1,'a','b',0),(2,'c,{'x' * 9000}")
    given, error = given_before(rows(path, reading_of(path), ["pp_page"]))
    assert given == [(1,)]
    assert "does not end within 1,000 characters. Is a quote left open?" in str(error)
    assert error.position == f"line 8, byte {len(PROPS) + 46}"


def test_memory_does_not_grow_with_the_table(write):
    path = write("a.sql", many_rows(150_000))
    assert path.stat().st_size > 5_000_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in rows(path, reading_of(path), ["pp_page", "pp_value"])) == 150_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_many_bad_rows_and_rows_longer_than_a_block(write):
    long = "y" * 600_000
    bad = ",".join(["(1)"] * 20_000)
    path = write("a.sql", f"{PROPS}INSERT INTO `page_props` VALUES (1,'a','{long}',0),{bad},(2,'b','{long}\\'',0);")
    reading = reading_of(path, "skip")
    assert list(rows(path, reading, ["pp_page", "pp_value"])) == [(1, long), (2, long + "'")]
    assert reading.skipped == 20_000


# --- whatever is written is read back ---

ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\x1a": "\\Z"}


def escaped(value: str | int | float | None, left_raw: str) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        written = (character if character in left_raw else ESCAPES.get(character, character) for character in value)
        return "'" + "".join(written) + "'"
    return repr(value)


texts = st.text(
    st.one_of(st.sampled_from("\\'\"\n,();-`NUL _é€😀"), st.characters(exclude_characters="\0", codec="utf-8"))
)
values = st.one_of(st.none(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
SEPARATORS = [
    ",",
    ",",
    ", \n",
    ";\nINSERT INTO `t` VALUES ",
    ";INSERT INTO t (a,`b`,c) VALUES\n",
    ";-- it's (\n/*;'*/ INSERT INTO `t` VALUES ",
]


@st.composite
def tables(draw):
    table = draw(st.lists(st.tuples(values, values, values), min_size=1, max_size=12))
    pieces = ["CREATE TABLE `t` (\n`a` int,\n`b` int,\n`c` int);\n", "INSERT INTO `t` VALUES "]
    for row in table:
        left_raw = draw(st.sampled_from(["", '"\n\r\x1a']))
        pieces += ["(" + ",".join(escaped(value, left_raw) for value in row) + ")", draw(st.sampled_from(SEPARATORS))]
    return table, "".join(pieces[:-1]) + ";\n"


@settings(deadline=None)
@given(tables(), st.integers(1, 80), st.integers(1, 80), st.permutations("abc"))
def test_rows_are_read_back(tmp_path_factory, drawn, block, window, columns):
    table, dump = drawn
    path = tmp_path_factory.getbasetemp() / "round.sql"
    path.write_bytes(dump.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sql_values, "BLOCK", block)
        patch.setattr(sql_dumps, "BLOCK", block)
        patch.setattr(sql_dumps, "_FIRST_WINDOW", window)
        given = list(rows(path, reading_of(path), columns))
    assert given == [tuple(row["abc".index(name)] for name in columns) for row in table]


@settings(deadline=None)
@given(tables(), st.data())
def test_damage_is_an_error_of_ours(tmp_path_factory, drawn, data):
    _, dump = drawn
    damaged = bytearray(dump.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.getbasetemp() / "damaged.sql"
    path.write_bytes(damaged)
    reading = reading_of(path, "skip")
    try:
        given = list(rows(path, reading, ["a", "c"]))
    except SourceError as error:
        assert error.file == str(path)
    else:
        assert all(len(row) == 2 for row in given)
        assert len(reading.problems) == reading.skipped
