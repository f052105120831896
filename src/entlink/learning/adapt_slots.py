"""What stands between the same two words, learnt from a knowledge base's texts and written beside the linker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.config import LinkerConfig
from entlink.documents import Span
from entlink.errors import InputError
from entlink.learning.self_texts import PassageReader
from entlink.tuning.self_mentions import sampled
from entlink.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.candidates.slot_model import SlotModel
    from entlink.interfaces import Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

Progress = Callable[[str, float, float], None]
_USE = [("slot", "u8"), ("row", "i4")]  # a slot, and the row of the entity that stands in it
SLOTS = "slots"
MOST_ENTITIES = 50_000  # each is compared with all
_MOST_OF_ENTITY = 300  # uses: what is named everywhere would stand for all slots
_FEWEST_OF_SLOT = 3
_FEWEST_USES, _MOST_USES = 1_000, 2_000_000
_MOST_ALIKE, _SHARE_ALIKE = 100, 0.02
_AT_ONCE = 1_024


def with_slots(config: LinkerConfig) -> LinkerConfig:
    """The linker with them, from a folder beside its configuration."""
    others = [one for one in config.retriever if one.get("name") != SLOTS]
    return msgspec.structs.replace(config, retriever=[*others, {"name": SLOTS, "model": f"./{SLOTS}"}])


def learn_slots(
    kb: KnowledgeBase, encoder: str, folder: Path, seed: int, progress: Progress, *, seconds: float
) -> str:
    """Read who stands where, for so long at most; write it, and say in a few words what it is."""
    import numpy

    from entlink.candidates.slot_model import write_slots

    if len(kb) > MOST_ENTITIES:
        raise InputError(f"of more than {MOST_ENTITIES:,} entities it is not learnt which are alike")
    keys = {head[0]: key for key in kb.all_keys() if (head := kb.head_of(key)) is not None}
    rows = {id: row for row, id in enumerate(keys)}
    found = islice(_uses(kb, rows, seed, progress, monotonic() + seconds), _MOST_USES)
    uses = numpy.fromiter(found, _USE)
    if len(uses) < _FEWEST_USES:
        raise InputError(f"the texts have {len(uses)} names of one entity alone, and {_FEWEST_USES:,} are needed")
    progress("comparing entities", 0, 0)
    model = slot_model(list(keys), uses, _vectors(kb, encoder, list(keys.values())), encoder)
    write_slots(folder, model)
    return f"{len(model.slots):,} pairs of words, from {len(uses):,} names"


def _uses(
    kb: KnowledgeBase, rows: dict[str, int], seed: int, progress: Progress, until: float
) -> Iterator[tuple[int, int]]:
    """The names that one entity alone bears, in the texts of others."""
    from entlink.candidates.slot_model import slot_of

    reader, random, seen = PassageReader(kb), Random(seed), Counter[str]()
    for done, entity in enumerate(sampled(kb, len(kb), random)):
        if monotonic() > until:
            return
        progress("reading what stands between words", done, len(kb))
        for passage in reader.passages(entity, random):
            for start, end, bearers in passage.names:
                bearer = bearers[0]
                if len(bearers) == 1 and bearer != entity.id and bearer in rows and seen[bearer] < _MOST_OF_ENTITY:
                    seen[bearer] += 1
                    yield slot_of(passage.text, Span(start, end)), rows[bearer]


def _vectors(kb: KnowledgeBase, encoder: str, keys: list[int]) -> Vectors:
    from entlink.encoders.dual import load_dual
    from entlink.kb.vector_store import EntityVectors

    return EntityVectors(kb, load_dual(encoder)).of(keys)


def slot_model(entities: list[str], uses: NDArray[Any], vectors: Vectors, encoder: str) -> SlotModel:
    """The slots with three uses or more, and for each entity those whose vectors are nearest to its own."""
    import numpy

    from entlink.candidates.slot_model import SlotCard, SlotModel

    known, often = numpy.unique(uses["slot"], return_counts=True)
    kept = known[often >= _FEWEST_OF_SLOT]
    distinct, counts = numpy.unique(uses[numpy.isin(uses["slot"], kept)], return_counts=True)
    return SlotModel(
        SlotCard(encoder=encoder, entities=entities, uses=len(uses), entlink=__version__),
        slots=kept,
        starts=numpy.append(distinct["slot"].searchsorted(kept), len(distinct)),
        fillers=distinct["row"],
        counts=counts.astype(numpy.int32),
        near=_nearest(vectors),
    )


def _nearest(vectors: Vectors) -> NDArray[Any]:
    """For each row, itself and those nearest to it once what all have in common is taken off."""
    import numpy

    from entlink.encoders.dual import unit

    apart = unit(vectors - vectors.mean(0))
    most = max(1, min(_MOST_ALIKE, round(_SHARE_ALIKE * len(apart))))
    near = numpy.empty((len(apart), most + 1), numpy.int32)
    for start in range(0, len(apart), _AT_ONCE):
        cosines = apart[start : start + _AT_ONCE] @ apart.T
        near[start : start + _AT_ONCE] = numpy.argpartition(-cosines, most, axis=1)[:, : most + 1]
    return near
