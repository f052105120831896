"""`docs/formats.md` says what the readers do: its examples are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from entlink.formats.public.catalogue import PUBLIC_FORMATS
from format_samples import answers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
SECTIONS = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf8"), re.DOTALL | re.MULTILINE))
EXAMPLES = [
    (name, block)
    for name, text in SECTIONS.items()
    for block in re.findall(r"```(?:json|text)\n(.*?)```", text, re.DOTALL)
]
ANSWERS = {
    "conel": [("figs", ("Fig",)), ("My favourite fruit", ("Fig",))],
    "elevant": [("Ulm", ("Q3012",))],
    "fever": [],
    "linked-mentions": [("Danube", ("Danube",))],
    "hansel": [("乌尔姆", ("Q3012",))],
    "cleek": [("乌尔姆", ("乌尔姆", "cndbpedia:乌尔姆（德国城市）"))],
    "wikidiverse": [("Ulm Minster", ("Ulm Minster",))],
    "melbench": [("Ulm", ("Q3012",))],
    "tempel": [("host", ("Sacramental bread",))],
}


def test_every_format_has_its_row_and_its_section():
    text = PAGE.read_text(encoding="utf8")
    listed = re.findall(r"^\| \[`([\w-]+)`\]\(#([\w-]+)\)", text, re.MULTILINE)
    assert [name for name, _ in listed] == [anchor for _, anchor in listed] == list(SECTIONS)
    assert set(SECTIONS) - set(PUBLIC_FORMATS) == {"wikisrs"}


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=lambda part: part[:15])
def test_the_example_of_a_format_is_read(name, example, tmp_path):
    path = tmp_path / "example"
    path.write_text(example, encoding="utf8")
    chosen = PUBLIC_FORMATS[name]
    assert chosen.looks_like(path, example.encode())
    [document] = chosen.read(path)
    if name in ANSWERS:
        assert answers(document) == ANSWERS[name]
    elif name == "tweeki":
        assert ("New Ulm", ("Q1005274",)) in answers(document)
    else:
        assert {link.entity for link in document.links} == {"Fig"}


def test_a_written_format_is_marked_as_such():
    marked = re.findall(r"^\| \[`([\w-]+)`\].*\| yes \| yes \|$", PAGE.read_text(encoding="utf8"), re.MULTILINE)
    assert marked == [name for name in SECTIONS if name in PUBLIC_FORMATS and PUBLIC_FORMATS[name].is_written]
