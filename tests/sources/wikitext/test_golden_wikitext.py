"""Runs the cases of `tests/golden/wikitext`.

A case is a title after `===`, then sections after `---`: `wikitext` and `text`, and where there are any `categories`,
`images`, `switches`, `languages` (`fr: Paris`) and `templates`. In `text` each paragraph is a line, with its links as
[[Title]] or [[Title|shown]]; `(item)`, `(cell)` and `(caption Picture.jpg)` before it tell its kind. `site` holds
`language: zh`, `capital_links: no` or `14: Kategorie`; `expand` has a template a line, `nowrap: {1}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from entlink.sources.page import Paragraph
from entlink.sources.wikitext import Expander, Site, parse
from entlink.sources.wikitext.reader import reader_of

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "wikitext"
Case = dict[str, str]


def cases_of(path: Path) -> list[tuple[str, Case]]:
    _, *texts = f"\n{path.read_text(encoding='utf8')}".split("\n=== ")
    return [(f"{path.stem}: {text.partition(chr(10))[0]}", sections_of(text)) for text in texts]


def sections_of(text: str) -> Case:
    _, *sections = text.split("\n--- ")
    return {name: body.strip("\n") for name, _, body in (section.partition("\n") for section in sections)}


CASES = [case for path in sorted(FOLDER.glob("*.case")) for case in cases_of(path)]


def pairs(section: str) -> dict[str, str]:
    return {key: value.strip() for key, _, value in (line.partition(":") for line in section.splitlines())}


def site_of(case: Case) -> Site:
    settings = pairs(case.get("site", ""))
    namespaces = {int(key): value for key, value in settings.items() if key.isdigit()}
    return Site(
        language=settings.get("language"),
        namespaces=namespaces,
        capital_links=settings.get("capital_links") != "no",
    )


def expander_of(case: Case) -> Expander:
    rules = pairs(case.get("expand", ""))

    def expand(name: str, arguments: Sequence[str]) -> str | None:
        rule = rules.get(name)
        for place, argument in enumerate(arguments, 1):
            rule = rule and rule.replace(f"{{{place}}}", argument)
        return rule and rule.replace("\\n", "\n")

    return expand


def written(paragraph: Paragraph) -> str:
    text, end = "", 0
    for anchor in paragraph.links:
        shown = paragraph.text[anchor.start : anchor.end]
        link = shown if shown == anchor.target else f"{anchor.target}|{shown}"
        text += f"{paragraph.text[end : anchor.start]}[[{link}]]"
        end = anchor.end
    kind = " ".join(filter(None, (paragraph.kind, paragraph.image)))
    return ("" if kind == "text" else f"({kind}) ") + text + paragraph.text[end:]


def test_there_are_cases():
    assert len(CASES) >= 150
    assert len({name for name, _ in CASES}) == len(CASES)


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_case(case: Case):
    page = parse(case["wikitext"], site_of(case), expander_of(case))
    assert [written(paragraph) for paragraph in page.paragraphs] == case["text"].splitlines()
    for section in ("categories", "images"):
        assert list(getattr(page, section)) == case.get(section, "").splitlines()
    assert page.switches == set(case.get("switches", "").splitlines())
    assert page.languages == pairs(case.get("languages", ""))
    if "templates" in case:
        assert page.templates == set(case["templates"].splitlines())


def test_a_plain_page_is_read_the_same_with_care():
    plain = 0
    for name, case in CASES:
        reader = reader_of(site_of(case))
        if (page := reader.read_plain(case["wikitext"])) is not None:
            plain += 1
            assert page == reader.read_marked(case["wikitext"], expander_of(case)), name
    assert plain >= 50
