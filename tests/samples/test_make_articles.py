"""The converter of the sample wiki: what it reads, how links resolve, and what it says about mistakes."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import SourceError

sys.path.insert(0, str(Path(__file__).parents[2] / "samples"))
make_articles = importlib.import_module("make_articles")
page_links = importlib.import_module("page_links")

TWO_PAGES = """
=== Mercury (planet) ===
id: mercury
type: planet; astronomical object
alias: Swift Planet
alias: Hermes
external.wikidata: Q308
image: mercury.png

Mercury is a [[planet]] near [[planet|others]].
Two [[planet]]s are smaller: none.

=== Planet ===
id: planet

A planet, such as [[Mercury (planet)|Mercury]] or [[mercury]], is round.
"""


@pytest.fixture
def convert(tmp_path):
    def run(*texts):
        for number, text in enumerate(texts):
            (tmp_path / f"{number}.wiki").write_text(text, encoding="utf-8")
        return list(make_articles.articles(tmp_path))

    return run


def page(title="Page", header="id: page", text="Some text."):
    return f"=== {title} ===\n{header}\n\n{text}\n"


def test_a_page_becomes_an_article(convert):
    row, _ = convert(TWO_PAGES)
    assert row == {
        "id": "mercury",
        "title": "Mercury (planet)",
        "aliases": ["Swift Planet", "Hermes"],
        "subjects": ["planet", "astronomical object"],
        "image": "mercury.png",
        "language": "en",
        "external": {"wikidata": "Q308"},
        "paragraphs": [
            {
                "text": "Mercury is a planet near others.",
                "links": [[13, 19, "planet"], [25, 31, "planet"]],
            },
            {"text": "Two planets are smaller: none.", "links": [[4, 11, "planet"]]},
        ],
    }


def test_links_resolve_by_title_and_by_id(convert):
    _, row = convert(TWO_PAGES)
    (paragraph,) = row["paragraphs"]
    assert paragraph["links"] == [[18, 25, "mercury"], [29, 36, "mercury"]]


def test_links_resolve_to_another_file_and_to_an_older_title(convert):
    old = page("Swaziland", "id: eswatini\nversion: 1968-09-06 .. 2018-04-19")
    new = page("Eswatini", "id: eswatini\nversion: 2018-04-19 ..")
    rows = convert(page(text="See [[Swaziland]], now [[Eswatini]]."), old + new)
    assert [target for _, _, target in rows[0]["paragraphs"][0]["links"]] == ["eswatini", "eswatini"]
    assert [(row.get("valid_from"), row.get("valid_to")) for row in rows[1:]] == [
        ("1968-09-06", "2018-04-19"),
        ("2018-04-19", None),
    ]


def test_an_open_start_and_a_language(convert):
    (row,) = convert(page("剑桥", "id: jianqiao\nlanguage: zh\nversion: .. 2000-01-01", "剑桥是城市。"))
    assert (row["language"], row["valid_to"], "valid_from" in row) == ("zh", "2000-01-01", False)


@pytest.mark.parametrize(
    ("text", "line", "problem", "hint"),
    [
        (page(text="To [[Nowhere]]."), 4, "not there: [[Nowhere]]", "remove the link"),
        (page("Planet", text="To [[Planett]]."), 4, "not there: [[Planett]]", "Did you mean [[Planet]]?"),
        (page(text="First.\n\nAn [[open link."), 6, "'[[' without its partner", "Write [[Target]]"),
        (page(text="A closed]] link."), 4, "']]' without its partner", "Write [[Target]]"),
        (page(text="An empty [[]] link."), 4, "an empty link", "Write [[Target]]"),
        (page(text="A [[nested [[Page]]."), 4, "'[[' without its partner", "Write [[Target]]"),
        (page(text="A '''bold''' word."), 4, "markup \"'''\"", "plain text only"),
        (page(text="A {{template}}."), 4, "markup '{{'", "plain text only"),
        (page() + page(header="id: other"), 5, "taken by the page with id 'page'", "tells them apart"),
        (page() + page("page", "id: other"), 5, "taken by the page with id 'page'", "tells them apart"),
        (page() + page("Other"), 5, "a second page with id 'page'", "periods must not overlap"),
        (page(header="type: planet"), 1, "page 'Page' has no id", "Add a line 'id:"),
        (page(text=""), 1, "page 'Page' has no text", "blank line after the header"),
        (page(header="id: page\ncolour: red"), 3, "unknown header 'colour'", "Known headers: id, "),
        (page(header="id: page\nNo colon here"), 3, "bad header line 'No colon here'", "'key: value'"),
        (page(header="id: page\nimage:"), 3, "bad header line 'image:'", "'key: value'"),
        (page(header="id: page\nid: other"), 3, "header 'id' given twice", "Keep one"),
        (page(header="id: page\nversion: 2020"), 3, "bad version '2020'", "FROM .. TO"),
        (page(header="id: page\nversion: .."), 3, "bad version '..'", "FROM .. TO"),
        (page(header="id: page\nversion: 2020-02-30 .."), 3, "bad date '2020-02-30'", "YYYY-MM-DD"),
        (page(header="id: page\nversion: 20200203 .."), 3, "bad date '20200203'", "YYYY-MM-DD"),
        (page(header="id: page\nversion: 2021-01-01 .. 2020-01-01"), 3, "ends before it begins", "earlier"),
        ("Stray text\n" + page(), 1, "text before the first title", "=== Title ==="),
        ("=== Page ==\n", 1, "bad title line", "=== Title ==="),
    ],
)
def test_a_mistake_is_named_with_file_and_line(convert, text, line, problem, hint):
    with pytest.raises(SourceError) as caught:
        convert(text)
    assert problem in caught.value.problem
    assert hint in caught.value.hint
    assert caught.value.file.endswith("0.wiki")
    assert caught.value.position == f"line {line}"


def test_overlapping_versions_are_refused(convert):
    one = page(header="id: page\nversion: .. 2018-04-19")
    other = page(header="id: page\nversion: 2018-04-18 ..")
    with pytest.raises(SourceError, match="for the same time"):
        convert(one + other)


def test_a_folder_without_page_files_is_refused(tmp_path):
    with pytest.raises(SourceError, match=r"no \*\.wiki file here"):
        list(make_articles.articles(tmp_path))


def test_the_command_writes_json_lines(tmp_path, capsys):
    (tmp_path / "a.wiki").write_text(page(text="北京 is [[page|here]]."), encoding="utf-8")
    output = tmp_path / "out.jsonl"
    assert make_articles.main([str(tmp_path), "-o", str(output)]) == 0
    (line,) = output.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["paragraphs"] == [{"text": "北京 is here.", "links": [[6, 10, "page"]]}]
    assert "1 pages written" in capsys.readouterr().out


def test_a_failed_run_keeps_the_old_output(tmp_path, capsys):
    (tmp_path / "a.wiki").write_text(page() + page("Other", "id: b", "[[Nowhere]]"), encoding="utf-8")
    output = tmp_path / "out.jsonl"
    output.write_text("old\n", encoding="utf-8")
    assert make_articles.main([str(tmp_path), "-o", str(output)]) == SourceError.exit_code
    assert output.read_text(encoding="utf-8") == "old\n"
    assert "a.wiki, line 8: link to a page that is not there" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.wiki", "out.jsonl"]


plain = st.text(st.characters(exclude_characters="[]|{}<'\n\r", exclude_categories=["Cs", "Zl", "Zp"]))
links = st.tuples(plain.filter(len), st.none() | plain.filter(len))


@given(st.lists(st.tuples(plain.map(lambda text: " " + text), links)))
def test_plain_text_and_offsets_of_any_links(pieces):
    written, expected, anchors = "", "", []
    for text, (target, anchor) in pieces:
        written += text + (f"[[{target}]]" if anchor is None else f"[[{target}|{anchor}]]")
        expected += text + (anchor or target)
        anchors.append((anchor or target, target))
    parsed, found = page_links.parse_links(written, "a.wiki", 1)
    assert parsed == expected
    assert [(parsed[link.start : link.end], link.target) for link in found] == anchors


@given(st.text("[]|a B", max_size=12))
def test_any_brackets_are_links_or_an_error(text):
    try:
        parsed, found = page_links.parse_links(text, "a.wiki", 1)
    except SourceError as error:
        assert error.position == "line 1"
    else:
        assert "[[" not in parsed and "]]" not in parsed
        assert all(0 <= link.start < link.end <= len(parsed) for link in found)
