"""Sources to a knowledge base, and several knowledge bases to one."""

from __future__ import annotations

from entlink.kb.build.from_sources import BuildOptions, build

__all__ = ["BuildOptions", "build"]
