"""Contexts of hyperlinks with descriptions (WikiEnt): `build_wikient`."""

from __future__ import annotations

from entlink.datasets.wikient.build import build_wikient
from entlink.datasets.wikient.options import WikiEntOptions

__all__ = ["WikiEntOptions", "build_wikient"]
