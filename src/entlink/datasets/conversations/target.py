"""Where a set of conversations goes: a folder that is there whole or not at all, and the one in which it is made."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from entlink.datasets.conversations.report import ConversationsReport
from entlink.errors import ExistsError, InputError
from entlink.io.atomic import put_in_place, write_lock
from entlink.io.resuming import clear
from entlink.kb.store.store import REPLACED

CARD, DATASHEET = "card.json", "DATASHEET.md"
_WORK, _MADE = ".building", "made"


class FolderTarget:
    """For `reddit`: that folder, and `reddit.building` on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder.with_name(folder.name + _WORK)
        self.made = self.work / _MADE

    def check(self, corpora: Sequence[Path], *, replace: bool) -> None:
        """Whether the set may be made there. Only a set is ever replaced: nothing else is taken for one."""
        folder = self.folder
        if not folder.name or not folder.parent.is_dir():
            raise InputError(f"{folder}: there is no folder {folder.parent}. Make it first, or name another")
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: this is a file. Name a folder")
        for corpus in corpora:
            if folder.resolve() in (corpus.resolve(), *corpus.resolve().parents):
                raise InputError(f"{folder}: a corpus is in it. Name another folder")
        if folder.is_dir() and any(folder.iterdir()):
            if not _is_set(folder):
                raise InputError(f"{folder}: this folder holds other things. Name another, or one that is empty")
            if not replace:
                raise ExistsError(f"{folder} is there already. --replace puts a new one in its place")

    @contextmanager
    def making(self) -> Iterator[Path]:
        """The folder to make the set in; when all went well, it comes into place. Nothing else stays."""
        with write_lock(self.work):
            try:
                clear(self.work)
                self.made.mkdir()
                yield self.made
                self._move_into_place()
            finally:
                shutil.rmtree(self.work, ignore_errors=True)

    def _move_into_place(self) -> None:
        replaced = self.folder.with_name(self.folder.name + REPLACED)
        shutil.rmtree(replaced, ignore_errors=True)
        put_in_place(self.made, self.folder, replaced)
        shutil.rmtree(replaced, ignore_errors=True)


def _is_set(folder: Path) -> bool:
    """Whether a folder holds a set of conversations: other things have a card of that name, too."""
    try:
        msgspec.json.decode((folder / CARD).read_bytes(), type=ConversationsReport)
    except (OSError, msgspec.MsgspecError):
        return False
    return (folder / DATASHEET).is_file()
