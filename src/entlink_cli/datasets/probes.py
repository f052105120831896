"""`entlink datasets build probes`: the probing tasks of EntEval, from their sources."""

from __future__ import annotations

from argparse import ArgumentTypeError
from time import monotonic
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.fields import given_fields
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.datasets.probes import ProbesReport
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0
_PROBLEMS_SHOWN = 5
# Those of `entlink.datasets.probes.TASKS`, which help must not wait for.
_BUILT = (
    *("cap-same", "cap-next", "cap-links-same", "cap-links-next", "cap-links-across", "cerp", "efp"),
    *("et", "et-links", "esr-kore", "esr-wikisrs-similarity", "esr-wikisrs-relatedness", "ert", "ert-claims"),
    *("ned-conll-yago", "ned-links", "rare", "rare-links"),
)
_PUBLISHED = (
    *("enteval-cap-same", "enteval-cap-next", "enteval-cerp", "enteval-efp", "enteval-et", "enteval-ert"),
    *("enteval-kore", "enteval-wikisrs-similarity", "enteval-wikisrs-relatedness", "enteval-rare"),
    "enteval-conll-yago",
)
TASKS = (*_BUILT, *_PUBLISHED)


def sizes(value: str) -> tuple[int, int, int]:
    """TRAIN,VALID,TEST: three whole numbers from 1 on."""
    found = tuple(values.whole(part.strip()) for part in value.split(","))
    if len(found) != 3:
        raise ArgumentTypeError(f"{value!r} is not three numbers such as 1000,200,200")
    return found


def _configure(parser: Parser) -> None:
    parser.add_argument("task", metavar="TASK", choices=TASKS, help=f"what to build: {', '.join(TASKS)}")
    parser.add_argument(
        "sources", metavar="SOURCE", nargs="*", help="its files, plain or compressed; of enteval-… its folder"
    )
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to make")
    parser.add_argument("--kb", metavar="NAME.kb", help="describe entities as this knowledge base does")
    parser.add_argument(
        "--vectors", metavar="FILE", help="vectors of words, such as GloVe's, which say how alike two names are"
    )
    parser.add_argument("--name", metavar="NAME", type=values.text, default="", help="what to call it in its card")
    parser.add_argument(
        "--sizes",
        metavar="TRAIN,VALID,TEST",
        type=sizes,
        help="rows of each split at most, of ert of each relation (default: those of the paper)",
    )
    parser.add_argument(
        "--seed", metavar="S", type=values.any_whole, default=0, help="what chance depends on (default: 0)"
    )
    parser.add_argument(
        "--tokens", metavar="N", type=values.whole, default=100, help="words of a description (default: 100)"
    )
    _configure_choice(parser)
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a bad record: stop (default), or leave it out and tell at the end",
    )
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")
    options.quiet(parser)
    options.as_json(parser, "print the report as JSON")


def _configure_choice(parser: Parser) -> None:
    """What of the sources is taken."""
    parser.add_argument(
        "--candidates",
        metavar="N",
        type=values.whole,
        default=30,
        help="of ned: candidates of a mention at most (default: 30; Table 1 of the paper says up to 80)",
    )
    parser.add_argument("--ambiguous", action="store_true", help="of ned: only mentions with two candidates or more")
    parser.add_argument(
        "--rare",
        metavar="N",
        type=values.weight,
        default=0,
        help="of rare-links: only entities that are mentioned N times at most (default: 0, all)",
    )
    parser.add_argument(
        "--templates", metavar="FILE", help="of cerp: a TOML file of sentences (default: the one in the box)"
    )
    parser.add_argument(
        "--entity-types",
        metavar="PIPELINE",
        help="of cerp: leave out dates, numbers and what is no entity, as this pipeline of spaCy says",
    )
    parser.add_argument(
        "--relation",
        metavar="NAME",
        dest="relations",
        action="append",
        default=[],
        type=values.text,
        help="of cerp and ert: only this relation; can be repeated",
    )


def _build(arguments: Namespace) -> None:
    from entlink.datasets.probes import ProbeOptions, build_probes

    given = given_fields(arguments, ProbeOptions) | {"relations": tuple(arguments.relations)}
    started = monotonic()
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        made = build_probes(
            arguments.task,
            arguments.sources,
            arguments.output,
            ProbeOptions(**given),
            kb=arguments.kb,
            vectors=arguments.vectors,
            name=arguments.name,
            replace=arguments.replace,
            progress=report,
            on_coverage=None if arguments.quiet or arguments.json else _say_coverage,
        )
    if made.lacks_most:
        note(
            f"the knowledge base describes few of these entities ({made.coverage:.0%} of the rows): "
            "give a larger one, or take scores on it for what they are"
        )
    _summarise(arguments, made, monotonic() - started)


def _say_coverage(covered: int, of: int) -> None:
    share = f" ({covered / of:.0%})" if of else ""
    say(f"covered: {covered:,} of {number_of(of, 'row')}{share}")


def _summarise(arguments: Namespace, made: ProbesReport, seconds: float) -> None:
    if arguments.json:
        say_json(made)
    elif not arguments.quiet:
        say(f"{arguments.output} built in {seconds:.1f} s", *_facts(made))


def _facts(made: ProbesReport) -> list[str]:
    rows = [("task", f"{made.card.name}: {made.card.title}")]
    rows += [(split, number_of(size, "row")) for split, size in made.card.sizes.items()]
    rows += [("left out", f"{what}: {count:,}") for what, count in made.left_out.items()]
    rows += [("note", f"{what}: {count:,}") for what, count in made.facts.items()]
    if made.skipped:
        rows.append(("skipped", number_of(made.skipped, "record")))
    lines = columns(rows, "  ")
    lines += [f"    {problem}" for problem in made.problems[:_PROBLEMS_SHOWN]]
    return lines + (["    …"] if len(made.problems) > _PROBLEMS_SHOWN else [])


COMMANDS = {
    "datasets build probes": Command(
        _build,
        _configure,
        "Build a probing task of EntEval from its source, for `entlink probe`: a folder with a card, task.toml, and "
        "the rows of train, valid and test. How many rows a knowledge base describes is said first. "
        "docs/probe-tasks.md says what each task is built of.",
        (
            "entlink datasets build probes efp samples/probe-sources/claims.jsonl -o efp",
            "entlink datasets build probes cerp samples/probe-sources/relations.tsv "
            "--vectors samples/probe-sources/vectors.txt -o cerp",
            "entlink datasets build probes et-links links.jsonl --kb wiki.kb -o typing",
        ),
    ),
}
