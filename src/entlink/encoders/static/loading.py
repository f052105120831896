"""Word vectors from a file: converted once to mapped files in the store, found again by the file's checksum."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from entlink.encoders.identities import slug
from entlink.encoders.models.card import CARD, check_files, read_card
from entlink.encoders.models.store import is_installed, new_model, open_model
from entlink.encoders.static.encoder import BUCKETS, SETTINGS, StaticEncoder, StaticSettings
from entlink.encoders.static.files import Row, VectorFile, open_vectors
from entlink.encoders.static.writing import write_static_card, write_vectors
from entlink.errors import InputError
from entlink.io.checksums import checksum
from entlink.text.folding import fold, is_spaceless

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = 65536


def load_vectors(path: Path) -> StaticEncoder:
    """The encoder of a file of word vectors."""
    name = f"{slug(path.stem)}-{checksum(path)[:12]}"
    if not is_installed(name):
        opened = open_vectors(path)
        with new_model(name, replace=True) as folder:
            settings = StaticSettings("longest", opened.shortest_gram, opened.longest_gram)
            count = write_vectors(folder, _folded(opened), opened.dimension, None, settings)
            if count == 0:
                raise InputError(f"{path}: it has no word that could stand in a text. Check the file")
            if opened.buckets is not None:
                _copy_buckets(opened.buckets, folder / BUCKETS)
            write_static_card(folder, name, str(path.resolve()), opened.dimension)
    folder, card = open_model(name)
    return StaticEncoder(folder, card)


def is_static_folder(folder: Path) -> bool:
    return (folder / CARD).is_file() and (folder / SETTINGS).is_file()


def load_static_folder(folder: Path) -> StaticEncoder:
    """The encoder of a folder that `train_static` wrote."""
    card = read_card(folder)
    check_files(folder, card)
    return StaticEncoder(folder, card)


def _folded(opened: VectorFile) -> Iterator[Row]:
    """Words as texts are folded; phrases and what is no word are left out."""
    for word, vector in opened.rows:
        folded = fold(word)
        if len(folded.tokens) == 1 or (folded.tokens and all(is_spaceless(token[0]) for token in folded.tokens)):
            yield folded.key, vector


def _copy_buckets(buckets: NDArray[Any], path: Path) -> None:
    copied = numpy.lib.format.open_memmap(path, mode="w+", dtype=numpy.float16, shape=buckets.shape)
    for start in range(0, len(buckets), _ROWS):
        copied[start : start + _ROWS] = buckets[start : start + _ROWS]
    copied.flush()
