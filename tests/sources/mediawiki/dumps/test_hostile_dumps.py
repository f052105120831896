from __future__ import annotations

import pytest

from dump_files import export, page, pages_and_errors, read, revision

PIECES = {
    "pages that never end": b"<page>",
    "heads only": b"<page><title>",
    "ends only": b"</page>",
    "revisions that never end": b"<revision>",
    "ends of revisions only": b"</revision>",
    "tags that begin alike": b"<pag",
    "empty pages": b"<page></page>",
    "references": b"&amp;",
    "titles": b"<title>",
    "spaces": b" ",
}


@pytest.mark.parametrize("kind", PIECES)
@pytest.mark.parametrize("around", ["{}", "<page><title>A</title><id>1</id>{}</page>", "<page><revision>{}</page>"])
def test_nonsense_is_read_in_a_time_that_grows_with_its_length_only(write, kind, around):
    """Were it with the square of the length, none of these would end while somebody waits."""
    nonsense = around.encode().replace(b"{}", PIECES[kind] * (60_000 // len(PIECES[kind])))
    data = export(page("Hill", 1, revision("x"))).replace(b"</mediawiki>", nonsense + b"</mediawiki>")
    pages, _ = pages_and_errors(read(write("a.xml", data)))
    assert pages[0].title == "Hill"


@pytest.mark.parametrize("attribute", ["a" * 500_000, "a " * 250_000, "a=" * 250_000])
def test_a_header_of_nonsense(write, attribute):
    assert read(write("a.xml", f"<mediawiki {attribute}></mediawiki>")) == []


def test_entities_are_not_expanded(write):
    bomb = b'<!DOCTYPE mediawiki [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>\n'
    data = bomb + export(page("Hill", 1, revision("x"))).replace(b">x<", b">&b;<")
    pages, errors = pages_and_errors(read(write("a.xml", data)))
    assert pages == []
    assert "undefined entity" in str(errors[0])
