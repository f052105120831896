from __future__ import annotations

import pytest

from entlink.errors import NotFoundError
from entlink.kb.store.edits import block, pin, unrule
from entlink.kb.store.rules import RuleInfo, rules


def test_pins_and_blocks_are_listed_by_surface(own_world):
    assert rules(own_world) == []
    pin(own_world, "Mercury", "element")
    block(own_world, "York", case_sensitive=True)
    assert rules(own_world) == [
        RuleInfo("Mercury", False, "element", "Mercury (element)"),
        RuleInfo("York", True, None, None),
    ]
    unrule(own_world, "Mercury")
    assert [rule.surface for rule in rules(own_world)] == ["York"]


def test_there_is_no_knowledge_base(tmp_path):
    with pytest.raises(NotFoundError):
        rules(tmp_path / "none.kb")
