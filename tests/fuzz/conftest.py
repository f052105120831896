"""Lets the tests here write dumps with what the tests of dumps have for it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "sources" / "dumps"))
