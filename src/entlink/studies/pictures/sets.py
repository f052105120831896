"""The gold mentions of captioned pictures in three parts: train, dev and test, no page in two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.datasets.selection import Splits
from entlink.documents import Document, Mention
from entlink.errors import InputError
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.items import surface_of
from entlink.evaluation.scoring.slices import Slicer, slicers
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies.candidates.asked import GoldMentions
from entlink.studies.data import StudyData, no_gold
from entlink.studies.pictures.results import SPLITS, PictureOptions

Labels = tuple[tuple[str, str], ...]
_SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}
_NAMES = {"train": ("train", "training"), "dev": ("dev", "val", "valid", "validation"), "test": ("test",)}
AMBIGUOUS = "ambiguous"


class Asked(NamedTuple):
    """A gold mention: its caption without gold, the entities that are right, and the slices it is in."""

    document: Document
    mention: Mention
    right: frozenset[str]
    labels: Labels


class CaptionSet:
    """The mentions of each part; one file is split 8:1:1 by a hash of the page, a folder has a file for each part."""

    def __init__(self, paths: Sequence[str | Path], kb: KnowledgeBase, options: PictureOptions) -> None:
        self._options, self.kb = options, kb
        self.identities = Identities(kb, options.match_gold)
        self.files = files_of(paths)
        self.parts: dict[str, list[Asked]] = {name: [] for name in SPLITS}
        self.left_out: Counter[str] = Counter()
        self._slicers = _slicers(options.slices, kb, self.identities)
        splits = Splits(_SHARES, options.seed)
        self.data: list[StudyData] = []
        for name, files in self.files.items():
            self._read(files, None if name == "all" else name, splits)
        empty = next((name for name in SPLITS if not self.parts[name]), None)
        if empty is not None:
            every = [file for data in self.data for file in data.files]
            if not any(self.parts.values()):
                raise no_gold(every)
            raise InputError(
                f"the part {empty} has no mention with an entity of the knowledge base. Give more captions"
            )

    def _read(self, files: Sequence[Path], part: str | None, splits: Splits) -> None:
        """Take in files of a part, or of all parts, which are then told by the page."""
        data = StudyData(files, self.identities, format=self._options.format, limit=self._options.limit)
        mentions = GoldMentions(data, self._slicers, 1)
        for batch in mentions:
            document, asked = batch.questions[0]
            bare = msgspec.structs.replace(document, gold=(), links=(), mentions=None)
            self.parts[part or SPLITS[splits.place(page_of(document))]] += [
                Asked(bare, mention, frozenset(gold.entities), tuple(labels))
                for mention, gold, labels in zip(asked, batch.gold, batch.labels, strict=True)
            ]
        self.left_out += mentions.left_out
        self.data.append(data)

    def documents(self) -> int:
        """How many captions have a mention that is asked for."""
        return sum(len({id(one.document) for one in part}) for part in self.parts.values())


def page_of(document: Document) -> str:
    """The page a caption is on: by its meta, else by its id up to the last `#`."""
    page = document.meta.get("page")
    return str(page) if page is not None else document.id.rpartition("#")[0] or document.id


def files_of(paths: Sequence[str | Path]) -> dict[str, list[Path]]:
    """The files of each part, or all files under "all" where they are to be split."""
    folders = [Path(path) for path in paths if Path(path).is_dir()]
    if not folders:
        return {"all": [Path(path) for path in paths]}
    if len(paths) > 1:
        raise InputError("give one folder with the files train, dev and test, or files of captions, not both")
    [folder] = folders
    found = {name: list(_of_part(folder, names)) for name, names in _NAMES.items()}
    missing = [name for name, files in found.items() if not files]
    if missing:
        raise InputError(
            f"{folder}: there is no file {missing[0]}.jsonl in it. Give a folder with train, dev and test, or files "
            "of captions, which are split by page"
        )
    return found


def _of_part(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        kinds = path.name.split(".")
        if path.is_file() and kinds[0] in names and kinds[1:2] in (["jsonl"], ["json"]):
            yield path


def _slicers(wanted: Sequence[str], kb: KnowledgeBase, identities: Identities) -> list[Slicer]:
    coarse = kb.types.coarse_of if kb.types.are_coarse else None
    known = [name for name in wanted if name != AMBIGUOUS and (name != "coarse" or coarse is not None)]
    found = slicers(known, identities=identities, names=kb, coarse=coarse)
    return [*found, _ambiguous(kb)] if AMBIGUOUS in wanted else found


def _ambiguous(kb: KnowledgeBase) -> Slicer:
    """Whether the knowledge base has one entity of a name, several, or none."""

    def labels(document: Document) -> list[tuple[str, ...]]:
        return [(_how_many(len(kb.aliases(surface_of(document, gold)))),) for gold in document.gold]

    return Slicer(AMBIGUOUS, labels)


def _how_many(meanings: int) -> str:
    if meanings == 0:
        return "no entity has the name"
    return "one entity has the name" if meanings == 1 else "several have the name"
