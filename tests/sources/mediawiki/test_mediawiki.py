from __future__ import annotations

import bz2
import gzip
import lzma
import pickle

import pytest

from entlink.errors import ConfigError, InputError, SourceError
from entlink.sources import Meanings, Page, Redirect, WikiOptions, open_source
from entlink.sources.mediawiki import export as mediawiki
from wiki_dumps import WikiPage, export, write_dump

PAGES = [
    WikiPage("Mercury (planet)", "'''Mercury''' is a [[planet]] near the [[Sun|star]].\n\n[[Category:Planets]]"),
    WikiPage("Sun", "The '''Sun''' is a star.\n\n[[File:Sun.jpg|thumb|The [[Sun]] at noon]]\n\n[[Category:Stars]]"),
    WikiPage("Planet", "A '''planet''' goes round a [[star]]."),
    WikiPage("Star", redirect="Sun"),
    WikiPage(
        "Mercury",
        "'''Mercury''' may be:\n* [[Mercury (planet)]], near the [[Sun]]\n* [[Quicksilver]]\n{{disambiguation}}",
    ),
    WikiPage("Talk:Sun", "I like the [[Sun]].", ns=1),
    WikiPage("Module", "return {}", model="Scribunto"),
]


@pytest.fixture
def dump(tmp_path):
    return write_dump(tmp_path / "wiki.xml", PAGES)


def titles(source) -> list[str]:
    return [page.entity.title for page in source]


def test_an_article_is_an_entity_with_its_text(dump):
    page = next(iter(open_source(dump)))
    entity = page.entity
    assert (entity.id, entity.title, entity.types) == ("Mercury (planet)", "Mercury (planet)", ("Planets",))
    assert entity.description == "Mercury is a planet near the star."
    assert (entity.language, entity.external) == ("en", {"page": "1"})
    (paragraph,) = page.paragraphs
    assert [(paragraph.text[a.start : a.end], a.target) for a in paragraph.links] == [
        ("planet", "Planet"),
        ("star", "Sun"),
    ]


def test_a_caption_is_kept_apart(dump):
    sun = list(open_source(dump))[1]
    assert sun.entity.images == ("Sun.jpg",)
    assert sun.entity.description == "The Sun is a star."
    (caption,) = (paragraph for paragraph in sun.paragraphs if paragraph.kind == "caption")
    assert (caption.text, caption.image, len(caption.links)) == ("The Sun at noon", "Sun.jpg", 1)


def test_redirects_and_disambiguations_are_no_pages(dump):
    items = list(open_source(dump).items())
    assert [item for item in items if isinstance(item, Redirect)] == [Redirect("Star", "Sun")]
    assert [item for item in items if isinstance(item, Meanings)] == [
        Meanings("Mercury", "Mercury", ("Mercury (planet)", "Quicksilver"))
    ]
    assert sum(isinstance(item, Page) for item in items) == 3


def test_what_is_left_out_is_counted(dump):
    source = open_source(dump)
    assert titles(source) == ["Mercury (planet)", "Sun", "Planet"]
    assert sum(source.left_out.values()) == 2
    assert source.left_out["of the content model Scribunto"] == 1


@pytest.mark.parametrize("namespaces", [("1",), ("Talk",), ("talk",)])
def test_namespaces_by_number_or_name(dump, namespaces):
    assert titles(open_source(dump, wiki=WikiOptions(namespaces))) == ["Talk:Sun"]


def test_several_namespaces(dump):
    assert titles(open_source(dump, wiki=WikiOptions(("0", "1"))))[-1] == "Talk:Sun"


def test_a_namespace_that_the_wiki_lacks(dump):
    with pytest.raises(InputError, match=r"no namespace 'Tlak'.*Talk"):
        list(open_source(dump, wiki=WikiOptions(("Tlak",))))


def test_ids_by_page(dump):
    pages = list(open_source(dump, wiki=WikiOptions(ids="page")))
    assert [page.entity.id for page in pages] == ["1", "2", "3"]


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress, lzma.compress])
def test_packed_dumps_read_the_same(dump, tmp_path, pack):
    suffix = {bz2.compress: "bz2", gzip.compress: "gz", lzma.compress: "xz"}[pack]
    packed = tmp_path / f"packed.xml.{suffix}"
    packed.write_bytes(pack(dump.read_bytes()))
    source = open_source(packed)
    assert source.format == "mediawiki"
    assert list(source.items()) == list(open_source(dump).items())
    assert source.position() == source.size


def test_the_language_can_be_given(dump):
    assert next(iter(open_source(dump, language="simple"))).entity.language == "simple"


def test_parts_can_be_sent_to_another_process(dump):
    parts = [pickle.loads(pickle.dumps(part)) for part in open_source(dump).parts()]
    source = open_source(dump)
    ledger = source._new_reading()
    assert [item for part in parts for item in part.items(ledger)] == list(source.items())


def test_a_title_has_dates_where_the_page_was_moved(tmp_path):
    revisions = [
        ("2001-05-01T00:00:00Z", "new", "'''Swaziland''' is a country."),
        (
            "2018-04-19T12:00:00Z",
            "Ed moved page [[Swaziland]] to [[Eswatini]]: renamed",
            "'''Swaziland''' is a country.",
        ),
        ("2019-01-01T00:00:00Z", "", "'''Eswatini''' is a country."),
    ]
    pages = list(open_source(write_dump(tmp_path / "w.xml", [WikiPage("Eswatini", revisions=revisions)])))
    assert [(page.entity.id, page.entity.title, page.valid_from, page.valid_to) for page in pages] == [
        ("Eswatini", "Eswatini", "2018-04-19T12:00:00Z", None),
        ("Eswatini", "Swaziland", None, "2018-04-19T12:00:00Z"),
    ]
    assert pages[0].entity.created == "2001-05-01T00:00:00Z"
    assert pages[0].entity.description == "Eswatini is a country."


def test_a_page_that_takes_too_long_is_left_out_and_listed(dump, monkeypatch):
    real = mediawiki.parse

    def slow(text, *rest):
        while "'''Sun'''" in text:
            pass
        return real(text, *rest)

    monkeypatch.setattr(mediawiki, "parse", slow)
    source = open_source(dump, wiki=WikiOptions(page_seconds=0.2))
    assert titles(source) == ["Mercury (planet)", "Planet"]
    assert source.skipped == 1
    assert "page 'Sun': it took longer than 0.2 s" in source.problems[0]


def test_a_page_that_takes_too_much_memory_is_left_out_and_listed(dump, monkeypatch):
    real = mediawiki.parse

    def greedy(text, *rest):
        if "'''Sun'''" in text:
            bytearray(300 << 20)
        return real(text, *rest)

    monkeypatch.setattr(mediawiki, "parse", greedy)
    source = open_source(dump, wiki=WikiOptions(page_megabytes=100))
    assert titles(source) == ["Mercury (planet)", "Planet"]
    assert "more than 100 MB" in source.problems[0]
    bytearray(300 << 20)  # and the limit does not outlast the reading


def test_a_bad_page_stops_or_is_skipped(tmp_path):
    path = tmp_path / "w.xml"
    path.write_text(export(PAGES).replace("<title>Sun</title>", "<title>Su\x01n</title>"))
    with pytest.raises(SourceError, match=str(path)):
        list(open_source(path))
    source = open_source(path, on_error="skip")
    assert titles(source) == ["Mercury (planet)", "Planet"]
    assert source.skipped == 1


def test_rules_for_the_wikis_own_templates(tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('[ticket]\ntext = "ticket [[{1}]]"\n')
    dump = write_dump(tmp_path / "w.xml", [WikiPage("A", "See {{ticket|B}}{{unknown|C}}.")])
    (page,) = open_source(dump, wiki=WikiOptions(rules=str(rules)))
    assert page.entity.description == "See ticket B."
    assert page.paragraphs[0].links[0].target == "B"
    rules.write_text("[ticket]\ntext = 4\n")
    with pytest.raises(ConfigError, match="ticket"):
        list(open_source(dump, wiki=WikiOptions(rules=str(rules))))


def test_a_case_sensitive_wiki(tmp_path):
    pages = [WikiPage("apple", "An '''apple''' is no [[Apple]]."), WikiPage("Apple", "A [[apple|company]].")]
    first, second = open_source(write_dump(tmp_path / "w.xml", pages, case="case-sensitive"))
    assert (first.paragraphs[0].links[0].target, second.paragraphs[0].links[0].target) == ("Apple", "apple")


def test_an_old_interlanguage_link_is_an_identifier(tmp_path):
    dump = write_dump(tmp_path / "w.xml", [WikiPage("Cat", "A '''cat''' purrs.\n\n[[fr:Chat]]")])
    (page,) = open_source(dump)
    assert page.entity.external == {"page": "1", "wikipedia:fr": "Chat"}
