from __future__ import annotations

import pytest

from dump_files import export, page, pages_and_errors, read, revision

NONSENSE = {
    "pages that never end": ("{}", b"<page>"),
    "ends of pages only": ("{}", b"</page>"),
    "tags that begin alike": ("{}", b"<pag"),
    "revisions that never end": ("<page><title>A</title><id>1</id>{}</page>", b"<revision>"),
    "titles in a page": ("<page><title>A</title><id>1</id>{}</page>", b"<title>"),
    "references in a revision": ("<page><revision>{}</page>", b"&amp;"),
}


@pytest.mark.parametrize(("around", "piece"), NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_read_in_a_time_that_grows_with_its_length_only(write, around, piece):
    """Were it with the square of the length, none of these would end while somebody waits."""
    nonsense = around.encode().replace(b"{}", piece * (60_000 // len(piece)))
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
