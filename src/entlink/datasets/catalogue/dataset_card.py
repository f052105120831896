"""The card of a dataset: what it measures, where it lives, and what its files hold."""

from __future__ import annotations

from pathlib import Path, PurePath

import msgspec

from entlink.errors import InputError, SourceError
from entlink.text.nearest import nearest_question


class Split(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a dataset: its file, and what is in it. What is not known is None.

    `file` is a name or a glob, looked for in the dataset's folder and in all below it. `only` tells the records of
    this part from others in the same file, by their meta; an empty value is one the meta does not have.
    """

    name: str
    file: str
    sha256: str | None = None
    records: int | None = None
    gold: int | None = None
    only: dict[str, str] = {}

    def names(self, path: PurePath) -> bool:
        """Whether a file is called as this part's is."""
        return path.match(self.file)


class DatasetCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one should know of a dataset. `reader` is a public format, or one of `records.OTHER_READERS`."""

    name: str
    title: str
    measures: str
    task: str
    languages: tuple[str, ...]
    licence: str
    source: str
    how_to_get: str
    citation: str
    main_score: str
    reader: str
    splits: tuple[Split, ...]
    notes: str = ""

    def split(self, name: str) -> Split:
        """The part of that name."""
        for part in self.splits:
            if part.name == name:
                return part
        own = [part.name for part in self.splits]
        raise InputError(f"{self.name} has no split {name!r}. {nearest_question(name, own)}It has {', '.join(own)}")

    def find(self, split: Split, folder: Path) -> Path:
        """The file of a part; `folder` may be the file itself."""
        found = [folder] if folder.is_file() else sorted(path for path in folder.rglob(split.file) if path.is_file())
        if len(found) == 1:
            return found[0]
        if not found:
            hint = f"`entlink datasets info {self.name}` says how to get it"
            raise SourceError(
                f"there is no {split.file}, the split {split.name} of {self.name}", str(folder), "", hint
            )
        names = ", ".join(str(path) for path in found[:3])
        problem = f"{len(found)} files may be the split {split.name} of {self.name}: {names}"
        raise SourceError(problem, str(folder), "", "Name the folder of one of them")
