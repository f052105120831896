"""The commands and the Python of docs/report.md run, and its tables are those of the code."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from entlink.evaluation.report import beside
from entlink.evaluation.report.content import gather
from entlink.evaluation.report.drawings import MOST_LINES, MOST_ROWS
from entlink.evaluation.report.runs import _LONGEST
from entlink.evaluation.report.sections import sections
from entlink.evaluation.report.spreadsheets import BLAME, DIFFERENCES, SCORES, SLICES
from entlink_cli import main
from report_runs import made_run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "report.md").read_text(encoding="utf8")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SIZE = re.compile(r"\d+ kB")


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A folder that looks like the project's own, in which files can be made."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_console(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    for step in block.removeprefix("$ ").split("\n$ "):
        command, _, expected = step.strip().partition("\n")
        program, *words = shlex.split(command)
        assert program == "entlink"
        assert main(words) == 0, command
        found = capsys.readouterr().out.strip()
        assert _SIZE.sub("… kB", found) == _SIZE.sub("… kB", expected), command


def run_session(block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, "docs/report.md", None, 0)
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)


def test_the_examples_run_one_after_the_other(project, capsys):
    blocks = _FENCE.findall(PAGE)
    assert [language for language, _ in blocks] == ["console", "console", "python"]
    for language, block in blocks:
        run_console(block, capsys) if language == "console" else run_session(block)
    assert (project / "both-differences.csv").read_text(encoding="utf8").count("\n") == 13


def cells(head: str) -> list[list[str]]:
    """The rows of the table with this head."""
    _, _, rest = PAGE.partition(f"{head}\n")
    rows = rest.split("\n\n")[0].splitlines()[1:]
    assert rows
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_it_names_every_section_in_order():
    named = [row[0] for row in cells("| section | what it says | when |")]
    shown = [section.title for section in sections(gather([made_run("a"), made_run("b")], title=None, command=""))]
    assert [name for name in named if name in shown] == shown
    assert set(named) - set(shown) == {"What was measured", "Knowledge base and leaks"}


def test_it_names_every_file_and_column():
    rows = cells("| file | a line is | columns |")
    assert [row[0].strip("`") for row in rows] == [path.name for path in beside(Path("OUT.html"))]
    for row, columns in zip(rows, (SCORES, SLICES, BLAME, DIFFERENCES), strict=False):
        assert row[2] == ", ".join(f"`{column}`" for column in columns)


def test_it_has_the_limits_of_the_code():
    assert f"Names longer than {_LONGEST} characters" in PAGE
    assert f"Plots show the first {MOST_ROWS} runs, those with lines the first {MOST_LINES};" in PAGE
