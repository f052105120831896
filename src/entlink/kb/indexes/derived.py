"""Search indexes derived from a store: folders inside the folder of the current alias index.

`words/`, `company/`, `short/`, `fine/`, `entity-vectors/` and `vectors-<identity>/` lie in `index-N/` and go with
it. A folder is finished when its card `complete.json`, which is written last, is there; without it the folder is what
an interrupted run left, and is taken up again. When a new alias index is made, each finished one is made anew beside
it before the switch.
"""

from __future__ import annotations

import atexit
import errno
import logging
import shutil
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from entlink.errors import DamagedError, EntlinkError
from entlink.io.atomic import write_lock, write_whole
from entlink.io.progress import Progress
from entlink.kb.store.store import Store
from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase

COMPLETE = "complete.json"
WORDS, COMPANY, SHORT, FINE, VECTORS = "words", "company", "short", "fine", "vectors-"
ENTITIES, PICTURES = "entity-vectors", "vectors-pictures-"
INDEX_LOCK = "index.lock"
_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
# Who makes an index of a name anew: `renew(store, old folder, new folder, progress)` of that module.
_RENEWERS = {
    WORDS: "entlink.kb.indexes.words.writing",
    COMPANY: "entlink.kb.indexes.cooccurrence.writing",
    SHORT: "entlink.kb.indexes.short_names",
    FINE: "entlink.kb.types.top_snaks",
    VECTORS: "entlink.kb.indexes.vectors.writing",
    ENTITIES: "entlink.kb.indexes.entity_vectors.training",
}
_temporary: dict[Path, Path] = {}


class DerivedCard(msgspec.Struct, frozen=True):
    """`complete.json`: what made an index, how many rows it has, what it depends on, and its files with checksums.

    The `seal` is a checksum of the card itself.
    """

    maker: str
    rows: int
    entlink: str
    made: str
    settings: dict[str, Any]
    files: dict[str, str]
    seal: str = ""


class DerivedIndex(NamedTuple):
    """A finished index, as a listing tells of it."""

    name: str
    folder: Path
    card: DerivedCard
    bytes: int


def derived_folder(kb: KnowledgeBase, name: str) -> Path:
    """Where the index of this name is, or would be."""
    return kb.index_folder / name


def is_complete(folder: Path) -> bool:
    return (folder / COMPLETE).is_file()


def read_complete(folder: Path) -> DerivedCard:
    """The card of a finished index."""
    try:
        return msgspec.json.decode((folder / COMPLETE).read_bytes(), type=DerivedCard)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise DamagedError(
            f"{folder}: {COMPLETE} cannot be read ({problem}). Remove the folder: it is made anew when it is needed"
        ) from problem


def begin(folder: Path) -> Path:
    """The folder in which an index is to be made, what an interrupted run left in it kept, but not its card."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / COMPLETE).unlink(missing_ok=True)
    return folder


def finish(folder: Path, maker: str, rows: int, settings: Mapping[str, Any]) -> DerivedCard:
    """Mark an index as made whole. Files that are no part of it must be gone by now."""
    from entlink.io.checksums import checksums, sealed
    from entlink.text.dates import now

    card = DerivedCard(maker, rows, __version__, now(), dict(settings), checksums(folder))
    write_whole(folder / COMPLETE, sealed(msgspec.json.format(msgspec.json.encode(card))))
    return read_complete(folder)


def derived_indexes(index: Path) -> list[DerivedIndex]:
    """The finished indexes in the folder of an alias index, by name."""
    return [DerivedIndex(path.name, path, read_complete(path), _size(path)) for path in _finished(index)]


def has_derived(index: Path, prefix: str) -> bool:
    """Whether there is a finished index whose name begins so; nothing is read."""
    return any(path.name.startswith(prefix) for path in _finished(index))


def _finished(index: Path) -> list[Path]:
    folders = index.iterdir() if index.is_dir() else ()
    return sorted(path for path in folders if is_complete(path))


def ensure_derived(folder: Path, name: str, make: Callable[[Store, Path], None]) -> Path:
    """The folder of a finished index of the knowledge base in `folder`; `make(store, target)` makes one if needed.

    Of several processes one makes it, and the others wait. Where nothing can be written it is made in a temporary
    folder, which goes with this process.
    """
    store = Store(folder)
    try:
        target = _current(store) / name
        if is_complete(target):
            return target
        try:
            with write_lock(folder, INDEX_LOCK, wait=True):
                target = _current(store) / name  # another one may have come into force meanwhile
                if not is_complete(target):
                    make(store, target)
                return target
        except OSError as problem:
            if problem.errno not in _NOT_WRITABLE:
                raise
        return _in_temporary_folder(store, target, make)
    finally:
        store.close()


def _in_temporary_folder(store: Store, target: Path, make: Callable[[Store, Path], None]) -> Path:
    if target not in _temporary:
        folder = Path(tempfile.mkdtemp(prefix="entlink-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        logging.getLogger(__name__).warning(
            "%s: cannot be written, so its index %s is made in %s for this process alone. "
            "Run `entlink kb index` as someone who may write there",
            store.folder,
            target.name,
            folder,
        )
        make(store, folder / target.name)
        _temporary[target] = folder / target.name
    return _temporary[target]


def renew_all(store: Store, old: Path, new: Path, progress: Progress, *, processes: int | None = None) -> None:
    """Make each finished index of an old alias index anew for the new one; one that cannot be made is left out."""
    for folder in _finished(old):
        target = new / folder.name
        try:
            settings = {"processes": processes} if folder.name in (WORDS, COMPANY) else {}
            _renewer(folder.name)(store, folder, target, progress, **settings)
        except EntlinkError as error:
            shutil.rmtree(target, ignore_errors=True)
            logging.getLogger(__name__).warning(
                "%s: its index %s could not be made anew and is left out: %s", store.folder, folder.name, error
            )


def _renewer(name: str) -> Callable[..., object]:
    module = next((module for prefix, module in _RENEWERS.items() if name.startswith(prefix)), None)
    try:
        renew: Callable[..., object] = import_module(module or "").renew
    except (ImportError, ValueError, AttributeError) as problem:
        raise EntlinkError(f"this release cannot make it ({problem}). Upgrade entlink, or remove it") from problem
    return renew


def _current(store: Store) -> Path:
    return store.folder / store.meta("index")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
