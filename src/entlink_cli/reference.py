"""`docs/cli.md`, made from the parsers: `python -m entlink_cli.reference > docs/cli.md`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from entlink_cli import load_command
from entlink_cli.catalogue import ABOUT, CATALOGUE, EXIT_CODES, FIRST_STEPS
from entlink_cli.parsing import command_parser


def reference() -> str:
    """The reference of all commands as Markdown."""
    return "\n".join([*_opening(), *(line for name in CATALOGUE for line in _section(name))])


def _opening() -> Iterator[str]:
    yield from ("# The command line", "", ABOUT, "")
    yield from ("```", *FIRST_STEPS, "```", "")
    yield from ("| command | what it does |", "|---|---|")
    for name, entry in CATALOGUE.items():
        yield f"| [`entlink {name}`](#entlink-{name.replace(' ', '-')}) | {entry.summary} |"
    yield from ("", "Options may stand anywhere after the command; after `--` everything is an argument.", "")
    yield (
        "The examples run one after the other in the folder of the project. `wiki.kb` is made as "
        "[the README](../README.md#names-with-counts-and-dates) shows."
    )
    yield from ("", "## Exit codes", "", "| code | meaning |", "|---|---|")
    yield from (f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    yield from (
        "",
        "An error is one line on stderr that begins with `entlink: error:`. With `ENTLINK_DEBUG=1` in the "
        "environment, the place in the program where it happened is shown too.",
        "",
    )


def _section(name: str) -> Iterator[str]:
    command = load_command(name)
    actions = [action for action in command_parser(name, command)._actions if action.dest != "help"]
    yield from (f"## entlink {name}", "", command.description, "")
    yield from ("```", f"entlink {name} {_usage(actions)}".rstrip(), "```", "")
    yield from ("| argument | meaning |", "|---|---|")
    for action in actions:
        yield f"| {_invocation(action)} | {_cell(action.help or '')} |"
    yield from ("", "```", *command.examples, "```", "")


def _usage(actions: list[argparse.Action]) -> str:
    places = [_positional(action) for action in actions if not action.option_strings]
    required = [
        f"{action.option_strings[0]} {_value(action)}"
        for action in actions
        if action.option_strings and action.required
    ]
    optional = any(action.option_strings and not action.required for action in actions)
    return " ".join([*places, *required, *(["[OPTIONS]"] if optional else [])])


def _positional(action: argparse.Action) -> str:
    name = str(action.metavar)
    return {"?": f"[{name}]", "+": f"{name}…"}.get(str(action.nargs), name)


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    return str(action.metavar or ("|".join(action.choices) if action.choices else action.dest.upper()))


def _invocation(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_positional(action)}`"
    return _cell(f"`{', '.join(action.option_strings)} {_value(action)}".rstrip() + "`")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
