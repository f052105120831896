"""Mentions of a wiki's entities over time, and the entities of each date."""

from __future__ import annotations

from entlink.datasets.temporal.rows import PoolEntity, TemporalDataset, TemporalRow, read_temporal

__all__ = ["PoolEntity", "TemporalDataset", "TemporalRow", "read_temporal"]
