"""What the tests of hyperlinks have in common: options, documents' ids, and builds that end half-way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from entlink.datasets.hyperlinks.build import HyperlinkOptions
from entlink.formats.documents.lines import read_documents

ONE = HyperlinkOptions(processes=1)
PAGES = 60


def few(**fields) -> HyperlinkOptions:
    return HyperlinkOptions(**{"processes": 1, **fields})


def ids(path: Path) -> list[str]:
    return [document.id for document in read_documents(path)]


class KilledError(Exception):
    """The build was ended."""


def killed_at(step: int) -> Callable[[str, float, float], None]:
    """Progress that ends the build after so many steps of reading."""
    left = [step]

    def progress(stage: str, done: float, total: float) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError

    return progress
