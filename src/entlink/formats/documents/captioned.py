"""A folder of pictures with their captions: NAME.jpg beside NAME.txt is a document, its text the caption."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from entlink.documents import Document, Image
from entlink.errors import InputError, SourceError
from entlink.io.inputs import OnProblem, failing, input_text
from entlink.io.ledger import OnError

PICTURES = frozenset((".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff"))


def captioned_pictures(
    folder: Path, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> Iterator[Document]:
    """The captioned pictures of a folder, by name; a picture without a caption is a bad document."""
    fail = failing(on_error, on_problem)
    names = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in PICTURES)
    if not names:
        raise InputError(f"{folder}: no picture is in this folder. Give one with NAME.jpg beside NAME.txt, or a file")
    for name in names:
        path, written = folder / name, (folder / name).with_suffix(".txt")
        if not written.is_file():
            fail(InputError(f"{path}: it has no caption. Write it to {written.name}"))
            continue
        try:
            caption = input_text(written).rstrip("\n")
        except SourceError as problem:
            fail(problem)
            continue
        yield Document(name, caption, images=(Image(str(path)),))


def beside(document: Document, folder: Path) -> Document:
    """The document with the paths of its pictures, which count from the folder of its file, as they are from here."""
    from msgspec.structs import replace

    if not document.images or folder == Path():
        return document
    return replace(document, images=tuple(replace(one, uri=_from_here(one.uri, folder)) for one in document.images))


def _from_here(uri: str, folder: Path) -> str:
    return uri if ":" in uri[:12] or not uri else str(folder / uri)
