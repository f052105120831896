"""Mentions of a wiki's entities over time, and the entities of each date."""

from __future__ import annotations

from entlink.datasets.temporal.build import build_temporal, extend_temporal
from entlink.datasets.temporal.options import TemporalOptions, read_temporal_options
from entlink.datasets.temporal.rows import PoolEntity, TemporalDataset, TemporalRow, read_temporal

__all__ = [
    "PoolEntity",
    "TemporalDataset",
    "TemporalOptions",
    "TemporalRow",
    "build_temporal",
    "extend_temporal",
    "read_temporal",
    "read_temporal_options",
]
