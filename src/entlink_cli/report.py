"""`entlink report`: one page on one or several runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from entlink_cli import options, scoring, values
from entlink_cli.parsing import Command
from entlink_cli.runs import load_runs
from entlink_cli.terminal.output import number_of, say, size
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 1.0


def _configure(parser: Parser) -> None:
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="a saved evaluation (from evaluate -o), or predictions with --gold, or a file that holds gold and "
        "links; or results of probes (from probe -o), files or their folder",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT.html", required=True, help="the page to write; CSV and LaTeX go beside it"
    )
    parser.add_argument("--gold", metavar="GOLD", help="the gold, where RUN is predictions")
    parser.add_argument("--title", metavar="T", type=values.text, help="title of the page")
    parser.add_argument("--replace", action="store_true", help="write over files that are not of a report")
    scoring.configure(parser, predictions="RUN")
    options.quiet(parser)


def _report(arguments: Namespace) -> None:
    from entlink.evaluation.report import beside, check_target, write_report

    if _is_of_probes(arguments):
        return
    target = check_target(arguments.output, replace=arguments.replace)
    _check_inputs(arguments, [target, *beside(target)])
    command = shlex.join(["entlink", *arguments.words])
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        runs = load_runs(arguments, arguments.runs, command, report)
        written = write_report(
            runs, target, title=arguments.title, command=command, replace=arguments.replace, progress=report
        )
    if not arguments.quiet:
        page, *others = written
        say(f"{page}: {number_of(len(runs), 'run')}, {size(page.stat().st_size)}")
        say(f"  beside it {', '.join(one.name for one in others)}")


def _is_of_probes(arguments: Namespace) -> bool:
    """Write the page on results of probes, if that is what was given."""
    from entlink.evaluation.probes.results import read_results

    results = read_results(arguments.runs)
    if results is None:
        return False
    from entlink.evaluation.probes import write_probe_report
    from entlink.evaluation.report import check_target
    from entlink.studies.data import published_figures

    target = check_target(arguments.output, replace=arguments.replace)
    page, sheet = write_probe_report(
        results,
        target,
        title=arguments.title or "",
        command=shlex.join(["entlink", *arguments.words]),
        published=published_figures("enteval", ("3", "4", "5")),
    )
    if not arguments.quiet:
        say(f"{page}: {number_of(len(results), 'result')} of probes, {size(page.stat().st_size)}")
        say(f"  beside it {sheet.name}")
    return True


def _check_inputs(arguments: Namespace, targets: list[Path]) -> None:
    """No input is written over."""
    from entlink.errors import InputError

    given = {Path(path).resolve() for path in (*arguments.runs, arguments.gold) if path}
    for target in targets:
        if target.resolve() in given:
            raise InputError(f"{target}: the report would be written over a file it is made of. Name another")


COMMANDS = {
    "report": Command(
        _report,
        _configure,
        "Write one page on one or several runs: scores with intervals, differences between runs, slices, which stage "
        "lost what, and examples. It needs no network, can be printed and read on a phone; the numbers are beside it "
        "as CSV and LaTeX.",
        (
            "entlink report run.json -o report.html",
            "entlink report linked.jsonl fewer.jsonl --gold samples/conversations.jsonl --kb wiki.kb -o runs.html",
        ),
    ),
}
