"""What stands beside the page, and how all of it gets there: CSV, LaTeX, whole files or none."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import ExistsError, InputError, MissingExtraError
from entlink.evaluation import report as reporting
from entlink.evaluation.intervals.resampling import MEASURES
from entlink.evaluation.report import write_report
from entlink.evaluation.report.latex import escaped
from report_runs import made_run

NAMES = ["report.html", "report.csv", "report-slices.csv", "report-blame.csv", "report-differences.csv", "report.tex"]


@pytest.fixture(scope="module")
def runs():
    names = ('R&D <one>, "two"', "[x]*_50%_{a}\\b^c~d#$", "Zürich — Łódź")
    return [made_run(name, 0.5 + place / 6) for place, name in enumerate(names)]


@pytest.fixture(scope="module")
def folder(runs, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    assert [path.name for path in write_report(runs, folder / "report.html")] == NAMES
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_scores_read_back_are_those_of_the_evaluations(folder, runs):
    found = rows(folder / "report.csv")
    assert ",".join(found[0]) == "run,task,convention,average,measure,value,low,high,correct,predicted,gold"
    by = {(row["run"], row["task"], row["convention"], row["average"], row["measure"]): row for row in found}
    assert len(by) == len(found)
    for run in runs:
        for name in ("md", "md_linked", "ed", "el"):
            task = run.task(name)
            for measure in MEASURES:
                row = by[run.name, name, task.convention, "micro", measure]
                interval = getattr(task.micro.intervals, measure)
                assert float(row["value"]) == getattr(task.micro, measure)
                assert (float(row["low"]), float(row["high"])) == (interval.low, interval.high)
                assert [int(row[key]) for key in ("correct", "predicted", "gold")] == [
                    task.micro.correct,
                    task.micro.predicted,
                    task.micro.gold,
                ]
                macro = by[run.name, name, task.convention, "macro over domain", measure]
                assert float(macro["value"]) == getattr(task.macro, measure)
        required = by[run.name, "el", "strict, nil-required", "micro", "f1"]
        assert float(required["value"]) == run.conventions["strict, nil-required"]["el"].micro.f1
        assert float(by[run.name, "nil", "strict", "micro", "recall"]["value"]) == run.nil.recall
        assert float(by[run.name, "ranking", "strict", "micro", "recall@4"]["value"]) == run.ranking.recall_at[4]
        assert float(by[run.name, "ranking", "strict", "micro", "mrr"]["value"]) == run.ranking.mrr


def test_slices_and_blame_read_back(folder, runs):
    slices = rows(folder / "report-slices.csv")
    wanted = [(run.name, one.slice, one.value, one.el_recall) for run in runs for one in run.slices]
    assert [(row["run"], row["slice"], row["value"], float(row["el_recall"])) for row in slices] == wanted
    blame = rows(folder / "report-blame.csv")
    misses = {(row["run"], row["cause"]): int(row["count"]) for row in blame if row["kind"] == "miss"}
    assert misses == {(run.name, cause): count for run in runs for cause, count in run.blame.misses.items()}
    finals = [float(row["share"]) for row in blame if (row["kind"], row["stage"]) == ("ceiling", "final")]
    assert finals == [run.blame.ceilings.final for run in runs]
    assert sum(int(row["count"]) for row in blame if row["kind"] == "wrong") == sum(
        sum(run.blame.wrong.values()) for run in runs
    )


def test_differences_read_back(folder, runs):
    found = rows(folder / "report-differences.csv")
    assert len(found) == 2 * 4 * 3
    assert {row["a"] for row in found} == {runs[0].name}
    last = found[-1]
    assert (last["b"], last["task"], last["measure"]) == (runs[2].name, "el", "f1")
    assert float(last["difference"]) == pytest.approx(runs[2].el.micro.f1 - runs[0].el.micro.f1)
    assert (float(last["a_value"]), float(last["b_value"])) == (runs[0].el.micro.f1, runs[2].el.micro.f1)


def test_of_one_run_the_files_are_all_there(tmp_path):
    written = write_report([made_run(rounds=0)], tmp_path / "report.html")
    assert [path.name for path in written] == NAMES
    assert rows(tmp_path / "report-differences.csv") == []
    assert {row["low"] for row in rows(tmp_path / "report.csv")} == {""}


# LaTeX


def columns(row: str) -> int:
    """How many columns a row of a tabular takes."""
    cells = re.split(r"(?<!\\)&", row)
    return sum(int(match[1]) if (match := re.match(r"\s*\\multicolumn\{(\d+)\}", cell)) else 1 for cell in cells)


def is_balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def test_latex_tables_have_the_columns_they_declare(folder):
    text = (folder / "report.tex").read_text(encoding="utf8")
    found = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL)
    assert len(found) >= 10
    for kinds, body in found:
        lines = [line for line in body.splitlines() if line != r"\hline"]
        assert lines
        for line in lines:
            assert line.endswith(r" \\")
            assert columns(line.removesuffix(r"\\")) == len(kinds), line
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}")


def test_latex_is_balanced_and_its_special_characters_are_escaped(folder):
    text = (folder / "report.tex").read_text(encoding="utf8")
    assert is_balanced(text)
    assert r"R\&D \textless{}one\textgreater{}, ''two''" in text
    assert r"{[}x]{*}\_50\%\_\{a\}\textbackslash{}b\textasciicircum{}c\textasciitilde{}d\#\$" in text
    assert r"Z\"{u}rich \textemdash{} Ł\'{o}d\'{z}" in text
    assert r"\textbf{" in text
    assert r"$^\approx$" in text


@given(st.text())
def test_any_text_is_balanced_latex_of_one_cell(text):
    written = escaped(text)
    assert is_balanced(written)
    assert columns(written) == 1
    assert "\n" not in written
    assert not re.search(r"(?<!\\)[%#_&~^]", re.sub(r"\\[~^](?=\{)", "", written))


def test_wide_heads_are_numbered_and_long_tables_cut(tmp_path):
    base = made_run(count=10, rounds=0)
    many = [msgspec.structs.replace(base, name=f"a rather long name {number}") for number in range(9)]
    write_report(many, tmp_path / "report.html")
    text = (tmp_path / "report.tex").read_text(encoding="utf8")
    assert r"cause & stage & 1 & 2 & 3 & 4 & 5 & 6 & 7 & 8 & 9 \\" in text
    assert "Misses by cause. 1: a rather long name 0; 2: a rather long name 1;" in text
    assert r"\caption{All tasks, EL: mentions with the right entity}" in text


# files


def test_no_run_is_an_error(tmp_path):
    with pytest.raises(InputError, match="there are no runs"):
        write_report([], tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("report.pdf", "Name a file that ends in .html"),
        ("report", "Name a file that ends in .html"),
        ("none/report.html", "there is no folder"),
        ("folder.html", "this is a folder"),
        ("beside.html", "beside.tex: this is a folder"),
    ],
)
def test_where_no_report_can_go(tmp_path, name, told):
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "beside.tex").mkdir()
    with pytest.raises(InputError, match=told):
        write_report([made_run(count=3, rounds=0)], tmp_path / name)


@pytest.mark.parametrize("name", ["report.html", "report.csv", "report-blame.csv", "report.tex"])
def test_files_of_others_are_replaced_only_when_asked(tmp_path, name):
    run = made_run(count=3, rounds=0)
    (tmp_path / name).write_text("mine")
    with pytest.raises(ExistsError, match=f"{name} is there already"):
        write_report([run], tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    write_report([run], tmp_path / "report.html", replace=True)
    assert "mine" not in (tmp_path / name).read_text(encoding="utf8")


def test_a_report_is_replaced_by_the_next(tmp_path):
    first = made_run("first", count=3, rounds=0)
    write_report([first], tmp_path / "report.html")
    write_report([msgspec.structs.replace(first, name="second")], tmp_path / "report.html")
    assert {row["run"] for row in rows(tmp_path / "report.csv")} == {"second"}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


def test_what_cannot_be_finished_leaves_nothing(tmp_path, monkeypatch):
    run = made_run(count=3, rounds=0)
    write_report([run], tmp_path / "report.html")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    write = Path.write_bytes

    def fail(path: Path, content: bytes) -> int:
        if path.name.startswith("report.tex"):
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="No space left"):
        write_report([msgspec.structs.replace(run, name="other")], tmp_path / "report.html")
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        MissingExtraError, match=r"the report's plots needs an optional part: pip install 'entlink\[eval\]'"
    ):
        write_report([made_run(count=3, rounds=0)], tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_the_style_is_part_of_the_package():
    assert (Path(reporting.__file__).parent / "style.css").is_file()


def test_progress_is_told(tmp_path):
    told = []
    runs = [made_run(name, count=3) for name in "abc"]
    write_report(
        runs, tmp_path / "report.html", progress=lambda stage, done, total: told.append((stage, done, total))
    )
    assert told == [("comparing", 1, 3), ("comparing", 2, 3), ("drawing", 0, 0)]
