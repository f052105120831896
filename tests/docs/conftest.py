from __future__ import annotations

from pathlib import Path

import pytest

from entlink.testing import toy_kb


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy knowledge base; do not change it."""
    return toy_kb(tmp_path_factory.mktemp("toy"))
