"""What surfaces are linked to, learnt from documents with gold: what `entlink train names` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.errors import InputError
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.names.taught_names import TaughtNames, teach, write_taught
from entlink.learning.gold_files import GoldFiles
from entlink.text.dates import now

if TYPE_CHECKING:
    from entlink.documents import Document
    from entlink.kb.knowledge_base import KnowledgeBase


def train_names(
    kb: KnowledgeBase,
    data: Sequence[str | Path],
    output: str | Path,
    *,
    format: str | None = None,
    command: str = "",
    progress: Progress = ignore_progress,
) -> TaughtNames:
    """Write the names that the gold of files teaches to a file, for the retriever `taught`."""
    files = GoldFiles(data, format)

    def documents() -> Iterator[Document]:
        for number, document in enumerate(files):
            progress("reading documents", number, 0)
            yield document

    taught = teach(kb, documents(), command=command, made=now())
    if taught.unknown == taught.mentions:
        mentions = f"{taught.mentions:,} gold mention{'' if taught.mentions == 1 else 's'}"
        raise InputError(
            f"none of {mentions} leads to an entity of {kb.folder}: there is nothing to learn. "
            "Check that the gold names entities as the knowledge base does"
        )
    taught = msgspec.structs.replace(taught, data=files.facts())
    write_taught(Path(output), taught)
    return taught
