from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from made_region import region_kb

from entlink.kb.knowledge_base import KnowledgeBase


@pytest.fixture(scope="session")
def region_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return region_kb(tmp_path_factory.mktemp("region"))


@pytest.fixture
def region(region_folder: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(region_folder) as kb:
        yield kb
