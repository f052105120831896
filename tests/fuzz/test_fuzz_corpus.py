"""Replays what fuzzing found and what is likely to break, so that it stays mended."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken_rules import BrokenRuleError, kind_of_failure, shortened
from dump_checks import GOOD, Dump, check_dump, dump_of, sealed
from edited_files import edited, edits_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sql_checks import Table, check_table, table_of
from wikitext_checks import SITE, check_paragraph, check_wikitext
from wikitext_pieces import PIECES, wikitext_of

from entlink.sources.page import Anchor, Paragraph
from entlink.sources.wikitext import Site

CORPUS = Path(__file__).parent / "corpus"
CASE_SENSITIVE = Site("testwiktionary", capital_links=False)
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def kept(kind: str) -> list[pytest.ParameterSet]:
    """The files of one kind that are kept; a folder without any is an error of its own."""
    files = sorted((CORPUS / kind).iterdir())
    assert files
    return [pytest.param(file, id=file.name) for file in files]


@pytest.mark.parametrize("file", kept("wikitext"))
@pytest.mark.parametrize("site", [SITE, CASE_SENSITIVE], ids=lambda site: site.name)
def test_kept_wikitext(file, site):
    text = file.read_bytes().decode()
    check_wikitext(text, site)
    check_wikitext(text * 50, site)


@pytest.mark.parametrize("file", kept("dumps"))
def test_kept_dumps(file, tmp_path):
    kind = file.name.partition(".")[2]
    check_dump(tmp_path / file.name, Dump(kind, file.read_bytes(), is_damaged=not kind.endswith("xml")))


@pytest.mark.parametrize("file", kept("sql"))
def test_kept_tables(file, tmp_path):
    check_table(tmp_path / file.name, Table(file.name, file.read_bytes()))


@given(st.binary(max_size=60))
@settings(max_examples=400, deadline=None)
def test_any_wikitext(data):
    check_wikitext(wikitext_of(data))


@given(st.binary(max_size=25))
@FEW
def test_any_dump(tmp_path, data):
    dump = dump_of(data)
    check_dump(tmp_path / dump.name(), dump)


@given(st.binary(max_size=25))
@FEW
def test_any_table(tmp_path, data):
    table = table_of(data)
    check_table(tmp_path / table.name, table)


@pytest.mark.parametrize(
    ("paragraph", "rule"),
    [
        (Paragraph("a  b"), "no blanks but single ones"),
        (Paragraph("a\tb"), "no blanks but single ones"),
        (Paragraph("a "), "no blanks around a paragraph"),
        (Paragraph("--"), "a paragraph says something, or links to it"),
        (Paragraph("a", (Anchor(0, 2, "B"),)), "anchors within the text"),
        (Paragraph("a", (Anchor(1, 1, "B"),)), "anchors within the text"),
        (Paragraph("a b", (Anchor(0, 2, "B"),)), "no blanks around an anchor"),
        (Paragraph("ab", (Anchor(0, 2, "B"), Anchor(1, 2, "B"))), "anchors in order and apart"),
        (Paragraph("a", (Anchor(0, 1, "b_c"),)), "targets are normalised"),
    ],
)
def test_the_rules_are_broken_by_what_is_wrong(paragraph, rule):
    with pytest.raises(BrokenRuleError) as caught:
        check_paragraph(paragraph, SITE)
    assert kind_of_failure(caught.value) == rule


def test_an_error_of_any_kind_is_told_by_its_place():
    with pytest.raises(ZeroDivisionError) as caught:
        edited(GOOD, (1 // 0 for _ in range(1)), [b"a"])
    assert kind_of_failure(caught.value).startswith("ZeroDivisionError in test_fuzz_corpus.py")


def test_an_input_is_shortened_to_what_fails():
    assert shortened(b"....a.......b..", lambda data: b"a" in data and b"b" in data) == b"ab"


def test_bytes_stand_for_pieces_and_edits():
    assert wikitext_of(bytes([0, 255])) == PIECES[0] + PIECES[255 % len(PIECES)]
    changed = {edited(b"some text", edits_of(bytes([0, 3, way, 1])), [b"x", b"t"]) for way in range(8)}
    assert changed >= {b"som\x01 text", b"sometext"[:3] + b"text", b"somte text", b"som"}


def test_an_archive_is_sealed_as_it_was():
    _, archive, _ = dump_of(bytes([5 + 7 * 20]))
    assert archive.startswith(b"7z")
    assert sealed(archive) == archive
