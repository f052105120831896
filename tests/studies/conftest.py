from __future__ import annotations

from pathlib import Path

import pytest

from entlink.linking.registry import BUILT_IN
from study_worlds import write_documents, write_kb


@pytest.fixture(autouse=True)
def no_models(tmp_path_factory, monkeypatch):
    """What is measured does not depend on the models of the machine."""
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path_factory.mktemp("models")))


@pytest.fixture(scope="session")
def two(tmp_path_factory) -> Path:
    """The knowledge base of the two domains; to read from only."""
    return write_kb(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="session")
def gold(tmp_path_factory) -> Path:
    return write_documents(tmp_path_factory.mktemp("gold") / "gold.jsonl")


@pytest.fixture
def own_retrievers(monkeypatch):
    """Retrievers of the tests, by name."""
    monkeypatch.setitem(BUILT_IN["retriever"], "longest-title", "study_worlds:LongestTitle")
    monkeypatch.setitem(BUILT_IN["retriever"], "endless", "study_worlds:Endless")
