"""Runs that a command is given: saved evaluations, or predictions that are scored now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from entlink_cli import scoring
from entlink_cli.terminal.output import note

if TYPE_CHECKING:
    from entlink.evaluation.results import Evaluation
    from entlink_cli.parsing import Namespace
    from entlink_cli.terminal.progress import Report


def load_runs(arguments: Namespace, paths: Sequence[str], command: str, report: Report) -> list[Evaluation]:
    """The evaluations of these files, by the options of scoring and --gold."""
    from entlink.evaluation.files import load_run

    chosen, kb = scoring.chosen_options(arguments), scoring.chosen_kb(arguments)
    try:
        found = [
            load_run(
                path,
                chosen,
                gold=arguments.gold,
                gold_format=arguments.gold_format,
                format=arguments.format,
                training=arguments.train,
                kb=kb,
                on_error=arguments.on_error,
                command=command,
                progress=report,
            )
            for path in paths
        ]
    finally:
        if kb is not None:
            kb.close()
    if (arguments.gold or arguments.kb or arguments.train) and all(one.command != command for one in found):
        note("all runs are saved evaluations: they were not scored again, by --gold, --kb or otherwise")
    return found
