"""Sources to folders of staged parts; see `entlink.kb.build.part_files`."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import msgspec

from entlink.engine.protocol import Engine
from entlink.io.atomic import write_whole
from entlink.kb.build.part_files import StagingPlan, read_card, stage_part
from entlink.kb.build.source_parts import Omissions, PartedSource, PartRunner
from entlink.kb.build.wikidata_items import WIKIDATA
from entlink.sources import NameRule

_WORTH_PACKING = 1_000_000_000  # bytes of source: with fewer, the staged texts are small enough as they are


class StagedSource(Omissions):
    """What came of one source: its parts' folders, in order, how many pages each has, and its pins and blocks."""

    parts: list[str] = msgspec.field(default_factory=list)
    pages: list[int] = msgspec.field(default_factory=list)
    current: int = 0
    rules: list[NameRule] = msgspec.field(default_factory=list)


class Stager:
    """Stages one source after the other into a folder; what is staged already is not staged again.

    `total` is the size of all sources. With a `limit` about as many pages are staged, and no more parts than needed.
    Texts of sources of the formats in `not_running` are not counted.
    """

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        *,
        texts: bool,
        full: bool = False,
        limit: int | None,
        total: int,
        not_running: Container[str] = (),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._texts, self._full, self._pack = folder, texts, full, total > _WORTH_PACKING
        self._not_running = not_running
        self._runner = PartRunner(engine, stage_part, folder, measure=_current_pages, limit=limit, total=total)

    def stage(self, source: PartedSource, number: int) -> StagedSource:
        """Stage a source, or take what is known of it if that was done before."""
        path = self._folder / f"source-{number:03}.json"
        if path.exists():
            staged = msgspec.json.decode(path.read_bytes(), type=StagedSource)
            self._runner.pass_over(source, len(staged.parts), staged.current)
        else:
            staged = self._stage(source)
            write_whole(path, msgspec.json.encode(staged))
        return staged

    def _stage(self, source: PartedSource) -> StagedSource:
        plan = StagingPlan(
            source.on_error,
            self._texts and source.format not in self._not_running,
            source.wiki,
            pack=self._pack,
            items=source.format == WIKIDATA,
            full=self._full,
        )
        staged = StagedSource()
        for folder in self._runner.run(source, lambda part, number: (part, number, plan)):
            card = read_card(folder)
            staged.parts.append(folder.name)
            staged.pages.append(card.pages)
            staged.current += card.current
            staged.add(card)
        staged.add(source)
        staged.rules = source.rules
        return staged


def _current_pages(folder: Path) -> int:
    return read_card(folder).current
