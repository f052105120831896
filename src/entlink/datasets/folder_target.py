"""Where a dataset of several files goes: a folder that is there whole or not at all, and the one it is made in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from entlink.errors import ExistsError, InputError
from entlink.io.atomic import put_in_place, write_lock
from entlink.io.files import check_is_path
from entlink.io.resuming import take_up
from entlink.kb.store.store import REPLACED

CARD, DATASHEET = "card.json", "DATASHEET.md"
_WORK, _MADE = ".building", "made"


def check_folder(folder: Path, sources: Sequence[Path], is_own: Callable[[], bool], *, replace: bool) -> None:
    """Whether a dataset may be made in a folder. Where others are, `is_own` says whether it is one of the kind."""
    check_is_path(folder)
    if not folder.name or not folder.absolute().parent.is_dir():
        raise InputError(f"{folder}: there is no folder {folder.absolute().parent}. Make it first, or name another")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: this is a file. Name a folder")
    for source in sources:
        if folder.resolve() in (source.resolve(), *source.resolve().parents):
            raise InputError(f"{folder}: a source is in it ({source.name}). Name another folder")
    if folder.is_dir() and any(folder.iterdir()):
        if not is_own():
            raise InputError(f"{folder}: this folder holds other things. Name another, or one that is empty")
        if not replace:
            raise ExistsError(f"{folder} is there already. --replace puts a new one in its place")


class FolderTarget:
    """For `reddit`: that folder, and `reddit.building` on the way. `card` is what its card holds."""

    def __init__(self, folder: Path, card: type[msgspec.Struct]) -> None:
        self.folder, self._card = folder, card
        self.work = folder.with_name(folder.name + _WORK)
        self.made = self.work / _MADE

    def check(self, sources: Sequence[Path], *, replace: bool) -> None:
        """Whether the dataset may be made there. Only one of its kind is replaced: nothing else is taken for one."""
        check_folder(self.folder, sources, self._is_dataset, replace=replace)

    @contextmanager
    def making(self, plan: msgspec.Struct, prepare: Callable[[Path], None] | None = None) -> Iterator[Path]:
        """The folder to make the dataset in; when all went well it comes into place, and nothing else stays.

        What a run of the same plan left in the folder of work is kept, so that this one can go on with it.
        """
        with write_lock(self.work):
            take_up(self.work, plan, prepare)
            self.made.mkdir(exist_ok=True)
            yield self.made
            self._move_into_place()
            shutil.rmtree(self.work)

    def _move_into_place(self) -> None:
        replaced = self.folder.with_name(self.folder.name + REPLACED)
        shutil.rmtree(replaced, ignore_errors=True)
        put_in_place(self.made, self.folder, replaced)
        shutil.rmtree(replaced, ignore_errors=True)

    def _is_dataset(self) -> bool:
        """Whether the folder holds such a dataset: other things have a card of that name, too."""
        try:
            msgspec.json.decode((self.folder / CARD).read_bytes(), type=self._card)
        except (OSError, msgspec.MsgspecError):
            return False
        return (self.folder / DATASHEET).is_file()
