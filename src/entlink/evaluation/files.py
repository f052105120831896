"""Evaluations from files: gold and predictions of any public format, or a file that holds both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.documents import Document
from entlink.errors import SourceError
from entlink.evaluation.results import Evaluation, FileFacts, is_evaluation, read_evaluation
from entlink.evaluation.runner import EvaluationOptions, evaluate
from entlink.formats.documents.captioned import beside
from entlink.formats.public.catalogue import PublicFormat, Role, public_format, tell_format
from entlink.io.checksums import checksum
from entlink.io.inputs import open_input
from entlink.io.ledger import OnError
from entlink.io.progress import Progress

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase


class File:
    """A file of documents in a role, read anew at each iteration."""

    def __init__(self, path: str | Path, role: Role, format: str | None = None, on_error: OnError = "stop") -> None:
        self.path, self.role, self._on_error = Path(path), role, on_error
        if _is_saved(self.path):
            hint = "`entlink compare` and `entlink report` take those; here documents are wanted"
            raise SourceError("this is a saved evaluation", str(path), hint=hint)
        self.format: PublicFormat = public_format(format) if format else tell_format(self.path)
        self.problems: list[str] = []

    def __iter__(self) -> Iterator[Document]:
        self.problems = []
        count = 0
        for document in self.format.read_as(
            self.role, self.path, on_error=self._on_error, on_problem=lambda error: self.problems.append(str(error))
        ):
            count += 1
            yield beside(document, self.path.parent)
        if not count:
            raise SourceError("the file holds no documents", str(self.path), hint="Check how it was made")

    def facts(self, *, of_gold: bool = False) -> FileFacts:
        """Its name, format and checksum; of a folder there is no checksum.

        `of_gold` takes the checksum of texts and gold alone: files with other links beside them are of one gold.
        """
        digest = "" if self.path.is_dir() else self._gold_checksum() if of_gold else checksum(self.path)
        return FileFacts(self.path.name, self.format.name, digest, len(self.problems))

    def _gold_checksum(self) -> str:
        digest = sha256()
        for document in self:
            digest.update(msgspec.msgpack.encode((document.id, document.text, document.gold)))
        return digest.hexdigest()


def evaluate_files(
    gold: str | Path,
    predictions: str | Path | None = None,
    options: EvaluationOptions | None = None,
    *,
    gold_format: str | None = None,
    format: str | None = None,
    training: str | Path | None = None,
    kb: KnowledgeBase | None = None,
    on_error: OnError = "stop",
    name: str | None = None,
    command: str = "",
    progress: Progress | None = None,
) -> Evaluation:
    """Score a file of predictions against a file of gold; without `predictions`, one file holds both.

    A list of links does not name documents without any: there, what only the other side has is a document without.
    """
    wanted = File(gold, "gold", gold_format, on_error)
    given = _predictions(wanted, predictions, format, on_error)
    found = evaluate(
        wanted,
        given,
        options,
        lists=(wanted.format.lists, given.format.lists),
        kb=kb,
        training=None if training is None else _again(File(training, "gold")),
        name=name or run_name(given.path),
        progress=progress,
    )
    skipped = [
        f"{len(file.problems)} records of {file.path.name} are bad and left out"
        for file in (wanted, given)
        if file.problems
    ]
    return msgspec.structs.replace(
        found,
        gold=wanted.facts(of_gold=predictions is None),
        predictions=given.facts(),
        command=command,
        notes=[*skipped, *found.notes],
    )


def _predictions(gold: File, path: str | Path | None, format: str | None, on_error: OnError) -> File:
    if path is None:
        if gold.format.holds != "both":
            what, other = ("gold", "PREDICTIONS") if gold.format.holds == "gold" else ("links", "--gold")
            hint = f"Name the other side, too ({other}): a file against itself is always right"
            raise SourceError(f"a file of the format {gold.format.name} holds only {what}", str(gold.path), hint=hint)
        return File(gold.path, "links", format or gold.format.name, on_error)
    return File(path, "links", format, on_error)


def _again(file: File) -> Callable[[], Iterable[Document]]:
    return lambda: file


def run_name(path: Path) -> str:
    """A file's name without what its formats add to it."""
    name = path.name
    while Path(name).suffix.lower() in (".gz", ".bz2", ".xz", ".json", ".jsonl", ".tsv", ".ttl", ".txt"):
        name = Path(name).stem
    return name or path.name


def _is_saved(path: str | Path) -> bool:
    if Path(path).is_dir():
        return False
    with open_input(path) as file:
        return is_evaluation(file.read(200))


def load_run(
    path: str | Path,
    options: EvaluationOptions | None = None,
    *,
    gold: str | Path | None = None,
    gold_format: str | None = None,
    format: str | None = None,
    training: str | Path | None = None,
    kb: KnowledgeBase | None = None,
    on_error: OnError = "stop",
    command: str = "",
    progress: Progress | None = None,
) -> Evaluation:
    """A saved evaluation; or predictions, evaluated now against `gold` or the gold in the same file."""
    if _is_saved(path):
        return read_evaluation(path)
    wanted, given = (path, None) if gold is None else (gold, path)
    return evaluate_files(
        wanted,
        given,
        options,
        gold_format=gold_format if gold is not None else format,
        format=format,
        training=training,
        kb=kb,
        on_error=on_error,
        command=command,
        progress=progress,
    )
