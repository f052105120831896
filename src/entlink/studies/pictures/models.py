"""The multimodal model as rankers of the study: its fusions, its baselines, and what is left of it without inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies.pictures.rankers import RankerSpec
from entlink.studies.pictures.results import PictureOptions
from entlink.studies.place import Place


def training_of(options: PictureOptions) -> dict[str, object]:
    return {}


class Models:
    table: list[RankerSpec]
    fusions: list[RankerSpec]
    text: RankerSpec
    best: RankerSpec
    training: dict[str, object]
