"""A build that counts no texts reads of most pages the links alone, and comes to the same."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entlink.kb.build import from_sources as building
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.sources import Item, Meanings, Page, WikiOptions, open_source
from entlink.sources.wikitext.blanks import words
from wiki_dumps import WikiPage, write_dump

PAGES = [
    WikiPage("Sun", "The [[Sun]] is a [[star]].\n\nIts [[planet]]s are [[Mercury (planet)|one]] and [[Earth|two]]."),
    WikiPage("Earth", "{{Infobox}}\n'''Earth''' goes round the [[Sun]].<ref>[[Book]]</ref>\n\n[[Category:Planets]]"),
    WikiPage("Mercury (planet)", "* [[Planet]]s\n\n== Near ==\n\nIt is near the [[Sun]]; the [[Sun|star]] is hot."),
    WikiPage("Star", redirect="Sun"),
    WikiPage("Planet", "[[File:A.png|thumb|A [[planet]]]]\n\nOne of the ''[[planet]]''s, as [[Earth]] is one."),
    WikiPage("Mercury (disambiguation)", "It may be:\n* [[Mercury (planet)]], near the [[Sun]]\n* the [[Earth]]"),
    WikiPage("Dollar", "[[Dollar|$]]\n\nA [[Dollar|$]] is [[Money| money ]]. [[Sun]]\tand [[sun|a  sun]]."),
    WikiPage("Money", "# [[Dollar]]\n# [[Dollar]]"),
    WikiPage(
        "Moved",
        revisions=[
            ("2019-01-01T00:00:00Z", "", "Its [[Sun]]."),
            ("2020-01-01T00:00:00Z", "moved page [[Before]] to [[Moved]]", "Its [[Sun]] and [[Earth]]."),
        ],
    ),
]
PIECES = words("[[a]] [[A|b]] [[a|$]] [[c|''d'']] [[Category:a]] {{a}} ''' '' * ; : = == ---- | a B é $ [[ ]] ~~~~")
texts = st.lists(st.sampled_from([*PIECES, " ", " : ", "\n", "\n\n", "\n\n\n"]), max_size=25).map("".join)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "wiki.xml", PAGES)


def items(dump: Path, *, links_only: bool) -> list[Item]:
    return list(open_source(dump, wiki=WikiOptions(links_only=links_only)).items())


def links(page: Page) -> list[tuple[str, str]]:
    read = [(part.text[link.start : link.end], link.target) for part in page.paragraphs for link in part.links]
    return [*page.counted, *read]


def check(quick: list[Item], full: list[Item]) -> None:
    assert len(quick) == len(full)
    for item, expected in zip(quick, full, strict=True):
        if isinstance(item, Page) and isinstance(expected, Page):
            assert links(item) == links(expected)
            expected = msgspec.structs.replace(expected, paragraphs=item.paragraphs, counted=item.counted)
        assert item == expected


def test_all_but_the_texts_is_as_in_a_full_reading(dump: Path):
    quick, full = items(dump, links_only=True), items(dump, links_only=False)
    check(quick, full)
    counted = [item.entity.title for item in quick if isinstance(item, Page) and item.counted]
    assert counted == ["Sun", "Mercury (planet)", "Dollar", "Money", "Moved"]
    assert not any(item.counted for item in full if isinstance(item, Page))
    assert Meanings("Mercury (disambiguation)", "Mercury", ("Mercury (planet)", "Earth")) in quick


@given(st.lists(texts, min_size=1, max_size=8))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_page_is_as_in_a_full_reading(tmp_path: Path, wikitexts: list[str]):
    dump = write_dump(tmp_path / "any.xml", [WikiPage(f"P{number}", text) for number, text in enumerate(wikitexts)])
    check(items(dump, links_only=True), items(dump, links_only=False))


def test_a_text_after_many_items_is_found(tmp_path: Path):
    text = "\n\n" + "* [[a]]\n\n" * 2_000 + "Here it is.\n\nNot this."
    [page] = items(write_dump(tmp_path / "items.xml", [WikiPage("A", text)]), links_only=True)
    assert isinstance(page, Page)
    assert page.entity.description == "Here it is."
    assert len(page.counted) == 2_000


def read_fully(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let builds read all texts, whether they count them or not."""

    def open_fully(*arguments: object, wiki: WikiOptions, **settings: object) -> object:
        wiki = msgspec.structs.replace(wiki, links_only=False)
        return open_source(*arguments, wiki=wiki, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(building, "open_source", open_fully)


def test_the_knowledge_base_is_the_same(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    options = BuildOptions(count_text=False, processes=1)
    quick, full = tmp_path / "quick.kb", tmp_path / "full.kb"
    build(dump, quick, options)
    with monkeypatch.context() as patch:
        read_fully(patch)
        build(dump, full, options)
    for name in ("anchors.parquet", "graph.parquet"):
        counts = Path("counts") / "base" / name
        assert duckdb.read_parquet(str(quick / counts)).fetchall()
        assert (quick / counts).read_bytes() == (full / counts).read_bytes()
    with KnowledgeBase.open(quick) as one, KnowledgeBase.open(full) as other:
        assert [json.dumps(msgspec.to_builtins(each)) for each in one] == [
            json.dumps(msgspec.to_builtins(each)) for each in other
        ]


def test_a_build_that_counts_texts_reads_them(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[bool] = []

    def open_noting(*arguments: object, wiki: WikiOptions, **settings: object) -> object:
        asked.append(wiki.links_only)
        return open_source(*arguments, wiki=wiki, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(building, "open_source", open_noting)
    for count_text in (True, False):
        build(dump, tmp_path / f"{count_text}.kb", BuildOptions(count_text=count_text, processes=1))
    assert asked == [False, True]
