"""Captioned pictures with links to a set of documents with gold, in the way of WikiDiverse: `build_captions`."""

from __future__ import annotations

from entlink.datasets.captions.build import build_captions
from entlink.datasets.captions.options import CaptionOptions

__all__ = ["CaptionOptions", "build_captions"]
