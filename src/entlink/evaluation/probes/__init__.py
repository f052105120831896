"""Probes: how much frozen vectors of mentions and descriptions know of entities, by linear models and cosines.

`docs/probes.md` is the page to read first. `probe` runs an encoder on tasks; a `ProbeResult` of each comes out.
"""

from __future__ import annotations

from entlink.encoders.layered.loading import load_layered
from entlink.evaluation.probes.page import write_probe_report
from entlink.evaluation.probes.probing import probe
from entlink.evaluation.probes.results import (
    ProbeOptions,
    ProbeResult,
    ProbeRun,
    read_result,
    read_results,
    write_result,
)
from entlink.formats.probes import ProbeCard, ProbeEntity, ProbeExample, ProbeTask, read_task, write_task

__all__ = [
    "ProbeCard",
    "ProbeEntity",
    "ProbeExample",
    "ProbeOptions",
    "ProbeResult",
    "ProbeRun",
    "ProbeTask",
    "load_layered",
    "probe",
    "read_result",
    "read_results",
    "read_task",
    "write_probe_report",
    "write_result",
    "write_task",
]
