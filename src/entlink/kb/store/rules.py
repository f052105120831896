"""Pins and blocks as people see them; `entlink.kb.store.edits` sets and lifts them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from entlink.kb.store.store import Rule, Store


class RuleInfo(NamedTuple):
    """A surface that always means an entity, or, where `entity` is None, is never linked."""

    surface: str
    case_sensitive: bool
    entity: str | None
    title: str | None


def rules(folder: str | Path) -> list[RuleInfo]:
    """All pins and blocks, by surface."""
    store = Store(Path(folder))
    try:
        return [_told(store, rule) for rule in store.rules()]
    finally:
        store.close()


def _told(store: Store, rule: Rule) -> RuleInfo:
    id, title = (None, None) if rule.entity is None else store.head(rule.entity) or (None, None)
    return RuleInfo(rule.surface, rule.case_sensitive, id, title)
