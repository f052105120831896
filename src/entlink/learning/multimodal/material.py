"""Examples as the inputs of a network: read once, and kept in files without a name until training ends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from math import prod
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import numpy
import torch

from entlink.encoders.images.dual import mention_picture
from entlink.encoders.multimodal.inputs import InputReader, SideInputs
from entlink.errors import InputError
from entlink.learning.multimodal.network import SideRows
from entlink.learning.pairs.batches import right_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.documents import Document, Entity, Mention
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.multimodal.examples import PicturedExample

_READ_AT_ONCE = 128


class InputTable:
    """The inputs of many mentions or entities; of those with the same `picture_of`, the picture is kept once."""

    def __init__(
        self,
        items: Sequence[Any],
        read: Callable[[Sequence[Any]], SideInputs],
        on_read: Callable[[int], None],
        picture_of: Callable[[Any], Hashable],
    ) -> None:
        self._states: NDArray[numpy.float16] | None = None
        self._picture = numpy.full(len(items), -1, numpy.int64)  # its row among the pictures
        self._ends = numpy.zeros((len(items), 3), numpy.int64)  # first, last, length
        self._has_text = numpy.zeros(len(items), numpy.float32)
        self.pictures = 0  # how many are kept
        places: dict[Hashable, int] = {}
        with TemporaryFile() as file:
            for start in range(0, len(items), _READ_AT_ONCE):
                on_read(start)
                part = items[start : start + _READ_AT_ONCE]
                given = read(part)
                self._put_states(slice(start, start + len(part)), given, len(items))
                for at in numpy.flatnonzero(given.has_picture).tolist():
                    place = self._picture[start + at] = places.setdefault(picture_of(part[at]), len(places))
                    if place == self.pictures:
                        file.write(given.cells[at].astype(numpy.float16).tobytes())
                        self.pictures += 1
            self._cells = _mapped(file, (max(1, self.pictures), *given.cells.shape[1:]))

    def __len__(self) -> int:
        return len(self._picture)

    def share_pictures(self, other: InputTable) -> None:
        """Take the pictures of a table of the same items."""
        self._picture, self._cells, self.pictures = other._picture, other._cells, other.pictures

    def rows(self, wanted: Sequence[int], device: torch.device) -> SideRows:
        """The inputs of some, as many rows."""
        assert self._states is not None
        taken = numpy.asarray(wanted, numpy.int64)
        longest = int(self._ends[taken, 2].max())
        states = self._states[taken, :longest].astype(numpy.float32)
        mask = (numpy.arange(longest) < self._ends[taken, 2][:, None]).astype(numpy.float32)
        pictures = self._picture[taken]
        cells = self._cells[numpy.maximum(pictures, 0)].astype(numpy.float32)
        has = (pictures >= 0).astype(numpy.float32)
        cells *= has[:, None, None]
        arrays = (states, mask, self._ends[taken, 0], self._ends[taken, 1], cells, self._has_text[taken], has)
        return SideRows(*(torch.from_numpy(one).to(device) for one in arrays))

    def means(self, count: int) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]:
        """The mean state of up to `count` texts, and the mean cell of up to `count` pictures."""
        assert self._states is not None
        told = numpy.flatnonzero(self._has_text)[:count]
        texts = [self._states[at, : self._ends[at, 2]].astype(numpy.float32).mean(axis=0) for at in told]
        shown = self._picture[self._picture >= 0][:count]
        pictures = self._cells[shown].astype(numpy.float32).mean(axis=1)
        return numpy.stack(texts) if texts else numpy.zeros((0, self._states.shape[2]), numpy.float32), pictures

    def _put_states(self, rows: slice, given: SideInputs, total: int) -> None:
        size = given.states.shape[1]
        if self._states is None or self._states.shape[1] < size:
            self._states = _wider(self._states, (total, size, given.states.shape[2]))
        self._states[rows, :size] = given.states
        self._ends[rows] = numpy.stack([given.first, given.last, given.mask.sum(axis=1).astype(numpy.int64)], axis=1)
        self._has_text[rows] = given.has_text


class PicturedMaterial:
    """Examples with the inputs of their mentions and entities; entities are known by their row.

    With `hides`, mentions are read a second time with their names hidden. `count` is how many wrong candidates of
    each are learnt from.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        inputs: InputReader,
        examples: Sequence[PicturedExample],
        count: int,
        progress: Progress,
        stage: str,
        *,
        hides: bool = False,
    ) -> None:
        wrong = [one.wrong(count) for one in examples]
        wanted = dict.fromkeys(
            id for one, others in zip(examples, wrong, strict=True) for id in (one.entity, *others)
        )
        rows = {id: row for row, id in enumerate(wanted)}
        pairs = [(one.document, one.mention) for one in examples]
        total = len(examples) * (2 if hides else 1) + len(rows)
        self.mentions = InputTable(pairs, inputs.mentions, lambda at: progress(stage, at, total), _picture_of)
        self.hidden: InputTable | None = None
        before = len(examples)
        if hides:
            self.hidden = InputTable(
                pairs,
                lambda part: inputs.mentions(part, {"mention-picture"}, masked=True),
                lambda at: progress(stage, before + at, total),
                _picture_of,
            )
            self.hidden.share_pictures(self.mentions)
        before = total - len(rows)
        self.entities = InputTable(
            list(rows),
            lambda part: inputs.entities([_entity(kb, id) for id in part]),
            lambda at: progress(stage, before + at, total),
            str,
        )
        self.own = [rows[one.entity] for one in examples]
        self.negatives = [tuple(rows[id] for id in others) for others in wrong]
        self.priors = [{rows[id]: prior for id, prior in one.candidates if id in rows} for one in examples]
        self.weights = [one.weight for one in examples]
        said = [(one.place, rows[one.entity]) for one in examples]
        self.right_at = right_by(said)
        self.places = [one.place for one in examples]
        self._digest = _digest(examples, wrong)

    def __len__(self) -> int:
        return len(self.own)

    def digest(self) -> str:
        """What the examples are, as a checksum."""
        return self._digest

    def right(self, example: int) -> set[int]:
        """All entities that are right for the mention of an example."""
        return self.right_at.get(self.places[example], {self.own[example]})


def _picture_of(pair: tuple[Document, Mention]) -> str | None:
    return mention_picture(pair[0])


def _entity(kb: KnowledgeBase, id: str) -> Entity:
    entity = kb.get(id)
    if entity is None:
        raise InputError(
            f"the knowledge base has no entity {id!r}, which an example speaks of. Give candidates that it has"
        )
    return entity


def _digest(examples: Sequence[PicturedExample], wrong: Sequence[tuple[str, ...]]) -> str:
    found = hashlib.sha256()
    for one, others in zip(examples, wrong, strict=True):
        pictures = [image.uri for image in one.document.images]
        told = (one.place, one.document.text, pictures, one.entity, one.candidates, one.weight, others)
        found.update(repr(told).encode("utf8", "surrogatepass"))
    return found.hexdigest()


def _wider(old: NDArray[numpy.float16] | None, shape: tuple[int, int, int]) -> NDArray[numpy.float16]:
    """An array in a file without a name, with what was there before: it may be larger than memory."""
    with TemporaryFile() as file:  # the mapping keeps what it needs of it
        made: NDArray[numpy.float16] = numpy.memmap(file, numpy.float16, "w+", shape=shape)
    if old is not None:
        made[:, : old.shape[1]] = old
    return made


def _mapped(file: IO[bytes], shape: tuple[int, ...]) -> NDArray[numpy.float16]:
    """What was written to a file, and zeros after it."""
    file.flush()
    file.truncate(prod(shape) * numpy.dtype(numpy.float16).itemsize)
    return numpy.memmap(file, numpy.float16, "r+", shape=shape)
