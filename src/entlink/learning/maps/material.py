"""Examples as vectors that stay as they are: what a map is learnt from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from entlink.errors import InputError
from entlink.kb.indexes.vectors.store import EntityVectors
from entlink.learning.pairs.batches import right_by

if TYPE_CHECKING:
    from entlink.interfaces import DualEncoder
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.pairs.examples import Example

_ENCODED_AT_ONCE = 512


class MapMaterial:
    """Examples with the vectors of their mentions and entities; entities are known by their row.

    What else it has is as `Material` has it.
    """

    types = None  # a map learns links alone

    def __init__(
        self,
        kb: KnowledgeBase,
        dual: DualEncoder,
        examples: Sequence[Example],
        progress: Progress,
        stage: str,
        silent: Sequence[Example] = (),
    ) -> None:
        wanted = dict.fromkeys(id for one in examples for id in (one.entity, *one.negatives))
        rows = {id: row for row, id in enumerate(wanted)}
        total = len(examples) + len(rows)
        self.mentions = numpy.zeros((len(examples), dual.dimension), numpy.float32)
        for start in range(0, len(examples), _ENCODED_AT_ONCE):
            progress(stage, start, total)
            part = examples[start : start + _ENCODED_AT_ONCE]
            self.mentions[start : start + len(part)] = dual.encode_mentions(
                [(one.document, one.mention) for one in part]
            )
        self.entities = numpy.zeros((len(rows), dual.dimension), numpy.float32)
        vectors, keys = EntityVectors(kb, dual), [_key(kb, id) for id in rows]
        for start in range(0, len(keys), _ENCODED_AT_ONCE):
            progress(stage, len(examples) + start, total)
            asked = keys[start : start + _ENCODED_AT_ONCE]
            self.entities[start : start + len(asked)] = vectors.of(asked)
        self.own = [rows[one.entity] for one in examples]
        self.negatives = [
            tuple(rows[id] for id in dict.fromkeys(one.negatives) if id != one.entity) for one in examples
        ]
        self.weights = [one.weight for one in examples]
        self.documents = [one.document.id for one in examples]
        self.places = [one.place for one in examples]
        said = [*zip(self.places, self.own, strict=True)]
        said += [(one.place, rows[one.entity]) for one in silent if one.entity in rows]
        self._said = said
        self.right_in, self.right_at = right_by((place[0], row) for place, row in said), right_by(said)

    def __len__(self) -> int:
        return len(self.own)

    def digest(self) -> str:
        """What the examples are, as a checksum."""
        told = repr((self.own, self.negatives, self.weights, self._said)).encode()
        return hashlib.sha256(self.mentions.tobytes() + self.entities.tobytes() + told).hexdigest()


def _key(kb: KnowledgeBase, id: str) -> int:
    key = kb.key(id)
    if key is None:
        raise InputError(
            f"the knowledge base has no entity {id!r}, which an example speaks of. Mine the examples anew"
        )
    return key
