"""Probing tasks of EntEval, built from their sources: `build_probes`."""

from __future__ import annotations

from entlink.datasets.probes.build import TASKS, ProbesReport, build_probes
from entlink.datasets.probes.options import ProbeOptions

__all__ = ["TASKS", "ProbeOptions", "ProbesReport", "build_probes"]
