"""`entlink train entities`: a vector for each entity, learnt from what is linked together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import number_of, say
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink_cli.parsing import Namespace, Parser
    from entlink_cli.terminal.progress import Report


def _configure(parser: Parser) -> None:
    parser.add_argument("data", metavar="DATA", nargs="+", help="documents with gold, of any format entlink reads")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the file of the vectors")
    parser.add_argument("--format", metavar="F", help="format of the documents (default: told from their content)")
    parser.add_argument(
        "--dimension", metavar="N", type=values.whole, default=100, help="numbers of a vector (default: 100)"
    )
    parser.add_argument(
        "--window", metavar="N", type=values.whole, default=10, help="how many links apart is near (default: 10)"
    )
    parser.add_argument(
        "--min-count", metavar="N", type=values.whole, default=1, help="leave out entities rarer (default: 1)"
    )
    parser.add_argument(
        "--seed", metavar="N", type=values.weight, default=0, help="another seed, other vectors (default: 0)"
    )
    options.quiet(parser)


def _train(arguments: Namespace) -> None:
    from entlink.encoders.extras import require_retrieval

    require_retrieval("training vectors")
    from entlink.encoders.static.entities import write_entity_vectors
    from entlink.io.outputs import file_to_write

    file_to_write(arguments.output)
    with progress(quiet=arguments.quiet) as report:
        count = write_entity_vectors(
            _linked(arguments, report),
            arguments.output,
            dimension=arguments.dimension,
            window=arguments.window,
            min_count=arguments.min_count,
            seed=arguments.seed,
        )
    if not arguments.quiet:
        say(f"{arguments.output}: vectors of {number_of(count, 'entity', 'entities')}")


def _linked(arguments: Namespace, report: Report) -> Iterator[list[str]]:
    """The entities of each document, in the order of its text."""
    from entlink.evaluation.files import File

    for path in arguments.data:
        for number, document in enumerate(File(path, "gold", arguments.format)):
            if number % 1000 == 0:
                report("reading links", number, 0)
            gold = sorted(document.gold or (), key=lambda one: one.span.start)
            yield [one.entities[0] for one in gold if one.entities]


COMMANDS = {
    "train entities": Command(
        _train,
        _configure,
        "Learn a vector for each entity from documents with gold: entities are near that are linked near the same "
        "entities. No text is read, and no torch is needed. `entlink probe --entity-vectors` compares them with "
        "descriptions.",
        ("entlink train entities samples/conversations.jsonl samples/article.gold.jsonl -o entities.txt",),
    ),
}
