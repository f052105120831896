"""Configurations made ready for a study: without what is missing on this machine, or with longer lists."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.errors import EntlinkError, MissingExtraError, MissingModelError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import (
    LINKER_FILE,
    LinkerConfig,
    Stage,
    free_name,
    linker_beside,
    make_stage,
    read_config,
    read_found,
    retriever_names,
)
from entlink.linking.linker import Linker
from entlink.linking.registry import find

MISSING = (MissingModelError, MissingExtraError)


def config_for(kb: str | Path) -> LinkerConfig:
    """That of the linker beside the knowledge base; else the one in the box for knowledge bases nobody knows."""
    beside = linker_beside(kb)
    return read_found(beside) if (beside / LINKER_FILE).exists() else read_config("zero-shot")


def with_retrievers(config: LinkerConfig, names: Sequence[str]) -> LinkerConfig:
    """The same with these retrievers only, by the settings that the configuration has for them, else by default."""
    if not names:
        return config
    known = {str(stage.get("name")): stage for stage in config.retriever}
    for name in names:
        find("retriever", name)  # an unknown name is told here
    return msgspec.structs.replace(
        config, retriever=[known.get(name, {"name": name}) for name in dict.fromkeys(names)]
    )


def available(config: LinkerConfig, kb: KnowledgeBase) -> tuple[LinkerConfig, dict[str, str]]:
    """The configuration without retrievers whose model or extra is missing, and why each of those is."""
    kept: list[Stage] = []
    missing: dict[str, str] = {}
    problems: list[EntlinkError] = []
    for stage in config.retriever:
        try:
            make_stage("retriever", stage, kb)
        except MISSING as problem:
            missing[free_name(str(stage.get("name")), missing)] = str(problem)
            problems.append(problem)
        else:
            kept.append(stage)
    if problems and not kept:
        raise problems[0]
    return msgspec.structs.replace(config, retriever=kept), missing


def deepened(config: LinkerConfig, k: int) -> LinkerConfig:
    """The same with lists of at least `k` candidates wherever a stage has a setting for that."""
    fusion = config.fusion
    return msgspec.structs.replace(
        config,
        retriever=[_at_least(stage, "retriever", "limit", k) for stage in config.retriever],
        fusion=None if fusion is None else _at_least(fusion, "fusion", "keep", k),
        pool=max(config.pool, k),
    )


def _at_least(stage: Stage, kind: str, setting: str, k: int) -> Stage:
    name = stage.get("name")
    known = inspect.signature(find(kind, name)).parameters if isinstance(name, str) else {}
    if setting not in known:
        return stage
    return {**stage, setting: max(k, int(stage.get(setting, known[setting].default)))}


def encoder_identities(linker: Linker, names: Sequence[str]) -> dict[str, str]:
    """The identity of the encoder behind each retriever that has one, by the retriever's name."""
    found = {}
    for name, retriever in zip(names, linker.retrievers, strict=True):
        identity = _identity(retriever)
        if identity:
            found[name] = identity
    return found


def _identity(retriever: Any) -> str:
    encoder = getattr(retriever, "dual", None) or getattr(retriever, "encoder", None)
    return str(getattr(encoder, "identity", ""))


def names_of(config: LinkerConfig) -> list[str]:
    """What a fusion calls the retrievers of a configuration."""
    return retriever_names(config.retriever)
