"""Files of plain, Markdown and HTML text as documents, linked as seen and mapped back."""

from __future__ import annotations

import io

import msgspec
import pytest

from entlink.documents import Document, GoldLink, Link, Mention, Span, Turn
from entlink.errors import InputError, SourceError
from entlink.formats.documents.lines import decode_document, encode_document, read_text, restore, visible
from entlink.formats.markup.reading import read_markup


def test_a_file_is_one_document_with_its_text_as_it_is(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes("\ufeff**Ann**\r\n".encode())
    document = read_text(path)
    assert document == Document(str(path), "**Ann**\r\n", meta={"markup": "markdown"})
    assert read_text(str(path), "plain") == Document(str(path), "**Ann**\r\n")


def test_an_open_file_needs_no_name():
    assert read_text(io.BytesIO("é".encode()), "plain") == Document("text", "é")


def test_invalid_utf8_names_the_byte(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("é".encode() + b"ab\xe9 c")
    with pytest.raises(SourceError) as caught:
        read_text(path)
    assert str(caught.value).startswith(f"{path}, byte 4: 0xe9 is not valid UTF-8")


def test_a_cut_off_archive_is_named(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
    with pytest.raises(SourceError, match="cut off"):
        read_text(path)


def linked(document, *names):
    found = [Mention(Span(at, at + len(name)), name) for name in names for at in [document.text.index(name)]]
    return msgspec.structs.replace(
        document,
        mentions=tuple(found),
        gold=tuple(GoldLink(mention.span, ("Q1",)) for mention in found),
        links=tuple(Link(mention, "Q1", 0.5) for mention in found),
    )


@pytest.mark.parametrize(
    ("text", "markup", "names", "originals"),
    [
        ("in New York", "plain", ["New York"], ["New York"]),
        ("in **New\nYork** &amp; `x`", "markdown", ["New York", "&"], ["New\nYork", "&amp;"]),
        ("<p>in New <b>Y&#111;rk</b>!", "html", ["New York"], ["New <b>Y&#111;rk"]),
    ],
)
def test_links_of_what_is_seen_are_restored(text, markup, names, originals):
    seen, aligned = visible(Document("d", text, "en"), markup)
    restored = restore(linked(seen, *names), text, aligned)
    assert (restored.text, restored.language) == (text, "en")
    assert [link.mention.text for link in restored.links] == names
    for records in (restored.mentions, restored.gold, [link.mention for link in restored.links]):
        assert [text[record.span.start : record.span.end] for record in records] == originals
    assert decode_document(encode_document(restored)) == restored


def test_meta_tells_the_markup_of_a_document():
    seen, _ = visible(Document("d", "<b>x</b>", meta={"markup": "html"}))
    assert seen.text == "x"
    assert visible(Document("d", "<b>x</b>"))[0].text == "<b>x</b>"


def test_an_unknown_markup_is_refused():
    with pytest.raises(InputError, match="Choose plain, markdown or html"):
        visible(Document("d", "x", meta={"markup": "rtf"}))


def test_offsets_into_markup_are_refused():
    with pytest.raises(InputError, match="Take the markup out first"):
        visible(Document("d", "<b>x</b>", mentions=(Mention(Span(3, 4), "x"),)), "html")
    conversation = Document.of_turns("c", [Turn("<b>x</b>")])
    with pytest.raises(InputError, match="turns"):
        visible(conversation, "html")
    assert visible(conversation, "plain")[0] is conversation


def test_only_the_aligned_document_can_be_restored():
    with pytest.raises(InputError, match="not the one that was aligned"):
        restore(Document("d", "y"), "<b>x</b>", read_markup("<b>x</b>", "html"))
