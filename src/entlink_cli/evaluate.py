"""`entlink evaluate` and `entlink compare`: scores with their convention and interval, and tests between runs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from entlink_cli import options, scoring, values
from entlink_cli.parsing import Command
from entlink_cli.runs import load_runs
from entlink_cli.terminal.output import note, say, write_bytes
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0


def _configure_evaluate(parser: Parser) -> None:
    parser.add_argument("gold", metavar="GOLD", help="documents with gold, of any format that entlink reads")
    parser.add_argument(
        "predictions",
        metavar="PREDICTIONS",
        nargs="?",
        help="the same documents with predictions (default: GOLD holds both)",
    )
    parser.add_argument("-o", "--output", metavar="RUN.json", help="save the evaluation, for compare and report")
    options.as_json(parser, "print all that was measured as JSON")
    scoring.configure(parser)
    parser.add_argument(
        "--name", metavar="N", type=values.text, help="what to call the run (default: its file's name)"
    )
    options.quiet(parser)


def _evaluate(arguments: Namespace) -> None:
    from entlink.evaluation.files import evaluate_files
    from entlink.evaluation.results import encode_evaluation
    from entlink.io.outputs import file_to_write
    from entlink_cli.terminal.scores import summary
    from entlink_cli.terminal.sink import sink

    if arguments.output:
        file_to_write(arguments.output)
    kb = scoring.chosen_kb(arguments)
    try:
        with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
            found = evaluate_files(
                arguments.gold,
                arguments.predictions,
                scoring.chosen_options(arguments),
                gold_format=arguments.gold_format,
                format=arguments.format,
                training=arguments.train,
                kb=kb,
                on_error=arguments.on_error,
                name=arguments.name,
                command=shlex.join(["entlink", *arguments.words]),
                progress=report,
            )
    finally:
        if kb is not None:
            kb.close()
    data = encode_evaluation(found)
    if arguments.output:
        with sink(arguments.output) as write:
            write(data)
    if arguments.json:
        write_bytes(data)
    elif not arguments.quiet:
        say(*summary(found))
        if arguments.output:
            note(f"saved as {arguments.output}")


def _configure_compare(parser: Parser) -> None:
    parser.add_argument("a", metavar="A", help="a run: a saved evaluation, or predictions")
    parser.add_argument("b", metavar="B", help="another run over the same gold")
    parser.add_argument("--gold", metavar="GOLD", help="the gold, where A and B are predictions")
    options.as_json(parser)
    scoring.configure(parser, predictions="A and B")
    parser.add_argument(
        "--test-rounds", metavar="N", type=values.whole, default=10_000, help="rounds of the test (default: 10000)"
    )
    options.quiet(parser)


def _compare(arguments: Namespace) -> None:
    from entlink.evaluation.intervals.comparing import compare
    from entlink_cli.terminal.output import say_json
    from entlink_cli.terminal.scores import comparison

    command = shlex.join(["entlink", *arguments.words])
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        runs = load_runs(arguments, [arguments.a, arguments.b], command, report)
    found = compare(*runs, rounds=arguments.test_rounds, seed=arguments.seed, level=arguments.level, command=command)
    if arguments.json:
        import msgspec

        say_json(msgspec.to_builtins(found))
    else:
        say(*comparison(found))


COMMANDS = {
    "evaluate": Command(
        _evaluate,
        _configure_evaluate,
        "Score predictions against gold: mention detection (MD), the entities of each document or turn (ED) and "
        "links (EL), by a convention that is named, with bootstrap intervals over documents. Says which stage lost "
        "what. With --kb, identifiers on both sides are looked up first, and coverage is told.",
        (
            "entlink link wiki.kb samples/conversations.jsonl -o linked.jsonl --candidates",
            "entlink evaluate samples/conversations.jsonl linked.jsonl --kb wiki.kb -o run.json",
            "entlink evaluate samples/conversations.jsonl linked.jsonl --all-nil-rules --json",
        ),
    ),
    "compare": Command(
        _compare,
        _configure_compare,
        "Compare two runs over the same gold: the difference of each score, its interval, and a paired permutation "
        "test over documents.",
        (
            "entlink link wiki.kb samples/conversations.jsonl -o fewer.jsonl --candidates --min-score 0.5",
            "entlink compare linked.jsonl fewer.jsonl --gold samples/conversations.jsonl --kb wiki.kb",
        ),
    ),
}
