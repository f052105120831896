"""Pins and blocks: as people see them, one set, and those of an export taken in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from entlink.errors import InputError
from entlink.kb.store.store import Rule, Store
from entlink.sources import NameRule
from entlink.text.folding import key_of
from entlink.text.titles import tidy


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


def set_rule(connection: sqlite3.Connection, surface: str, entity: int | None, *, case_sensitive: bool) -> None:
    """Pin a surface on the entity with this key, or block it; a rule that it had is replaced."""
    if not key_of(surface):
        raise InputError("an empty surface can be neither pinned nor blocked")
    connection.execute("INSERT OR REPLACE INTO rules VALUES (?, ?, ?)", (tidy(surface), int(case_sensitive), entity))


def take_rules(store: Store, rules: Iterable[NameRule], file: Path, fail: Callable[[InputError], None]) -> None:
    """Set the rules that an exported knowledge base came with, in a transaction; `fail` is told of bad ones."""
    for rule in rules:
        key = None if rule.entity is None else store.key(rule.entity)
        try:
            if rule.entity is not None and key is None:
                raise InputError(f"there is no entity {rule.entity!r}")
            set_rule(store.connection, rule.surface, key, case_sensitive=rule.case_sensitive)
        except InputError as problem:
            fail(InputError(f"{file}, the pin or block of {rule.surface!r}: {problem}. Correct or remove its line"))
