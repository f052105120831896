from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dump_files import export, noise, page, pages_and_errors, read, revision
from entlink.errors import FieldError
from entlink.sources.mediawiki.dumps import Move, RawPage
from entlink.sources.mediawiki.dumps.page_xml import parsed_fields
from entlink.sources.mediawiki.dumps.usual_page import usual_fields

HILL = page("Hill", 1, revision("High."))


def only(write, data: bytes) -> RawPage:
    (item,) = read(write("a.xml", data))
    assert isinstance(item, RawPage), str(item)
    return item


def problem(write, data: bytes) -> str:
    (item,) = read(write("a.xml", data))
    return str(item)


def test_all_fields(write):
    data = export(page("Talk:Hill & Dale", 7, revision("a < b &amp; <b>", model="css"), namespace=1))
    assert only(write, data) == RawPage(
        "Talk:Hill & Dale",
        1,
        7,
        "a < b &amp; <b>",
        model="css",
        position=data.index(b"<page>"),
        revision="5",
        revised="2020-01-01T00:00:00Z",
    )


@pytest.mark.parametrize("version", ["0.3", "0.4", "0.5"])
def test_exports_without_namespaces(write, version):
    data = export(page("Talk:Hill", 1, revision("x")), version=version).replace(b"    <ns>0</ns>\n", b"")
    assert only(write, data).namespace == 1
    assert read(write("a.xml", data), wanted={0}) == []
    assert [item.title for item in read(write("a.xml", data), wanted={1})] == ["Talk:Hill"]


@pytest.mark.parametrize(
    ("mark", "text", "target"),
    [
        ('<redirect title="Hill top" />', "#REDIRECT [[Elsewhere]]", "Hill top"),
        ('<redirect title="Hill &amp; Dale#Top"/>', "x", "Hill & Dale"),
        ("<redirect />", "#REDIRECT [[Hill_top#High|there]]", "Hill top"),
        ("", "#WEITERLEITUNG [[Hügel]]", "Hügel"),
        ("", "# a list\n#REDIRECT [[Hill]]", None),
        ("", "See #REDIRECT [[Hill]]", None),
    ],
)
def test_redirects(write, mark, text, target):
    data = export(page("Mound", 1, revision(text))).replace(b"<id>1</id>", f"<id>1</id>{mark}".encode())
    assert only(write, data).redirect == target


@pytest.mark.parametrize(
    ("element", "text"),
    [
        ('<text deleted="deleted" />', ""),
        ('<text xml:space="preserve" />', ""),
        ("<text/>", ""),
        ("<text></text>", ""),
        ('<text bytes="0" sha1="abc" />', ""),
        ('<text bytes="3" id="9">abc</text>', "abc"),
        ("<text><![CDATA[a < b]]></text>", "a < b"),
        ("<text>a<!-- not this -->b</text>", "ab"),
        ("<text>&#233;&#x2013;&apos;&#13;</text>", "é–'\r"),
        ("<text>\n a \n</text>", "\n a \n"),
        (
            "<content><role>aux</role><text>no</text></content>"
            "<content><role>main</role><model>json</model><text>{}</text></content>",
            "{}",
        ),
        ("<text>main</text><content><role>mediainfo</role><text>no</text></content>", "main"),
    ],
)
def test_forms_of_texts(write, element, text):
    data = re.sub(rb"<text.*?</text>", element.encode(), export(HILL))
    assert only(write, data).text == text


@pytest.mark.parametrize(
    "element", ['<text id="12" bytes="69" />', '<text id="12"/>', '<text bytes="5" location="tt:1"/>']
)
def test_stubs(write, element):
    data = re.sub(rb"<text.*?</text>", element.encode(), export(HILL))
    assert "the dump holds no texts" in problem(write, data)
    assert "pages-articles" in problem(write, data)


def test_what_else_may_stand_in_a_page(write):
    data = export(HILL).replace(
        b"    <revision>",
        b"<restrictions>edit=sysop</restrictions><discussionthreadinginfo><ThreadID>3</ThreadID>"
        b"<title>no</title></discussionthreadinginfo><revision>",
    )
    upload = b"</revision><upload><timestamp>2001-01-01T00:00:00Z</timestamp><text>no</text></upload>"
    who = b"<contributor><username>A</username><id>99</id></contributor><minor /><text"
    found = only(write, data.replace(b"</revision>", upload).replace(b"<text", who, 1))
    assert (found.title, found.id, found.text) == ("Hill", 1, "High.")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<title>Hill</title>", "<title></title>", "the page at byte"),
        ("<title>Hill</title>", "<title></title>", "it has no title"),
        ("<title>Hill</title>", "", "it has no title"),
        ("<title>Hill</title>", "<title>Hi\nll</title>", "control character U+000A"),
        ("<title>Hill</title>", "<title>Hi\x85ll</title>", "control character U+0085"),
        ("<id>1</id>", "", "page 'Hill' at byte"),
        ("<id>1</id>", "", "it has no id"),
        ("<id>1</id>", "<id>one</id>", "its id 'one' is no number"),
        ("<id>1</id>", f"<id>{'9' * 30}</id>", "is no number"),
        ("High.", "High\x01.", "its XML is broken at its byte"),
        ("High.", "High &nbsp; up", "undefined entity"),
        ("High.", "High & up", "its XML is broken"),
        ("High.", "]]>", "its XML is broken"),
        ("High.", "\uffff", "its XML is broken"),
        ("High.", "</text", "its XML is broken"),
        ("</revision>", "", "its XML is broken"),
        ("<revision>", "", "its XML is broken"),
        ("High.", '<!DOCTYPE x [<!ENTITY a "b">]>', "its XML is broken"),
    ],
)
def test_pages_that_cannot_be_read(write, old, new, told):
    bad = HILL.replace(old, new)
    assert bad != HILL
    pages, errors = pages_and_errors(read(write("a.xml", export(bad, page("Dale", 2, revision("Low."))))))
    assert [item.title for item in pages] == ["Dale"]
    assert len(errors) == 1
    assert told in str(errors[0])


def test_bytes_that_are_no_utf8(write):
    data = export(HILL, page("Dale", 2, revision("Low."))).replace(b"High.", b"High\xff.")
    pages, errors = pages_and_errors(read(write("a.xml", data)))
    assert [item.title for item in pages] == ["Dale"]
    assert "page 'Hill'" in errors[0].position
    assert "0xff, is not valid UTF-8" in errors[0].problem


def test_a_page_without_revisions(write):
    assert "no revision with a text" in problem(write, export(page("Hill", 1)))


WHO = {"contributor": "A"}


@pytest.mark.parametrize(
    ("version", "fields", "created"),
    [
        ("0.11", WHO, "2020-01-01T00:00:00Z"),
        ("0.7", WHO, "2020-01-01T00:00:00Z"),
        ("0.10", {"parentid": "0", **WHO}, "2020-01-01T00:00:00Z"),
        ("0.10", {"parentid": "4", **WHO}, None),
        ("0.11", {}, None),
        ("0.6", WHO, None),
        ("0.3", WHO, None),
    ],
)
def test_when_a_page_of_one_revision_was_created(write, version, fields, created):
    assert only(write, export(page("Hill", 1, revision("x", **fields)), version=version)).created == created


def test_a_history_is_read_whatever_its_order(write):
    times = ["2021-05-01T00:00:00Z", "2019-05-01T00:00:00Z", "2023-05-01T00:00:00Z", "2020-05-01T00:00:00Z"]
    several = [revision(f"of {time}", time, comment="moved [[A]] to [[B]]") for time in times]
    found = only(write, export(page("Hill", 1, *several), version="0.3"))
    assert found.text == "of 2023-05-01T00:00:00Z"
    assert found.created == "2019-05-01T00:00:00Z"
    assert [move.time for move in found.moves] == sorted(times)


def test_of_revisions_at_one_time_the_last_counts(write):
    assert only(write, export(page("Hill", 1, revision("a"), revision("b")))).text == "b"


def test_a_history_without_its_beginning_does_not_tell_when_the_page_was_created(write):
    several = [revision("a", parentid="4"), revision("b", "2021-01-01T00:00:00Z", parentid="5")]
    assert only(write, export(page("Hill", 1, *several))).created is None


def test_moves_of_a_history(write):
    several = [
        revision("a", "2020-01-01T00:00:00Z", comment="begun, see [[X]] and [[Y]]"),
        revision("b", "2020-01-03T00:00:00Z", comment='moved page [[Hill & "Dale"]] to [[Hill]]: shorter'),
        revision("b", "2020-01-03T00:00:00Z", comment='moved page [[Hill & "Dale"]] to [[Hill]]: shorter'),
        revision("c", "2020-01-02T00:00:00Z", comment='moved [[Dale]] to [[Hill & "Dale"]]'),
    ]
    assert only(write, export(page("Hill", 1, *several))).moves == (
        Move("2020-01-02T00:00:00Z", "Dale", 'Hill & "Dale"'),
        Move("2020-01-03T00:00:00Z", 'Hill & "Dale"', "Hill"),
    )


def test_a_long_history_takes_no_more_than_a_revision(write):
    several = [revision(noise(30_000, n), f"2020-01-{n + 1:02}T00:00:00Z") for n in range(25)]
    data = export(page("Hill", 1, *several), page("Dale", 2, revision("Low.")))
    pages, errors = pages_and_errors(read(write("a.xml", data), max_page=60_000))
    assert errors == []
    assert [item.title for item in pages] == ["Hill", "Dale"]
    assert pages[0].text == noise(30_000, 24)


MARKUP = st.lists(
    st.sampled_from(
        ["&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#9;", "&", "<", ">", "]]>", "é", "漢", "a", " ", "\n"]
    )
    | st.sampled_from(
        ["\r", "\t", "\x01", "\uffff", "<!--x-->", "<![CDATA[<]]>", "<b/>", "</text>", "&nbsp;", "amp;"]
    ),
    max_size=6,
).map("".join)


@given(title=MARKUP, comment=MARKUP, text=MARKUP, model=MARKUP, redirect=MARKUP)
def test_the_fast_way_reads_what_the_parser_reads(title, comment, text, model, redirect):
    data = (
        f'<page>\n<title>{title}</title><ns>0</ns><id>1</id><redirect title="{redirect}" />\n<revision><id>2</id>'
        f"<timestamp>2020-01-01T00:00:00Z</timestamp><contributor><ip>::1</ip></contributor><comment>{comment}</comment>"
        f'<model>{model}</model><text bytes="3" xml:space="preserve">{text}</text><sha1>x</sha1></revision></page>'
    ).encode()
    fast = usual_fields(data)
    try:
        assert fast in (None, parsed_fields(data))
    except FieldError:
        assert fast is None


def test_the_fast_way_is_taken_for_usual_pages():
    for fields in ({}, {"comment": "a < b", "model": "wikitext"}, {"comment": "é", "origin": "5", "model": "css"}):
        data = page("Hill & Dale", 1, revision("High & <b>", **fields)).strip().encode()
        assert usual_fields(data) == parsed_fields(data)
