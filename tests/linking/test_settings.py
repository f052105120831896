"""Settings of stages are checked before a stage is made of them."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import pytest

from entlink.errors import ConfigError
from entlink.linking import registry
from entlink.linking.config import make_stage
from entlink.linking.settings import checked

if TYPE_CHECKING:
    from decimal import Decimal

    from entlink.kb.knowledge_base import KnowledgeBase


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (
            "detector",
            {"name": "dictionary", "case": "exakt"},
            "case = 'exakt' does not fit: one of 'exact', 'smart', 'f",
        ),
        (
            "detector",
            {"name": "dictionary", "min_link_probability": "0.1"},
            "min_link_probability = '0.1' does not fit: Expected `float`, got `str`",
        ),
        ("detector", {"name": "dictionary", "plurals": 1}, "plurals = 1 does not fit: Expected `bool`, got `int`"),
        ("detector", {"name": "dictionary", "kb": "other"}, "no setting 'kb'"),
        ("detector", {"name": "given", "case": "fold"}, "no setting 'case'; it has no settings"),
        ("retriever", {"name": "alias", "limit": 2.5}, "limit = 2.5 does not fit: Expected `int`, got `float`"),
        ("retriever", {"name": "alias", "limit": True}, "limit = True does not fit"),
        ("retriever", {"name": "edit-distance", "near": 1}, "no setting 'near'; there are limit, distance, simil"),
        ("nil", {"name": "threshold", "threshold": "high"}, "threshold = 'high' does not fit: Expected `float`"),
        ("nil", {"name": "threshold", "treshold": 0.4}, "no setting 'treshold'; did you mean 'threshold'?"),
    ],
)
def test_what_does_not_fit_is_told_by_name(world, kind, settings, message):
    with pytest.raises(ConfigError, match=re.escape(f"[{kind}] {settings['name']}: {message}")):
        make_stage(kind, settings, world)


def test_a_whole_number_does_for_a_fraction(world):
    threshold = make_stage("nil", {"name": "threshold", "threshold": 1}, world).threshold
    assert (threshold, type(threshold)) == (1.0, float)


# Stages of others


class Stage:
    """As a package may write it: some names are for type checkers only."""

    def __init__(
        self,
        kb: KnowledgeBase,
        model: Path,
        *,
        size: Annotated[int, msgspec.Meta(ge=1)] = 3,
        words: tuple[str, ...] = (),
        mode: Literal["a", "b"] | None = None,
        weight: Decimal | None = None,
        anything=None,
        place: str | Path = "",
    ) -> None:
        self.given = (kb, model, size, words, mode, weight, anything, place)


def test_settings_become_what_they_are_annotated_with():
    given = {"model": "m", "size": 4, "words": ["x"], "mode": "b", "weight": 2, "anything": 1, "place": "p"}
    assert checked("s", Stage, ("kb",), given) == {**given, "model": Path("m"), "words": ("x",)}
    assert checked("s", Stage, ("kb",), {"model": Path("m")}) == {"model": Path("m")}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "missing a required argument: 'model'"),
        ({"model": 3}, "model = 3 does not fit: Expected `Path`, got `int`"),
        ({"model": "m", "size": 0}, "size = 0 does not fit: Expected `int` >= 1"),
        ({"model": "m", "words": ["x", 1]}, r"words = ['x', 1] does not fit: Expected `str`, got `int` - at `$[1]`"),
        ({"model": "m", "mode": "c"}, "mode = 'c' does not fit: one of 'a', 'b' is allowed"),
    ],
)
def test_settings_of_others_are_checked_too(given, message):
    with pytest.raises(ConfigError, match=re.escape(f"s: {message}")):
        checked("s", Stage, ("kb",), given)


def with_any(kb: object, **settings: object) -> dict[str, object]:
    return settings


@pytest.mark.parametrize("factory", [with_any, partial(with_any), dict])
def test_factories_that_take_anything(factory):
    assert checked("s", factory, ("kb",), {"x": 1, "y": "z"}) == {"x": 1, "y": "z"}


def test_functions_are_checked_as_classes_are():
    def factory(kb: object, *, size: int = 1) -> object:
        return kb

    with pytest.raises(ConfigError, match="size = 'x' does not fit"):
        checked("s", factory, ("kb",), {"size": "x"})


class Faulty:
    """A stage with a fault of its own."""

    def __init__(self, kb: object, size: int = 1) -> None:
        len(size)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{}, {"size": 2}])
def test_a_fault_in_a_stage_is_not_blamed_on_its_settings(monkeypatch, world, settings):
    class Point:
        name = "faulty"

        def load(self) -> type[Faulty]:
            return Faulty

    monkeypatch.setattr(registry, "_entry_points", lambda kind: [Point()])
    with pytest.raises(TypeError, match="has no len"):
        make_stage("ranker", {"name": "faulty", **settings}, world)
