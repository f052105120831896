"""What the commands of studies print and write alike: facts, tables, notes, files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.terminal.output import columns, number_of, say, write_bytes

if TYPE_CHECKING:
    from entlink.documents import Record
    from entlink.evaluation.report.table import Table
    from entlink.studies.data import Facts
    from entlink_cli.parsing import Namespace, Parser


def output_options(parser: Parser) -> None:
    """The options of every study for what it gives out."""
    parser.add_argument("--csv", metavar="FILE", help="write every figure to this file, a figure a line")
    options.as_json(parser, "print all that was measured as JSON")
    options.quiet(parser)


def systems_option(parser: Parser, otherwise: str) -> None:
    """The linkers to study; `otherwise` is the end of what is said of the default."""
    parser.add_argument(
        "--system",
        metavar="NAME=CONFIG",
        type=values.pair,
        action="append",
        default=[],
        help="study this linker: a TOML file, a saved linker, or one in the box; can be repeated (default: the one "
        f"beside the knowledge base, else zero-shot{otherwise}",
    )


def facts_told(facts: Facts) -> Iterator[str]:
    """What was measured with what."""
    from entlink.evaluation.scoring.conventions import GOLD_BY_TITLE, GOLD_BY_TITLE_MEANS

    files = ", ".join(f"{one.name} ({one.format})" for one in facts.files)
    entities = number_of(facts.entities, "entity", "entities")
    yield f"{facts.kb}: {entities}, built {facts.built}; entlink {facts.entlink}"
    yield f"data: {files}"
    if facts.match_gold == "title":
        yield f"{GOLD_BY_TITLE}: {GOLD_BY_TITLE_MEANS}"
    for name, identity in facts.encoders.items():
        yield f"encoder of {name}: {identity}"


def shown(tables: Iterable[Table]) -> Iterator[str]:
    """Tables as lines of text."""
    from entlink.evaluation.report.table import words

    for table in tables:
        rows: list[tuple[str, ...]] = [table.columns]
        for group in table.groups:
            if group.title:
                rows.append((f"[{len(rows)}]",))  # its place: a title must not widen the first column
            rows += [tuple(words(cell)[0] for cell in row) for row in group.rows]
        titles = iter([group.title for group in table.groups if group.title])
        yield from ("", table.title)
        for number, line in enumerate(columns(rows, "  ")):
            yield f"  {next(titles)}:" if line == f"  [{number}]" else line


def noted(notes: Iterable[str]) -> list[str]:
    """Notes as lines, below an empty one."""
    lines = [f"note: {one}" for one in notes]
    return ["", *lines] if lines else []


def check_targets(*names: str | None) -> None:
    """Where a file cannot be written is told before hours of work."""
    from entlink.io.outputs import file_to_write

    for name in names:
        if name:
            file_to_write(name)


def write_text(name: str, text: str) -> None:
    """Write a file, whole or not at all."""
    from entlink_cli.terminal.sink import sink

    with sink(name) as write:
        write(text.encode())


def tell(arguments: Namespace, study: Record, lines: list[str]) -> None:
    """Print what a study found: all of it as JSON, or these lines."""
    if arguments.json:
        import msgspec

        write_bytes(msgspec.json.format(msgspec.json.encode(study)) + b"\n")
    elif not arguments.quiet:
        say(*lines)
