"""What was measured: what the runs have in common, and each run's own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from entlink.evaluation.report.elements import folded, note, table_element, terms
from entlink.evaluation.report.markup import Html, joined, tag
from entlink.evaluation.report.runs import Run, level_of
from entlink.evaluation.report.table import Group, Row, Table, without_empty
from entlink.evaluation.results import Evaluation


def facts(runs: Sequence[Run], command: str) -> Html:
    """Facts of all runs, a table of the runs, and the commands that made them."""
    return joined(
        (terms(_common(runs)), note(_how_intervals(runs)), table_element(_files(runs)), _commands(runs, command))
    )


def _common(runs: Sequence[Run]) -> dict[str, str]:
    wanted: dict[str, Callable[[Evaluation], str]] = {
        "gold": lambda one: f"{one.gold.name}, format {one.gold.format}" if one.gold else "not from a file",
        "its SHA-256": lambda one: one.gold.sha256 if one.gold else "",
        "documents": lambda one: f"{one.documents:,}",
        "gold mentions": lambda one: _mentions(one.md.micro.gold, one.md_linked.micro.gold),
        "convention": _convention,
        "entlink": lambda one: one.version,
    }
    found = {name: dict.fromkeys(of(run.evaluation) for run in runs) for name, of in wanted.items()}
    return {name: "; ".join(filter(None, values)) for name, values in found.items() if any(values)}


def _convention(evaluation: Evaluation) -> str:
    rule = evaluation.convention
    chosen = f" ({rule.chosen})" if rule.chosen else ""
    return f"{rule.name}{chosen}: {rule.description.rstrip('.')}"


def _mentions(all: int, linked: int) -> str:
    return f"{all:,}, all with an entity" if all == linked else f"{all:,}, {linked:,} of them with an entity"


def _how_intervals(runs: Sequence[Run]) -> str:
    level = level_of(runs)
    if not level:
        return "There are no intervals: the runs were evaluated without resampling."
    rounds = sorted({run.evaluation.settings.get("rounds", 0) for run in runs})
    drawn = " or ".join(f"{one:,}" for one in rounds if one)
    return f"Below each score stands its {level} interval: a bootstrap over documents, {drawn} resamples."


def _files(runs: Sequence[Run]) -> Table:
    rows: list[Row] = []
    for run in runs:
        file = run.evaluation.predictions
        about = (file.name, file.format, file.sha256[:12] or None, file.skipped) if file else (None, None, None, None)
        rows.append((run.name, *about, run.evaluation.el.micro.predicted))
    columns = ("run", "predictions", "format", "SHA-256", "records left out", "links that count")
    return without_empty(Table("runs", "Runs", columns, [Group("", rows)]))


def _commands(runs: Sequence[Run], command: str) -> Html:
    lines = [run.evaluation.command for run in runs if run.evaluation.command]
    shown = list(dict.fromkeys([*lines, *([command] if command else [])]))
    if not shown:
        return Html("")
    return folded("The commands that made this", tag("pre", tag("code", "\n".join(shown))))
