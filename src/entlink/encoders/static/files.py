"""Files of word vectors as streams: GloVe, word2vec in text and binary, fastText .vec and .bin."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy
from numpy.typing import NDArray

from entlink.encoders.static.encoder import gram_ids
from entlink.errors import SourceError

_MAGIC = 793712314  # the first four bytes of a fastText model
_SAMPLE = 1 << 16
_LONGEST_WORD = 1 << 12
_ARGUMENTS = struct.Struct("<12id")
Row = tuple[str, NDArray[Any]]


class VectorFile(NamedTuple):
    """A file that was recognised: what it is, how wide, and its rows; parts of words if it has them."""

    format: str
    dimension: int
    rows: Iterator[Row]
    buckets: NDArray[numpy.float32] | None = None
    shortest_gram: int = 0
    longest_gram: int = 0


def open_vectors(path: Path) -> VectorFile:
    """Recognise a file of word vectors by its content."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
    if sample[:4] == struct.pack("<i", _MAGIC):
        try:
            return _open_fasttext(path)
        except struct.error as problem:
            raise SourceError(
                "the file is cut off", str(path), "", "Fetch it again, or use its .vec file"
            ) from problem
    first, _, rest = sample.partition(b"\n")
    header = first.split()
    if len(header) == 2 and all(part.isdigit() for part in header):
        count, dimension = int(header[0]), int(header[1])
        if _is_text(rest, dimension):
            return VectorFile("word2vec text", dimension, _text_rows(path, dimension, count))
        return VectorFile("word2vec binary", dimension, _binary_rows(path, dimension, count))
    dimension = len(header) - 1
    if dimension >= 2 and _is_text(sample, dimension):
        return VectorFile("GloVe text", dimension, _text_rows(path, dimension, None))
    raise SourceError(
        "this is no file of word vectors that entlink knows",
        str(path),
        "",
        "Give GloVe text, word2vec text or binary, fastText .vec or .bin, unpacked; or a folder with a model",
    )


def _is_text(sample: bytes, dimension: int) -> bool:
    """Whether the first line is a word and as many numbers."""
    line = sample.partition(b"\n")[0].rstrip()
    values = line.split(b" ")[-dimension:]
    if len(line.split(b" ")) <= dimension:
        return False
    try:
        list(map(float, values))
    except ValueError:
        return False
    return True


def _text_rows(path: Path, dimension: int, count: int | None) -> Iterator[Row]:
    with path.open("rb") as file:
        number, read = 0, 0
        if count is not None:
            file.readline()
            number = 1
        for line in file:
            number += 1
            parts = line.rstrip().split(b" ")
            if len(parts) <= dimension:
                if not line.strip():
                    continue
                raise _bad(path, number, f"{len(parts) - 1} numbers where {dimension} are due")
            try:
                vector = numpy.array(list(map(float, parts[-dimension:])), numpy.float32)
            except ValueError as problem:
                raise _bad(path, number, f"not a number: {problem}") from problem
            if not numpy.isfinite(vector).all():
                raise _bad(path, number, "NaN or infinity among the numbers")
            read += 1
            yield b" ".join(parts[:-dimension]).decode("utf8", "replace"), vector
    if count is not None and read < count:
        raise _cut_off(path, read, count)


def _binary_rows(path: Path, dimension: int, count: int) -> Iterator[Row]:
    width = 4 * dimension
    with path.open("rb") as file:
        file.readline()
        for number in range(count):
            word = _word(file)
            data = file.read(width)
            if word is None or len(data) < width:
                raise _cut_off(path, number, count)
            vector = numpy.frombuffer(data, "<f4")
            if not numpy.isfinite(vector).all():
                raise SourceError(
                    "NaN or infinity among the numbers", str(path), f"word {number + 1}", "Fetch it again"
                )
            yield word, vector


def _word(file: BinaryIO) -> str | None:
    """The bytes up to a space; some writers put a newline before."""
    found = bytearray()
    while (byte := file.read(1)) != b" ":
        if not byte or len(found) > _LONGEST_WORD:
            return None
        found += byte
    return found.lstrip(b"\n").decode("utf8", "replace")


def _bad(path: Path, number: int, problem: str) -> SourceError:
    return SourceError(problem, str(path), f"line {number}", "Fetch the file again")


def _cut_off(path: Path, read: int, count: int) -> SourceError:
    return SourceError(
        f"the file ends after {read:,} of {count:,} words", str(path), "", "It was cut off: fetch it again"
    )


def _open_fasttext(path: Path) -> VectorFile:
    """A fastText model: words and the parts of words, as one matrix at the end of the file."""
    with path.open("rb") as file:
        file.seek(8)
        arguments = _ARGUMENTS.unpack(file.read(_ARGUMENTS.size))
        dimension, buckets, shortest, longest = arguments[0], arguments[8], arguments[9], arguments[10]
        _, words, _, _, pruned = struct.unpack("<iiiqq", file.read(28))
        names = _dictionary(file, words)
        quantised = file.read(1) != b"\0"
        if len(names) < words or quantised or pruned > 0:
            raise SourceError(
                "a fastText model that is quantised, supervised or cut off", str(path), "", "Use its .vec file"
            )
        rows, columns = struct.unpack("<qq", file.read(16))
        offset = file.tell()
    if columns != dimension or rows != words + buckets or path.stat().st_size < offset + 4 * rows * columns:
        raise SourceError(
            "its matrix is not as large as it says", str(path), "", "Fetch it again, or use its .vec file"
        )
    matrix = numpy.memmap(path, "<f4", mode="r", offset=offset, shape=(rows, columns))
    parts: Any = matrix[words:] if longest > 0 and buckets > 0 else None
    return VectorFile(
        "fastText", dimension, _fasttext_rows(names, matrix, parts, shortest, longest), parts, shortest, longest
    )


def _dictionary(file: BinaryIO, words: int) -> list[str]:
    names = []
    for _ in range(words):
        name = bytearray()
        while (byte := file.read(1)) not in (b"\0", b""):
            name += byte
        _, label = struct.unpack("<qb", file.read(9))
        if label != 0:
            break
        names.append(name.decode("utf8", "replace"))
    return names


def _fasttext_rows(names: list[str], matrix: Any, parts: Any, shortest: int, longest: int) -> Iterator[Row]:
    """A word is the mean of its own row and those of its parts."""
    for number, name in enumerate(names):
        own = numpy.asarray(matrix[number], numpy.float32)
        ids = [] if parts is None or name == "</s>" else gram_ids(name, shortest, longest, len(parts))
        total = own + numpy.asarray(parts[ids], numpy.float32).sum(axis=0) if ids else own
        yield name, total / (1 + len(ids))
