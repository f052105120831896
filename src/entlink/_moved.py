"""Modules under the paths that release 0.1 documented: each import warns and gives the module where it is now.

They go with the next release.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader  # at run time it would bring importlib.resources, which is slow

MOVED = {
    "entlink.config": "entlink.linking.config",
    "entlink.conversation": "entlink.linking.conversation.turns",
    "entlink.datasets.checking": "entlink.datasets.catalogue",
    "entlink.datasets.reddit": "entlink.datasets.conversations",
    "entlink.evaluation.metrics": "entlink.evaluation.scoring.metrics",
    "entlink.formats.texts": "entlink.formats.documents.texts",
    "entlink.formats.wikisrs": "entlink.formats.public.wikisrs",
    "entlink.kb.aliases": "entlink.kb.names.aliases",
    "entlink.kb.edits": "entlink.kb.store.edits",
    "entlink.kb.folding": "entlink.text.folding",
    "entlink.kb.irregular_plurals": "entlink.text.plurals",
    "entlink.kb.merge": "entlink.kb.build.merge",
    "entlink.kb.opening_names": "entlink.kb.names.opening_names",
    "entlink.kb.opening_phrases": "entlink.kb.names.opening_phrases",
    "entlink.kb.tiers": "entlink.kb.names.tiers",
    "entlink.learning.data": "entlink.learning.pairs.data",
    "entlink.linker": "entlink.linking.linker",
    "entlink.registry": "entlink.linking.registry",
}


class MovedFinder:
    """Finds and loads a module under its old path, after all others have looked for it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, cast("Loader", self)) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        new = MOVED[spec.name]
        warnings.warn(f"{spec.name} is now {new}", DeprecationWarning, stacklevel=2)
        module = import_module(new)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It ran when it was imported under its own path, whose spec it gets back."""
        module.__spec__ = self._spec


def install() -> None:
    """From now on old paths can be imported."""
    if not any(isinstance(finder, MovedFinder) for finder in sys.meta_path):
        sys.meta_path.append(MovedFinder())
