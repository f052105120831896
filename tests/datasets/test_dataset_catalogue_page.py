"""docs/dataset-catalogue.md lists the cards as they are, and its examples run."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import msgspec
import pytest

from entlink.datasets.catalogue.catalogue import cards
from entlink.datasets.catalogue.counts import DatasetCounts
from entlink.datasets.catalogue.dataset_card import DatasetCard, Split
from entlink_cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "dataset-catalogue.md").read_text(encoding="utf8")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MOST_NAMED = 5


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A folder that looks like the project's own."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def row(card: DatasetCard) -> str:
    """The line of the table that a card is."""
    splits = ", ".join(f"`{split.name}`" for split in card.splits)
    cells = (
        f"[{card.name}]({card.source})",
        card.measures,
        ", ".join(card.languages),
        card.licence,
        f"`{card.reader}`",
        card.main_score,
        splits if len(card.splits) <= _MOST_NAMED else f"{len(card.splits)} splits",
    )
    return f"| {' | '.join(cells)} |"


def test_the_table_has_every_card_as_it_is():
    assert [line for line in PAGE.splitlines() if line.startswith("| [")] == [row(card) for card in cards().values()]


@pytest.mark.parametrize("record", [DatasetCard, Split, DatasetCounts])
def test_every_field_is_explained(record: type[msgspec.Struct]):
    explained = {
        name
        for line in PAGE.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    assert set(record.__struct_fields__) <= explained


def test_the_commands_print_what_the_page_shows(project, capsys):
    shown = 0
    for match in _FENCE.finditer(PAGE):
        if match[1] == "console":
            command, _, expected = match[2].removeprefix("$ ").partition("\n")
            program, *words = shlex.split(command)
            assert (program, main(words)) == ("entlink", 0)
            assert capsys.readouterr().out == expected
            shown += 1
    assert shown == 2


def test_the_python_runs(project):
    (block,) = [match[2] for match in _FENCE.finditer(PAGE) if match[1] == "python"]
    test = doctest.DocTestParser().get_doctest(block, {}, "docs/dataset-catalogue.md", None, 0)
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)
