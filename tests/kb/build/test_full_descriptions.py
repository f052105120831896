"""Entities described by the whole text of their pages."""

from __future__ import annotations

import json

import pytest

from entlink.kb.build import from_sources as building
from entlink.kb.build.from_sources import SUFFIX, BuildOptions, build
from entlink.kb.build.merge import merge
from entlink.kb.indexes.words.search import WordSearch
from entlink.sources.mediawiki.export import DumpPart
from knowledge_bases import article, make_kb, supports, write_articles
from wiki_dumps import WikiPage, write_dump

ROWS = [
    article(
        "sun", "Sun", "", "The [[sun|Sun]] is a star.", "  ", "It is near to [[mercury|Mercury]].", types=["star"]
    ),
    article("mercury", "Mercury"),
]
WHOLE = "The Sun is a star.\n\nIt is near to Mercury."


@pytest.mark.parametrize("count_text", [True, False])
def test_all_paragraphs_with_a_blank_line_between(tmp_path, opened, count_text):
    opening = opened(make_kb(tmp_path, ROWS, "opening", count_text=count_text, descriptions="opening"))
    full = opened(make_kb(tmp_path, ROWS, "full", count_text=count_text, descriptions="full"))
    assert opening.require("sun").description == "The Sun is a star."
    assert full.require("sun").description == WHOLE
    assert full.require("mercury").description == ""
    assert full.texts == opening.texts
    assert supports(full, "Mercury") == supports(opening, "Mercury")
    assert full.occurrences("Sun") == opening.occurrences("Sun")
    found = {kb.folder.name: len(WordSearch(kb).search("near")) for kb in (opening, full)}
    assert found == {"opening.kb": 0, "full.kb": 1}


def test_texts_that_are_counted_are_kept_and_others_only_if_asked_for(tmp_path, opened):
    assert opened(make_kb(tmp_path, ROWS, "counted")).require("sun").description == WHOLE
    uncounted = opened(make_kb(tmp_path, ROWS, "uncounted", count_text=False))
    assert uncounted.require("sun").description == "The Sun is a star."


def test_without_text_counts_a_wiki_is_read_for_its_links_only(tmp_path, monkeypatch):
    dump = write_dump(tmp_path / "w.xml", [WikiPage("Sun", "A [[star]].\n\nIt is near.")])
    read = []
    versions = DumpPart._versions

    def noting(self, raw, page, links):
        read.append(links)
        return versions(self, raw, page, links)

    monkeypatch.setattr(DumpPart, "_versions", noting)
    for number, settings in enumerate(({}, {"descriptions": "full"})):
        build(dump, tmp_path / f"{number}.kb", BuildOptions(processes=1, count_text=False, **settings))
    assert [links is not None for links in read] == [True, False]


@pytest.mark.parametrize("count_text", [True, False])
def test_pages_of_a_wiki(tmp_path, opened, count_text):
    dump = write_dump(
        tmp_path / "w.xml", [WikiPage("Sun", "A [[star]].\n\n== Near ==\n\n* [[Mercury]] is ''near''.")]
    )
    build(dump, tmp_path / "w.kb", BuildOptions(processes=1, count_text=count_text, descriptions="full"))
    sun = opened(tmp_path / "w.kb").require("Sun")
    assert sun.description.startswith("A star.\n\n")
    assert sun.description.endswith("Mercury is near.")


def test_a_table_is_described_as_it_says(tmp_path, opened):
    table = tmp_path / "t.jsonl"
    table.write_text(json.dumps({"id": "a", "title": "A", "text": "All of it.\n\nAnd more."}) + "\n", encoding="utf8")
    build(table, tmp_path / "t.kb", BuildOptions(processes=1, descriptions="full"))
    assert opened(tmp_path / "t.kb").require("a").description == "All of it.\n\nAnd more."


BOTH = [
    {"id": "ant", "title": "Ant", "description": "An insect.", "text": "An insect. It lives in Nest."},
    {"id": "bee", "title": "Bee", "description": "An insect too.", "text": "It flies to Nest."},
    {"id": "cow", "title": "Cow", "description": "", "text": "It eats."},
    {"id": "nest", "title": "Nest", "description": "A home.", "text": ""},
]
SHORT = ["An insect.", "An insect too.", "It eats.", "A home."]
LONG = ["An insect. It lives in Nest.", "An insect too.\n\nIt flies to Nest.", "It eats.", "A home."]


@pytest.mark.parametrize(("descriptions", "expected"), [("opening", SHORT), ("full", LONG)])
def test_a_table_with_a_description_and_a_text(tmp_path, opened, descriptions, expected):
    kb = opened(make_kb(tmp_path, BOTH, format="jsonl", descriptions=descriptions))
    assert [entity.description for entity in kb] == expected
    assert kb.occurrences("Nest") == {"Nest": 2}


@pytest.mark.parametrize(("descriptions", "expected"), [("opening", SHORT[0]), ("full", LONG[0])])
def test_edits_describe_as_the_build_did(tmp_path, opened, descriptions, expected):
    kb = opened(make_kb(tmp_path, BOTH, format="jsonl", descriptions=descriptions))
    assert kb.sync(tmp_path / "made.jsonl").unchanged == len(BOTH)
    kb.remove("ant")
    kb.add(write_articles(tmp_path / "ant.jsonl", BOTH[:1]))
    assert kb.require("ant").description == expected


def test_a_merge_of_whole_texts_describes_by_whole_texts(tmp_path, opened):
    full = make_kb(tmp_path, BOTH[:1], "full", format="jsonl", descriptions="full")
    short = make_kb(tmp_path, BOTH[1:], "short", format="jsonl", descriptions="opening")
    for name, kbs, expected in (("both", [full, short], ""), ("one", [full], "An insect too.\n\n")):
        merge(kbs, tmp_path / f"{name}.kb")
        kb = opened(tmp_path / f"{name}.kb")
        kb.add(write_articles(tmp_path / "more.jsonl", [{**BOTH[1], "id": "new"}]))
        assert kb.require("new").description == (f"{expected}It flies to Nest." if expected else "An insect too.")


@pytest.mark.parametrize(("first", "second"), [("opening", "full"), ("full", "opening")])
def test_a_build_that_is_taken_up_does_not_mix_the_two(tmp_path, opened, monkeypatch, first, second):
    def stop(work, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building, "move_into_place", stop)
        with pytest.raises(KeyboardInterrupt):
            make_kb(tmp_path, ROWS, descriptions=first)
    assert (tmp_path / f"made.kb{SUFFIX}").exists()
    kb = opened(make_kb(tmp_path, ROWS, descriptions=second))
    assert kb.require("sun").description == (WHOLE if second == "full" else "The Sun is a star.")


def test_long_pages_are_staged_a_few_at_a_time(tmp_path, monkeypatch):
    from entlink.io import record_files

    sizes = []
    original = record_files.RecordWriter._flush

    def noting(self):
        sizes.append(len(self._rows))
        original(self)

    monkeypatch.setattr(record_files.RecordWriter, "_flush", noting)
    rows = [article(str(number), f"T{number}", "so it is " * 50_000) for number in range(12)]
    make_kb(tmp_path, rows, descriptions="full", count_text=False)
    assert max(sizes) < 8
