"""What each kind of model learns from and with, for one training."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy

from entlink.encoders.dual import load_dual
from entlink.encoders.joint.settings import JointSettings
from entlink.encoders.joint.tokens import JointReader
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.errors import InputError
from entlink.kb.indexes.vectors.store import EntityVectors
from entlink.learning.building import make_joint, make_network
from entlink.learning.joint.learner import JointLearner
from entlink.learning.joint.material import JointMaterial
from entlink.learning.joint.texts import TaughtText
from entlink.learning.multimodal.examples import PicturedExample
from entlink.learning.pairs.batches import Material
from entlink.learning.pairs.examples import Example
from entlink.learning.pairs.learners import BiLearner, CrossLearner, Learner, with_rivals
from entlink.learning.pairs.networks import BiEncoder, CrossEncoder
from entlink.learning.pairs.types import begin_at_frequencies, type_names

if TYPE_CHECKING:
    import torch

    from entlink.encoders.trained.type_names import TypeNames
    from entlink.interfaces import DualEncoder, Vectors
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.base import Base
    from entlink.learning.building import Network
    from entlink.learning.train_config import TrainConfig

_READING, _READING_ASIDE = "reading examples", "reading what is held out"
_ENCODED_AT_ONCE = 512  # entities
_LEARNS_FROM: dict[str, type[Any]] = {"joint": TaughtText, "multimodal": PicturedExample}


class Course(NamedTuple):
    """A network with its learner, the lessons, what is held out, and what tells this training from others."""

    network: Network
    learner: Learner[Any]
    material: Any
    aside: Any | None
    held_out: int
    facts: dict[str, Any]
    look_first: bool
    settings: JointSettings | None = None  # of a joint model
    types: TypeNames | None = None  # of a bi-encoder with types


class Learning(NamedTuple):
    """What a course is made of."""

    config: TrainConfig
    kb: KnowledgeBase
    base: Base
    device: torch.device
    progress: Progress


def pair_course(given: Learning, examples: Sequence[Example], held_out: Sequence[Example]) -> Course:
    """That of a bi-encoder or a cross-encoder: mentions with their entities."""
    config, kb, base, device, progress = given
    reader = PairReader(base.tokenizer, config.model.pairs)
    if config.training.masked > 0 and not reader.knows_a_mask:
        logging.getLogger(__name__).warning("%s has no mask: no name is hidden in training", base.source)
    silent = [one for one in examples if not one.weight]  # what they say is right is not taught as wrong still
    types = (base.types or type_names(kb, config.model.fine_types)) if config.model.typed else None
    material = Material(kb, reader, _teaching(examples, config), progress, _READING, silent, types)
    aside, looked_at = _aside(given, reader, held_out, types)
    bf16 = config.training.precision == "bf16"
    network = make_network(config.model, base, config.training.seed, bf16=bf16, types=types)
    if types is not None and material.types is not None and isinstance(network, BiEncoder):
        material.types.check(kb, types)
        if base.types is None:
            begin_at_frequencies(network, kb, types)
    network = network.to(device)
    # A cross-encoder with a new head only guesses before its first step: a look tells nothing.
    look_first = config.model.kind == "bi-encoder" or base.kind == "cross"
    facts = {"types": msgspec.to_builtins(types)} if types else {}
    learner = _learner(network, config, device)
    return Course(network, learner, material, aside, looked_at, facts, look_first, types=types)


def joint_course(given: Learning, texts: Sequence[TaughtText], held_out: Sequence[TaughtText]) -> Course:
    """That of a joint model: texts with all their mentions, and vectors of entities that stay as they are."""
    config, kb, base, device, progress = given
    model, training = config.model, config.training
    dual = load_dual(model.entities)
    settings = JointSettings(
        text_tokens=model.text_tokens,
        context_tokens=model.context_tokens,
        longest=model.longest,
        similarity="cosine" if dual.similarity == "cosine" else "dot",
        scale=model.scale,
        entities=str(Path(model.entities).resolve()) if Path(model.entities).is_dir() else model.entities,
        entity_identity=dual.entity_identity,
    )
    reader = JointReader(base.tokenizer, settings)
    material = JointMaterial(reader, [one for one in texts if one.weight], progress, _READING)
    _check_spans(material)
    aside = JointMaterial(reader, held_out, progress, _READING_ASIDE) if held_out else None
    network = make_joint(model, base, dual, training.seed, bf16=training.precision == "bf16").to(device)
    learner = JointLearner(network, device, model.scale, _Vectors(kb, dual))
    facts = {"vectors of entities": dual.entity_identity}
    look_first = base.kind == "joint"
    return Course(network, learner, material, aside, len(held_out), facts, look_first, settings)


class _Vectors:
    """The vectors of entities, as linking will see them."""

    def __init__(self, kb: KnowledgeBase, dual: DualEncoder) -> None:
        self._kb, self._dual, self._vectors = kb, dual, EntityVectors(kb, dual)

    def __call__(self, ids: Sequence[str], progress: Progress) -> Vectors:
        found = numpy.zeros((len(ids), self._dual.dimension), numpy.float32)
        for start in range(0, len(ids), _ENCODED_AT_ONCE):
            progress("encoding entities", start, len(ids))
            keys = [self._key(id) for id in ids[start : start + _ENCODED_AT_ONCE]]
            found[start : start + len(keys)] = self._vectors.of(keys)
        return found

    def _key(self, id: str) -> int:
        key = self._kb.key(id)
        if key is None:
            raise InputError(
                f"the knowledge base has no entity {id!r}, which an example speaks of. Mine the examples anew"
            )
        return key


def check_examples(config: TrainConfig, examples: Sequence[Any]) -> None:
    """Whether there is something to learn from."""
    joint = config.model.kind == "joint"
    wanted: type[Any] = _LEARNS_FROM.get(config.model.kind, Example)
    strange = next((one for one in examples if not isinstance(one, wanted)), None)
    if strange is not None:
        raise InputError(
            f"a {config.model.kind} learns from {wanted.__name__}, and {type(strange).__name__} was given. "
            "Make them with entlink.learning.pairs.data.prepare"
        )
    _check_weights(examples)
    weighty = [one for one in examples if one.weight]  # a step of others alone would divide by 0: they are left out
    if examples and not weighty:
        raise InputError("all examples weigh 0, so nothing is learnt. Give some a weight above 0")
    if joint:
        _check_texts(weighty)
    else:
        _check_pairs(config, weighty)


def _check_weights(examples: Sequence[Any]) -> None:
    strange = next((one for one in examples if not 0 <= one.weight < inf), None)
    if strange is not None:
        raise InputError(
            f"an example of the document {strange.document.id!r} weighs {strange.weight}. Give it a weight from 0 on"
        )


def _check_texts(texts: Sequence[TaughtText]) -> None:
    if any(not one.optional for text in texts for one in text.mentions):
        return
    turns = " If training.speakers (--turns) names speakers, check their names." if not texts else ""
    raise InputError(
        "there is no gold mention to train on. Check that the documents have gold: JSON lines with `gold`, or one of "
        f"the formats in docs/formats.md.{turns}"
    )


def _check_spans(material: JointMaterial) -> None:
    if not any(one for own in material.gold for one in own if not one.optional):
        raise InputError(
            f"none of the {material.mentions:,} gold mentions is a span that the model can find: words of at most "
            f"{material.reader.settings.longest} tokens. Set model.longest higher, and check the offsets of the gold"
        )


def _check_pairs(config: TrainConfig, examples: Sequence[Any]) -> None:
    if not examples:
        raise InputError(
            "there is no example to train on: no gold mention whose entity the knowledge base has. Check that the "
            "documents have gold, and that its ids are those of the knowledge base"
        )
    if config.model.kind == "multimodal":
        _check_pictured(examples)
        return
    if config.model.kind == "cross-encoder" and not any(one.negatives for one in examples):
        raise InputError(
            "no example has negatives, so a cross-encoder has nothing to tell apart. Mine some (training.negatives), "
            "or train on names that several entities share"
        )
    if config.model.kind == "bi-encoder" and not _tells_apart(config, examples):
        raise InputError(
            "no example has negatives, and all are of one document, mean one entity or are a batch by themselves "
            "(training.batch = 1), so a bi-encoder has nothing to tell apart: what is right elsewhere in a document "
            "is not taught as wrong. Mine some (training.negatives), or train on several documents, in larger batches"
        )


def _check_pictured(examples: Sequence[PicturedExample]) -> None:
    if not any(one.wrong(1) for one in examples) and len({one.entity for one in examples}) < 2:
        raise InputError(
            "all examples mean one entity and have no other candidates, so there is nothing to learn. Give "
            "candidates (training.negatives)"
        )


def _tells_apart(config: TrainConfig, examples: Sequence[Example]) -> bool:
    """Whether some mention is compared with another entity than its own."""
    if any(one.negatives for one in examples):
        return True
    if config.training.batch == 1 and not config.model.fixed_entities:
        return False
    return min(len({one.document.id for one in examples}), len({one.entity for one in examples})) > 1


def _learner(network: BiEncoder | CrossEncoder, config: TrainConfig, device: torch.device) -> Learner[Material]:
    if isinstance(network, CrossEncoder):
        return CrossLearner(network, device, binary=config.model.loss == "binary")
    model, batch = config.model, config.training.batch
    return BiLearner(
        network,
        device,
        model.scale,
        batch,
        fixed_entities=model.fixed_entities,
        type_weight=model.type_weight,
    )


def _aside(
    given: Learning, reader: PairReader, held_out: Sequence[Example], types: TypeNames | None
) -> tuple[Material | None, int]:
    """What is looked at, and how many of its mentions can be judged; nothing where none can."""
    config = given.config
    looked = _drawn(held_out, config)
    if not looked:
        return None, 0
    material = Material(given.kb, reader, looked, given.progress, _READING_ASIDE, types=types)
    count = len(looked) if config.model.kind == "cross-encoder" else with_rivals(material, config.training.batch)
    if count:
        return material, count
    logging.getLogger(__name__).warning(
        "none of the %d held-out examples can be judged: they have no negatives, and are of one document, mean one "
        "entity or are a batch by themselves (training.batch = 1). Training goes on as if nothing were held out, and "
        "the last weights are kept. Hold out several documents, or mine negatives (training.negatives)",
        len(looked),
    )
    return None, 0


def _drawn(held_out: Sequence[Example], config: TrainConfig) -> list[Example]:
    """As many of the held-out examples as are looked at."""
    most = config.training.held_out
    if config.model.kind == "cross-encoder":
        held_out = [one for one in held_out if one.negatives]
    if len(held_out) <= most:
        return list(held_out)
    rows = numpy.random.default_rng([config.training.seed, 1]).choice(len(held_out), most, replace=False)
    return [held_out[row] for row in sorted(rows.tolist())]


def _teaching(examples: Sequence[Example], config: TrainConfig) -> Sequence[Example]:
    """The examples that can change anything: an entity alone is certain by the softmax of a cross-encoder."""
    alone_is_certain = config.model.kind == "cross-encoder" and config.model.loss == "softmax"
    return [one for one in examples if one.weight and (one.negatives or not alone_is_certain)]
