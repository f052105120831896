"""`entlink stages`: what a linker can be made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import options
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, say, say_json

if TYPE_CHECKING:
    from entlink_cli.parsing import Namespace


def _stages(arguments: Namespace) -> None:
    from entlink.linking.registry import BUILT_IN, names

    stages = {kind: names(kind) for kind in BUILT_IN}
    if arguments.json:
        say_json(stages)
    else:
        say(*columns([(kind, ", ".join(known)) for kind, known in stages.items()]))


COMMANDS = {
    "stages": Command(
        _stages,
        options.as_json,
        "List the stages a linker can be made of, those in the box and those of installed packages. "
        "A configuration file (`entlink link --config`) names them.",
        ("entlink stages", "entlink stages --json"),
    ),
}
