"""How the stages of adapting train their models: on what, for how long, and gone on with after an interruption."""

from __future__ import annotations

import logging
import shutil
from functools import partial
from pathlib import Path

from entlink.errors import DamagedError, InputError, OtherTrainingError
from entlink.learning.adapt.lessons import BI_ENCODER, CROSS_ENCODER, lesson
from entlink.learning.adapt.settings import SHARES, config_of_training
from entlink.learning.adapt.tools import StageTools
from entlink.learning.own_texts.cases import read_cases
from entlink.learning.train_config import TrainConfig

NOT_WANTED = "no models were to be trained"
_FOR_THE_REST = 0.08  # of the minutes, that a training leaves
_FOR_WEIGHING = 0.02  # of the minutes: what weighing the evidence of a cross-encoder takes
_SHORTEST_TRAINING = 1.0  # seconds


class TrainingTools(StageTools):
    """The trainings of a model for a linker under way; `state` keeps how long each may take."""

    def _trained(self, name: str, folder: Path) -> str:
        """A model, unless it is there from an interrupted run; in a few words, how it was trained."""
        if not self.options.train:
            raise InputError(NOT_WANTED)
        from entlink.encoders.extras import require_train

        require_train("training a model")
        from entlink.encoders.models.card import CARD
        from entlink.kb.knowledge_base import KnowledgeBase
        from entlink.learning.checkpoints import has_checkpoint
        from entlink.learning.train import CHECKPOINT, train

        if (folder / CARD).is_file() and not has_checkpoint(folder / CHECKPOINT):
            shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)  # what a kill left of it
            return ""
        seconds = self._seconds_for(name)
        config = self._training_of(name)
        weights = self.state.config.ranker.get("weights", {})
        uses = read_cases(self.folder.uses) if self.folder.uses.exists() else []
        examples, aside = lesson(name, self._parts, weights, self.options.seed, uses)

        def told(stage: str, done: float, total: float) -> None:
            self._progress(f"{name}: {stage}", done, total)

        with KnowledgeBase.open(self.kb) as kb:
            begin = partial(
                train, config, kb, examples, aside, folder, progress=told, name=name, minutes=seconds / 60
            )
            try:
                report = begin()
            except (OtherTrainingError, DamagedError) as problem:
                logging.getLogger(__name__).warning("the %s is trained from the start: %s", name, problem)
                report = begin(restart=True)
        return f"{report.steps:,} steps on {report.examples:,} examples"

    def _training_of(self, name: str) -> TrainConfig:
        return config_of_training(name, self.options, links=self._has_links)

    def _seconds_for(self, name: str) -> float:
        """The share of a model in the minutes, or what is left of them when it is begun.

        Without links nothing else learns as much as the bi-encoder: what others do not need is its own.
        """
        if name in self.state.budgets:
            return self.state.budgets[name]
        total = self.options.minutes * 60
        left = total * (1 - _FOR_THE_REST) - self._spent()
        wanted = total * SHARES[name]
        if name == BI_ENCODER and not self._has_links:
            wanted = max(wanted, left - total * (SHARES[CROSS_ENCODER] + _FOR_WEIGHING))
        seconds = min(wanted, left)
        if seconds < _SHORTEST_TRAINING:
            raise InputError(f"of {self.options.minutes:g} minutes none was left. Give more --minutes")
        self.state.budgets[name] = seconds
        self.folder.write(self.state)
        return seconds
