"""The made history of the wiki of Larkham (`samples/larkham-history.xml`) as a knowledge base with snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from entlink import BuildOptions, build_snapshots
from entlink.kb.snapshots.build import SnapshotsBuilt
from fenced import ROOT

HISTORY = ROOT / "samples" / "larkham-history.xml"
DATES = ("2013-01-01", "2018-01-01", "2020-01-01")


def full(date: str) -> str:
    """A date as it is stored."""
    return f"{date}T00:00:00Z"


def larkham(
    target: Path, dates: str | Sequence[str] = DATES, source: Path = HISTORY, **settings: object
) -> SnapshotsBuilt:
    """Build the knowledge base, or add snapshots to it."""
    options = settings.pop("options", BuildOptions(processes=1))
    return build_snapshots(source, target, dates, options, **settings)  # type: ignore[arg-type]
