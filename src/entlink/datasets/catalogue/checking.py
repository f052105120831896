"""Whether files are what a dataset's card says, and whether every record of them can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from entlink.datasets.catalogue.catalogue import cards
from entlink.datasets.catalogue.counts import DatasetCounts, Tally
from entlink.datasets.catalogue.dataset_card import DatasetCard, Split
from entlink.datasets.catalogue.records import OTHER_READERS, read_records
from entlink.errors import EntlinkError, InputError, SourceError
from entlink.formats.public.catalogue import PUBLIC_FORMATS, Role, public_format, tell_format
from entlink.io.checksums import checksum
from entlink.io.progress import Progress

MAX_PROBLEMS = 100
_EVERY = 256  # records between two reports of progress
_GOLD = "gold"  # in the name of a split
_CATCH_ALL = "jsonl"  # which any file of JSON objects looks like

ToldBy = Literal["checksum", "name", "format", "caller"]
Verdict = Literal["same", "other", "unknown"]


class Part(msgspec.Struct, frozen=True):
    """A split of a dataset, by name."""

    dataset: str
    split: str


class FileReport(msgspec.Struct, frozen=True):
    """What a file is and what was found in it: `bad` records could not be read, `problems` are the first of them.

    `role` says whether what is counted as gold is gold, or the links of a linker: some formats hold only those.
    `told_by` says how it is known what the file is; `parts` are empty where only its format is. `checksum` compares
    the file's with the card's, which may have none.
    """

    path: str
    sha256: str
    checksum: Verdict
    told_by: ToldBy
    format: str
    parts: tuple[Part, ...]
    role: Role
    counts: DatasetCounts
    bad: int
    problems: tuple[str, ...]
    warnings: tuple[str, ...]


class CheckReport(msgspec.Struct, frozen=True):
    """The files that were read, the splits of the asked dataset that are not there, and how many files were left."""

    path: str
    files: tuple[FileReport, ...]
    missing: tuple[Part, ...]
    others: int

    @property
    def is_readable(self) -> bool:
        """Whether every record of every file could be read."""
        return not any(file.bad for file in self.files)


class _Known(NamedTuple):
    """A file and what it is taken for; no reader where its format is not recognised."""

    path: Path
    sha256: str
    told_by: ToldBy
    reader: str | None
    parts: list[tuple[DatasetCard, Split]]


def check(
    path: str | Path,
    card: DatasetCard | None = None,
    *,
    format: str | None = None,
    progress: Progress | None = None,
) -> CheckReport:
    """Tell what the files at a path are, and read them all.

    A file is known by its checksum, else by its name, else only by its format. With a card only that dataset is
    looked for, and a single file is read as it whatever its name. With a format a single file is read in it, and of
    a folder the files that have it. In a folder, files of no dataset are read only where there are no others.
    """
    place = Path(path)
    if format is not None and format not in OTHER_READERS:
        public_format(format)
    known = [card] if card is not None else list(cards().values())
    known = [each for each in known if format in (None, each.reader)]
    found = list(_told(list(_files(place)), known, _said(place, card, format), progress))
    chosen = [each for each in found if each.parts]
    if not chosen and (card is None or place.is_file()):
        chosen = [each for each in found if each.reader and format in (None, each.reader)]
    if not chosen:
        raise _nothing(place, card)
    reports = tuple(_examine(each, progress) for each in chosen)
    return CheckReport(str(place), reports, _missing(card, chosen), len(found) - len(chosen))


def _said(place: Path, card: DatasetCard | None, format: str | None) -> str | None:
    """What the caller says a file is; of a folder it holds for some of its files only."""
    if not place.is_file():
        return None
    return format or (card.reader if card is not None else None)


def _files(place: Path) -> Iterator[Path]:
    """The file itself, or all of a folder that are not hidden."""
    if place.is_file():
        yield place
    elif place.is_dir():
        for path in sorted(place.rglob("*")):
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(place).parts):
                yield path
    else:
        raise SourceError("there is no such file or folder", str(place), hint="Check the path")


def _missing(card: DatasetCard | None, chosen: Iterable[_Known]) -> tuple[Part, ...]:
    """The splits of the asked dataset that none of the files is."""
    if card is None:
        return ()
    there = {part.name for each in chosen for _, part in each.parts}
    return tuple(Part(card.name, part.name) for part in card.splits if part.name not in there)


def _nothing(place: Path, card: DatasetCard | None) -> InputError:
    if card is not None:
        names = ", ".join(dict.fromkeys(part.file for part in card.splits[:4]))
        hint = f"Its files are called {names}; `entlink datasets info {card.name}` says how to get them"
        return SourceError(f"no file of {card.name} is here", str(place), "", hint)
    if place.is_file():
        try:
            tell_format(place)
        except InputError as error:  # the format is not recognised, the file is empty, or whatever it is
            return error
    return SourceError("no file that can be read as a dataset is here", str(place), "", "`entlink datasets list`")


# What a file is


def _told(
    paths: Sequence[Path], known: Sequence[DatasetCard], reader: str | None, progress: Progress | None
) -> Iterator[_Known]:
    for number, path in enumerate(paths):
        if progress is not None:
            progress("checksums", number, len(paths))
        yield _tell(path, known, reader)


def _tell(path: Path, known: Sequence[DatasetCard], reader: str | None) -> _Known:
    """What a file is taken for, of the datasets that may be meant; `reader` is what the caller says it is."""
    digest = checksum(path)
    parts = [(card, part) for card in known for part in card.splits]
    same = [(card, part) for card, part in parts if part.sha256 == digest]
    if same:
        return _Known(path, digest, "checksum", same[0][0].reader, same)
    named = [(card, part) for card, part in parts if part.names(path.absolute())]
    if reader is not None:
        return _Known(path, digest, "name" if named else "caller", reader, named)
    shown = _shown_format(path)
    usual = (None, _CATCH_ALL)
    # What is no document has no look of its own, and may look like anything.
    fitting = [(card, part) for card, part in named if shown in (*usual, card.reader) or card.reader in OTHER_READERS]
    if fitting:
        return _Known(path, digest, "name", fitting[0][0].reader, fitting)
    return _Known(path, digest, "format", shown, [])


def _shown_format(path: Path) -> str | None:
    try:
        return tell_format(path).name
    except InputError:
        return None


# What is in it


def _examine(known: _Known, progress: Progress | None) -> FileReport:
    """Read every record of a file that is known to have a format."""
    reader = known.reader or ""
    tally, problems = Tally(), _Problems()
    total = sum(part.records or 0 for _, part in known.parts)
    try:
        records = read_records(reader, known.path, on_error="skip", on_problem=problems.add)
        for number, record in enumerate(records):
            tally.add(record)
            if progress is not None and number % _EVERY == 0:
                progress(known.path.name, number, total)
    except InputError as error:
        problems.add(error)
    if not tally.counts.records and not problems.count:
        problems.add(SourceError("there is no record in it", str(known.path), hint="Check how it was made"))
    return FileReport(
        path=str(known.path),
        sha256=known.sha256,
        checksum=_verdict(known),
        told_by=known.told_by,
        format=reader,
        parts=tuple(Part(card.name, part.name) for card, part in known.parts),
        role=_role(known),
        counts=tally.counts,
        bad=problems.count,
        problems=tuple(problems.first),
        warnings=(*_differences(known, tally.counts), *tally.warnings()),
    )


class _Problems:
    """Counts what could not be read, and keeps the first messages."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, error: EntlinkError) -> None:
        self.count += 1
        if len(self.first) < MAX_PROBLEMS:
            self.first.append(str(error))


def _verdict(known: _Known) -> Verdict:
    if known.told_by == "checksum":
        return "same"
    return "other" if any(part.sha256 for _, part in known.parts) else "unknown"


def _differences(known: _Known, counts: DatasetCounts) -> Iterator[str]:
    """How a file differs from the cards it fits: another version, or other numbers."""
    if _verdict(known) == "other":
        yield "the checksum is not that of the card: another version, or an altered file"
    for name, parts in _groups(known.parts):
        for field, found, what in (("records", counts.records, "records"), ("gold", counts.gold, _role(known))):
            numbers: list[int | None] = [getattr(part, field) for part in parts]
            expected = sum(number or 0 for number in numbers)
            if None not in numbers and expected != found:
                yield f"the card of {name} says {expected:,} {what}, and here are {found:,}"


def _role(known: _Known) -> Role:
    """What the file's links are. Formats of a linker's answers hold gold only where the card calls a split so."""
    format = PUBLIC_FORMATS.get(known.reader or "")
    is_gold = any(_GOLD in part.name.split("-") for _, part in known.parts)
    return "links" if format is not None and format.holds == "links" and not is_gold else "gold"


def _groups(parts: Iterable[tuple[DatasetCard, Split]]) -> Iterator[tuple[str, list[Split]]]:
    """Which parts make up a file: those that share it, told by their records' meta, or one alone."""
    shared: dict[str, list[Split]] = {}
    for card, part in parts:
        if part.only:
            shared.setdefault(card.name, []).append(part)
        else:
            yield card.name, [part]
    yield from shared.items()
