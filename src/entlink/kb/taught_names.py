"""Names that gold taught: what surfaces were linked to in documents with gold, kept in a file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.errors import DamagedError, MissingModelError
from entlink.kb.folding import key_of
from entlink.kb.tiers import inflected

if TYPE_CHECKING:
    from entlink.documents import Document
    from entlink.kb.knowledge_base import KnowledgeBase

FORMAT = 1


class TaughtNames(msgspec.Struct, frozen=True, kw_only=True):
    """For each folded name, how often it led to each entity, and how often to none that is known."""

    format: int = FORMAT
    names: dict[str, dict[str, int]]
    unknown: dict[str, int] = {}
    mentions: int = 0
    kb: str = ""
    entlink: str = ""
    command: str = ""
    made: str = ""
    data: list[dict[str, Any]] = []

    def of(self, surface: str) -> Mapping[str, float]:
        """The share of each entity among what a name led to; in the singular or plural if not as it is written."""
        key = key_of(surface)
        for tried in (key, *inflected(key)):
            found = self.names.get(tried)
            if found:
                total = sum(found.values()) + self.unknown.get(tried, 0)
                return {entity: count / total for entity, count in found.items()}
        return {}


def teach(kb: KnowledgeBase, documents: Iterable[Document], **about: Any) -> TaughtNames:
    """The names that the gold of some documents teaches; personal mentions are no names."""
    from entlink.version import __version__

    names: dict[str, Counter[str]] = defaultdict(Counter)
    unknown = Counter[str]()
    mentions = 0
    for document in documents:
        for gold in document.gold:
            key = key_of(document.text[gold.span.start : gold.span.end])
            if not key or gold.optional or gold.meta.get("personal"):
                continue
            mentions += 1
            entity = kb.resolve(gold.entities[0]) if gold.entities else None
            if entity is None:
                unknown[key] += 1
            else:
                names[key][entity.id] += 1
    return TaughtNames(
        names={key: dict(sorted(found.items())) for key, found in sorted(names.items())},
        unknown=dict(sorted(unknown.items())),
        mentions=mentions,
        kb=kb.folder.name,
        entlink=__version__,
        **about,
    )


def write_taught(path: Path, taught: TaughtNames) -> None:
    """Write names to a file, which is there whole or not at all."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(taught)) + b"\n")
    partial.replace(path)


def read_taught(path: Path) -> TaughtNames:
    """The names in a file; one that is missing or damaged is told."""
    try:
        taught = msgspec.json.decode(path.read_bytes(), type=TaughtNames)
    except OSError as problem:
        raise MissingModelError(
            f"{path}: there are no taught names. Make them with `entlink train names`"
        ) from problem
    except msgspec.MsgspecError as problem:
        raise DamagedError(f"{path}: these names cannot be read ({problem}). Make them anew") from problem
    if taught.format != FORMAT:
        raise DamagedError(f"{path}: these names are of another version of entlink. Make them anew")
    return taught
