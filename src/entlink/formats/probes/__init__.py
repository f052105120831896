"""Probing tasks as folders: a card `task.toml`, and one file of rows a split."""

from __future__ import annotations

from entlink.formats.probes.examples import (
    FAMILIES,
    REPRESENTATIONS,
    SPLITS,
    ProbeCard,
    ProbeEntity,
    ProbeExample,
    ProbeTask,
)
from entlink.formats.probes.reading import read_card, read_task
from entlink.formats.probes.writing import write_task

__all__ = [
    "FAMILIES",
    "REPRESENTATIONS",
    "SPLITS",
    "ProbeCard",
    "ProbeEntity",
    "ProbeExample",
    "ProbeTask",
    "read_card",
    "read_task",
    "write_task",
]
