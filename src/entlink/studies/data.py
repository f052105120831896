"""The documents of a study, read anew in each pass, and the facts that a figure must name to mean something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from entlink.documents import Document, GoldLink, Mention, Record
from entlink.errors import InputError, SourceError
from entlink.evaluation.files import File
from entlink.evaluation.identities import Identities
from entlink.evaluation.published import PublishedFigure, read_table
from entlink.evaluation.results import FileFacts
from entlink.evaluation.scoring.conventions import GoldMatch
from entlink.evaluation.scoring.items import surface_of, within_bounds
from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase


class Facts(Record, frozen=True, omit_defaults=False):
    """What was measured with what: the knowledge base, when it was built, the files, the encoders' identities.

    `match_gold` says how gold was looked up in the knowledge base.
    """

    kb: str
    entities: int
    built: str
    entlink: str
    files: list[FileFacts]
    encoders: dict[str, str]
    match_gold: GoldMatch = GoldMatch.IDENTIFIER


class Read(NamedTuple):
    """A document and the file it stands in."""

    document: Document
    path: Path


class StudyData:
    """Documents with gold from one or several files; the gold is under the ids of the knowledge base.

    `limit` takes the first documents only.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        identities: Identities,
        *,
        format: str | None = None,
        limit: int | None = None,
    ) -> None:
        self.files = [File(path, "gold", format) for path in paths]
        self.identities, self.limit = identities, limit

    def __iter__(self) -> Iterator[Read]:
        number = 0
        for file in self.files:
            for document in file:
                if number == self.limit:
                    return
                number += 1
                if document.meta.get("lacks"):
                    hint = "A study needs texts and places: take a format that has both"
                    raise SourceError(
                        f"gold of the format {file.format.name} has no offsets", str(file.path), hint=hint
                    )
                yield Read(self.identities.gold(within_bounds(document)), file.path)

    def facts(self, kb: KnowledgeBase, encoders: dict[str, str]) -> Facts:
        """To be asked for after a pass, so that bad files have been told."""
        files = [file.facts() for file in self.files]
        match_gold = self.identities.match_gold
        return Facts(kb.folder.name, len(kb), kb.manifest().built, __version__, files, encoders, match_gold)


def check_kb(kb: KnowledgeBase) -> None:
    """A knowledge base without entities can be right about nothing."""
    if not len(kb):
        raise InputError(f"{kb.folder}: the knowledge base is empty. Build it from a source with entities")


def no_gold(files: Sequence[File]) -> InputError:
    """The error of data that has nothing to compare with."""
    names = ", ".join(str(file.path) for file in files)
    return InputError(f"{names}: no document has gold links. Check that these are the files with the gold")


def gold_mention(document: Document, gold: GoldLink) -> Mention:
    """The span of a gold link as a linker is given it."""
    return Mention(gold.span, surface_of(document, gold))


NOT_THERE = (
    "the published figures are not there: they are in the folder reproductions/published of the source, which an "
    "installed package does not have"
)


def published_folder() -> Path | None:
    """The folder of published figures, if this is the source."""
    folder = Path(__file__).resolve().parents[3] / "reproductions" / "published"
    return folder if folder.is_dir() else None


def published_figures(paper: str, tables: tuple[str, ...], folder: Path | None = None) -> tuple[PublishedFigure, ...]:
    """The figures of some tables of a paper, by number, or `text` for its running text; none where none are there."""
    folder = folder or published_folder()
    if folder is None:
        return ()
    paths = [folder / paper / (f"table-{table}.toml" if table.isdigit() else f"{table}.toml") for table in tables]
    return tuple(figure for path in paths if path.exists() for figure in read_table(path).figures())
