"""A linker's configuration: a small TOML file that names its stages and their settings.

[detector]
name = "dictionary"
min_link_probability = 0.1

[[retriever]]
name = "alias"

[nil]
name = "threshold"
threshold = 0.2

[kb.normalisation]
case = false
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import field

from entlink.errors import ConfigError
from entlink.kb.aliases import PriorWeights
from entlink.kb.tiers import Normalisation
from entlink.registry import BUILT_IN, NEEDS_NO_KB, find

Stage = dict[str, Any]


class KnowledgeBaseConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How a linker reads the names of its knowledge base: what their sources count for, and which tiers are tried."""

    weights: PriorWeights = field(default_factory=PriorWeights)
    normalisation: Normalisation = field(default_factory=Normalisation)


class LinkerConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which stages a linker is made of. Each table but `kb` has a `name` and that stage's own settings."""

    detector: Stage = field(default_factory=lambda: {"name": "dictionary"})
    retriever: list[Stage] = field(default_factory=lambda: [{"name": "alias"}, {"name": "edit-distance"}])
    ranker: Stage = field(default_factory=lambda: {"name": "prior"})
    nil: Stage = field(default_factory=lambda: {"name": "threshold"})
    kb: KnowledgeBaseConfig = field(default_factory=KnowledgeBaseConfig)
    types: tuple[str, ...] = ()
    min_score: float = 0.0
    batch_size: Annotated[int, msgspec.Meta(ge=1)] = 64


def read_config(path: str | Path) -> LinkerConfig:
    """Read a TOML file; what is wrong with it is told by name."""
    try:
        return msgspec.toml.decode(Path(path).read_bytes(), type=LinkerConfig)
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read ({problem.strerror})") from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: {problem}") from problem


def make_stage(kind: str, settings: Stage, kb: object) -> Any:
    """Build one stage from its table."""
    own = dict(settings)
    name = own.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(f'the [{kind}] table needs a name, such as name = "…"')
    factory = find(kind, name)
    before = () if (kind, name) in NEEDS_NO_KB else (kb,)
    if own or name not in BUILT_IN[kind]:
        # Imported here: the stages in the box need no settings, and looking into signatures is slow to import.
        from entlink.settings import checked

        own = checked(f"[{kind}] {name}", factory, before, own)
    return factory(*before, **own)
