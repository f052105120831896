"""entlink's own JSON lines among the public formats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from entlink.documents import Document
from entlink.formats.documents.lines import encode_document, read_documents

read = read_documents


def write(documents: Iterable[Document], file: BinaryIO) -> None:
    """A line a document, with its gold and its links."""
    for document in documents:
        file.write(encode_document(document, candidates=True) + b"\n")


def looks_like(path: Path, head: bytes) -> bool:
    """Lines that begin a JSON object: what is wrong with them is for the reader to say."""
    return head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
