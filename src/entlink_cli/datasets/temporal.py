"""`entlink datasets build temporal`: mentions of a wiki's entities over time, from its full history."""

from __future__ import annotations

import shlex
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from entlink_cli import options, values
from entlink_cli.datasets.build import building
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, number_of, say, say_json

if TYPE_CHECKING:
    from entlink.datasets.temporal.card import Addition, TemporalReport
    from entlink_cli.parsing import Namespace, Parser

_PROBLEMS_SHOWN = 5
# Those of `entlink.datasets.temporal.options.preset_names`, which help must not wait for.
PRESETS = ("tempel", "tempel-small")


def _configure(parser: Parser) -> None:
    parser.add_argument(
        "sources",
        metavar="HISTORY",
        nargs="+",
        help="dumps pages-meta-history; the table page_props beside them gives items of Wikidata",
    )
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to make")
    parser.add_argument(
        "--config",
        metavar="CONFIG",
        default=PRESETS[0],
        help=f"the settings: {' or '.join(PRESETS)}, or a TOML file (default: {PRESETS[0]}, the published ones)",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=values.pair,
        help="change a setting, such as max_men_prior=1.0; can be repeated",
    )
    dates = "dates such as 2013-01-01,2014-01-01, or START/END/INTERVAL such as 2013-01-01/2022-01-01/yearly"
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--snapshots", metavar="DATES", help=f"{dates} (default: those of the settings)")
    some.add_argument(
        "--add-snapshots", metavar="DATES", help="add snapshots to the dataset that is there, with its settings"
    )
    parser.add_argument(
        "--tokenizer",
        metavar="DIR",
        help="a folder with tokenizer.json or vocab.txt: write texts as word pieces, too, and count these",
    )
    parser.add_argument("--seed", metavar="S", type=values.any_whole, help="what chance depends on (default: 0)")
    parser.add_argument("--language", metavar="L", help="the language of the wiki, where it does not tell")
    parser.add_argument(
        "--on-error", choices=("stop", "skip"), default="stop", help="at a bad page: stop (default), or leave it out"
    )
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")
    options.machine(parser)
    options.quiet(parser)
    options.as_json(parser, "print the card as JSON")
    options.wiki(parser)
    options.engine(parser)


def _build(arguments: Namespace) -> None:
    from entlink.datasets.temporal.build import Reading, build_temporal, extend_temporal

    _check(arguments)
    reading = Reading(
        arguments.language,
        arguments.on_error,
        options.wiki_options(arguments),
        arguments.processes,
        arguments.memory,
    )
    command = shlex.join(["entlink", *arguments.words])
    started = monotonic()
    with building(arguments) as (report, engine):
        if arguments.add_snapshots is not None:
            made = extend_temporal(
                arguments.sources,
                arguments.output,
                arguments.add_snapshots,
                reading,
                command=command,
                progress=report,
                engine=engine,
            )
        else:
            made = build_temporal(
                arguments.sources,
                arguments.output,
                _chosen(arguments),
                reading,
                replace=arguments.replace,
                command=command,
                progress=report,
                engine=engine,
            )
    _summarise(arguments, made, monotonic() - started)


def _check(arguments: Namespace) -> None:
    if arguments.add_snapshots is None:
        return
    given = {"--set": arguments.set, "--seed": arguments.seed, "--tokenizer": arguments.tokenizer}
    given |= {"--replace": arguments.replace, "--config": arguments.config != PRESETS[0]}
    for name, value in given.items():
        if value not in (None, False, []):
            arguments.parser.error(f"{name} does not go with --add-snapshots: a dataset keeps its settings")


def _chosen(arguments: Namespace) -> Any:
    from entlink.datasets.temporal.options import read_temporal_options

    settings: dict[str, Any] = dict(arguments.set)
    for name in ("snapshots", "seed", "tokenizer"):
        if getattr(arguments, name) is not None:
            settings[name] = getattr(arguments, name)
    return read_temporal_options(arguments.config, settings)


def _summarise(arguments: Namespace, made: TemporalReport, seconds: float) -> None:
    if arguments.json:
        say_json(made)
    elif not arguments.quiet:
        say(f"{arguments.output} built in {seconds:.1f} s", *_facts(made))
        first = Path(arguments.output) / made.snapshots[0][:10] / "test.jsonl"
        say("", "Look at:", f"  {Path(arguments.output) / 'DATASHEET.md'}", f"  {first}")


def _facts(made: TemporalReport) -> list[str]:
    addition = made.additions[-1]
    new = [one for one in made.contents if one.date in addition.snapshots]
    read = f"{number_of(sum(one.links for one in new), 'link')} of {number_of(len(new), 'snapshot')}"
    rows = [("read", read)]
    rows += [("filter", f"{step.name}: {_removed(step.before, step.left)}") for step in addition.filters]
    for one in new:
        told = [
            f"{sum(of_subsets.values()):,} of {one.entities[category]:,} {category}"
            for category, of_subsets in one.rows.items()
        ]
        rows.append((one.date[:10], f"{', '.join(told)} entities, pool {one.pool:,}"))
    rows += _lacks(addition)
    lines = columns(rows, "  ")
    lines += [f"    {problem}" for problem in addition.problems[:_PROBLEMS_SHOWN]]
    return lines + (["    …"] if len(addition.problems) > _PROBLEMS_SHOWN else [])


def _removed(before: list[int], left: list[int]) -> str:
    share = 1 - sum(left) / sum(before) if sum(before) else 0.0
    return f"{share:.1%} of {sum(before):,} removed"


def _lacks(addition: Addition) -> list[tuple[str, str]]:
    rows = []
    if addition.missing:
        gone = len({one.target_page_id for one in addition.missing})
        told = number_of(gone, "continual entity of before", "continual entities of before")
        rows.append(("missing", f"{told} (listed in card.json)"))
    rows += [("fewer", f"{name}: {there:,} of {wanted:,}") for name, (there, wanted) in addition.fewer.items()]
    if addition.skipped:
        rows.append(("left out", number_of(addition.skipped, "bad page")))
    return rows


COMMANDS = {
    "datasets build temporal": Command(
        _build,
        _configure,
        "Make a dataset of mentions over time from a wiki's full history, as TempEL was made: for each snapshot rows "
        "of train, validation and test with the text around a mention and its target, and the pool of all entities "
        "of that date. DATASHEET.md tells what each filter removed. A build that was interrupted goes on where it "
        "stopped when the same command is run again.",
        (
            "entlink datasets build temporal samples/history/aurora.xml -o aurora --config tempel-small "
            "--snapshots 2013-01-01,2014-01-01",
            "entlink datasets build temporal samples/history/aurora.xml -o aurora --add-snapshots 2015-01-01",
        ),
    ),
}
