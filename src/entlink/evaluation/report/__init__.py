"""Reports: one page on one or several runs, with the numbers as CSV and LaTeX beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from entlink.errors import ExistsError, InputError
from entlink.evaluation.report.content import gather
from entlink.evaluation.report.latex import latex
from entlink.evaluation.report.page import GENERATOR, page
from entlink.evaluation.report.spreadsheets import spreadsheets
from entlink.evaluation.results import Evaluation
from entlink.io.atomic import put_in_place
from entlink.io.progress import Progress

_SUFFIXES = (".html", ".htm")
_BESIDE = (".csv", "-slices.csv", "-blame.csv", "-differences.csv", ".tex")


def write_report(
    evaluations: Sequence[Evaluation],
    path: str | Path,
    *,
    title: str | None = None,
    command: str = "",
    replace: bool = False,
    progress: Progress | None = None,
) -> list[Path]:
    """Write a page on the evaluations to `path`, CSV and LaTeX beside it; returns the files written, the page first.

    A report that is there already is replaced, any other file only with `replace`. Several runs are compared, each
    with the first.
    """
    target = check_target(path, replace=replace)
    if not evaluations:
        raise InputError("there are no runs to report on. Name a saved evaluation")
    report = gather(evaluations, title=title, command=command, progress=progress)
    if progress is not None:
        progress("drawing", 0, 0)
    written = {target: page(report, [one.name for one in beside(target)])}
    sheets = {f"{ending}.csv": sheet for ending, sheet in spreadsheets(report).items()} | {".tex": latex(report)}
    written |= {target.with_name(target.stem + ending): content for ending, content in sheets.items()}
    _write(written)
    return list(written)


def beside(path: Path) -> list[Path]:
    """The files that a report at `path` has beside it."""
    return [path.with_name(path.stem + ending) for ending in _BESIDE]


def check_target(path: str | Path, *, replace: bool = False) -> Path:
    """Where a report goes; an error where none can, before any work is done."""
    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{target}: the report is a page. Name a file that ends in .html")
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}. Make it first, or name another")
    for one in (target, *beside(target)):
        if one.is_dir():
            raise InputError(f"{one}: this is a folder. Name another file")
    if not replace and not _is_report(target):
        for one in (target, *beside(target)):
            if one.exists():
                raise ExistsError(
                    f"{one} is there already, and not of a report. --replace puts the report in its place"
                )
    return target


def _is_report(path: Path) -> bool:
    """Whether a page that we wrote is there."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return f'<meta name="generator" content="{GENERATOR}'.encode() in file.read(1000)


def _write(files: Mapping[Path, str]) -> None:
    """All files or none: each appears under its name when all of them are complete, the page last."""
    partials = {path: path.with_name(f"{path.name}.partial") for path in files}
    try:
        for path, content in files.items():
            partials[path].write_bytes(content.encode("utf-8", "replace"))
        for path in reversed(list(files)):
            put_in_place(partials[path], path)
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)
