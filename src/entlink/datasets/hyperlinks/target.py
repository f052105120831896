"""Where a corpus goes: its files, its card beside them, and the folder in which it is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from entlink.errors import ExistsError, InputError
from entlink.io.atomic import put_in_place

_SUFFIXES = (".jsonl.gz", ".jsonl")
WORK, CARD = ".building", ".card.json"


class Target:
    """For `links.jsonl`: that file or `links.train.jsonl` …, `links.card.json`, and `links.building` on the way."""

    def __init__(self, out: Path, splits: Iterable[str] = ()) -> None:
        suffix = next((suffix for suffix in _SUFFIXES if out.name.endswith(suffix)), "")
        stem = out.name.removesuffix(suffix)
        if not (suffix and stem):
            raise InputError(f"{out}: a corpus is a file named like NAME.jsonl or NAME.jsonl.gz")
        names = [f"{stem}.{split}{suffix}" for split in splits] or [out.name]
        self.files = [out.with_name(name) for name in names]
        self.card = out.with_name(stem + CARD)
        self.work = out.with_name(stem + WORK)
        self.is_packed = suffix == _SUFFIXES[0]

    def check(self, sources: Sequence[Path], *, replace: bool) -> None:
        """Whether the corpus may be made there."""
        folder = self.card.parent
        if not folder.is_dir():
            raise InputError(f"{self.files[0]}: there is no folder {folder}. Make it first, or name another")
        for path in (*self.files, self.card):
            if path.is_dir():
                raise InputError(f"{path}: this is a folder. Name a file")
            if any(path.resolve() == source.resolve() for source in sources):
                raise InputError(f"{path}: this is one of the sources. Name another file")
            if path.exists() and not replace:
                raise ExistsError(f"{path} is there already. --replace puts a new one in its place")

    def move_into_place(self, made: Sequence[Path], card: Path) -> None:
        """Each file appears whole; the card comes last, and never stands beside files that it is not of."""
        self.card.unlink(missing_ok=True)
        for path, file in zip(made, self.files, strict=True):
            put_in_place(path, file)
        put_in_place(card, self.card)
