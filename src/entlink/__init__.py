"""entlink links mentions in text to the entities of your own knowledge base.

import entlink

linker = entlink.load("my.kb")
for link in linker.link("Mercury is the smallest planet.").links:
    link.mention.text, link.title, link.score
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entlink import _moved
from entlink.documents import Candidate, Document, Entity, GoldLink, Image, Link, Mention, Span, Turn
from entlink.errors import EntlinkError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import LinkerConfig
from entlink.linking.linker import Linker, load
from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.kb.build.from_sources import BuildOptions, build
    from entlink.linking.conversation.turns import Conversation, LinkedTurn

__all__ = [
    "BuildOptions",
    "Candidate",
    "Conversation",
    "Document",
    "Entity",
    "EntlinkError",
    "GoldLink",
    "Image",
    "KnowledgeBase",
    "Link",
    "LinkedTurn",
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
    """Imported when first used: building, which brings DuckDB, and conversations, which most do without."""
    if name in ("BuildOptions", "build"):
        from entlink.kb.build import from_sources as module

        return getattr(module, name)
    if name in ("Conversation", "LinkedTurn"):
        from entlink.linking.conversation import turns as conversation

        return getattr(conversation, name)
    raise AttributeError(f"module 'entlink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


_moved.install()
