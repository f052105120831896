from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from entlink import Linker, load
from entlink.testing import toy_kb


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_kb(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def linker(toy: Path) -> Iterator[Linker]:
    linker = load(toy, config="lexical")
    yield linker
    linker.kb.close()
