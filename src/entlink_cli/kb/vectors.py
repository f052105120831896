"""`entlink kb index --vectors`: the index over the vectors of entities, told as it is made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from entlink_cli.failures import is_interruption
from entlink_cli.terminal.output import note, number_of, say

if TYPE_CHECKING:
    from entlink.interfaces import DualEncoder
    from entlink_cli.parsing import Parser
    from entlink_cli.terminal.progress import Report


def vectors_option(parser: Parser) -> None:
    parser.add_argument(
        "--vectors",
        dest="over_vectors",
        metavar="ENCODER",
        action="append",
        default=[],
        help="make the index over vectors too, with this encoder (a name of `entlink models list`, or a folder); can "
        "be repeated",
    )


def load_encoders(names: list[str]) -> list[DualEncoder]:
    """The encoders of these names; done first, so that a name that is wrong is told before anything is made."""
    if not names:
        return []
    from entlink.encoders.dual import load_dual

    return [load_dual(name) for name in names]


def index_vectors(folder: Path, dual: DualEncoder, report: Report, *, quiet: bool) -> None:
    """Make the index, or tell that it is there."""
    from entlink.kb.indexes.vectors.writing import build_vectors, has_vectors

    there = has_vectors(folder, dual)
    if not there and not quiet:
        note(f"every entity is encoded with {dual.name}, which takes long; interrupted, the same command goes on")
    try:
        card = build_vectors(folder, dual, report)
    except (KeyboardInterrupt, RuntimeError) as problem:
        if is_interruption(problem):
            note(f"{folder} keeps the vectors that are done; the same command goes on from there")
        raise
    if not quiet:
        done = "are up to date" if there else "indexed"
        say(f"{folder}: {number_of(card.rows, 'vector')} of {dual.name} {done}")
