"""Parsers of commands: argparse with help that ends in examples and errors of one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from entlink_cli.catalogue import ABOUT, CATALOGUE, EXIT_CODES, FIRST_STEPS, GROUPS

TYPE_CHECKING = False  # type checkers take it for true; importing typing for it would cost help a tenth of its time
if TYPE_CHECKING:
    from typing import NoReturn

Namespace = argparse.Namespace
_WIDEST = 100
# Each is an example of its command or a first step, so that it is run by the tests.
GROUP_EXAMPLES = {
    "kb": (
        "entlink kb build samples/products.csv -o shop.kb",
        "entlink kb info shop.kb",
    ),
    "datasets": (
        "entlink datasets list",
        "entlink datasets info conel-2",
        "entlink datasets check samples/article.gold.jsonl",
    ),
    "study": (
        "entlink study candidates wiki.kb samples/conversations.jsonl --config lexical",
        "entlink study unfamiliar-kb worlds.kb samples/worlds.gold.jsonl --system names=lexical",
    ),
    "models": (
        "entlink models pull minilm --dry-run",
        "entlink models list",
    ),
}


class Command:
    """A command: its work (None is exit code 0), its arguments, what help says, and examples that run."""

    def __init__(
        self,
        run: Callable[[Namespace], int | None],
        configure: Callable[[Parser], None],
        description: str,
        examples: tuple[str, ...],
    ) -> None:
        self.run, self.configure, self.description, self.examples = run, configure, description, examples


class Formatter(argparse.HelpFormatter):
    """Fills paragraphs, but leaves those that are indented as they are."""

    def __init__(self, prog: str) -> None:
        # Given a width, argparse does not import shutil, which takes longer than all the rest.
        super().__init__(prog, max_help_position=26, width=_terminal_width())

    def add_argument(self, action: argparse.Action) -> None:
        """Commands stand two further in than argparse counts on."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.split("\n\n")
        return "\n\n".join(
            part if "\n  " in part else super(Formatter, self)._fill_text(part, width, indent) for part in paragraphs
        )


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, prog: str, description: str, epilog: str) -> None:
        super().__init__(prog, description=description, epilog=epilog, formatter_class=Formatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"entlink: error: {message} (see `{self.prog} --help`)\n")

    def parse(self, words: Sequence[str]) -> Namespace:
        """Options may stand anywhere among the arguments; after `--` everything is an argument."""
        return self.parse_args(words) if "--" in words else self.parse_intermixed_args(words)


def command_parser(name: str, command: Command) -> Parser:
    """The parser of one command."""
    parser = Parser(f"entlink {name}", command.description, _examples(command.examples))
    command.configure(parser)
    return parser


def group_parser(group: str = "") -> Parser:
    """The parser of `entlink` itself, or of a group such as `kb`: it knows the commands but not their modules."""
    if group:
        prefix = f"{group} "
        own = {
            name.removeprefix(prefix): entry.summary for name, entry in CATALOGUE.items() if name.startswith(prefix)
        }
        epilog = _examples(GROUP_EXAMPLES[group])
        description = f"{GROUPS[group].capitalize()}."
    else:
        own = {name: entry.summary for name, entry in CATALOGUE.items() if " " not in name} | GROUPS
        codes = "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())
        epilog = f"Exit codes:\n{codes}\n\n{_examples(FIRST_STEPS)}"
        description = ABOUT
    parser = Parser(f"entlink {group}".strip(), description, epilog)
    if not group:
        parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    _list_commands(parser, own)
    return parser


class _ShowVersion(argparse.Action):
    """Imports the library, which holds the version, only when asked: `--help` must not wait for it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from entlink.version import __version__

        sys.stdout.write(f"entlink {__version__}\n")
        parser.exit()


def _list_commands(parser: Parser, own: dict[str, str]) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=argparse.ArgumentParser)
    for name, summary in own.items():
        commands.add_parser(name, help=summary, add_help=False)


def _examples(examples: Iterable[str]) -> str:
    return "\n  ".join(["Examples:", *examples])


def _terminal_width() -> int:
    try:
        columns = int(os.environ.get("COLUMNS", "0")) or os.get_terminal_size().columns
    except (ValueError, OSError):
        columns = 80
    return max(40, min(columns, _WIDEST)) - 2
