"""The multimodal model as rankers of the study: its fusions, its baselines, and what is left of it without inputs."""

from __future__ import annotations

from entlink.studies.pictures.rankers import RankerSpec
from entlink.studies.pictures.results import PictureOptions


def training_of(options: PictureOptions) -> dict[str, object]:
    return {}


class Models:
    table: list[RankerSpec]
    fusions: list[RankerSpec]
    text: RankerSpec
    best: RankerSpec
    training: dict[str, object]
