"""`docs/formats-exchange.md` says what the readers do: its examples are read, its table is that of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from entlink.formats.public.catalogue import PUBLIC_FORMATS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "formats-exchange.md").read_text(encoding="utf8")
SECTIONS = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
EXAMPLES = [
    (name, block)
    for name, text in SECTIONS.items()
    for block in re.findall(r"```(?:json|text|turtle)\n(.*?)```", text, re.DOTALL)
]
# What each example of a page says, in order: what its mentions mean.
MEANT = {
    "blink": [["151209"], ["Q1397"]],
    "aida": [["London", "West Indies (team)", None]],
    "nif": [["Q3012"]],
    "neleval": [["Q90", None]],
    "blink-output": [["Paris"]],
    "elq-output": [["Paris"]],
    "rel-output": [["Barack Obama"]],
    "genre-output": [["Albert Einstein", None], ["Germany"]],
    "refined-output": [["Q47762"]],
    "spacy-output": [["Q1", None]],
}


def test_the_table_is_that_of_the_code():
    row = r"^\| \[`([\w-]+)`\]\(#([\w-]+)\) \|.*\| (gold|links) \| yes \|( yes)? \|$"
    rows = re.findall(row, PAGE, re.MULTILINE)
    assert [name for name, *_ in rows] == [anchor for _, anchor, *_ in rows] == list(SECTIONS) == list(MEANT)
    assert {name: (holds, bool(written)) for name, _, holds, written in rows} == {
        name: (PUBLIC_FORMATS[name].holds, PUBLIC_FORMATS[name].is_written) for name in SECTIONS
    }


def test_every_format_is_on_one_of_the_two_pages():
    other = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf8")
    described = {*SECTIONS, *re.findall(r"^## (\S+)$", other, re.MULTILINE), "jsonl"}
    assert set(PUBLIC_FORMATS) <= described


@pytest.mark.parametrize("name", SECTIONS)
def test_the_examples_of_a_format_are_read(name, tmp_path):
    meant = []
    for _, example in (pair for pair in EXAMPLES if pair[0] == name):
        path = tmp_path / "example"
        path.write_text(example, encoding="utf8")
        assert PUBLIC_FORMATS[name].looks_like(path, example.encode())
        documents = PUBLIC_FORMATS[name].read_as("links", path)
        meant.append([link.entity for document in documents for link in document.links])
    assert meant == MEANT[name]


def test_the_programs_of_the_page_run(tmp_path, monkeypatch):
    pytest.importorskip("spacy")
    aida = next(example for name, example in EXAMPLES if name == "aida")
    monkeypatch.chdir(tmp_path)
    Path("AIDA-YAGO2-dataset.tsv").write_text(aida, encoding="utf8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
    assert [document.id for document in PUBLIC_FORMATS["nif"].read("aida.ttl")] == ["947testa CRICKET"]
    row = {"context_left": "in", "mention": "paris", "context_right": ""}
    names["keep"]([row], [["Paris"]], [[1.5]], "kept.jsonl")
    [document] = PUBLIC_FORMATS["blink-output"].read("kept.jsonl")
    assert document.links[0].entity == "Paris"
    assert names["saved"]["spans"] == {"links": []}
