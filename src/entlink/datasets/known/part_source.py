"""The known entities of a knowledge base as a source of a build: nothing of the new ones is in what it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from entlink.datasets.known.flags import HELD_OUT, NEW, read_flags
from entlink.documents import Entity
from entlink.io.ledger import Ledger, OnError
from entlink.kb.store.hyperlinks import Hyperlink, hyperlinks_of
from entlink.kb.store.store import DATABASE, Store
from entlink.sources import BETWEEN_PARAGRAPHS, Anchor, Item, NameRule, Page, Paragraph

_KEYS_A_PART = 10_000
_NOBODY = ""  # a link to it is none, and what it is set on is no unlinked name either
_NOTHING = (Paragraph(" "),)  # the text of a page that is held out is neither searched for names nor for links


class KnownPart(msgspec.Struct, frozen=True):
    """The known entities with keys in `(after, end]`."""

    kb: Path
    flags: Path
    after: int
    end: int
    whole: bool

    def items(self, ledger: Ledger) -> Iterator[Item]:
        """Their pages, with their links; those to new entities lead to nothing."""
        flags, store = read_flags(self.flags), Store(self.kb)
        try:
            for key, _, current in store.entities(self.after, self.end):
                if flags[key] == NEW:
                    continue
                for version in (current, *store.other_versions(key, current.entity.id)):
                    text = _NOTHING if flags[key] == HELD_OUT else self._text(store, flags, key, version.entity)
                    entity = _without_new(store, flags, version.entity)
                    yield Page(entity, text, version.valid_from, version.valid_to)
        finally:
            store.close()

    def _text(self, store: Store, flags: bytes, key: int, entity: Entity) -> tuple[Paragraph, ...]:
        if not self.whole:
            return ()
        links = hyperlinks_of(store, key, entity.description)
        heads = {target: store.head(target) for _, _, target in links if flags[target]}
        ids = {target: head[0] for target, head in heads.items() if head is not None}
        return _paragraphs(entity.description, links, ids)


def _without_new(store: Store, flags: bytes, entity: Entity) -> Entity:
    """The entity without the values of claims that are new entities."""

    def is_new(value: str) -> bool:
        key = store.key(value)
        return key is not None and flags[key] == NEW

    kept = {name: tuple(one for one in values if not is_new(one)) for name, values in entity.claims.items()}
    if kept == entity.claims:
        return entity
    return msgspec.structs.replace(entity, claims={name: values for name, values in kept.items() if values})


def _paragraphs(text: str, links: Sequence[Hyperlink], ids: dict[int, str]) -> tuple[Paragraph, ...]:
    """The paragraphs that a text was put together from, each with its links."""
    found, start, at = [], 0, 0
    for piece in text.split(BETWEEN_PARAGRAPHS):
        end, anchors = start + len(piece), []
        while at < len(links) and links[at][0] < end:
            first, last, target = links[at]
            if last <= end:
                anchors.append(Anchor(first - start, last - start, ids.get(target, _NOBODY)))
            at += 1
        found.append(Paragraph(piece, tuple(anchors)))
        start = end + len(BETWEEN_PARAGRAPHS)
    return tuple(found)


class KnownSource:
    """The known entities of the knowledge base in a folder; a build reads it as it does a file."""

    format = "kb"
    wiki = None
    skipped = 0
    on_error: OnError = "stop"

    def __init__(self, store: Store, flags: Path, *, whole: bool) -> None:
        self.path, self._flags, self._whole = store.folder, flags, whole
        self._last = store.last_key()
        self.size = (store.folder / DATABASE).stat().st_size
        self.problems: list[str] = []
        self.left_out: dict[str, int] = {}
        known = read_flags(flags)
        heads = ((rule, None if rule.entity is None else store.head(rule.entity)) for rule in store.rules())
        self.rules = [
            NameRule(rule.surface, rule.case_sensitive, None if head is None else head[0])
            for rule, head in heads
            if rule.entity is None or (head is not None and known[rule.entity])
        ]

    def parts(self) -> Iterator[KnownPart]:
        for after in range(0, self._last, _KEYS_A_PART):
            end = min(after + _KEYS_A_PART, self._last)
            yield KnownPart(self.path, self._flags, after, end, self._whole)
