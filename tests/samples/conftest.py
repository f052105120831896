from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import entlink
from sample_exports import SOURCES


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base of the demo, made of the sample wikis; do not change it."""
    folder = tmp_path_factory.mktemp("sample") / "sample.kb"
    entlink.build(SOURCES, folder)
    return folder


@pytest.fixture(scope="session")
def kb(sample_folder: Path) -> Iterator[entlink.KnowledgeBase]:
    with entlink.KnowledgeBase.open(sample_folder) as kb:
        yield kb
