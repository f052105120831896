"""`entlink kb types`: what is known of the types of entities, and saying more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, named, number_of, say, say_json

if TYPE_CHECKING:
    from entlink.kb.types.overview import Coverage, TypesOverview
    from entlink.kb.types.tables import TypesReport
    from entlink_cli.parsing import Namespace, Parser


def _configure(parser: Parser) -> None:
    options.kb_to_edit_argument(parser)
    given = parser.add_argument_group("say what is known of types, in place of what was there")
    given.add_argument(
        "--hierarchy", metavar="FILE", help="two columns, tab-separated or CSV: type, more general type"
    )
    given.add_argument(
        "--separator",
        metavar="SIGN",
        type=values.text,
        help="cut types into parts: with . the type A.b is a kind of A; beside --hierarchy or without it",
    )
    given.add_argument("--names", metavar="FILE", help="two columns: type, what it is called")
    given.add_argument(
        "--coarse",
        metavar="FILE",
        help="two columns: coarse type, a type whose kinds it is for; the first that fits holds, OTHER is the rest",
    )
    look = parser.add_argument_group("look")
    look.add_argument("--against", metavar="NEW.kb", help="how many of the entities that only NEW.kb has are covered")
    look.add_argument("--limit", metavar="N", type=values.whole, default=20, help="list so many types (default: 20)")
    options.as_json(parser)


def _types(arguments: Namespace) -> None:
    given = {name: getattr(arguments, name) for name in ("hierarchy", "separator", "names", "coarse")}
    if any(value is not None for value in given.values()):
        _set(arguments, given)
    else:
        _look(arguments)


def _set(arguments: Namespace, given: dict[str, str]) -> None:
    if arguments.against:
        arguments.parser.error("--against goes without --hierarchy, --separator, --names and --coarse")
    with options.kb_to_edit(arguments) as kb:
        report = kb.set_types(**given)
    if arguments.json:
        say_json(report)
    else:
        say(f"{arguments.kb}: {', '.join(_report_words(report))}")


def _report_words(report: TypesReport) -> list[str]:
    told = [
        (report.parents, "pair of type and parent", "pairs of type and parent"),
        (report.names, "name", "names"),
        (report.coarse, "coarse type", "coarse types"),
    ]
    return [number_of(count, one, several) for count, one, several in told if count is not None]


def _look(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.kb.types.overview import types_overview

    with KnowledgeBase.open(arguments.kb, names=False) as kb:
        if arguments.against is None:
            found = types_overview(kb, largest=arguments.limit)
        else:
            with KnowledgeBase.open(arguments.against, names=False) as new:
                found = types_overview(kb, new, largest=arguments.limit)
    if arguments.json:
        say_json(found)
    else:
        say(*_lines(found, arguments.limit, arguments.against))


def _lines(found: TypesOverview, limit: int, new: str | None) -> list[str]:
    if not found.type_count:
        lines = ["no entity has a type"]
    else:
        coarse = list(found.coarse.items())
        rest = [("(others)", sum(count for _, count in coarse[limit:])), ("(no type)", found.untyped)]
        rows = [(name, f"{count:,}") for name, count in [*coarse[:limit], *rest] if count]
        largest = [(named(one.name, one.type), f"{one.entities:,}") for one in found.largest]
        lines = ["coarse types:", *columns(rows, "  ")]
        lines += [f"{number_of(found.type_count, 'type')}, the largest:", *columns(largest, "  ")]
    fine = [(name, f"{count:,}") for name, count in found.fine.items()]
    lines += [f"{number_of(found.fine_count, 'fine type')}, the most frequent:", *columns(fine, "  ")] if fine else []
    return lines + ([] if found.coverage is None else [_covered(found.coverage, new)])


def _covered(coverage: Coverage, new: str | None) -> str:
    told = f"{coverage.covered:,} of {number_of(coverage.entities, 'entity', 'entities')} that only {new} has"
    return f"{told}: {coverage.share:.1%} have a fine type ({coverage.with_facts:,} have types or claims)"


COMMANDS = {
    "kb types": Command(
        _types,
        _configure,
        "Count coarse types, types, and fine types (the most frequent properties with their values). With a file, "
        "say which types are kinds of which, what they are called, or which coarse types there are.",
        (
            "entlink kb types shop.kb",
            "entlink kb types shop.kb --separator /",
            "entlink kb types shop.kb --against other.kb",
        ),
    ),
}
