"""Temporal datasets for tests: of the sample history, and of what else is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.temporal.build import Reading, build_temporal
from entlink.datasets.temporal.card import TemporalReport
from entlink.datasets.temporal.options import PUBLISHED, TemporalOptions, checked
from entlink.datasets.temporal.rows import SUBSETS, TemporalRow, read_temporal

AURORA = Path(__file__).parents[2] / "samples" / "history" / "aurora.xml"
DATES = ("2013-01-01T00:00:00Z", "2014-01-01T00:00:00Z")
# So few that every filter has something to do in the sample, and something is left.
FEW = {"min_nr_inlinks": 3, "min_len_target_ent": 5, "min_men_prior": 0.2, "nr_ct_ents_per_cut": 1}
ALONE = Reading(processes=1)


def temporal_options(**settings: Any) -> TemporalOptions:
    """The published settings with the sample's dates, and others on top."""
    return checked({**msgspec.structs.asdict(PUBLISHED), "snapshots": DATES, **settings})


def build_aurora(out: Path, *, reading: Reading = ALONE, **settings: Any) -> TemporalReport:
    return build_temporal(AURORA, out, temporal_options(**{**FEW, **settings}), reading)


def all_rows(folder: Path) -> list[TemporalRow]:
    dataset = read_temporal(folder)
    return [row for date in dataset.dates for subset in SUBSETS for row in dataset.rows(date, subset)]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the card, which has the time in it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.suffix == ".jsonl"}


def left_by(report: TemporalReport) -> dict[str, Sequence[int]]:
    return {step.name: step.left for step in report.additions[-1].filters}
