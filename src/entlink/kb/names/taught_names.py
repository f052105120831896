"""Names that gold taught: what surfaces were linked to in documents with gold, kept in a file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.errors import DamagedError, MissingModelError
from entlink.io.checksums import fingerprint
from entlink.kb.names.tiers import inflected
from entlink.text.folding import key_of

if TYPE_CHECKING:
    from entlink.documents import Document, Span
    from entlink.kb.knowledge_base import KnowledgeBase

FORMAT = 1
NOWHERE = ""  # stands for entities that the knowledge base lacks


class TaughtNames(msgspec.Struct, frozen=True, kw_only=True):
    """For each folded name, how often it led to each entity, and the same of each document.

    `learnt` tells of which document a passage is that taught something, by its fingerprint.
    """

    format: int = FORMAT
    names: dict[str, dict[str, int]]
    own: dict[str, dict[str, dict[str, int]]] = {}
    learnt: dict[str, str] = {}
    mentions: int = 0
    unknown: int = 0
    kb: str = ""
    entlink: str = ""
    command: str = ""
    made: str = ""
    data: list[dict[str, Any]] = []

    def whose(self, document: Document, span: Span) -> str | None:
        """The document that taught something in the passage where a span stands, if there is one."""
        return self.learnt.get(fingerprint(passage(document, span))) if self.learnt else None

    def of(self, surface: str, document: str | None = None) -> Mapping[str, float]:
        """The share of each entity among what a name led to; in the singular or plural if not as it is written.

        What this very document taught does not count: else it would seem to know what it cannot know of others.
        """
        key = key_of(surface)
        own = self.own.get(document, {}) if document is not None else {}
        for tried in (key, *inflected(key)):
            here = own.get(tried, {})
            found = {
                entity: left
                for entity, count in self.names.get(tried, {}).items()
                if (left := count - here.get(entity, 0)) > 0
            }
            if found.keys() - {NOWHERE}:
                total = sum(found.values())
                return {entity: count / total for entity, count in found.items() if entity != NOWHERE}
        return {}


def teach(kb: KnowledgeBase, documents: Iterable[Document], **about: Any) -> TaughtNames:
    """The names that the gold of some documents teaches; personal mentions are no names."""
    from entlink.version import __version__

    names: dict[str, Counter[str]] = defaultdict(Counter)
    own: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    learnt: dict[str, str] = {}
    mentions = unknown = 0
    for document in documents:
        for gold in document.gold:
            key = key_of(document.text[gold.span.start : gold.span.end])
            if not key or gold.optional or gold.meta.get("personal"):
                continue
            mentions += 1
            entity = kb.resolve(gold.entities[0]) if gold.entities else None
            unknown += entity is None
            id = NOWHERE if entity is None else entity.id
            names[key][id] += 1
            own[document.id][key][id] += 1
            learnt[fingerprint(passage(document, gold.span))] = document.id
    return TaughtNames(
        names=_plain(names),
        own={document: _plain(found) for document, found in sorted(own.items())},
        learnt=dict(sorted(learnt.items())),
        unknown=unknown,
        mentions=mentions,
        kb=kb.folder.name,
        entlink=__version__,
        **about,
    )


def passage(document: Document, span: Span) -> str:
    """The turn of a conversation that a span stands in, else the whole text."""
    turns = document.turn_spans if document.turns else ()
    whole = next((turn for turn in turns if turn.start <= span.start and span.end <= turn.end), None)
    return document.text if whole is None else document.text[whole.start : whole.end]


def _plain(names: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {key: dict(sorted(found.items())) for key, found in sorted(names.items())}


def write_taught(path: Path, taught: TaughtNames) -> None:
    """Write names to a file, which is there whole or not at all."""
    from entlink.io.atomic import write_whole

    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(taught)) + b"\n")


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
