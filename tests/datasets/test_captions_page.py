"""The commands and the Python of docs/caption-sets.md run, and it names all that the code counts."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("PIL")

from test_datasets_page import _FENCE, ROOT, project, run_console, run_session

from entlink.datasets.captions.documents import NAMED, likeness
from entlink.datasets.captions.entity_types import TYPE_LISTS, read_rows
from entlink.datasets.captions.options import CaptionOptions

PAGE = (ROOT / "docs" / "caption-sets.md").read_text(encoding="utf8")
SAMPLE = ROOT / "samples" / "captions.jsonl"

__all__ = ["project"]


def test_the_examples_run_one_after_the_other(project, capsys):
    shown = 0
    for match in _FENCE.finditer(PAGE):
        if match[1] == "console":
            shown += run_console(match[2], capsys)
        elif match[1] == "python":
            run_session(match[2])
    assert shown == 2


def test_the_example_of_a_line_is_one_of_the_sample():
    (block,) = [match[2] for match in _FENCE.finditer(PAGE) if match[1] == "json"]
    assert json.loads(block) in [json.loads(line) for line in SAMPLE.read_text(encoding="utf8").splitlines()]


def test_every_count_of_the_code_is_on_the_page():
    files = (ROOT / "src/entlink/datasets/captions").glob("*.py")
    code = "\n".join(path.read_text(encoding="utf8") for path in files)
    names = {*re.findall(r'(?:counts|mentions|captions)\["([^"]+)"\] \+=', code), *NAMED}
    names |= {*re.findall(r'return "([a-z ]+)"\n', code.partition("def _leave_out")[0].partition("def _reason")[2])}
    assert {"without mentions", "short", "profane", "picture missing", "overlapping"} <= names
    for name in names - {"read", "kept"}:
        assert f"`{name}`" in PAGE, name


def test_the_page_has_the_lists_of_types_and_the_defaults():
    for names in TYPE_LISTS.values():
        assert f"| {', '.join(names)} |" in PAGE
    defaults = CaptionOptions()
    assert f"`--min-words` ({defaults.min_words})" in PAGE
    assert f"`--min-mentions` ({defaults.min_mentions})" in PAGE
    assert defaults.type_list == "annotation"
    assert list(defaults.split.values()) == [0.8, 0.1, 0.1]


@pytest.mark.parametrize(
    ("name", "surface", "title"), re.findall(r"^\| `(\w+)` \| .*`(.+)` and (.+) \|$", PAGE, re.M)
)
def test_the_examples_of_likeness_are_such(name, surface, title):
    assert likeness(surface, title) == name


@pytest.mark.parametrize(
    "path", ["samples/caption-types.tsv", "reproductions/schools_caption_types.tsv"], ids=lambda path: path[:7]
)
def test_rows_that_come_along_name_types_of_the_list(path):
    assert {name for name, _ in read_rows(ROOT / path)} <= {*TYPE_LISTS["annotation"]}
