"""entlink links mentions in text to the entities of your own knowledge base.

    import entlink

    linker = entlink.load("my.kb")
    for link in linker.link("Mercury is the smallest planet.").links:
        link.mention.text, link.title, link.score

Names are imported when first used, so that the command line answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.config import LinkerConfig
    from entlink.documents import (
        Candidate,
        Document,
        Entity,
        GoldLink,
        Image,
        Link,
        Mention,
        Span,
        Turn,
    )
    from entlink.errors import EntlinkError
    from entlink.kb.build import BuildOptions, build
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.linker import Linker, load

_HOMES = {
    "BuildOptions": "kb.build",
    "Candidate": "documents",
    "Document": "documents",
    "EntlinkError": "errors",
    "Entity": "documents",
    "GoldLink": "documents",
    "Image": "documents",
    "KnowledgeBase": "kb.knowledge_base",
    "Link": "documents",
    "Linker": "linker",
    "LinkerConfig": "config",
    "Mention": "documents",
    "Span": "documents",
    "Turn": "documents",
    "build": "kb.build",
    "load": "linker",
}

__all__ = [
    "BuildOptions",
    "Candidate",
    "Document",
    "Entity",
    "EntlinkError",
    "GoldLink",
    "Image",
    "KnowledgeBase",
    "Link",
    "Linker",
    "LinkerConfig",
    "Mention",
    "Span",
    "Turn",
    "__version__",
    "build",
    "load",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'entlink' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"entlink.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
