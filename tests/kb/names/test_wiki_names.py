from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.engine.local import LocalEngine
from entlink.kb.build.part_files import IDENTIFIERS, MEANINGS, REDIRECTS, TITLES
from entlink.kb.build.wiki_names import ALIAS, EXTERNAL, Extra, join_names, read_extras, read_redirects
from entlink.kb.store.manifest import WikiTotals


def write_part(
    folder: Path, number: int, *, titles=(), redirects=(), meanings=(), identifiers=(), wiki="enwiki"
) -> Path:
    part = folder / f"part-{number:06}"
    part.mkdir(parents=True)
    rows = {
        TITLES: [
            {"p": number, "r": record, "t": title, "w": wiki, "i": 100 * number + record}
            for record, title in enumerate(titles)
        ],
        REDIRECTS: [{"w": wiki, "title": title, "target": target} for title, target in redirects],
        MEANINGS: [
            {"w": wiki, "title": f"{name} (x)", "name": name, "place": place, "target": target}
            for name, targets in meanings
            for place, target in enumerate(targets or [None])
        ],
        IDENTIFIERS: [
            {"wiki": of, "page": page, "scheme": scheme, "value": value} for of, page, scheme, value in identifiers
        ],
    }
    for name, lines in rows.items():
        if lines:
            (part / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return part


def joined(folder: Path, *parts: Path) -> tuple[WikiTotals, list[Extra], dict[str, str]]:
    engine = LocalEngine(memory="200MB")
    totals = join_names(engine, parts, folder / "wiki", folder)
    return totals, list(read_extras(engine, folder / "wiki")), dict(read_redirects(engine, folder / "wiki"))


def test_a_redirect_names_the_page_it_leads_to(tmp_path):
    part = write_part(tmp_path, 0, titles=["Ant", "Bee"], redirects=[("Honeybee", "Bee")])
    totals, extras, redirects = joined(tmp_path, part)
    assert extras == [Extra(0, 1, ALIAS, "", "Honeybee")]
    assert redirects == {"Honeybee": "Bee"}
    assert totals == WikiTotals(redirects=1)


def test_chains_are_followed_over_parts(tmp_path):
    first = write_part(tmp_path, 0, redirects=[("A", "B"), ("C", "D")])
    second = write_part(tmp_path, 1, titles=["D"], redirects=[("B", "C")])
    _, extras, redirects = joined(tmp_path, first, second)
    assert redirects == {"A": "D", "B": "D", "C": "D"}
    assert {extra.value for extra in extras} == {"A", "B", "C"}


def test_rings_and_redirects_to_nothing_are_counted(tmp_path):
    ring = [("A", "B"), ("B", "C"), ("C", "A"), ("Into", "A"), ("Self", "Self")]
    part = write_part(tmp_path, 0, titles=["Ant"], redirects=[*ring, ("Gone", "Nowhere"), ("Emmet", "Ant")])
    totals, extras, redirects = joined(tmp_path, part)
    assert extras == [Extra(0, 0, ALIAS, "", "Emmet")]
    assert redirects == {"Emmet": "Ant", "Gone": "Nowhere"}
    assert totals == WikiTotals(redirects=7, loops=5, to_nothing=1)


def test_a_title_that_is_a_page_is_no_redirect(tmp_path):
    part = write_part(tmp_path, 0, titles=["Ant", "Bee"], redirects=[("Ant", "Bee")])
    totals, extras, redirects = joined(tmp_path, part)
    assert (extras, redirects, totals) == ([], {}, WikiTotals())


def test_what_a_disambiguation_page_lists_gets_its_name(tmp_path):
    part = write_part(
        tmp_path,
        0,
        titles=["Mercury (planet)", "Mercury (element)"],
        redirects=[("Quicksilver", "Mercury (element)")],
        meanings=[("Mercury", ["Mercury (planet)", "Quicksilver", "Not here"])],
    )
    totals, extras, _ = joined(tmp_path, part)
    assert [(extra.record, extra.value) for extra in extras] == [(0, "Mercury"), (1, "Mercury"), (1, "Quicksilver")]
    assert totals.meanings == 1


def test_a_disambiguation_page_that_lists_nothing_counts(tmp_path):
    part = write_part(tmp_path, 0, titles=["Crane"], redirects=[("Cranes", "Cran (x)")], meanings=[("Cran", [])])
    totals, extras, _ = joined(tmp_path, part)
    assert (extras, totals) == ([], WikiTotals(redirects=1, meanings=1))


def test_a_redirect_to_a_disambiguation_page_names_what_that_lists(tmp_path):
    part = write_part(
        tmp_path,
        0,
        titles=["Crane (bird)"],
        redirects=[("Cranes", "Crane (x)")],
        meanings=[("Crane", ["Crane (bird)"])],
    )
    totals, extras, _ = joined(tmp_path, part)
    assert [extra.value for extra in extras] == ["Crane", "Cranes"]
    assert totals == WikiTotals(redirects=1, meanings=1)


def test_identifiers_come_by_the_number_of_the_page(tmp_path):
    identifiers = [
        ("enwiki", 1, "wikidata", "Q2"),
        ("enwiki", 7, "wikidata", "Q9"),
        ("enwiki", 1, "is_redirect", ""),
    ]
    part = write_part(tmp_path, 0, titles=["Ant", "Bee"], identifiers=identifiers)
    assert joined(tmp_path, part)[1] == [Extra(0, 1, EXTERNAL, "wikidata", "Q2")]


@pytest.mark.parametrize(("other", "expected"), [(True, ["Q1"]), (False, ["Q1", "Q2"])])
def test_of_several_wikis_each_has_its_own_numbers(tmp_path, other, expected):
    identifiers = [("enwiki", 0, "wikidata", "Q1"), ("zhwiki", 0, "wikidata", "Q2")]
    parts = [write_part(tmp_path, 0, titles=["Ant"], identifiers=identifiers)]
    if other:
        parts.append(write_part(tmp_path, 1, titles=["蚂蚁"], wiki="zhwiki"))
    extras = joined(tmp_path, *parts)[1]
    assert [extra.value for extra in extras if extra.part == 0] == expected


def test_redirects_of_the_tables(tmp_path):
    identifiers = [
        ("enwiki", 5, "title", "Emmet"),
        ("enwiki", 5, "is_redirect", ""),
        ("enwiki", 5, "redirect", "Ant"),
    ]
    part = write_part(tmp_path, 0, titles=["Ant"], identifiers=identifiers)
    _, extras, redirects = joined(tmp_path, part)
    assert redirects == {"Emmet": "Ant"}
    assert extras == [Extra(0, 0, ALIAS, "", "Emmet")]


def test_a_wiki_of_nothing(tmp_path):
    assert joined(tmp_path) == (WikiTotals(), [], {})


def followed(redirects: dict[str, str], title: str) -> str | None:
    """Step by step, as a reader of the wiki would."""
    seen = set()
    while title in redirects:
        if title in seen:
            return None
        seen.add(title)
        title = redirects[title]
    return title


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.integers(0, 60).map(str), st.integers(0, 70).map(str), max_size=60))
def test_redirects_are_followed_as_step_by_step(tmp_path_factory, redirects):
    folder = tmp_path_factory.mktemp("redirects")
    part = write_part(folder, 0, titles=["65"], redirects=redirects.items())
    totals, _, found = joined(folder, part)
    ends = {title: followed(redirects, title) for title in redirects}
    assert found == {title: end for title, end in ends.items() if end is not None}
    assert totals.loops == sum(end is None for end in ends.values())


def test_each_wiki_has_its_own_titles(tmp_path):
    english = write_part(tmp_path, 0, titles=["Talk"], redirects=[("Chat", "Talk")], meanings=[("Cats", ["Chat"])])
    french = write_part(tmp_path, 1, titles=["Chat"], wiki="frwiki")
    totals, extras, redirects = joined(tmp_path, english, french)
    assert [(extra.part, extra.value) for extra in extras] == [(0, "Cats"), (0, "Chat")]
    assert (redirects, totals) == ({"Chat": "Talk"}, WikiTotals(redirects=1, meanings=1))
