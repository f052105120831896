"""The folder of models: a folder each, whole or not there, whenever a process is killed."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from entlink.encoders.models.card import CARD, ModelCard, check_files, check_weights, read_card
from entlink.errors import DamagedError, ExistsError, InputError, MissingModelError
from entlink.io.caching import cache_folder

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PARTIAL = ".partial-"


def models_folder() -> Path:
    """Where models are kept: `ENTLINK_MODELS`, else the user's cache."""
    if own := os.environ.get("ENTLINK_MODELS"):
        return Path(own)
    return cache_folder("models")


def is_model_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def missing(name: str, usual: str = "minilm") -> MissingModelError:
    """The error of a model that is nowhere; `usual` is what most will want."""
    return MissingModelError(
        f"there is no model {name!r} in {models_folder()}, nor a file or folder of that name. "
        f"`entlink models pull {usual}` fetches the default one; `entlink models list` shows what is here"
    )


def check_name(name: str) -> None:
    if not is_model_name(name):
        raise InputError(
            f"{name!r} cannot be the name of a model. Use letters, digits, dots, hyphens and underscores, at most 100"
        )


def is_installed(name: str) -> bool:
    if not is_model_name(name):
        return False
    card = models_folder() / name / CARD
    if card.is_file():
        return True
    with _undisturbed():
        return card.is_file()


def installed() -> list[ModelCard]:
    """The cards of all models in the store, by name; a folder without a readable card is none."""
    found = []
    for path in sorted(models_folder().glob(f"*/{CARD}")):
        if is_model_name(path.parent.name):
            with suppress(DamagedError, OSError):
                found.append(read_card(path.parent))
    return found


def open_model(name: str, *, check: bool = True) -> tuple[Path, ModelCard]:
    """The folder and the card of a model, its files compared with the card."""
    folder = models_folder() / name
    with _undisturbed():
        if not is_model_name(name) or not (folder / CARD).is_file():
            raise missing(name)
        card = read_card(folder)
        if check:
            check_files(folder, card)
    return folder, card


def open_installed(name: str, sha256: str = "") -> ModelCard:
    """The card of a model that is there already, if its weights are those that the user wants."""
    folder, card = open_model(name)
    remedy = "it stays as it is. Make it anew with --force, or give another model another name"
    check_weights(card.fetched, sha256, name, folder, remedy)
    return card


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Inside, no model is being replaced: between two renames it would not be there, or be half of another."""
    try:
        whole = os.open(models_folder(), os.O_RDONLY)
    except OSError:
        yield  # there is no store, so that nobody writes to it
        return
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(whole, fcntl.LOCK_SH)
        yield
    finally:
        os.close(whole)


def remove(name: str) -> int:
    """Remove a model, whole or damaged, and say how many bytes that freed."""
    folder = models_folder() / name
    if not is_model_name(name) or not folder.is_dir():
        raise missing(name)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    # Under another name first, so that what is left of an interrupted removal is no model.
    doomed = Path(tempfile.mkdtemp(prefix=f"{_PARTIAL}{name}-", dir=folder.parent))
    folder.rename(doomed / name)
    shutil.rmtree(doomed)
    return size


@contextmanager
def new_model(name: str, *, replace: bool = False) -> Iterator[Path]:
    """A folder to write a model into; it gets its name at the end, and goes if anything fails before."""
    check_name(name)
    store = models_folder()
    if not replace and (store / name).exists():
        raise ExistsError(f"{store / name}: a model of this name is there already. Make it anew with --force")
    store.mkdir(parents=True, exist_ok=True)
    folder, lock = _locked_folder(store, name)
    try:
        written = folder / name
        written.mkdir()
        yield written
        with _alone(store):
            _put_in_place(written, store / name, folder / "replaced")
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def _locked_folder(store: Path, name: str) -> tuple[Path, int]:
    """A new folder with a lock on it, made while nobody else sweeps."""
    with _alone(store):
        _sweep(store)
        folder = Path(tempfile.mkdtemp(prefix=f"{_PARTIAL}{name}-", dir=store))
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return folder, lock


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Inside, nobody else makes, replaces or opens a model."""
    whole = os.open(store, os.O_RDONLY)
    try:
        fcntl.flock(whole, fcntl.LOCK_EX)
        yield
    finally:
        os.close(whole)


def _put_in_place(written: Path, final: Path, replaced: Path) -> None:
    written.chmod(0o755)
    if final.exists():
        final.rename(replaced)
    try:
        written.rename(final)
    except OSError:
        if not final.exists():  # another process was not quicker: what was there stays
            with suppress(OSError):
                replaced.rename(final)
            raise


def _sweep(store: Path) -> None:
    """Remove what killed processes left; those that still run hold a lock on their folder."""
    for folder in store.glob(f"{_PARTIAL}*"):
        try:
            lock = os.open(folder, os.O_RDONLY)
        except OSError:
            continue  # just gone
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)
