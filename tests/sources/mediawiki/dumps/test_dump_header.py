from __future__ import annotations

import pytest

from dump_files import PACK, export, page, revision
from entlink.sources.mediawiki.dumps import read_site
from entlink.sources.wikitext.site import Site


@pytest.mark.parametrize("kind", PACK)
def test_the_wiki_of_a_dump(write, kind):
    site = read_site(write(f"a.{kind}", PACK[kind](export(page("Hill", 1, revision("x"))))))
    assert site == Site("hillswiki", "en", {0: "", 1: "Talk"}, capital_links=True)


def test_without_siteinfo_the_language_is_known(write):
    data = export(page("Hill", 1, revision("x")), siteinfo="").replace(b'xml:lang="en"', b"xml:lang='de-CH'")
    assert read_site(write("a.xml", data)) == Site(language="de-CH")


def test_nothing_is_known_of_a_bare_page(write):
    assert read_site(write("a.xml", page("Hill", 1, revision("x")))) == Site()


def test_of_exports_one_after_another_the_first_counts(write):
    other = export().replace(b"hillswiki", b"daleswiki")
    assert read_site(write("a.xml", export() + other)).name == "hillswiki"


@pytest.mark.parametrize(
    ("case", "own", "capital"),
    [
        ("first-letter", "", True),
        ("case-sensitive", "", False),
        ("first-letter", ' case="case-sensitive"', False),
        ("case-sensitive", ' case="first-letter"', True),
        ("", "", True),
    ],
)
def test_the_rule_for_first_letters_is_that_of_articles(write, case, own, capital):
    info = (
        f'<siteinfo><case>{case}</case><namespaces><namespace key="-2" case="first-letter">M</namespace>'
        f'<namespace key="0"{own} /><namespace key="odd">?</namespace></namespaces></siteinfo>'
    )
    site = read_site(write("a.xml", export(siteinfo=info)))
    assert site.capital_links is capital
    assert site.namespaces == {-2: "M", 0: ""}


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("http://en.wikipedia.org/wiki/Main_Page", "enwiki"),
        ("https://zh-yue.wikipedia.org/wiki/X", "zh_yuewiki"),
        ("https://de.wiktionary.org/wiki/X", "dewiktionary"),
        ("https://hills.example.org/wiki/X", ""),
        ("https://wikipedia.org/", ""),
        ("nonsense", ""),
    ],
)
def test_the_name_by_the_address_where_none_is_given(write, base, name):
    info = f"<siteinfo><base>{base}</base></siteinfo>"
    assert read_site(write("a.xml", export(siteinfo=info, version="0.5"))).name == name


def test_a_header_that_is_cut_off_still_tells_the_language(write):
    data = export()
    assert read_site(write("a.xml", data[: data.index(b"</siteinfo>")])) == Site(language="en")
