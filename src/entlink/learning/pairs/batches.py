"""Examples as tokens, read once; which of them a step takes; and rows of about one length for the network."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy
import torch
from numpy.typing import NDArray

from entlink.encoders.text.tokens import Tokens
from entlink.errors import InputError
from entlink.learning.pairs.networks import Rows
from entlink.learning.pairs.types import TypeLabels

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.encoders.trained.pair_tokens import PairReader
    from entlink.encoders.trained.type_names import TypeNames
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.pairs.examples import Example
    from entlink.learning.train_config import TrainingConfig

_READ_AT_ONCE = 512
MOST_TOKENS = 4096  # of a block, with its padding: more at once is no quicker on a CPU
_Key = TypeVar("_Key", str, tuple[str, int, int])


class TokenTable:
    """The tokens of many texts in two arrays: lists of them would take ten times the memory."""

    def __init__(self, texts: Iterable[Tokens]) -> None:
        ids: list[NDArray[numpy.int32]] = []
        places: list[tuple[int, int]] = []
        for text in texts:
            ids.append(numpy.asarray(text.ids, numpy.int32))
            places.append((text.first, text.last))
        self._ids = numpy.concatenate(ids) if ids else numpy.zeros(0, numpy.int32)
        self.lengths = numpy.array([len(one) for one in ids], numpy.int64)
        self._ends = self.lengths.cumsum()
        self._places = numpy.array(places, numpy.int32).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, at: int) -> Tokens:
        end = int(self._ends[at])
        first, last = self._places[at].tolist()
        return Tokens(self._ids[end - int(self.lengths[at]) : end].tolist(), first, last)

    def digest(self) -> bytes:
        parts = (self._ids.tobytes(), self.lengths.tobytes(), self._places.tobytes())
        return hashlib.sha256(b"".join(parts)).digest()


class Material:
    """Examples with their mentions and entities as tokens; entities are known by their row.

    `right_in` has what is right in a document, `right_at` what is right for a mention, by all examples: by those of a
    batch alone, others would be taught as wrong. Nothing but that is learnt from those that are `silent`. With the
    names of `types`, those of the entities are known.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        reader: PairReader,
        examples: Sequence[Example],
        progress: Progress,
        stage: str,
        silent: Sequence[Example] = (),
        types: TypeNames | None = None,
    ) -> None:
        self.reader = reader
        wanted = dict.fromkeys(id for one in examples for id in (one.entity, *one.negatives))
        rows = {id: row for row, id in enumerate(wanted)}
        ids, total = list(rows), len(examples) + len(rows)
        self.types = None if types is None else TypeLabels(kb, types, ids)
        parts = _parts(len(examples), 0, total, progress, stage)
        pairs = ([(one.document, one.mention) for one in examples[part]] for part in parts)
        self.mentions = TokenTable(tokens for part in pairs for tokens in reader.mentions(part))
        parts = _parts(len(ids), len(examples), total, progress, stage)
        told = ([_entity(kb, id) for id in ids[part]] for part in parts)
        self.entities = TokenTable(tokens for part in told for tokens in reader.entities(part))
        self.own = [rows[one.entity] for one in examples]
        self.negatives = [
            tuple(rows[id] for id in dict.fromkeys(one.negatives) if id != one.entity) for one in examples
        ]
        self.weights = [one.weight for one in examples]
        self.documents = [one.document.id for one in examples]
        self.places = [one.place for one in examples]
        self._silent = [(one.place, rows[one.entity]) for one in silent if one.entity in rows]
        said = [*zip(self.places, self.own, strict=True), *self._silent]
        self.right_in, self.right_at = right_by((place[0], row) for place, row in said), right_by(said)

    def __len__(self) -> int:
        return len(self.own)

    def mention(self, chosen: Chosen) -> Tokens:
        """The mention of an example as it is read this time."""
        read = self.mentions[chosen.example]
        return self.reader.hidden(read) if chosen.masked else read

    def digest(self) -> str:
        """What the examples are, as a checksum."""
        told = repr((self.own, self.negatives, self.weights, self.places, *self._silent)).encode()
        return hashlib.sha256(self.mentions.digest() + self.entities.digest() + told).hexdigest()


def right_by(said: Iterable[tuple[_Key, int]]) -> dict[_Key, set[int]]:
    """What is right by key, where that is more than one entity: most have but their own, which needs no set."""
    first: dict[_Key, int] = {}
    several: dict[_Key, set[int]] = {}
    for key, entity in said:
        if first.setdefault(key, entity) != entity:
            several.setdefault(key, {first[key]}).add(entity)
    return several


def _parts(count: int, before: int, total: int, progress: Progress, stage: str) -> Iterator[slice]:
    """What is read at once, one part after the other."""
    for start in range(0, count, _READ_AT_ONCE):
        progress(stage, before + start, total)
        yield slice(start, start + _READ_AT_ONCE)


def _entity(kb: KnowledgeBase, id: str) -> Entity:
    entity = kb.get(id)
    if entity is None:
        raise InputError(
            f"the knowledge base has no entity {id!r}, which an example speaks of. Mine the examples anew"
        )
    return entity


class Lessons(Protocol):
    """What a loop takes steps over: so many examples, each perhaps with negatives."""

    @property
    def negatives(self) -> Sequence[tuple[int, ...]]: ...

    def __len__(self) -> int: ...

    def digest(self) -> str:
        """What the examples are, as a checksum."""


class Chosen(NamedTuple):
    """An example of a batch, with the negatives that were kept of it this time, and whether its name is hidden."""

    example: int
    negatives: tuple[int, ...]
    masked: bool = False


def epoch_order(seed: int, epoch: int, count: int) -> NDArray[numpy.int64]:
    """The order of the examples in an epoch: it depends on nothing else, so that training can be resumed."""
    return numpy.random.default_rng([seed, epoch]).permutation(count)


def choose(material: Lessons, examples: Iterable[int], config: TrainingConfig, epoch: int) -> list[Chosen]:
    """The examples with those of their negatives that chance keeps, the same whatever they are batched with.

    Chance hides the names of some, too.
    """
    chosen = []
    for example in examples:
        negatives = material.negatives[example]
        masked = False
        if config.keep_rate < 1 or config.masked > 0:
            *draws, hide = numpy.random.default_rng([config.seed, epoch, example]).random(len(negatives) + 1)
            negatives = tuple(one for one, draw in zip(negatives, draws, strict=True) if draw < config.keep_rate)
            masked = hide < config.masked
        chosen.append(Chosen(int(example), negatives, bool(masked)))
    return chosen


def blocks(lengths: Sequence[int], most: int = MOST_TOKENS) -> list[list[int]]:
    """The rows in blocks of about one length, so that little of a block is padding."""
    found: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: (lengths[row], row)):
        if not found or (len(found[-1]) + 1) * lengths[row] > most:
            found.append([])
        found[-1].append(row)
    return found


def padded(texts: Sequence[Tokens], pad_id: int, device: torch.device) -> Rows:
    """The texts as one block."""
    longest = max(len(text.ids) for text in texts)
    ids = torch.full((len(texts), longest), pad_id, dtype=torch.long)
    mask = torch.zeros((len(texts), longest), dtype=torch.long)
    for row, text in enumerate(texts):
        ids[row, : len(text.ids)] = torch.tensor(text.ids)
        mask[row, : len(text.ids)] = 1
    first, last = (torch.tensor([getattr(text, end) for text in texts]) for end in ("first", "last"))
    return Rows(ids.to(device), mask.to(device), first.to(device), last.to(device))
