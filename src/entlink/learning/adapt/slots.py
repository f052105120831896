"""What stands between the same two words, learnt from a knowledge base's texts and written beside the linker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from itertools import islice
from pathlib import Path
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.documents import Span
from entlink.errors import InputError
from entlink.io.progress import Progress
from entlink.learning.own_texts.mentions import sampled
from entlink.learning.own_texts.texts import PassageReader
from entlink.linking.config import LinkerConfig
from entlink.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.candidates.slot_model import SlotModel
    from entlink.interfaces import DualEncoder, Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

USE = [("slot", "u8"), ("row", "i4")]  # a slot, and the row of the entity that stands in it
SLOTS = "slots"
_MOST_ENTITIES = 50_000  # each is compared with all
_MOST_OF_ENTITY = 300  # uses: what is named everywhere would stand for all slots
_FEWEST_OF_SLOT = 3
_FEWEST_USES, _MOST_USES = 1_000, 2_000_000
_MOST_ALIKE, _SHARE_ALIKE = 100, 0.02
_AT_ONCE = 256


def with_slots(config: LinkerConfig) -> LinkerConfig:
    """The linker with slots, from a folder beside its configuration."""
    others = [one for one in config.retriever if one.get("name") != SLOTS]
    return msgspec.structs.replace(config, retriever=[*others, {"name": SLOTS, "model": f"./{SLOTS}"}])


def learn_slots(
    kb: KnowledgeBase,
    dual: DualEncoder,
    without: Set[str],
    folder: Path,
    seed: int,
    progress: Progress,
    seconds: float,
) -> str:
    """Read who stands where, for so long at most; write it, and say in a few words what it is.

    `without` are the entities whose texts are not read, since they are measured on.
    """
    import numpy

    from entlink.candidates.slot_model import write_slots
    from entlink.kb.indexes.vectors.store import EntityVectors

    if len(kb) > _MOST_ENTITIES:
        raise InputError(f"of more than {_MOST_ENTITIES:,} entities it is not learnt which are alike")
    keys = {head[0]: key for key in kb.all_keys() if (head := kb.head_of(key)) is not None}
    rows = {id: row for row, id in enumerate(keys)}
    found = _uses(kb, rows, without, seed, progress, monotonic() + seconds)
    uses = numpy.fromiter(islice(found, _MOST_USES), USE)
    if len(uses) < _FEWEST_USES:
        raise InputError(f"the texts have {len(uses)} names of one entity alone, and {_FEWEST_USES:,} are needed")
    near = nearest(EntityVectors(kb, dual).of(list(keys.values())), progress)
    model = slot_model(list(keys), uses, near)
    write_slots(folder, model)
    return f"{len(model.slots):,} pairs of words, from {len(uses):,} names"


def _uses(
    kb: KnowledgeBase, rows: Mapping[str, int], without: Set[str], seed: int, progress: Progress, until: float
) -> Iterator[tuple[int, int]]:
    """The names that one entity alone bears, in the texts of others."""
    from entlink.candidates.slot_model import slot_of

    reader, random, seen = PassageReader(kb), Random(seed), Counter[str]()
    for done, entity in enumerate(sampled(kb, len(rows), random)):
        if monotonic() > until:
            return
        progress("reading what stands between words", done, len(rows))
        for passage in reader.passages(entity, random) if entity.id not in without else ():
            for start, end, bearers in passage.names:
                bearer = bearers[0]
                if len(bearers) == 1 and bearer != entity.id and bearer in rows and seen[bearer] < _MOST_OF_ENTITY:
                    seen[bearer] += 1
                    yield slot_of(passage.text, Span(start, end)), rows[bearer]


def slot_model(entities: list[str], uses: NDArray[Any], near: NDArray[Any]) -> SlotModel:
    """The slots with three uses or more, who stands in them, and which entities are alike."""
    import numpy

    from entlink.candidates.slot_model import SlotCard, SlotModel

    known, times = numpy.unique(uses["slot"], return_counts=True)
    slots = known[times >= _FEWEST_OF_SLOT]
    kept = uses[numpy.isin(uses["slot"], slots)]
    kept = kept[numpy.lexsort((kept["row"], kept["slot"]))]
    firsts = numpy.flatnonzero(numpy.append(True, kept[1:] != kept[:-1])[: len(kept)])
    return SlotModel(
        SlotCard(entities=entities, uses=len(uses), entlink=__version__),
        slots=slots,
        starts=numpy.append(kept["slot"][firsts].searchsorted(slots), len(firsts)),
        fillers=kept["row"][firsts],
        counts=numpy.diff(firsts, append=len(kept)).astype(numpy.int32),
        near=near,
        often=numpy.bincount(uses["row"], minlength=len(entities)),
    )


def nearest(vectors: Vectors, progress: Progress) -> NDArray[Any]:
    """For each row, itself and those nearest to it once what all have in common is taken off."""
    import numpy

    from entlink.encoders.dual import unit

    apart = unit(vectors - vectors.mean(0))
    away = -apart.T
    count = len(apart)
    most = min(count - 1, max(1, min(_MOST_ALIKE, round(_SHARE_ALIKE * count))))
    near = numpy.empty((count, most + 1), numpy.int32)
    for start in range(0, count, _AT_ONCE):
        progress("comparing entities", start, count)
        distances = apart[start : start + _AT_ONCE] @ away
        own = numpy.arange(len(distances))
        distances[own, start + own] = -2.0  # also where others are the same
        near[start : start + _AT_ONCE] = numpy.argpartition(distances, most, axis=1)[:, : most + 1]
    return near
