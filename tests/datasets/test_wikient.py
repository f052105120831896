"""WikiEnt sets: rows as a plain dictionary would join them, resumed builds, and what is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from corpora import KilledError, killed_at
from entlink.datasets.wikient import WikiEntOptions, build_wikient
from entlink.datasets.wikient.card import WikiEntReport
from entlink.datasets.wikient.rows import (
    CONTEXTS,
    DESCRIPTIONS,
    Context,
    Description,
    read_contexts,
    read_descriptions,
)
from entlink.errors import DamagedError, ExistsError, InputError, NotFoundError
from entlink.io.ledger import Ledger
from entlink.sources import Page, open_source
from entlink.sources.page import Redirect
from entlink.text.sentences import sentences
from knowledge_bases import SHARED_DATA, article, write_articles

WIKI = Path(__file__).parents[2] / "samples" / "wiki" / "samplewiki.xml"
ONE = WikiEntOptions(processes=1)


def made(folder: Path) -> tuple[list[Context], list[Description]]:
    return list(read_contexts(folder)), list(read_descriptions(folder))


def by_hand(path: Path) -> tuple[list[Context], dict[str, Description]]:
    """The same set with a dictionary of titles in place of SQL; a wiki names pages by title."""
    source = open_source(path)
    items = [item for part in source.parts() for item in part.items(Ledger("stop"))]
    redirects = {item.title: item.target for item in items if isinstance(item, Redirect)}
    pages = {item.entity.title: item for item in items if isinstance(item, Page) and item.valid_to is None}
    found = []
    for page in pages.values():
        for paragraph in page.paragraphs:
            if paragraph.kind != "text":
                continue
            places = [(link.start, link.end) for link in paragraph.links]
            for start, end in sentences(paragraph.text, places):
                for link in sorted(paragraph.links, key=lambda link: link.start):
                    target, seen = link.target, set()
                    while target not in pages and target in redirects and target not in seen:
                        seen.add(target)
                        target = redirects[target]
                    if start <= link.start and link.end <= end and target in pages:
                        sentence = paragraph.text[start:end]
                        place = (link.start - start, link.end - start)
                        found.append(Context(sentence, *place, pages[target].entity.id, page.entity.id))
    described = {}
    for page in pages.values():
        running = [one.text for one in page.paragraphs if one.kind == "text"]
        words = " ".join(" ".join(running).split()).split(" ")[:100]
        described[page.entity.id] = Description(page.entity.id, page.entity.title, " ".join(words))
    return [one for one in found if described[one.entity].text], described


def test_the_rows_of_a_wiki_are_those_of_a_plain_join(tmp_path):
    report = build_wikient(WIKI, tmp_path / "set", ONE)
    contexts, descriptions = made(tmp_path / "set")
    expected, described = by_hand(WIKI)
    assert contexts == expected
    assert {one.entity: one for one in descriptions} == {
        entity: described[entity] for entity in {one.entity for one in expected}
    }
    assert (report.contexts, report.entities) == (len(contexts), len(descriptions))
    assert report == msgspec.json.decode((tmp_path / "set" / "card.json").read_bytes(), type=WikiEntReport)
    assert f"| {report.contexts:,} |" in (tmp_path / "set" / "DATASHEET.md").read_text(encoding="utf8")


def test_what_is_left_out_repeated_and_cut(tmp_path):
    """Sentences without links, several links, targets that are nothing or say nothing, words from the 101st on."""
    long = " ".join(f"word{number}" for number in range(150))
    rows = [
        article("a", "A", "No link here. Of [[b|Bee]] and [[c|Sea]]. [[gone|Lost]]. To [[empty|nothing]]."),
        article("b", "B", long),
        article("c", "C", "Sea is [[a|first]]."),
        article("empty", "Empty"),
    ]
    report = build_wikient(
        write_articles(tmp_path / "few.jsonl", rows), tmp_path / "set", WikiEntOptions(format="articles", processes=1)
    )
    contexts, descriptions = made(tmp_path / "set")
    assert [(one.text, one.text[one.start : one.end], one.entity, one.page) for one in contexts] == [
        ("Of Bee and Sea.", "Bee", "b", "a"),
        ("Of Bee and Sea.", "Sea", "c", "a"),
        ("Sea is first.", "first", "a", "c"),
    ]
    assert [one.entity for one in descriptions] == ["a", "b", "c"]
    assert descriptions[1].text == " ".join(long.split()[:100])
    read = report.read
    assert (read.sentences, read.with_links, read.links, report.resolved) == (6, 4, 5, 4)


def test_long_sentences_can_be_left_out(tmp_path):
    rows = [
        article("a", "A", "To [[b|Bee]] at once. And now after many words to [[b|Bee]]."),
        article("b", "B", "Bee."),
    ]
    options = WikiEntOptions(format="articles", processes=1, max_tokens=5)
    report = build_wikient(write_articles(tmp_path / "few.jsonl", rows), tmp_path / "set", options)
    assert [one.text for one in read_contexts(tmp_path / "set")] == ["To Bee at once."]
    assert report.read.too_long == 1


@pytest.mark.parametrize("step", [2, 6])
def test_a_build_that_was_killed_goes_on(many, small_parts, tmp_path, step):
    build_wikient(many, tmp_path / "whole", ONE)
    with pytest.raises(KilledError):
        build_wikient(many, tmp_path / "set", ONE, progress=killed_at(step))
    assert not (tmp_path / "set").exists()
    kept = {path: path.stat().st_ino for path in (tmp_path / "set.building" / "parts").glob("part-*")}
    assert kept
    seen: dict[Path, int] = {}
    build_wikient(
        many, tmp_path / "set", ONE, progress=lambda *_: seen.update({path: path.stat().st_ino for path in kept})
    )
    assert seen == kept
    for name in (CONTEXTS, DESCRIPTIONS, "DATASHEET.md"):
        assert (tmp_path / "set" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "set.building").exists()


def test_what_cannot_be_made_or_read_is_refused(many, tmp_path):
    lonely = write_articles(tmp_path / "lonely.jsonl", [article("a", "A", "To [[gone|nowhere]].")])
    with pytest.raises(InputError, match="no link leads to a page with a text"):
        build_wikient(lonely, tmp_path / "set", WikiEntOptions(format="articles", processes=1))
    assert not (tmp_path / "set").exists()
    for fields, told in (
        ({"kinds": ("table",)}, "no kind of paragraph 'table'"),
        ({"description_tokens": 0}, "description_tokens is 0"),
        ({"max_tokens": -1}, "max_tokens is -1"),
    ):
        with pytest.raises(InputError, match=told):
            build_wikient(many, tmp_path / "set", WikiEntOptions(**fields))
    with pytest.raises(InputError, match="no source"):
        build_wikient([], tmp_path / "set")
    build_wikient(many, tmp_path / "set", ONE)
    with pytest.raises(ExistsError, match="--replace"):
        build_wikient(many, tmp_path / "set", ONE)
    with pytest.raises(NotFoundError, match="no WikiEnt set"):
        list(read_contexts(tmp_path))
    path = tmp_path / "set" / CONTEXTS
    path.write_bytes(path.read_bytes().replace(b'"start":', b'"start":9', 1))
    with pytest.raises(DamagedError, match=r"line 1: the span \[9\d*, \d+\) is not within"):
        list(read_contexts(tmp_path / "set"))
    path.write_bytes(b"{}\n")
    with pytest.raises(DamagedError, match="line 1: this is no row"):
        list(read_contexts(tmp_path / "set"))


@pytest.mark.skipif(not (SHARED_DATA / "schools_wikipedia").is_dir(), reason="Schools Wikipedia is not here")
def test_schools_wikipedia_loses_no_link(tmp_path):
    source = SHARED_DATA / "schools_wikipedia" / "articles.jsonl.xz"
    report = build_wikient(source, tmp_path / "set", WikiEntOptions(format="articles", processes=1))
    assert (report.read.links, report.contexts) == (122_863, 122_863)
