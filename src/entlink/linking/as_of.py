"""Which linker is used as of a date: what was learnt of later texts would tell of what came later.

A snapshot of a knowledge base is one in itself, and can have a linker of its own beside it. One that was fitted to
the knowledge base as it is now, or has a model that was trained on it, is left out as of an earlier date, which is
said in one line.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.kb.snapshots.folders import date_of, folder_as_of, home_of, is_snapshot, short
from entlink.kb.store.store import Store
from entlink.linking.config import LINKER_FILE, MODELS, LinkerConfig, linker_beside, read_config
from entlink.linking.default import default_linker
from entlink.linking.trust import stages_of

DOCUMENT = "document"  # in place of a date: each document's own
_MADE_WHEN_NEEDED = ("short", "words")
_CARDS = ("card.json", "model.json")
_told: set[tuple[str, ...]] = set()


class ChosenLinker(NamedTuple):
    """A configuration, and the knowledge base to open for it: its folder, and a date for its dated versions.

    `told` says what it links with, where nobody named it.
    """

    config: LinkerConfig
    folder: Path
    date: str | None
    told: str = ""


def choose_linker(
    kb: str | Path,
    as_of: str | None,
    given: LinkerConfig | str | Path | None = None,
    *,
    spans_given: bool = False,
    trust: bool = False,
) -> ChosenLinker:
    """The linker that is named, else the best that is there, for a knowledge base as of a date or as it is now."""
    folder, date = folder_as_of(kb, as_of)
    named = given if isinstance(given, LinkerConfig) or given is None else read_config(given)
    if is_snapshot(folder):
        later = _later(named, None if isinstance(given, LinkerConfig) else given, folder)
        if later:
            named = None
        _tell(folder, later, _indexes_left_out(folder))
    if named is not None:
        return ChosenLinker(named, folder, date)
    found = default_linker(folder, spans_given=spans_given, trust=trust)
    return ChosenLinker(found.config, folder, date, found.told)


def _later(named: LinkerConfig | None, given: str | Path | None, snapshot: Path) -> list[str]:
    """What would be used if no date were given, and was learnt of later texts than those of a snapshot."""
    if named is None:
        beside, own = linker_beside(home_of(snapshot)), linker_beside(snapshot)
        return [str(beside)] if (beside / LINKER_FILE).exists() and not (own / LINKER_FILE).exists() else []
    places = [Path(given)] if given is not None else []
    places += map(Path, _models(named))
    return list(dict.fromkeys(str(path) for path in places if _is_later(path, snapshot)))


def _models(config: LinkerConfig) -> Iterator[str]:
    """The models that stages load: paths, or names in the store."""
    for _, stage in stages_of(config):
        yield from (value for name, value in stage.items() if name in MODELS and isinstance(value, str))
    if isinstance(config.conversation.personal, str):
        yield config.conversation.personal


def _is_later(path: Path, snapshot: Path) -> bool:
    """Whether what lies there was learnt of the knowledge base as it is now, or of a later snapshot of it."""
    from entlink.encoders.models.store import is_installed, open_model

    if not path.exists() and is_installed(str(path)):
        path = open_model(str(path), check=False)[0]
    home = home_of(snapshot)
    for place in (path, *path.absolute().parents[:2]):
        if place == linker_beside(home).absolute():
            return True
        learnt_of = _learnt_of(place)
        if learnt_of == home.name or (date_of(Path(learnt_of)) and learnt_of > snapshot.name):
            return True
    return False


def _learnt_of(path: Path) -> str:
    """The name of the knowledge base that a card says something was learnt of."""
    for card in (path,) if path.is_file() and path.suffix == ".json" else (path / name for name in _CARDS):
        try:
            read: Any = msgspec.json.decode(card.read_bytes())
        except (OSError, msgspec.DecodeError):
            continue
        for table in (read, read.get("data")) if isinstance(read, dict) else ():
            if isinstance(table, dict) and isinstance(table.get("kb"), str):
                return str(table["kb"])
    return ""


def _indexes_left_out(snapshot: Path) -> list[str]:
    """The indexes that the knowledge base has now and a snapshot lacks, but for those that are made when needed."""
    now, then = (_indexes(folder) for folder in (home_of(snapshot), snapshot))
    return sorted(now - then)


def _indexes(folder: Path) -> set[str]:
    from entlink.kb.indexes.derived import derived_indexes

    with closing(Store(folder)) as store:
        index = folder / store.meta("index")
    return {one.name for one in derived_indexes(index) if one.name not in _MADE_WHEN_NEEDED}


def _tell(snapshot: Path, later: list[str], indexes: list[str]) -> None:
    """One line, and once in a process for all snapshots of a knowledge base that lack the same."""
    if not (later or indexes) or (str(home_of(snapshot)), *later, *indexes) in _told:
        return
    _told.add((str(home_of(snapshot)), *later, *indexes))
    told = [f"{', '.join(later)} (learnt of later texts; `entlink adapt {snapshot}` makes its own)"] if later else []
    if indexes:
        told.append(f"the index {', '.join(indexes)} (`entlink kb index {snapshot}` makes its own)")
    logging.getLogger(__name__).warning("as of %s without %s", short(date_of(snapshot)), " and ".join(told))
