"""How adapting trains its bi-encoder: on what, for how long, and gone on with after an interruption."""

from __future__ import annotations

import logging
import shutil
from functools import partial
from pathlib import Path

from entlink.errors import DamagedError, InputError, OtherTrainingError
from entlink.learning.adapt.lessons import BI_ENCODER, lesson
from entlink.learning.adapt.settings import SHARE, config_of_training, encoder_of
from entlink.learning.adapt.tools import StageTools
from entlink.learning.own_texts.cases import read_cases
from entlink.learning.train_config import TrainConfig

NOT_WANTED = "no models were to be trained"
FOR_THE_REST = 0.08  # of the minutes, that a training leaves
_SHORTEST_TRAINING = 1.0  # seconds


class TrainingTools(StageTools):
    """The training of a bi-encoder for a linker under way; `state` keeps how long it may take."""

    def _trained(self, folder: Path) -> str:
        """The bi-encoder, unless it is there from an interrupted run; in a few words, how it was trained."""
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
        seconds, config = self._seconds_to_train(), self._training()
        weights = self.state.config.ranker.get("weights", {})
        uses = read_cases(self.folder.uses) if self.folder.uses.exists() else []
        examples, aside = lesson(self._parts, weights, self.options.seed, uses)

        def told(stage: str, done: float, total: float) -> None:
            self._progress(f"{BI_ENCODER}: {stage}", done, total)

        with KnowledgeBase.open(self.kb) as kb:
            begin = partial(
                train, config, kb, examples, aside, folder, progress=told, name=BI_ENCODER, minutes=seconds / 60
            )
            try:
                report = begin()
            except (OtherTrainingError, DamagedError) as problem:
                logging.getLogger(__name__).warning("the bi-encoder is trained from the start: %s", problem)
                report = begin(restart=True)
        return f"{report.steps:,} steps on {report.examples:,} examples"

    def _training(self) -> TrainConfig:
        return config_of_training(self.options, links=self._has_links, encoder=encoder_of(self.state.config))

    def _seconds_to_train(self) -> float:
        """Its share of the minutes; without links, where nothing else learns as much, all that are left."""
        if BI_ENCODER in self.state.budgets:
            return self.state.budgets[BI_ENCODER]
        total = self.options.minutes * 60
        left = total * (1 - FOR_THE_REST) - self._spent()
        seconds = min(left, total * SHARE) if self._has_links else left
        if seconds < _SHORTEST_TRAINING:
            raise InputError(f"of {self.options.minutes:g} minutes none was left. Give more --minutes")
        self.state.budgets[BI_ENCODER] = seconds
        self.folder.write(self.state)
        return seconds
