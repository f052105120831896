"""Linkers in the place of the bi-encoder: asked for the mentions of a snapshot over a knowledge base of its
entities.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.linker import load
from entlink.studies.settings import available, deepened

if TYPE_CHECKING:
    from entlink.interfaces import DualEncoder
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.studies.time.asked import Asked

DENSE = "dense"


class LinkerSystem:
    """A linker by its name and configuration, whose lists are as long as the study looks."""

    def __init__(self, name: str, config: LinkerConfig | str | Path, depth: int) -> None:
        self.name, self.depth, self._encoder = name, depth, ""
        self.config = deepened(config if isinstance(config, LinkerConfig) else read_config(config), depth)

    @property
    def key(self) -> str:
        """What tells it from others."""
        return blake2b(msgspec.json.encode([self.name, self.config]), digest_size=6).hexdigest()

    def prepare(self, kb: KnowledgeBase) -> list[str]:
        """Leave out retrievers whose model or extra is missing, and say so; an error where none is left."""
        from entlink.kb.indexes.vectors.choice import choose_encoder
        from entlink.linking.config import with_encoder

        self._encoder = choose_encoder(kb).wanted
        self.config = with_encoder(self.config, self._encoder)
        self.config, missing = available(self.config, kb)
        return [f"{self.name} goes without {name}: {why}" for name, why in missing.items()]

    def encoders(self) -> list[DualEncoder]:
        """Those that search, each of which needs an index."""
        from entlink.encoders.dual import load_dual

        stages = [stage for stage in self.config.retriever if stage.get("name") == DENSE]
        return [
            load_dual(
                stage.get("encoder", self._encoder),
                **{key: value for key, value in stage.items() if key in ("description", "context")},
            )
            for stage in stages
        ]

    def ranks(self, kb: Path, asked: Sequence[Asked], progress: Progress, stage: str) -> list[int]:
        """At which place the target of each mention comes; 0 where it is not among the candidates."""
        from entlink.studies.time.ranks import ranks_by_linker

        linker = load(kb, config=self.config, mentions="given")
        try:
            return ranks_by_linker(linker, asked, self.depth, progress, stage)
        finally:
            linker.kb.close()
