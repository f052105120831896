"""`entlink stages`: what a linker can be made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import options
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, say, say_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from entlink.linking.declarations import Setting
    from entlink_cli.parsing import Namespace, Parser


def _arguments(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="only stages of this name, with all they declare")
    options.as_json(parser)


def _stages(arguments: Namespace) -> None:
    from entlink.linking.registry import BUILT_IN, names

    stages = {kind: names(kind) for kind in BUILT_IN}
    if arguments.name is not None:
        _declared(arguments.name, stages, as_json=arguments.json)
    elif arguments.json:
        say_json(stages)
    else:
        say(*columns([(kind, ", ".join(known)) for kind, known in stages.items()]))


def _declared(name: str, stages: Mapping[str, Sequence[str]], *, as_json: bool) -> None:
    """What each stage of a name declares: it is for what, needs what, has which settings and gives which numbers."""
    import msgspec

    from entlink.errors import ConfigError
    from entlink.linking.declarations import declaration
    from entlink.text.nearest import did_you_mean

    found = [declaration(kind, name) for kind, known in stages.items() if name in known]
    if not found:
        every = sorted({one for known in stages.values() for one in known})
        raise ConfigError(f"no stage named {name!r}{did_you_mean(name, every)}")
    if as_json:
        say_json([msgspec.to_builtins(one, enc_hook=repr) for one in found])
        return
    for one in found:
        rows = [(one.kind, one.summary), ("needs", one.needs), ("gives", ", ".join(one.gives))]
        rows += [(own.name, f"{own.type}, {_default(own)}") for own in one.settings]
        say(*columns([row for row in rows if row[1]]))


def _default(setting: Setting) -> str:
    return "to be given" if setting.required else f"default {setting.default!r}"


COMMANDS = {
    "stages": Command(
        _stages,
        _arguments,
        "List the stages a linker can be made of, those in the box and those of installed packages. "
        "A configuration file (`entlink link --config`) names them. With a name, what that stage needs and gives.",
        ("entlink stages", "entlink stages dense", "entlink stages --json"),
    ),
}
