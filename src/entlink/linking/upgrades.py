"""Configurations of earlier versions, as they are written now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from entlink.linking.config import LinkerConfig, Stage


def upgraded(config: LinkerConfig, path: Path | None = None) -> LinkerConfig:
    """The configuration with every stage and setting where it belongs now; `path` is where it was read."""
    for upgrade in (_without_slots, _senses_are_evidence, _evidence_has_its_own_settings):
        config = upgrade(config, path)
    return config


def _without_slots(config: LinkerConfig, path: Path | None) -> LinkerConfig:
    """There was a retriever `slots`."""
    stages, gone = _parted(config.retriever, "slots")
    if not gone:
        return config
    import logging

    logging.getLogger(__name__).warning(
        "%s: `slots` is left out, it is gone; `entlink adapt` makes one without", path or "the configuration"
    )
    ranker, nil = _without(config.ranker, "slots"), _without(config.nil, "slots")
    fusion = None if config.fusion is None else _without(config.fusion, "slots")
    return msgspec.structs.replace(config, retriever=stages, fusion=fusion, ranker=ranker, nil=nil)


def _without(stage: Stage, gone: str) -> Stage:
    """A stage that no longer speaks of a name, neither in a table of numbers nor in a list of names."""
    kept: Stage = {}
    for setting, value in stage.items():
        if isinstance(value, dict):
            value = {name: number for name, number in value.items() if name != gone}
        elif isinstance(value, list | tuple):
            value = [name for name in value if name != gone]
        kept[setting] = value
    return kept


def _senses_are_evidence(config: LinkerConfig, path: Path | None) -> LinkerConfig:
    """`senses` was a retriever that found nothing."""
    stages, senses = _parted(config.retriever, "senses")
    if not senses:
        return config
    return msgspec.structs.replace(config, retriever=stages, evidence=[*config.evidence, *senses])


def _evidence_has_its_own_settings(config: LinkerConfig, path: Path | None) -> LinkerConfig:
    """The encoder of coherence and the cross-encoder were settings of rankers."""
    ranker, evidence = dict(config.ranker), list(config.evidence)
    weights = ranker.get("weights", {})
    if ranker.get("name") == "combination":
        encoder, cross, top = (ranker.pop(setting, None) for setting in ("encoder", "cross", "top"))
        if encoder is not None and weights.get("coherence") != 0:
            evidence.append({"name": "coherence", "encoder": encoder})
        if cross is not None and weights.get("cross") != 0:
            evidence.append(_cross_encoder(cross, top))
            ranker["weights"] = {"cross": 1.0, **weights}
    elif ranker.get("name") == "cross-encoder" and "model" in ranker:
        evidence.append(_cross_encoder(ranker.pop("model"), ranker.pop("top", None)))
    if ranker == config.ranker:
        return config
    return msgspec.structs.replace(config, ranker=ranker, evidence=evidence)


def _cross_encoder(model: object, top: object) -> Stage:
    return {"name": "cross-encoder", "model": model, **({} if top is None else {"top": top})}


def _parted(stages: list[Stage], name: str) -> tuple[list[Stage], list[Stage]]:
    """The stages of other names, and those of this one."""
    own = [stage for stage in stages if stage.get("name") == name]
    return [stage for stage in stages if stage not in own], own
