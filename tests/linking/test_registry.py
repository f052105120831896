from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from entlink.candidates.alias import AliasRetriever
from entlink.errors import ConfigError
from entlink.linking import registry
from entlink.linking.config import make_stage
from entlink.linking.registry import BUILT_IN, find, names


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, stages in BUILT_IN.items() for name in stages])
def test_every_stage_in_the_box_is_there(kind, name):
    assert callable(find(kind, name))
    assert name in names(kind)


def test_a_name_almost_right():
    with pytest.raises(ConfigError, match="no detector named 'dictionry'; did you mean 'dictionary'"):
        find("detector", "dictionry")


def test_a_name_like_no_other_is_told_with_those_there_are():
    with pytest.raises(ConfigError, match=r"no retriever named 'telepathy'; there are alias, .*edit-distance"):
        find("retriever", "telepathy")


def test_installed_packages_add_stages_that_get_the_knowledge_base(monkeypatch, world):
    # Called as a ranker of the box, but another kind: it must be given the knowledge base all the same.
    point = EntryPoint("prior", "entlink.candidates.alias:AliasRetriever", "entlink.retriever")
    monkeypatch.setattr(registry, "_entry_points", lambda kind: [point] if kind == "retriever" else [])
    assert "prior" in names("retriever")
    assert find("retriever", "prior") is AliasRetriever
    assert make_stage("retriever", {"name": "prior"}, world).kb is world


def test_entry_points_are_those_of_the_kind():
    assert all(point.group == "entlink.ranker" for point in registry._entry_points("ranker"))
