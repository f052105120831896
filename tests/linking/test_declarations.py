"""What stages declare beside their class is what is read of them elsewhere."""

from __future__ import annotations

import pytest

from entlink.errors import ConfigError
from entlink.interfaces import Evidence
from entlink.linking.config import make_stage
from entlink.linking.declarations import Setting, declaration
from entlink.linking.registry import BUILT_IN, find
from fenced import page, table

STAGES = [(kind, name) for kind, known in BUILT_IN.items() for name in known]


def test_every_stage_says_what_it_is_for():
    for kind, name in STAGES:
        found = declaration(kind, name)
        assert (found.kind, found.name) == (kind, name)
        assert found.summary.endswith((".", "?")), (kind, name)
        assert all(setting.type for setting in found.settings), (kind, name)


def test_settings_are_those_of_the_constructor():
    assert declaration("evidence", "cross-encoder").settings == (
        Setting("model", "str | Path | PairScorer", required=True),
        Setting("top", "int", 10),
    )
    assert declaration("evidence", "spelling").settings == ()
    assert declaration("fusion", "weights").settings[0].required
    assert not declaration("fusion", "weights").takes_kb
    assert declaration("retriever", "alias").takes_kb


def test_what_has_to_be_given_is_told(world):
    for kind, name in STAGES:
        required = [setting.name for setting in declaration(kind, name).settings if setting.required]
        if required:
            with pytest.raises(ConfigError, match=rf"\[{kind}\] {name}: missing a required.*'{required[0]}'"):
                make_stage(kind, {"name": name}, world)


def test_evidence_gives_the_numbers_of_the_page():
    rows = {
        row["evidence"].strip("`"): row
        for row in table(page("retrieval"), "evidence", "numbers", "needs", "settings")
    }
    assert rows.keys() == BUILT_IN["evidence"].keys()
    for name, row in rows.items():
        found = declaration("evidence", name)
        assert [one.strip(" `") for one in row["numbers"].split(",")] == list(found.gives)
        assert bool(found.needs) == bool(row["needs"])
        shown = [one.strip(" `").partition(" = ")[0] for one in row["settings"].split(",") if one.strip()]
        assert shown == [setting.name for setting in found.settings]


def test_the_page_has_every_retriever_that_needs_no_joint_model():
    rows = {row["retriever"].strip("`") for row in table(page("retrieval"), "retriever", "finds", "score", "needs")}
    assert rows == BUILT_IN["retriever"].keys() - {"joint"}


def test_what_gathers_says_what_it_gives():
    for kind in ("retriever", "evidence"):
        for name in BUILT_IN[kind]:
            stage = find(kind, name)
            assert hasattr(stage, "gather") == isinstance(stage, Evidence) == bool(declaration(kind, name).gives)
