"""Training a model from examples to the finished folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import torch

from entlink.encoders.models.card import CARD
from entlink.errors import ExistsError, InputError
from entlink.io.atomic import write_lock
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.base import load_base
from entlink.learning.base_fit import check_base
from entlink.learning.checkpoints import Checkpoints, Look, State, has_checkpoint, is_unfinished
from entlink.learning.courses import Course, Learning, check_examples, joint_course, pair_course
from entlink.learning.export import PARTIAL, WRITTEN, commit, export
from entlink.learning.joint.fitting import Fit, fit_joint
from entlink.learning.joint.material import JointMaterial
from entlink.learning.joint.texts import TaughtText
from entlink.learning.loop import Loop
from entlink.learning.maps.training import MapTraining
from entlink.learning.multimodal.examples import PicturedExample
from entlink.learning.multimodal.training import MultimodalTraining, picture_encoder
from entlink.learning.pairs.examples import Example
from entlink.learning.train_config import TrainConfig, checked

if TYPE_CHECKING:
    from entlink.encoders.multimodal.inputs import IdVectors

CHECKPOINT, _LOCK = "checkpoint", "training.lock"


class TrainReport(msgspec.Struct, frozen=True):
    """What became of a training: `best` is the share of held-out mentions whose entity beats its negatives.

    Of a bi-encoder that is `typed`, it is the mean of that and the share of mentions with the right coarse type.
    Of a joint model, `best` is the F1 of mentions found whose entity does, examples are texts, `snapped` mentions
    were moved to the ends of words, `left_out` ones are no spans that it can find, and `fit` is how the written model
    does.
    """

    folder: str
    kind: str
    steps: int
    loss: float | None
    best: float | None
    best_step: int
    history: list[Look]
    examples: int
    held_out: int
    seconds: float
    mentions: int = 0
    snapped: int = 0
    left_out: int = 0
    fit: Fit | None = None
    typed: bool = False


def train(
    config: TrainConfig,
    kb: KnowledgeBase,
    examples: Sequence[Example] | Sequence[TaughtText] | Sequence[PicturedExample],
    held_out: Sequence[Example] | Sequence[TaughtText] | Sequence[PicturedExample],
    folder: Path | str,
    *,
    progress: Progress = ignore_progress,
    name: str = "",
    command: str = "",
    minutes: float | None = None,
    restart: bool = False,
    data: Mapping[str, Any] | None = None,
    vectors: IdVectors | None = None,
) -> TrainReport:
    """Train a model on examples and write its folder; the best weights on `held_out`, or the last without any.

    A checkpoint in the folder is gone on from, unless `restart`. With `minutes`, training ends when they are over,
    and the learning rate falls by the clock. `data` is noted in the folder: where the examples are from.
    `vectors` are those of entities for a multimodal model that reads them; else it takes the knowledge base's.
    """
    began, folder = monotonic(), Path(folder)
    device = check_start(config, folder, restart=restart)
    check_examples(config, examples)
    if config.model.kind in ("map", "multimodal"):
        with alone_in(folder):
            return _train_alone(
                _Training(config, kb, device, progress, vectors),
                (examples, held_out),
                folder,
                name=name or folder.resolve().name,
                command=command,
                minutes=minutes,
                restart=restart,
                began=began,
                data={"kb": kb_name(kb), **dict(data or {})},
            )
    with alone_in(folder):
        base = load_base(config.model.base, progress)
        course = _course(Learning(config, kb, base, device, progress), examples, held_out)
        facts = {**msgspec.to_builtins(config), "base weights": base.identity, **course.facts}
        facts["examples"] = course.material.digest()
        facts["held-out examples"] = course.aside.digest() if course.aside else ""
        facts["commit"] = commit()
        checkpoints = Checkpoints(folder / CHECKPOINT, facts)
        if restart:
            checkpoints.remove()
        lessons = (course.learner, course.material, course.aside)
        spent = monotonic() - began
        loop: Loop[Any] = Loop(*lessons, config.training, checkpoints, progress, minutes=minutes, spent=spent)
        report = _report(folder, config, loop.run(look_first=course.look_first), course)
        progress("writing the model", 0, 0)
        told = {
            "base": {"source": base.source, "identity": base.identity},
            "data": {"kb": kb_name(kb), "examples": facts["examples"], "held_out": facts["held-out examples"]}
            | dict(data or {}),
            "report": msgspec.to_builtins(report),
            "torch": str(torch.__version__),
        }
        fitting = _Fitting(kb, held_out, progress) if course.settings else None
        own = name or folder.resolve().name
        settings, network, types = course.settings, course.network, course.types
        wanted: dict[str, Any] = {"command": command, "settings": settings, "types": types, "finish": fitting}
        export(folder, network, base, config, told, name=own, **wanted)
        checkpoints.remove()
    return report if fitting is None else msgspec.structs.replace(report, fit=fitting.found)


class _Training(NamedTuple):
    """What a training that makes its own material is of."""

    config: TrainConfig
    kb: KnowledgeBase
    device: torch.device
    progress: Progress
    vectors: IdVectors | None

    def made(self) -> MapTraining | MultimodalTraining:
        config, kb, device, progress, vectors = self
        if config.model.kind == "map":
            return MapTraining(config, kb, device, progress)
        return MultimodalTraining(config, kb, load_base(config.model.base, progress), device, progress, vectors)


def _train_alone(
    given: _Training,
    lessons: tuple[Sequence[Any], Sequence[Any]],
    folder: Path,
    *,
    name: str,
    command: str,
    minutes: float | None,
    restart: bool,
    began: float,
    data: dict[str, Any],
) -> TrainReport:
    """A map, or a multimodal model: each makes its own material, and writes its own folder."""
    training, (examples, held_out) = given.made(), lessons
    state, looked_at = training.run(
        examples, held_out, folder / CHECKPOINT, minutes=minutes, restart=restart, spent=monotonic() - began
    )
    report = _report_of(given.config.model.kind, folder, state, len(examples), looked_at)
    given.progress("writing the model", 0, 0)
    training.export(folder, {"data": data, "report": msgspec.to_builtins(report)}, name=name, command=command)
    Checkpoints(folder / CHECKPOINT, {}).remove()
    return report


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Only one training writes to a folder; where it is refused, neither its lock nor an empty folder stays."""
    is_new = not folder.exists()
    with write_lock(folder, _LOCK):
        try:
            yield
        finally:
            (folder / _LOCK).unlink(missing_ok=True)
            if is_new and not any(folder.iterdir()):
                folder.rmdir()


class _Fitting:
    """What is done with a joint model before it is in its place."""

    def __init__(self, kb: KnowledgeBase, held_out: Sequence[Any], progress: Progress) -> None:
        self._kb, self._progress = kb, progress
        self._texts = [one for one in held_out if isinstance(one, TaughtText)]
        self.found: Fit | None = None

    def __call__(self, folder: Path) -> None:
        self.found = fit_joint(folder, self._kb, self._texts, self._progress)


def _course(
    given: Learning,
    examples: Sequence[Any],
    held_out: Sequence[Any],
) -> Course:
    if given.config.model.kind == "joint":
        lessons = ([one for one in part if isinstance(one, TaughtText)] for part in (examples, held_out))
        return joint_course(given, *lessons)
    pairs = ([one for one in part if isinstance(one, Example)] for part in (examples, held_out))
    return pair_course(given, *pairs)


def check_start(config: TrainConfig, folder: Path, *, restart: bool = False) -> torch.device:
    """Whether training can begin, as far as can be told before its examples are there; the device it will be on."""
    checked(config)
    base = check_base(config.model)
    if config.model.kind == "multimodal":
        picture_encoder(config)
    device = device_of(config.training.device)
    check_folder(folder, base, restart)
    return device


def device_of(name: str) -> torch.device:
    """The device of a name, if it is here."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as problem:
        raise InputError(
            f"the device {name!r} is not here ({str(problem).splitlines()[0]}). "
            "Set training.device to cpu (--set training.device=cpu)"
        ) from problem
    return device


def _report(folder: Path, config: TrainConfig, state: State, course: Course) -> TrainReport:
    joint = course.material if isinstance(course.material, JointMaterial) else None
    return TrainReport(
        folder=str(folder),
        kind=config.model.kind,
        steps=state.step,
        loss=next((look.loss for look in reversed(state.history) if look.loss is not None), None),
        best=state.best,
        best_step=state.best_step,
        history=state.history,
        examples=joint.texts if joint else len(course.material),
        held_out=course.held_out,
        seconds=round(state.seconds, 1),
        mentions=joint.mentions if joint else len(course.material),
        snapped=joint.snapped if joint else 0,
        left_out=joint.left_out if joint else 0,
        typed=config.model.typed,
    )


def _report_of(kind: str, folder: Path, state: State, examples: int, held_out: int) -> TrainReport:
    return TrainReport(
        folder=str(folder),
        kind=kind,
        steps=state.step,
        loss=next((look.loss for look in reversed(state.history) if look.loss is not None), None),
        best=state.best,
        best_step=state.best_step,
        history=state.history,
        examples=examples,
        held_out=held_out,
        seconds=round(state.seconds, 1),
        mentions=examples,
    )


def kb_name(kb: KnowledgeBase) -> str:
    return kb.folder.name


def check_folder(folder: Path, base: Path | None, restart: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: this is a file. Give a folder for the model")
    if base is not None and folder.exists() and folder.samefile(base):
        raise InputError(
            f"{folder}: this is what training starts from (model.base): a kill while the new model is written would "
            "lose both. Give another folder for the model"
        )
    if has_checkpoint(folder / CHECKPOINT):
        return
    if (folder / CARD).is_file():
        if not restart:
            raise ExistsError(f"{folder}: a trained model is there already. Give another folder, or --restart")
    elif not _is_ours(folder):
        raise ExistsError(f"{folder}: this folder holds something else than a model. Give another for the model")


def _is_ours(folder: Path) -> bool:
    """Whether nothing is in a folder, or what a training leaves that was killed without a checkpoint."""
    if not folder.exists():
        return True
    names = {path.name for path in folder.iterdir()} - {_LOCK}
    if PARTIAL in names:  # it was being written
        names -= {PARTIAL, *WRITTEN}
    return not names or (names == {CHECKPOINT} and is_unfinished(folder / CHECKPOINT))
