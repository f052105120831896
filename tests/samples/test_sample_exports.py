"""The exports of the sample wikis are well-formed: in the order of the schema, counted right, without dead ends."""

from __future__ import annotations

import importlib
import re
import sys
from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sample_exports import (
    EXPORTS,
    NAMESPACE,
    SAMPLES,
    TABLES,
    WIKI,
    article_links,
    links,
    pages,
    root,
    table_rows,
)

sys.path.insert(0, str(SAMPLES))
stamp_export = importlib.import_module("stamp_export")

# What may stand in an element, in this order, as export-0.11.xsd has it.
CHILDREN = {
    "mediawiki": r"siteinfo(,page)+",
    "siteinfo": r"sitename,dbname,base,generator,case,namespaces",
    "namespaces": r"namespace(,namespace)+",
    "page": r"title,ns,id(,redirect)?(,revision)+",
    "revision": r"id(,parentid)?,timestamp,contributor(,minor)?(,comment)?,origin,model,format,text,sha1",
    "contributor": r"username,id",
}
LANGUAGES = list(EXPORTS)
OTHER = {"en": "zh", "zh": "en"}


@pytest.fixture(scope="module")
def wikis():
    return {language: pages(language) for language in LANGUAGES}


@pytest.fixture(scope="module")
def every_page(wikis):
    return [page for wiki in wikis.values() for page in wiki]


def titles(wiki):
    return {page.title: page for page in wiki}


def name(element):
    return element.tag.removeprefix(NAMESPACE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_elements_come_in_the_order_of_the_schema(language):
    for element in root(language).iter():
        found = ",".join(name(child) for child in element)
        assert re.fullmatch(CHILDREN.get(name(element), ""), found), f"<{name(element)}> holds {found}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_export_says_what_it_is(language):
    export = root(language)
    assert export.attrib["version"] == "0.11"
    assert export.attrib["{http://www.w3.org/XML/1998/namespace}lang"] == language
    assert export.findtext(f"{NAMESPACE}siteinfo/{NAMESPACE}case") == "first-letter"


@pytest.mark.parametrize("language", LANGUAGES)
def test_exports_are_small_enough_to_be_read_by_people(language):
    assert EXPORTS[language].stat().st_size < 400_000
    assert max(len(line) for line in EXPORTS[language].read_text(encoding="utf-8").splitlines()) < 1000


def test_nothing_else_is_in_the_folder():
    assert set(WIKI.iterdir()) == {*EXPORTS.values(), *TABLES.values()}


def test_titles_and_ids_are_used_once(every_page):
    revisions = [revision.id for page in every_page for revision in page.revisions]
    for used in ([page.title for page in every_page], [page.id for page in every_page], revisions):
        assert len(used) == len(set(used))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_title_begins_with_its_namespace_and_a_capital(language, wikis):
    spaces = {int(one.attrib["key"]): one.text for one in root(language).iter(f"{NAMESPACE}namespace")}
    prefixes = {f"{text}:": key for key, text in spaces.items() if text}
    for page in wikis[language]:
        prefix = re.match(r"[^:]+:", page.title)
        assert prefixes.get(prefix[0] if prefix else "", 0) == page.namespace, page.title
        assert not page.title[0].islower()


def test_pages_of_several_namespaces_are_there_to_be_left_out(wikis):
    assert {page.namespace for page in wikis["en"]} >= {0, 1, 2, 6, 8, 10, 14}
    assert {page.namespace for page in wikis["zh"]} >= {0, 1, 10, 14}


def test_revisions_follow_one_another(every_page):
    for page in every_page:
        first, *_ = page.revisions
        assert first.parent is None
        for one, other in pairwise(page.revisions):
            assert other.parent == one.id, page.title
            assert datetime.fromisoformat(one.time) < datetime.fromisoformat(other.time), page.title


@pytest.mark.parametrize("language", LANGUAGES)
def test_byte_counts_and_checksums_are_right(language, wikis):
    for page in wikis[language]:
        for revision in page.revisions:
            assert revision.bytes == len(revision.text.encode()), page.title
    export = EXPORTS[language].read_text(encoding="utf-8")
    assert stamp_export.stamped(export) == export, "run: python samples/stamp_export.py samples/wiki/*.xml"


def test_an_edited_text_is_stamped_anew(tmp_path, capsys):
    path = tmp_path / "wiki.xml"
    path.write_text(
        '<text bytes="1" sha1="x" xml:space="preserve">5 &lt; 6 €</text>\n  <sha1>x</sha1>\n', encoding="utf-8"
    )
    assert stamp_export.main([str(path)]) == 0
    right = stamp_export.checksum("5 < 6 €")
    assert path.read_text(encoding="utf-8") == (
        f'<text bytes="9" sha1="{right}" xml:space="preserve">5 &lt; 6 €</text>\n  <sha1>{right}</sha1>\n'
    )
    assert stamp_export.main([str(path)]) == 0
    assert [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()] == ["stamped anew", "all right"]


def test_the_checksum_of_nothing_is_the_one_mediawiki_gives():
    assert stamp_export.checksum("") == "phoiac9h4m842xq45sp7s6u21eteeq1"


@given(st.text())
def test_a_checksum_has_31_digits_and_depends_on_the_text(text):
    assert re.fullmatch(r"[0-9a-z]{31}", stamp_export.checksum(text))
    assert stamp_export.checksum(text) != stamp_export.checksum(text + ".")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_link_leads_to_a_page(language, wikis):
    known = titles(wikis[language])
    for page in wikis[language]:
        for revision in page.revisions:
            for target, surface in article_links(revision.text):
                assert target in known, f"{page.title} links to {target}"
                assert surface.strip() == surface != ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_article_links_to_itself(language, wikis):
    known = titles(wikis[language])
    for page in wikis[language]:
        if page.is_article:
            for target, _ in article_links(page.text):
                assert (known[target].redirect or target) != page.title


@pytest.mark.parametrize("language", LANGUAGES)
def test_redirects_lead_where_their_text_says(language, wikis):
    known = titles(wikis[language])
    redirects = [page for page in wikis[language] if page.redirect]
    assert len(redirects) >= 25
    for page in redirects:
        assert re.match(r"#(REDIRECT|重定向) \[\[(.+?)\]\]", page.text)[2] == page.redirect
        assert known[page.redirect].redirect is None, f"{page.title} redirects twice"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_disambiguation_page_lists_several_articles(language, wikis):
    known = titles(wikis[language])
    found = [page for page in wikis[language] if page.is_disambiguation]
    assert len(found) >= 5
    for page in found:
        assert len(page.meanings) == len(set(page.meanings)) >= 2, page.title
        assert all(known[target].is_article for target in page.meanings), page.title


@pytest.mark.parametrize("language", LANGUAGES)
def test_articles_in_two_languages_name_each_other(language, wikis):
    there = titles(wikis[OTHER[language]])
    pairs = 0
    for page in wikis[language]:
        for target in re.findall(rf"\[\[{OTHER[language]}:([^\[\]]+)\]\]", page.text):
            assert f"[[{language}:{page.title}]]" in there[target].text
            pairs += 1
    assert pairs >= 10


def test_a_move_leaves_a_redirect_of_the_same_moment(wikis):
    known, moves = titles(wikis["en"]), 0
    for page in wikis["en"]:
        if not page.is_article:
            continue
        for before, revision in pairwise(page.revisions):
            if told := re.fullmatch(r"\w+ moved page \[\[(.+)\]\] to \[\[(.+)\]\]: .+", revision.comment):
                left = known[told[1]]
                assert (told[2], left.redirect) == (page.title, page.title)
                assert left.revisions[0].time == revision.time
                assert before.text == revision.text
                moves += 1
    assert moves >= 6


def test_the_wikis_show_what_wikitext_can_do(wikis):
    text = "\n".join(page.text for page in wikis["en"] if page.is_article)
    for construct in ("'''", "{{Infobox", "{{convert|", "<ref", "\n== ", "\n{|", "\n* ", "[https://", "&nbsp;", "''"):
        assert construct in text
    assert any("<!--" in page.revisions[-1].text for page in wikis["en"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_are_pictures_and_all_are_used(language, wikis):
    used = {file for page in wikis[language] for file in re.findall(r"\[\[File:([^|\]]+)\|thumb\|", page.text)}
    pictures = {path.name for path in (SAMPLES / "pictures").iterdir()}
    assert used == pictures if language == "en" else used < pictures


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_tells_of_pages_of_the_export(language, wikis):
    known = {page.id: page for page in wikis[language]}
    rows = table_rows(language)
    assert len(rows) == TABLES[language].read_text(encoding="utf-8").count(",NULL)") >= 10
    for id, property, value in rows:
        match property:
            case "wikibase_item":
                assert known[id].is_article and re.fullmatch(r"Q[1-9]\d*", value)
            case "page_image_free":
                assert f"[[File:{value}|" in known[id].text
            case _:
                assert (property, value) == ("disambiguation", "") and known[id].is_disambiguation
    disambiguations = {page.id for page in wikis[language] if page.is_disambiguation}
    assert {id for id, property, _ in rows if property == "disambiguation"} == disambiguations


def test_a_wikidata_id_belongs_to_one_page():
    items = [value for language in LANGUAGES for _, property, value in table_rows(language) if value[:1] == "Q"]
    assert len(items) == len(set(items)) >= 80


def test_links_of_a_text_are_found():
    assert links("A [[planet]]s, [[Mars (planet)|Mars]] [[Category:Planets]]") == [
        ("Planet", "planets"),
        ("Mars (planet)", "Mars"),
        ("Category:Planets", "Category:Planets"),
    ]
