"""The command line: finds the command, runs it, and turns what went wrong into one line and an exit code.

A package of its own, so that `entlink --help` need not import the library, which takes five times as long. Only
what help needs is imported here; a command's module comes with the command.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from entlink_cli.catalogue import CATALOGUE, GROUPS
from entlink_cli.parsing import Command, Namespace, Parser, command_parser, group_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run `entlink` with these arguments, by default the process's own; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _never_fail_to_print()
        code = _exit_code(words)
        sys.stdout.flush()
        return code
    except (Exception, KeyboardInterrupt) as problem:
        from entlink_cli.failures import report

        return report(problem)


def _exit_code(words: list[str]) -> int:
    try:
        return _run(words)
    except SystemExit as stop:  # how argparse ends after --help, --version and usage errors
        return stop.code if isinstance(stop.code, int) else 1


def _run(words: list[str]) -> int:
    name = _command_name(words)
    if name is None:
        return _help(words)
    command = load_command(name)
    parser = command_parser(name, command)
    arguments = parser.parse(words[len(name.split()) :])
    arguments.parser, arguments.words = parser, words
    with _warnings_shown():
        return command.run(arguments) or 0


def _command_name(words: list[str]) -> str | None:
    """The command that the first words name, three of them at most."""
    for length in (3, 2, 1):
        name = " ".join(words[:length])
        if name in CATALOGUE:
            return name
    return None


def load_command(name: str) -> Command:
    """Import a command; its parser and its work are in the module that the catalogue names."""
    from importlib import import_module

    commands: dict[str, Command] = import_module(f"entlink_cli.{CATALOGUE[name].module}").COMMANDS
    return commands[name]


def _help(words: list[str]) -> int:
    """Without a command there is only help to give, or the reason why there is none."""
    group = words[0] if words[:1] and words[0] in GROUPS else ""
    parser = group_parser(group)
    rest = words[1:] if group else words
    if not rest:
        sys.stderr.write(parser.format_help())
        return 2
    if not rest[0].startswith("-"):
        _unknown(parser, group, rest[0])
    parser.parse_args(rest)
    return parser.error("a command is missing")


def _unknown(parser: Parser, group: str, word: str) -> None:
    from difflib import get_close_matches

    name = f"{group} {word}".strip()
    near = get_close_matches(name, [*CATALOGUE, *GROUPS], 1, 0.5)
    parser.error(f"there is no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _never_fail_to_print() -> None:
    """A terminal that cannot show a character gets its code, not a crash."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None and sys.stdout.errors == "strict":
        reconfigure(errors="backslashreplace")


@contextmanager
def _warnings_shown() -> Iterator[None]:
    """What the library logs as a warning is a line on stderr."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("entlink: warning: %(message)s"))
    logger = logging.getLogger("entlink")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


__all__ = ["Namespace", "load_command", "main"]
