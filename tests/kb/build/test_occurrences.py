from __future__ import annotations

import re
from collections import Counter

import pytest

from entlink.sources import part
from knowledge_bases import WORLD, article, make_kb

SURFACES = ["Mercury", "mercury", "MERCURY", "Sun", "sun", "New York", "York", "Venus", "US", "us", "New York City"]


def by_regular_expression(surface: str) -> tuple[int, int]:
    """(links, occurrences outside of links) of a written form, by searching each text for it."""
    linked = unlinked = 0
    for row in WORLD:
        for paragraph in row["paragraphs"]:
            text, links = paragraph["text"], paragraph["links"]
            linked += sum(text[start:end] == surface for start, end, _ in links)
            for match in re.finditer(rf"(?=\b{re.escape(surface)}\b)", text):
                start, end = match.start(), match.start() + len(surface)
                unlinked += not any(a < end and start < b for a, b, _ in links)
    return linked, unlinked


@pytest.mark.parametrize("surface", SURFACES)
def test_unlinked_names_are_those_a_search_finds(world, surface):
    assert world.occurrences(surface).get(surface, 0) == by_regular_expression(surface)[1]


@pytest.mark.parametrize("surface", ["Mercury", "Sun", "New York", "York", "Venus", "US"])
def test_link_probability_is_the_share_of_a_forms_occurrences_that_are_links(world, surface):
    linked, unlinked = by_regular_expression(surface)
    meaning = world.meaning(surface)
    assert (meaning.linked, meaning.unlinked) == (linked, unlinked)
    assert meaning.link_probability() == linked / (linked + unlinked)


def test_a_golden_count(world):
    # Links: planet 1, element 1, "see Mercury" 1, sun's 1; unlinked: "Mercury has no moon."
    assert by_regular_expression("Mercury") == (4, 1)
    assert world.meaning("Mercury").link_probability() == 4 / 5


def test_a_looser_form_is_counted_with_all_as_close(world):
    total = Counter()
    for surface in ("Mercury", "mercury", "MERCURY"):
        linked, unlinked = by_regular_expression(surface)
        total.update(linked=linked, unlinked=unlinked)
    meaning = world.meaning("mercurY")
    assert (meaning.linked, meaning.unlinked) == (total["linked"], total["unlinked"])


def test_names_in_nested_and_crossing_links_are_not_unlinked(tmp_path, opened):
    row = article("york", "York", "")
    row["paragraphs"] = [
        {"text": "In New York City of York, York.", "links": [[3, 16, "x"], [3, 6, "y"], [12, 18, "z"]]}
    ]
    kb = opened(make_kb(tmp_path, [row]))
    assert kb.occurrences("York") == {"York": 2}


def test_texts_are_counted_paragraph_by_paragraph_or_by_description(tmp_path, opened):
    rows = [article("a", "A", "One.", "Two."), article("b", "B", "Three.")]
    assert opened(make_kb(tmp_path, rows, "articles")).texts == 3
    table = tmp_path / "table.csv"
    table.write_text("id,title,description\na,Ant,An ant is no bee.\nb,Bee,\n")
    from entlink.kb.build.from_sources import build

    build([table], tmp_path / "table.kb")
    kb = opened(tmp_path / "table.kb")
    assert (kb.texts, kb.occurrences("bee")) == (1, {"Bee": 0, "bee": 1})


def test_without_counting_there_is_no_link_probability_of_unlinked_names(tmp_path, opened):
    kb = opened(make_kb(tmp_path, WORLD, count_text=False))
    assert kb.texts == 0
    assert (kb.meaning("Mercury").linked, kb.meaning("Mercury").unlinked) == (4, 0)
    assert kb.meaning("York").link_probability() == 1.0


def test_parts_do_not_change_the_counts(tmp_path, opened, monkeypatch, world):
    monkeypatch.setattr(part, "PART_CHARACTERS", 60)
    kb = opened(make_kb(tmp_path, WORLD))
    assert kb.texts == world.texts
    assert all(kb.occurrences(surface) == world.occurrences(surface) for surface in SURFACES)


def test_surfaces_over_line_ends_are_counted_as_one_form(world_folder, tmp_path):
    from entlink.io.record_files import RecordWriter
    from entlink.kb.build.count_texts import count_part
    from entlink.kb.build.fill_store import KEYS, StoredPage
    from entlink.kb.build.part_files import TEXTS, StagedText
    from entlink.kb.names.index_rows import write_rows

    texts: RecordWriter[StagedText] = RecordWriter(tmp_path / TEXTS, 100, pack=True)
    texts.add(StagedText(0, "New\nYork and New  York and New York"))
    texts.add(StagedText(1, "New York in a page that was left out"))
    texts.close()
    write_rows([StoredPage(0, 0, 1)], tmp_path / KEYS)
    count_part(tmp_path, world_folder / "index-1", 1, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [line for line in lines if '"New York"' in line and '"n":3' in line]
