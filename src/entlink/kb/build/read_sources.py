"""Sources to folders of staged parts, side by side where there are processes; see `entlink.kb.build.part_files`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.engine.local import Task, map_to_files
from entlink.io.atomic import write_whole
from entlink.io.progress import Progress
from entlink.kb.build.part_files import PartCard, StagingPlan, read_card, stage_part

if TYPE_CHECKING:
    from entlink.sources import Source

PROBLEMS_KEPT = 100  # messages; the rest are only counted
_WORTH_PACKING = 1_000_000_000  # bytes of source: with fewer, the staged texts are small enough as they are
_WORTH_A_POOL = 1_000_000  # bytes of source: with fewer, starting processes takes longer than the work


class StagedSource(msgspec.Struct):
    """What came of one source: the names of its parts' folders, in order, and how many pages each has."""

    parts: list[str] = []
    pages: list[int] = []
    current: int = 0
    skipped: int = 0
    problems: list[str] = []
    left_out: dict[str, int] = {}

    def add(self, card: PartCard) -> None:
        """Add up what a part left out."""
        self.current += card.current
        self.skipped += card.skipped
        self.problems += card.problems[: PROBLEMS_KEPT - len(self.problems)]
        for reason, count in card.left_out.items():
            self.left_out[reason] = self.left_out.get(reason, 0) + count


class Stager:
    """Stages one source after the other into a folder; what is staged already is not staged again.

    `total` is the size of all sources. With a `limit` about as many pages are staged, and no more parts than needed.
    """

    def __init__(
        self,
        folder: Path,
        *,
        texts: bool,
        full: bool = False,
        limit: int | None,
        processes: int,
        progress: Progress,
        total: int,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._texts, self._full, self._left = folder, texts, full, limit
        self._processes, self._progress, self._total = processes, progress, total
        self._before = self._parts = 0

    def stage(self, source: Source, number: int) -> StagedSource:
        """Stage a source, or take what is known of it if that was done before."""
        path = self._folder / f"source-{number:03}.json"
        if path.exists():
            staged = msgspec.json.decode(path.read_bytes(), type=StagedSource)
        else:
            staged = self._stage(source)
            write_whole(path, msgspec.json.encode(staged))
        self._parts += len(staged.parts)
        self._before += source.size
        if self._left is not None:
            self._left = max(0, self._left - staged.current)
        self._progress("reading", self._before, self._total)
        return staged

    def _stage(self, source: Source) -> StagedSource:
        pack = self._total > _WORTH_PACKING
        plan = StagingPlan(source.on_error, self._texts, source.wiki, pack=pack, full=self._full)
        self._progress("reading", self._before, self._total)  # the first part takes a while
        cards: dict[str, PartCard] = {}
        sizes: dict[str, int] = {}
        read = self._before

        def done(output: Path) -> None:
            nonlocal read
            cards[output.name] = read_card(output)
            read += sizes[output.name]
            self._progress("reading", read, self._total)

        outputs = map_to_files(
            stage_part,
            self._tasks(source, plan, sizes, lambda: self._has_enough(cards)),
            self._folder,
            processes=self._processes if source.size > _WORTH_A_POOL else 1,
            done=done,
        )
        return self._summary(source, [(path.name, cards[path.name]) for path in outputs])

    def _tasks(
        self, source: Source, plan: StagingPlan, sizes: dict[str, int], has_enough: Callable[[], bool]
    ) -> Iterator[Task]:
        start, number, parts = 0, self._parts, source.parts()
        # Nothing beyond the limit is read, so that what is bad there is nobody's concern.
        while not has_enough() and (part := next(parts, None)) is not None:
            name = f"part-{number:06}"
            sizes[name], start = part.end - start, part.end
            yield Task(name, (part, number, plan))
            number += 1

    def _has_enough(self, cards: dict[str, PartCard]) -> bool:
        """Whether the parts done so far, up to the first gap, hold as many pages as are wanted."""
        if self._left is None:
            return False
        pages, number = 0, self._parts
        while pages < self._left and (card := cards.get(f"part-{number:06}")):
            pages, number = pages + card.current, number + 1
        return pages >= self._left

    def _summary(self, source: Source, parts: Sequence[tuple[str, PartCard]]) -> StagedSource:
        """Parts beyond the limit, which some other process had begun, are not taken."""
        staged = StagedSource()
        for name, card in parts:
            if self._left is not None and staged.current >= self._left:
                break
            staged.parts.append(name)
            staged.pages.append(card.pages)
            staged.add(card)
        staged.add(PartCard(skipped=source.skipped, problems=source.problems, left_out=source.left_out))
        return staged
