"""A bi-encoder for each snapshot, trained on its mentions; one that was interrupted is gone on with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.datasets.temporal.rows import snapshot_folder
from entlink.errors import ConfigError, InputError
from entlink.studies.time.asked import asked_of
from entlink.studies.time.results import Training

if TYPE_CHECKING:
    from entlink.datasets.temporal import TemporalDataset
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.pairs.examples import Example
    from entlink.learning.train_config import TrainConfig
    from entlink.studies.place import Place
    from entlink.studies.time.asked import Asked
    from entlink.studies.time.bases import Bases
    from entlink.studies.time.results import TimeOptions

FOLDER = "models"


def config_of(options: TimeOptions) -> TrainConfig:
    """How a bi-encoder is trained: the preset, with what the options say over it."""
    from entlink.learning.train_config import read_train_config

    said: dict[str, object] = {
        "model.base": options.base,
        "model.mention_tokens": options.tokens,
        "model.entity_tokens": options.tokens,
    }
    laid = {key: json.dumps(value, ensure_ascii=False) for key, value in said.items() if value is not None}
    laid["training.seed"] = str(options.seed)
    config = read_train_config(options.preset, {**laid, **options.settings})
    if config.model.kind != "bi-encoder":
        raise ConfigError(f"{options.preset}: it trains a {config.model.kind}. Name one of a bi-encoder")
    if config.training.negatives and config.training.mine != "names":
        raise ConfigError('training.mine must be "names" here, or training.negatives 0')
    return config


def model_folder(place: Place, date: str) -> Path:
    """Where the bi-encoder of a snapshot is."""
    return place.folder / FOLDER / snapshot_folder(date)


def train_on(
    place: Place,
    data: TemporalDataset,
    date: str,
    bases: Bases,
    options: TimeOptions,
    config: TrainConfig,
    progress: Progress,
) -> Training:
    """The bi-encoder of a snapshot, trained now if it is not there."""
    return place.kept(
        f"{FOLDER}/{snapshot_folder(date)}.json",
        Training,
        lambda: _trained(model_folder(place, date), data, date, bases, options, config, progress),
    )


def _trained(
    folder: Path,
    data: TemporalDataset,
    date: str,
    bases: Bases,
    options: TimeOptions,
    config: TrainConfig,
    progress: Progress,
) -> Training:
    from entlink.encoders.extras import require_train

    require_train("training a bi-encoder for each snapshot")
    from entlink.encoders.models.card import CARD
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.checkpoints import has_checkpoint
    from entlink.learning.pairs.data import drawn, mine
    from entlink.learning.train import CHECKPOINT, train

    if (folder / CARD).is_file() and not has_checkpoint(folder / CHECKPOINT):
        return _said(folder, date)  # trained, but killed before that was noted here

    def told(stage: str, done: float, total: float) -> None:
        progress(f"{snapshot_folder(date)}: {stage}", done, total)

    with KnowledgeBase.open(bases.path(date)) as kb:
        examples = _examples(kb, asked_of(data, date, "train"))
        aside = drawn(_examples(kb, asked_of(data, date, "validation")), config.training.held_out, options.seed)
        if not examples:
            raise InputError(f"{data.folder}: {date} has no row to train on. Leave it out with --snapshots")
        training = config.training
        most = training.steps or training.epochs * ceil(len(examples) / (training.batch * training.accumulate))
        steps = most if options.minutes else min(most, options.steps)
        config = msgspec.structs.replace(config, training=msgspec.structs.replace(training, steps=steps))
        mined = mine(config, kb, [*examples, *aside], progress=told)
        report = train(
            config,
            kb,
            mined[: len(examples)],
            mined[len(examples) :],
            folder,
            progress=told,
            name=f"bi-encoder-{snapshot_folder(date)}",
            minutes=options.minutes,
        )
    return Training(date, report.steps, report.examples, report.best, report.seconds, folder.name)


def _said(folder: Path, date: str) -> Training:
    """What the folder of a trained model says of its training."""
    from entlink.learning.export import TOLD
    from entlink.learning.train import TrainReport

    told = msgspec.json.decode((folder / TOLD).read_bytes(), type=dict[str, Any])
    report = msgspec.convert(told["report"], TrainReport)
    return Training(date, report.steps, report.examples, report.best, report.seconds, folder.name)


def _examples(kb: KnowledgeBase, asked: Iterable[Asked]) -> list[Example]:
    """What is learnt; a target that is not among the entities of its snapshot cannot be."""
    from entlink.learning.pairs.examples import Example

    known: dict[str, bool] = {}
    return [
        Example(one.document, one.mention, one.target)
        for one in asked
        if known.setdefault(one.target, kb.get(one.target) is not None)
    ]
