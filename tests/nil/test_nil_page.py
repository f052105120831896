"""`docs/nil.md` says what the code does."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path

from entlink.learning.fit import calibration
from entlink.learning.own_texts import mentions as self_mentions
from entlink.learning.own_texts.mentions import Kind
from entlink.linking.config import make_stage
from entlink.nil import CalibratedNil, ThresholdNil
from entlink.nil.measures import DERIVED, WIDEST_LEAD

PAGE = (Path(__file__).parents[2] / "docs" / "nil.md").read_text(encoding="utf8")


def tables() -> list[dict[str, object]]:
    return [tomllib.loads(block)["nil"] for block in re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)]


def test_the_shown_settings_are_all_there_are(world):
    shown, by_threshold = tables()
    settings = [one.name for one in inspect.signature(CalibratedNil).parameters.values() if one.name != "kb"]
    assert set(shown) - {"name"} == set(settings)
    assert isinstance(make_stage("nil", shown, world), CalibratedNil)
    assert isinstance(make_stage("nil", by_threshold, world), ThresholdNil)


def test_every_measure_and_kind_is_told():
    rows = re.findall(r"^\| (.+?) \|", PAGE, re.M)
    named = set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert named >= {*DERIVED, "sum", calibration._CROSS, *calibration._MEASURES}
    assert {str(kind) for kind in Kind} <= set(rows)


def test_numbers_are_those_of_the_code():
    assert f"{calibration.NIL_SHARE} unless you say otherwise" in PAGE
    assert f"It needs {calibration.FEWEST_ENTITIES} entities" in PAGE
    assert f"at most {WIDEST_LEAD:g}; without a second, {WIDEST_LEAD:g}" in PAGE
    assert f"at least {calibration._FEWEST_OF_TYPE} mentions" in PAGE
    assert f"{calibration._FEWEST_OUTCOMES} of them right" in PAGE
    assert (self_mentions.ALTERED, self_mentions.TAKEN_OUT) == (0.4, 1 / 3)
    assert f"above {self_mentions._LISTED:,} entities" in PAGE
