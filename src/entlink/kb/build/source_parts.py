"""One runner over the parts of sources, whatever is built of them: a folder for each part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from entlink.engine.protocol import Engine, Task

if TYPE_CHECKING:
    from entlink.sources import NameRule, OnError, Part

PROBLEMS_KEPT = 100  # messages; the rest are only counted
_WORTH_A_POOL = 1_000_000  # bytes of source: with fewer, starting processes takes longer than the work
_STAGE = "reading"


class _Omitting(Protocol):
    """What counts the records it leaves out, as a source or its ledger does."""

    @property
    def skipped(self) -> int: ...
    @property
    def problems(self) -> list[str]: ...
    @property
    def left_out(self) -> Mapping[str, int]: ...


class PartedSource(Protocol):
    """What a build needs of a source, which is read in parts: that of a file, or one snapshot of a history."""

    @property
    def path(self) -> Path: ...
    @property
    def format(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def wiki(self) -> str | None: ...
    @property
    def on_error(self) -> OnError: ...
    @property
    def rules(self) -> list[NameRule]: ...
    @property
    def skipped(self) -> int: ...
    @property
    def problems(self) -> list[str]: ...
    @property
    def left_out(self) -> Mapping[str, int]: ...
    def parts(self) -> Iterator[Part]: ...


class Omissions(msgspec.Struct):
    """How many records were left out because they are bad, what was wrong with the first, and how many on purpose."""

    skipped: int = 0
    problems: list[str] = []
    left_out: dict[str, int] = {}

    def add(self, other: _Omitting) -> None:
        self.skipped += other.skipped
        self.problems += other.problems[: PROBLEMS_KEPT - len(self.problems)]
        for reason, count in other.left_out.items():
            self.left_out[reason] = self.left_out.get(reason, 0) + count


class PartRunner:
    """Runs `function` over the parts of one source after the other; what was made already is not made again.

    `total` is the size of all sources. `measure` gives how many items a finished part holds; with a `limit` on
    them, no more parts are read than needed.
    """

    def __init__(
        self,
        engine: Engine,
        function: Callable[..., None],
        folder: Path,
        *,
        measure: Callable[[Path], int],
        limit: int | None,
        total: int,
    ) -> None:
        self._engine, self._function, self._folder, self._measure = engine, function, folder, measure
        self._left, self._total = limit, total
        self._before = self._parts = 0

    def run(self, source: PartedSource, arguments: Callable[[Part, int], tuple[Any, ...]]) -> list[Path]:
        """Make the folders of a source's parts; `arguments` are those of the function, for a part and its number."""
        self._engine.progress(_STAGE, self._before, self._total)  # the first part takes a while
        sizes: dict[str, int] = {}
        held: dict[str, int] = {}
        read = self._before

        def done(output: Path) -> None:
            nonlocal read
            held[output.name] = self._measure(output)
            read += sizes[output.name]
            self._engine.progress(_STAGE, read, self._total)

        def tasks() -> Iterator[Task]:
            start, number, parts = 0, self._parts, source.parts()
            # Nothing beyond the limit is read, so that what is bad there is nobody's concern.
            while not self._has_enough(held) and (part := next(parts, None)) is not None:
                name = _name(number)
                sizes[name], start = part.end - start, part.end
                yield Task(name, arguments(part, number))
                number += 1

        at_most = None if source.size > _WORTH_A_POOL else 1
        made = self._engine.map_to_files(self._function, tasks(), self._folder, at_most=at_most, done=done)
        parts, items = self._needed(held)
        self.pass_over(source, parts, items)
        return made[:parts]

    def pass_over(self, source: PartedSource, parts: int, items: int) -> None:
        """Count a source that has been read, with so many parts and so many items in them."""
        self._parts += parts
        self._before += source.size
        if self._left is not None:
            self._left = max(0, self._left - items)
        self._engine.progress(_STAGE, self._before, self._total)

    def _has_enough(self, held: Mapping[str, int]) -> bool:
        return self._left is not None and self._needed(held)[1] >= self._left

    def _needed(self, held: Mapping[str, int]) -> tuple[int, int]:
        """How many of the parts done so far are needed, up to the first gap, and how many items they hold.

        Those beyond the limit, which another process had begun, are not.
        """
        parts = items = 0
        while (self._left is None or items < self._left) and (name := _name(self._parts + parts)) in held:
            parts, items = parts + 1, items + held[name]
        return parts, items


def _name(number: int) -> str:
    return f"part-{number:06}"
