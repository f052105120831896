"""Many multimodal models of the same data: what they read is read once, and each is scored where it was trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
import torch

from entlink.encoders.multimodal.inputs import NOTHING, SideInputs
from entlink.learning.multimodal.material import PicturedMaterial
from entlink.learning.multimodal.network import SideRows
from entlink.learning.multimodal.training import MultimodalTraining

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.documents import Document, Entity, Mention
    from entlink.encoders.multimodal.model import Question
    from entlink.encoders.multimodal.settings import Input, MultimodalSettings
    from entlink.learning.multimodal.examples import PicturedExample

_AT_ONCE = 128  # rows that are read or encoded together
_PAIRS_AT_ONCE = 256


class _Row(NamedTuple):
    """What is read of one mention or entity; `cells` None where there is no picture."""

    states: NDArray[numpy.float16] | None  # [t, h]
    first: int
    last: int
    cells: NDArray[numpy.float16] | None  # [c, w]


class SharedInputs:
    """The inputs of mentions and entities, each read once with all there is of it, and held in memory."""

    def __init__(self, training: SharedTraining) -> None:
        self._read = training.reader
        self._mentions: dict[tuple[str, str, int, int, str], _Row] = {}
        self._entities: dict[str, _Row] = {}

    def mentions(self, pairs: Sequence[tuple[Document, Mention]]) -> list[_Row]:
        keyed = {_key(*pair): pair for pair in pairs}
        _read_missing(self._mentions, keyed, self._read.mentions)
        return [self._mentions[_key(*pair)] for pair in pairs]

    def entities(self, entities: Sequence[Entity]) -> list[_Row]:
        _read_missing(self._entities, {one.id: one for one in entities}, self._read.entities)
        return [self._entities[one.id] for one in entities]


def _key(document: Document, mention: Mention) -> tuple[str, str, int, int, str]:
    picture = document.images[0].uri if document.images else ""
    return document.id, document.text, mention.span.start, mention.span.end, picture


def _read_missing(known: dict[Any, _Row], keyed: dict[Any, Any], read: Callable[[Sequence[Any]], SideInputs]) -> None:
    missing = [key for key in keyed if key not in known]
    for start in range(0, len(missing), _AT_ONCE):
        part = missing[start : start + _AT_ONCE]
        given = read([keyed[key] for key in part])
        known.update((key, _row(given, at)) for at, key in enumerate(part))


def _row(given: SideInputs, at: int) -> _Row:
    length = int(given.mask[at].sum())
    states = given.states[at, :length].astype(numpy.float16) if given.has_text[at] else None
    cells = given.cells[at].astype(numpy.float16) if given.has_picture[at] else None
    return _Row(states, int(given.first[at]), int(given.last[at]), cells)


class _View:
    """The shared inputs as a model of some settings reads them, without what it does not use."""

    def __init__(self, shared: SharedInputs, settings: MultimodalSettings) -> None:
        self._shared, self._settings = shared, settings

    def mentions(
        self,
        pairs: Sequence[tuple[Document, Mention]],
        without: AbstractSet[Input] = NOTHING,
        *,
        masked: bool = False,
    ) -> SideInputs:
        return self._side(self._shared.mentions(pairs), "mention-text", "mention-picture", without)

    def entities(self, entities: Sequence[Entity], without: AbstractSet[Input] = NOTHING) -> SideInputs:
        return self._side(self._shared.entities(entities), "entity-text", "entity-picture", without)

    def _side(self, rows: Sequence[_Row], text: Input, picture: Input, without: AbstractSet[Input]) -> SideInputs:
        settings = self._settings
        uses = set(settings.uses) - without
        told = [row.states if text in uses else None for row in rows]
        shown = [row.cells if picture in uses else None for row in rows]
        longest = max((len(one) for one in told if one is not None), default=1)
        width = settings.side_width("mention" if text == "mention-text" else "entity")
        states = numpy.zeros((len(rows), longest, width), numpy.float32)
        mask = numpy.zeros((len(rows), longest), numpy.float32)
        cells = numpy.zeros((len(rows), settings.cells, settings.picture_width), numpy.float32)
        ends = numpy.zeros((2, len(rows)), numpy.int64)
        ends[1] = 1
        for at, (row, own, seen) in enumerate(zip(rows, told, shown, strict=True)):
            mask[at, : 1 if own is None else len(own)] = 1
            if own is not None:
                states[at, : len(own)] = own
                ends[:, at] = row.first, row.last
            if seen is not None:
                cells[at] = seen
        has_text, has_picture = (
            numpy.array([one is not None for one in part], numpy.float32) for part in (told, shown)
        )
        return SideInputs(states, mask, ends[0], ends[1], cells, has_text, has_picture)


class SharedTraining(MultimodalTraining):
    """A training whose inputs are shared; it can be scored, and its weights kept, without a model folder."""

    inputs: _View

    def share(self, shared: SharedInputs) -> SharedTraining:
        """Read from these inputs from now on."""
        self.inputs = _View(shared, self.settings)
        return self

    @property
    def reader(self) -> Any:
        """What reads mentions and entities with all that the settings use."""
        return self._inputs

    def _material(self, examples: Sequence[PicturedExample], stage: str) -> PicturedMaterial:
        negatives = self._config.training.negatives
        inputs: Any = self.inputs
        return PicturedMaterial(self._kb, inputs, examples, negatives, self._progress, stage)

    def save(self, path: Path) -> None:
        """Write the weights, whole or not at all."""
        from safetensors.torch import save_file

        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        save_file({name: value.contiguous() for name, value in self.network.state_dict().items()}, partial)
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Take the weights that `save` wrote."""
        from safetensors.torch import load_file

        self.network.load_state_dict(load_file(path))

    @torch.inference_mode()
    def scores(
        self, questions: Sequence[Question], without: AbstractSet[Input] = NOTHING, *, prior: bool = True
    ) -> list[list[float]]:
        """For each mention a score for each of its entities, as `MultimodalModel.scores` gives them."""
        self.network.eval()
        entities = list({one.id: one for question in questions for one in question.entities}.values())
        place = {one.id: at for at, one in enumerate(entities)}
        pairs = [(one.document, one.mention) for one in questions]
        first = [at for at, one in enumerate(questions) for _ in one.entities]
        second = [place[one.id] for question in questions for one in question.entities]
        if self.network.together:
            products = self._together([pairs[at] for at in first], [entities[at] for at in second], without)
        else:
            mentions = self._encoded(pairs, lambda part: self.inputs.mentions(part, without), "mention")
            others = self._encoded(entities, lambda part: self.inputs.entities(part, without), "entity")
            products = mentions[first] * others[second]
        takes = prior and self.settings.prior
        priors = torch.tensor([value if takes else 0.0 for one in questions for value in one.priors])
        flat = self.network.scorer(products, priors.to(self._device)).tolist() if first else []
        values = iter(flat)
        return [[next(values) for _ in one.entities] for one in questions]

    def _encoded(self, items: Sequence[Any], read: Callable[[Sequence[Any]], SideInputs], side: Any) -> torch.Tensor:
        parts = [
            self.network.encode(side, self._rows(read(items[start : start + _AT_ONCE])))
            for start in range(0, len(items), _AT_ONCE)
        ]
        return torch.cat(parts)

    def _together(
        self, pairs: Sequence[tuple[Document, Mention]], entities: Sequence[Entity], without: AbstractSet[Input]
    ) -> torch.Tensor:
        parts = []
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            sides = (self.inputs.mentions(pairs[some], without), self.inputs.entities(entities[some], without))
            parts.append(self.network.encoders["pair"](*map(self._rows, sides)))
        return torch.cat(parts)

    def _rows(self, given: SideInputs) -> SideRows:
        return SideRows(*(torch.from_numpy(one).to(self._device) for one in given))
