"""`entlink kb index --vectors`: the index over the vectors of entities, told as it is made."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from entlink_cli.failures import is_interruption
from entlink_cli.terminal.output import note, number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entlink.interfaces import DualEncoder
    from entlink.kb.indexes.making import VectorsMade
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink_cli.parsing import Namespace, Parser


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
    parser.add_argument(
        "--pictures",
        dest="over_pictures",
        metavar="ENCODER",
        action="append",
        default=[],
        help="make the index over the pictures of entities too, with this encoder, such as efficientnet-lite0; can "
        "be repeated",
    )
    parser.add_argument(
        "--picture-folder",
        metavar="FOLDER",
        default="",
        help="where the files of the pictures are (default: the working directory)",
    )
    parser.add_argument("--fetch", action="store_true", help="fetch pictures that are addresses; else none is")


def encoders_of(arguments: Namespace) -> list[DualEncoder]:
    """The encoders of the indexes over vectors and pictures that are asked for."""
    from entlink.kb.indexes.making import load_encoders

    encoders = load_encoders(arguments.over_vectors)
    if not arguments.over_pictures:
        return encoders
    from entlink.encoders.images.dual import load_picture_dual
    from entlink.errors import InputError

    if arguments.picture_folder and not Path(arguments.picture_folder).is_dir():
        raise InputError(f"{arguments.picture_folder}: no such folder of pictures. Check the path")
    return encoders + [
        load_picture_dual(one, pictures=arguments.picture_folder, fetch=arguments.fetch)
        for one in arguments.over_pictures
    ]


@contextmanager
def telling_of_vectors(kb: KnowledgeBase, encoders: list[DualEncoder], *, quiet: bool) -> Iterator[None]:
    """Tell before that encoding takes long, and when it is interrupted that it can go on."""
    if not encoders:
        yield
        return
    from entlink.kb.indexes.vectors.writing import has_vectors

    for dual in encoders:
        if not quiet and not has_vectors(kb.folder, dual):
            note(f"every entity is encoded with {dual.name}, which takes long; interrupted, the same command goes on")
    try:
        yield
    except (KeyboardInterrupt, RuntimeError) as problem:
        if is_interruption(problem):
            note(f"{kb.folder} keeps the vectors that are done; the same command goes on from there")
        raise


def vectors_line(made: VectorsMade) -> str:
    return f"{number_of(made.rows, 'vector')} of {made.encoder} {'are up to date' if made.was_there else 'indexed'}"
