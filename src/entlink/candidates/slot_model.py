"""What stands between the same two words in a knowledge base's own texts, and the folder that keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

from entlink.evidence.learnt_folder import LearntCard, read_learnt, write_learnt
from entlink.text.folding import is_spaceless

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.documents import Span

_NAME = "slots"
_KEPT = ("slots", "starts", "fillers", "counts", "near", "often")
_REACH = 60  # characters in which the next word is looked for
_BEGINNING, _END = "^", "$"
_PRIOR = 300.0  # uses as they are in all slots, added to those of an entity and its like
_SURE = 1.0  # by so much the logarithm must be above 0: less may be by chance
_MOST = 3.0  # what a single use in a rare slot is worth at most


def slot_of(text: str, span: Span) -> int:
    """The word or sign before a mention and the one after it, in lower case, as one number.

    Neither is looked for in another line: there begins another paragraph, or another turn.
    """
    before = _piece(reversed(text[max(0, span.start - _REACH) : span.start]))[::-1]
    after = _piece(text[span.end : span.end + _REACH])
    return slot_number(before.lower() or _BEGINNING, after.lower() or _END)


def slot_number(before: str, after: str) -> int:
    digest = blake2b(f"{before} {after}".encode("utf8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _piece(characters: Iterable[str]) -> str:
    """The first word or sign of a line; in a script without spaces a character stands for the word."""
    found = ""
    for one in characters:
        if one == "\n" or (found and (one.isspace() or is_spaceless(one) or not _is_of_word(one))):
            break
        if one.isspace():
            continue
        found += one
        if is_spaceless(one) or not _is_of_word(one):
            break
    return found


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_" or category(character).startswith("M")


class SlotCard(LearntCard, frozen=True, kw_only=True):
    """`slots.json`: the entities in the order of the rows of `slots.npz`, and how many uses were read."""

    entities: list[str]
    uses: int


class SlotModel:
    """Who stands in which slot how often, and which entities are alike.

    `slots` are in ascending order, and `fillers` of the slot at place i, in ascending order, those from `starts[i]`
    on, each `counts` times. A row of `near` has the entities most like one, itself among them, in any order; `often`
    is how often each is used, in slots that are not kept, too.
    """

    def __init__(self, card: SlotCard, **arrays: NDArray[Any]) -> None:
        self.card = card
        self.slots, self.starts, self.fillers, self.counts, self.near, self.often = (arrays[name] for name in _KEPT)
        self._often_alike = self.often[self.near].sum(1)

    @cached_property
    def rows(self) -> dict[str, int]:
        return {entity: row for row, entity in enumerate(self.card.entities)}

    def scores(self, slot: int, entities: Sequence[str]) -> list[float]:
        """How much oftener than elsewhere entities like each stand in the slot; 0 where it is not surely more.

        One that was added later has the score of the best: what it would have is not known, and is not to cost it.
        """
        import numpy

        scores = [0.0] * len(entities)
        places = [place for place, one in enumerate(entities) if one in self.rows]
        found = self._fillers(slot)
        if found is None or not places:
            return scores
        fillers, counts = found
        asked = numpy.array([self.rows[entities[place]] for place in places])
        near = self.near[asked]  # [entities, like them]
        at = numpy.minimum(fillers.searchsorted(near), len(fillers) - 1)
        alike = numpy.where(fillers[at] == near, counts[at], 0).sum(1)
        share = counts.sum() / self.card.uses
        times = (alike + _PRIOR * share) / (self._often_alike[asked] + _PRIOR) / share
        known = numpy.clip(numpy.log(times) - _SURE, 0, _MOST).tolist()
        scores = [max(known)] * len(entities)
        for place, score in zip(places, known, strict=True):
            scores[place] = score
        return scores

    def _fillers(self, slot: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        import numpy

        place = int(self.slots.searchsorted(numpy.uint64(slot)))
        if place == len(self.slots) or int(self.slots[place]) != slot:
            return None
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.fillers[part], self.counts[part]


def read_slots(folder: Path) -> SlotModel:
    """The model in a folder; one that is missing, damaged or of another version is told."""
    card, arrays = read_learnt(folder, _NAME, "slots", SlotCard)
    return SlotModel(card, **arrays)


def write_slots(folder: Path, model: SlotModel) -> None:
    """Write a model; its folder is there whole or not at all."""
    write_learnt(folder, _NAME, model.card, **{name: getattr(model, name) for name in _KEPT})
