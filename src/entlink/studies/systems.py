"""The systems of a study: each gives a linker for a part of a knowledge base, or says why it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from entlink.documents import Document, Mention, Span
from entlink.errors import InputError
from entlink.interfaces import Evidence, Question, Retriever
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import (
    LINKER_FILE,
    LinkerConfig,
    finds_mentions,
    linker_beside,
    make_stage,
    read_config,
)
from entlink.linking.linker import Linker, load
from entlink.mentions.given import GivenMentions
from entlink.nil import ThresholdNil
from entlink.ranking.prior import PriorRanker
from entlink.studies.nearest_title import NearestTitle
from entlink.studies.settings import MISSING, available, config_for, deepened, encoder_identities, names_of

K = 64  # candidates that BLINK's cross-encoder looks at
EDIT_DISTANCE, BI_ENCODER, ZERO_SHOT = "edit distance", "bi-encoder", "zero-shot"
# No threshold, as of BLINK's bi-encoder. Without an index over all vectors it orders what names and words bring.
_BI_ENCODER = LinkerConfig(
    retriever=[{"name": "alias"}, {"name": "edit-distance"}, {"name": "bm25"}, {"name": "dense", "limit": K}],
    fusion={"name": "weights", "keep": K, "weights": {"dense": 1.0}},
    nil={"name": "threshold", "threshold": 0.0},
    pool=2 * K,
)


class System(Protocol):
    """What a study asks of a system. `is_end_to_end` says whether it finds mentions by itself."""

    name: str
    is_end_to_end: bool

    def prepare(self, kb: KnowledgeBase) -> list[str]:
        """Look at what it needs, and tell what is to be noted; a MissingModelError or the like if it cannot run."""

    def load(self, folder: Path, types: Sequence[str], detector: str | None = None) -> Linker:
        """A linker that knows the entities of these types only."""

    def encoders(self, linker: Linker) -> dict[str, str]:
        """The identities of its encoders, by what uses them."""


class ConfiguredSystem:
    """A linker by its configuration: a LinkerConfig, a TOML file, a saved linker, or one in the box by its name.

    Without one of the retrievers that `needs` names it does not run; without others it does, and says so.
    """

    def __init__(
        self,
        name: str,
        config: LinkerConfig | str | Path,
        *,
        needs: Sequence[str] = (),
        is_end_to_end: bool = True,
        deep: bool = False,
    ) -> None:
        self.name, self._needs = name, frozenset(needs)
        self.config = config if isinstance(config, LinkerConfig) else read_config(config)
        self.is_end_to_end = is_end_to_end and finds_mentions(self.config)
        if deep:
            self.config = deepened(self.config, K)

    def prepare(self, kb: KnowledgeBase) -> list[str]:
        needed = [stage for stage in self.config.retriever if stage.get("name") in self._needs]
        silent = [str(stage["name"]) for stage in needed if _finds_nothing(make_stage("retriever", stage, kb), kb)]
        self.config, missing = available(self.config, kb)
        others = ", ".join(name for name in names_of(self.config) if name not in silent)
        return [
            *(f"{self.name} goes without {name}: {why}" for name, why in missing.items()),
            *(f"{self.name}: {name} has no index to search, so it orders what {others} find" for name in silent),
        ]

    def load(self, folder: Path, types: Sequence[str], detector: str | None = None) -> Linker:
        config = self.config
        if detector and detector != config.detector.get("name"):
            config = msgspec.structs.replace(config, detector={"name": detector})
        return load(folder, config=config, types=types)

    def encoders(self, linker: Linker) -> dict[str, str]:
        return encoder_identities(linker, names_of(self.config))


class NearestTitleSystem:
    """The nearest title by Levenshtein distance, whatever stands around the mention; it never says NIL."""

    def __init__(self, name: str = EDIT_DISTANCE) -> None:
        self.name, self.is_end_to_end = name, False

    def prepare(self, kb: KnowledgeBase) -> list[str]:
        return []

    def load(self, folder: Path, types: Sequence[str], detector: str | None = None) -> Linker:
        kb = KnowledgeBase.open(folder)
        titles = NearestTitle(kb, types, limit=K)
        return Linker(kb, GivenMentions(), [titles], PriorRanker(), ThresholdNil(0.0), types=types)

    def encoders(self, linker: Linker) -> dict[str, str]:
        return {}


def _finds_nothing(retriever: Retriever, kb: KnowledgeBase) -> bool:
    """Whether a retriever only scores what others find: it does not even know an entity by its title."""
    title = next(iter(kb)).title
    question = Question(Document("title", title), [Mention(Span(0, len(title)), title)])
    return isinstance(retriever, Evidence) and not retriever.retrieve([question])[0][0]


def baselines() -> list[System]:
    """What every study has beside the linkers in question."""
    return [NearestTitleSystem(), ConfiguredSystem(BI_ENCODER, _BI_ENCODER, needs=["dense"], is_end_to_end=False)]


def model_system(name: str, model: str | Path) -> System:
    """A trained model by itself, as it came: whether it was trained on this knowledge base or elsewhere.

    A bi-encoder takes the place of the plain one. A cross-encoder orders what the plain bi-encoder puts first, as
    BLINK does. Neither says NIL.
    """
    from entlink.encoders.loading import card_of

    found = card_of(model)
    kind = found[1].kind if found else None
    if kind not in ("dual", "cross"):
        raise InputError(
            f"{model}: this is no bi-encoder and no cross-encoder. Give the folder that `entlink train` or "
            "`entlink adapt` made; an encoder of plain texts is studied by --system"
        )
    if kind == "cross":
        ranker = {"name": "cross-encoder", "model": str(model), "top": K}
        config = msgspec.structs.replace(_BI_ENCODER, ranker=ranker)
    else:
        config = bi_encoder_config(model)
    return ConfiguredSystem(name, config, needs=["dense"], is_end_to_end=False)


def bi_encoder_config(model: str | Path) -> LinkerConfig:
    """A linker that a bi-encoder alone orders."""
    *others, dense = _BI_ENCODER.retriever
    own = {**dense, "encoder": str(model), "demand": 2 * K}
    return msgspec.structs.replace(_BI_ENCODER, retriever=[*others, own])


def default_systems(kb: str | Path) -> list[System]:
    """The baselines, and the linker beside the knowledge base or else the one in the box for unfamiliar ones."""
    return [*baselines(), ConfiguredSystem(*own_linker(kb))]


def own_linker(kb: str | Path) -> tuple[str, LinkerConfig]:
    """The linker that a study is about unless another is named: `shop.linker` if that is there, else zero-shot."""
    beside = linker_beside(kb)
    return beside.name if (beside / LINKER_FILE).exists() else ZERO_SHOT, config_for(kb)


def why_missing(system: System, kb: KnowledgeBase) -> tuple[str, list[str]]:
    """Why a system cannot run on this machine, empty if it can; and what it has to note."""
    try:
        return "", system.prepare(kb)
    except MISSING as problem:
        return str(problem), []
