"""Pages with links to documents with gold: `build_hyperlinks`."""

from __future__ import annotations

from entlink.datasets.hyperlinks.build import build_hyperlinks
from entlink.datasets.hyperlinks.options import HyperlinkOptions

__all__ = ["HyperlinkOptions", "build_hyperlinks"]
