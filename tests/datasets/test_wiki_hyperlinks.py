"""A small dump to a corpus: kinds of paragraphs, titles and redirects, and numbers that are no titles."""

from __future__ import annotations

import bz2
from importlib import import_module
from pathlib import Path

import pytest

from corpora import ONE, few, ids
from entlink.datasets.hyperlinks.build import KINDS, build_hyperlinks
from entlink.formats.documents.lines import read_documents
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.sources import WikiOptions
from knowledge_bases import SHARED_DATA

HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Tiny</sitename><dbname>tinywiki</dbname><case>first-letter</case>
    <namespaces><namespace key="0" case="first-letter" /><namespace key="1" case="first-letter">Talk</namespace>
    <namespace key="6" case="first-letter">File</namespace></namespaces>
  </siteinfo>
"""
PAGE = """  <page>
    <title>{title}</title><ns>{namespace}</ns><id>{id}</id>{redirect}
    <revision><id>{id}0</id><timestamp>2024-01-01T00:00:00Z</timestamp><model>wikitext</model>
    <format>text/x-wiki</format><text xml:space="preserve">{text}</text></revision>
  </page>
"""
HARBOUR = """'''Oldport''' is a harbour on the [[river Aven|Aven]], north of [[newport]].

The novel [[1984]] is set in [[Old Newport|the old town]]; see [[Nowhere]].

* [[Newport|the younger]] harbour
* a pier

[[File:Oldport.jpg|thumb|The quay of [[Newport]] in 1984]]
{|
| ships || [[River Aven]]
|}
"""
PAGES = [
    (1984, "Oldport", HARBOUR),
    (2, "Newport", "'''Newport''' has a [[Oldport|rival]]."),
    (3, "River Aven", "The [[river Aven]] reaches the sea at [[Oldport]] and [[Newport]]."),
    (4, "Old Newport", "#REDIRECT [[Newport]]"),
]


def dump(pages: list[tuple[int, str, str]], **talk: str) -> str:
    written = [(0, *page) for page in pages] + [(1, 100, title, text) for title, text in talk.items()]
    body = ""
    for namespace, id, title, text in written:
        redirect = f'<redirect title="{text[12:-2]}" />' if text.startswith("#REDIRECT") else ""
        body += PAGE.format(id=id, title=title, namespace=namespace, redirect=redirect, text=text)
    return f"{HEADER}{body}</mediawiki>\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("tiny") / "tinywiki.xml.bz2"
    path.write_bytes(bz2.compress(dump(PAGES, **{"Talk:Oldport": "Say [[Newport]]."}).encode()))
    return path


@pytest.fixture(scope="module", params=["title", "page"])
def kb(request, tiny) -> Path:
    folder = tiny.with_name(f"{request.param}.kb")
    build(tiny, folder, BuildOptions(processes=1, wiki=WikiOptions(ids=request.param)))
    return folder


def gold(path: Path) -> dict[str, list[tuple[str, str | None]]]:
    """What is linked to what, by document."""
    return {
        document.id: [
            (document.text[link.span.start : link.span.end], next(iter(link.entities), None))
            for link in document.gold
        ]
        for document in read_documents(path)
    }


def test_without_a_knowledge_base_gold_is_titles_as_written(tiny, tmp_path):
    report = build_hyperlinks(tiny, tmp_path / "links.jsonl", ONE)
    assert gold(tmp_path / "links.jsonl") == {
        "Oldport#1": [("Aven", "River Aven"), ("newport", "Newport")],
        "Oldport#2": [("1984", "1984"), ("the old town", "Old Newport"), ("Nowhere", "Nowhere")],
        "Oldport#3": [("the younger", "Newport")],
        "Newport#1": [("rival", "Oldport")],
        "River Aven#1": [("river Aven", "River Aven"), ("Oldport", "Oldport"), ("Newport", "Newport")],
    }
    assert (report.read.pages, report.sources[0].format) == (3, "mediawiki")


def test_texts_say_their_language_page_and_kind(tiny, tmp_path):
    build_hyperlinks(tiny, tmp_path / "links.jsonl", ONE)
    first = next(read_documents(tmp_path / "links.jsonl"))
    assert first.text == "Oldport is a harbour on the Aven, north of newport."
    assert (first.language, first.meta) == ("en", {"page": "Oldport", "kind": "text"})


def test_every_kind_of_paragraph(tiny, tmp_path):
    for kind, expected in {
        "item": [("the younger", "Newport")],
        "caption": [("Newport", "Newport")],
        "cell": [("River Aven", "River Aven")],
    }.items():
        out = tmp_path / f"{kind}.jsonl"
        build_hyperlinks(tiny, out, few(kinds=(kind,)))
        assert list(gold(out).values()) == [expected]
        (document,) = read_documents(out)
        assert document.meta["kind"] == kind
        assert ("image" in document.meta) == (kind == "caption")
    (caption,) = read_documents(tmp_path / "caption.jsonl")
    assert (caption.meta["image"], caption.images[0].uri) == ("Oldport.jpg", "Oldport.jpg")


def test_titles_resolve_by_title_then_redirect_and_never_by_number(tiny, kb, tmp_path):
    report = build_hyperlinks(tiny, tmp_path / "links.jsonl", few(nil=True), kb=kb)
    newport = "Newport" if kb.stem == "title" else "2"
    assert gold(tmp_path / "links.jsonl")["Oldport#2"] == [
        ("1984", None),
        ("the old town", newport),
        ("Nowhere", None),
    ]
    assert (report.read.unresolved, report.nil) == (2, 2)


def test_links_to_nothing_are_left_out(tiny, kb, tmp_path):
    report = build_hyperlinks(tiny, tmp_path / "links.jsonl", ONE, kb=kb)
    assert [surface for surface, _ in gold(tmp_path / "links.jsonl")["Oldport#2"]] == ["the old town"]
    assert (report.links, report.nil, report.read.unresolved) == (8, 0, 2)


def test_ids_and_namespaces_are_those_that_are_asked_for(tiny, tmp_path):
    build_hyperlinks(tiny, tmp_path / "links.jsonl", few(wiki=WikiOptions(ids="page")))
    assert ids(tmp_path / "links.jsonl")[0] == "1984#1"
    build_hyperlinks(tiny, tmp_path / "talk.jsonl", few(wiki=WikiOptions(namespaces=("Talk",))))
    assert ids(tmp_path / "talk.jsonl") == ["Talk:Oldport#1"]


def test_parts_and_processes_do_not_matter(monkeypatch, tmp_path):
    sample = Path(__file__).parents[2] / "samples" / "wiki" / "samplewiki.xml"
    build_hyperlinks(sample, tmp_path / "whole.jsonl", ONE)
    monkeypatch.setattr(import_module("entlink.sources.mediawiki.dumps.parts"), "PLAIN_PART", 60_000)
    monkeypatch.setattr("entlink.kb.build.source_parts._WORTH_A_POOL", 0)
    steps: list[str] = []
    for processes in (1, 2):
        out = tmp_path / f"{processes}.jsonl"
        build_hyperlinks(sample, out, few(processes=processes), progress=lambda stage, *_: steps.append(stage))
        assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert steps.count("reading") > 4  # it was read in several parts


def test_a_real_dump(tmp_path):
    source = SHARED_DATA / "mediawiki" / "tinywiki-latest-pages-articles.xml"
    if not source.exists():
        pytest.skip(f"the real dumps are not at {SHARED_DATA}")
    report = build_hyperlinks(source, tmp_path / "links.jsonl", few(kinds=KINDS))
    documents = list(read_documents(tmp_path / "links.jsonl"))
    assert len(documents) == report.documents > 0
    assert sum(len(document.gold) for document in documents) == report.links > 0
    for document in documents:
        assert [mention.span for mention in document.mentions] == [link.span for link in document.gold]
        assert all(mention.text.strip() for mention in document.mentions)
