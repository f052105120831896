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
    from entlink.kb.snapshots.build import build_snapshots
    from entlink.linking.conversation.turns import Conversation, LinkedTurn
    from entlink.linking.dated import DatedLinker
    from entlink.linking.link_file import link_file

__all__ = [
    "BuildOptions",
    "Candidate",
    "Conversation",
    "DatedLinker",
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
    "build_snapshots",
    "link_file",
    "load",
]


# Imported when first used: building, which brings DuckDB, and what most do without.
_LATER = {
    "BuildOptions": "entlink.kb.build.from_sources",
    "Conversation": "entlink.linking.conversation.turns",
    "DatedLinker": "entlink.linking.dated",
    "LinkedTurn": "entlink.linking.conversation.turns",
    "build": "entlink.kb.build.from_sources",
    "build_snapshots": "entlink.kb.snapshots.build",
    "link_file": "entlink.linking.link_file",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'entlink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


_moved.install()
