from __future__ import annotations

import bz2
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.errors import SourceError
from entlink.sources import Anchor, Page, Paragraph, open_source
from entlink.sources.wikiextractor import clean_line

DOC = """<doc id="12" url="https://en.wikipedia.org/wiki?curid=12" title="Oslo">
Oslo

Oslo is the capital of <a href="Norway">Norway</a> &amp; its largest city.

History.
It was founded in 1040.

</doc>
"""
URL = "https://en.wikipedia.org/wiki?curid=12"
FIRST = "Oslo is the capital of Norway & its largest city."
PAGE = Page(
    Entity("12", "Oslo", FIRST, external={"url": URL}),
    (
        Paragraph(FIRST, (Anchor(23, 29, "Norway"),)),
        Paragraph("History."),
        Paragraph("It was founded in 1040."),
    ),
)


def doc(id: object = 1, title: str = "T", text: str = "text") -> str:
    return f'<doc id="{id}" url="u" title="{title}">\n{title}\n\n{text}\n</doc>\n'


def test_element(write):
    source = open_source(write("wiki_00", DOC))
    assert source.format == "wikiextractor"
    assert list(source) == [PAGE]


def test_json_lines(write):
    text = DOC.partition("\n")[2].removesuffix("</doc>\n")
    row = {"id": "12", "revid": "5", "url": URL, "title": "Oslo", "text": text}
    source = open_source(write("wiki_00", json.dumps(row) + "\n"))
    assert source.format == "wikiextractor"
    assert list(source) == [PAGE]


def test_windows_line_ends_and_byte_order_mark(write):
    content = b"\xef\xbb\xbf" + DOC.replace("\n", "\r\n").encode()
    assert list(open_source(write("wiki_00", content))) == [PAGE]


def test_folder_is_read_in_order(write, tmp_path):
    write("out/AB/wiki_00", doc(4))
    write("out/AA/wiki_01.bz2", bz2.compress((doc(2) + doc(3)).encode()))
    write("out/AA/wiki_00", json.dumps({"id": 1, "title": "T", "text": "x"}))
    write("out/.hidden", "not read")
    write("out/log.txt", "not read")
    source = open_source(tmp_path / "out")
    assert [page.entity.id for page in source] == ["1", "2", "3", "4"]
    assert source.position() == source.size
    assert source.size == sum(file.stat().st_size for file in (tmp_path / "out").rglob("wiki_*"))


def test_folder_of_other_names_when_the_format_is_named(write, tmp_path):
    write("out/part-1", doc(1))
    assert [page.entity.id for page in open_source(tmp_path / "out", format="wikiextractor")] == ["1"]


def test_empty_document_has_no_paragraphs(write):
    (page,) = open_source(write("wiki_00", '<doc id="1" url="u" title="T">\nT\n\n</doc>\n'))
    assert page == Page(Entity("1", "T", external={"url": "u"}))


@pytest.mark.parametrize(
    ("tag", "title"),
    [
        ('<doc id="1" url="u" title="The "Quoted" One">', 'The "Quoted" One'),
        ('<doc id="1" revid="7" url="u" title="R&amp;B">', "R&B"),
        ('<doc title="Ends in a "quote"" id="1" url="u">', 'Ends in a "quote"'),
        ('<doc id="1" url="u" title="a > b">', "a > b"),
    ],
)
def test_attributes(write, tag, title):
    (page,) = open_source(write("wiki_00", f"{tag}\n</doc>\n"))
    assert (page.entity.id, page.entity.title, page.entity.external) == ("1", title, {"url": "u"})


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("New%20York_City", "New York City"),
        ("norway", "Norway"),
        ("%C3%89tat", "État"),
        ("%C3%A9tat", "État"),
        ("Norway%23History", "Norway"),
        ("AT%26T", "AT&T"),
        ("%3ACategory%3AX", "Category:X"),
        ("http%3A//example.org", None),
        ("https://example.org/a", None),
        ("%23History", None),
    ],
)
def test_link_targets(href, target):
    links = (Anchor(2, 6, target),) if target else ()
    assert clean_line(f'a <a href="{href}">link</a> b') == Paragraph("a link b", links)


def test_link_without_text_is_none():
    assert clean_line('a<a href="X"></a>b') == Paragraph("ab")


WORDS = st.text("xyzé<>&; \"'日", max_size=8)
PIECES = st.lists(st.tuples(WORDS, st.none() | st.text("ABCé日&%\"'", min_size=1, max_size=5)), max_size=8)


@given(PIECES, st.booleans())
def test_links_stand_where_their_text_is(pieces, escaped_whole):
    line, text, links = "|", "|", []
    for words, target in pieces:
        if target is None:
            line += words if escaped_whole else html.escape(words, quote=False)
        else:
            inner = words if escaped_whole else html.escape(words, quote=False)
            line += f'<a href="{quote(target)}">{inner}</a>'
            if words:
                first = target[0].upper() + target[1:]
                links.append(Anchor(len(text), len(text) + len(words), first))
        text += words
    line, text = line + "|", text + "|"
    paragraph = clean_line(html.escape(line, quote=False) if escaped_whole else line)
    assert paragraph == Paragraph(text, tuple(links))


BAD = {
    "no id": (doc(id=""), "line 7: field 'id' is empty"),
    "no title": (doc(title=""), "line 7: field 'title' is empty"),
    "no end": (
        '<doc id="1" url="u" title="T">\nT\n',
        "line 7: the <doc> that begins here, 'T', has no </doc>",
    ),
    "NUL": (doc(text="a\x00b"), "line 7: field 'text' holds a NUL"),
    "text outside": ("stray\n", "line 7: the line stands outside of any <doc>"),
}


@pytest.mark.parametrize(("bad", "problem"), BAD.values(), ids=BAD.keys())
def test_bad_element_is_named_or_skipped(write, bad, problem):
    path = write("wiki_00", doc("first", text="a\nb") + bad + doc("last"))
    with pytest.raises(SourceError) as caught:
        list(open_source(path))
    assert f"{path}, {problem}" in str(caught.value)
    source = open_source(path, on_error="skip")
    assert [page.entity.id for page in source] == ["first", "last"]
    assert source.skipped == 1


def test_last_element_cut_off(write):
    source = open_source(write("wiki_00", doc("first") + doc("last").removesuffix("</doc>\n")), on_error="skip")
    assert [page.entity.id for page in source] == ["first"]
    assert "has no </doc>" in source.problems[0]


def test_bytes_that_are_not_utf8_leave_out_the_document(write):
    path = write("wiki_00", doc("bad", text="caf\xe9!").encode("latin-1") + doc("good").encode())
    source = open_source(path, on_error="skip")
    assert [page.entity.id for page in source] == ["good"]
    assert source.skipped == 1
    assert f"{path}, line 4: byte 3 of the line, 0xe9, is not valid UTF-8" in source.problems[0]


def test_bad_json_line(write):
    path = write("wiki_00", '{"id": 1, "title": "", "text": "x"}\n{"id": 2, "title": "T", "text": "x"}\n{"id')
    source = open_source(path, on_error="skip")
    assert [page.entity.id for page in source] == ["2"]
    assert ["line 1: field 'title' is empty" in source.problems[0], "line 3" in source.problems[1]] == [
        True,
        True,
    ]
