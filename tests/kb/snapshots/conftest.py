from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from entlink.testing import toy_kb
from larkham import larkham


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base of Larkham with three snapshots; do not change it."""
    target = tmp_path_factory.mktemp("larkham") / "larkham.kb"
    larkham(target)
    return target


@pytest.fixture
def own(made: Path, tmp_path: Path) -> Path:
    """One to change."""
    return Path(shutil.copytree(made, tmp_path / "larkham.kb"))


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy knowledge base, which has dated versions and no snapshots; do not change it."""
    return toy_kb(tmp_path_factory.mktemp("toy"))
