"""A stage's settings checked against what its factory takes, before it is called."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from entlink.errors import ConfigError
from entlink.linking.registry import Factory
from entlink.text.nearest import did_you_mean

_BY_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def checked(stage: str, factory: Factory, before: tuple[Any, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, each as the type it is annotated with; `before` are the arguments that come first.

    What does not fit is a ConfigError that names the stage, the setting, its value and what is allowed. A setting
    without an annotation, or with one that cannot be told from outside, is left to the factory.
    """
    try:
        accepts = signature(factory)
    except (TypeError, ValueError):  # written in C: nothing is known of it
        return dict(given)
    _check_names(stage, accepts, before, given)
    types = _types(factory, accepts, given)
    return {name: _converted(stage, name, value, types.get(name, Any)) for name, value in given.items()}


def _check_names(stage: str, accepts: Signature, before: tuple[Any, ...], given: Mapping[str, Any]) -> None:
    known = [one.name for one in list(accepts.parameters.values())[len(before) :] if one.kind in _BY_KEYWORD]
    takes_any = any(one.kind is Parameter.VAR_KEYWORD for one in accepts.parameters.values())
    for name in given:
        if name not in known and not takes_any:
            hint = did_you_mean(name, known) if known else "; it has no settings"
            raise ConfigError(f"{stage}: no setting {name!r}{hint}")
    try:
        accepts.bind(*before, **given)
    except TypeError as problem:
        raise ConfigError(f"{stage}: {problem}") from problem


def _types(factory: Factory, accepts: Signature, given: Mapping[str, Any]) -> dict[str, Any]:
    """The types of the given settings; one at a time, so that a name only type checkers know spoils no other."""
    made: Any = factory
    names = getattr(made.__init__ if isinstance(factory, type) else made, "__globals__", {})
    types = {}
    for name in given:
        parameter = accepts.parameters.get(name)
        if parameter is None or parameter.annotation is Parameter.empty:
            continue
        alone = SimpleNamespace(__annotations__={name: parameter.annotation})
        try:
            types.update(get_type_hints(alone, names, include_extras=True))
        except (NameError, TypeError, AttributeError, SyntaxError):
            continue
    return types


def _converted(stage: str, name: str, value: Any, wanted: Any) -> Any:
    try:
        return msgspec.convert(value, wanted, dec_hook=_made)
    except msgspec.ValidationError as problem:
        choices = _choices(wanted)
        allowed = f"one of {', '.join(map(repr, choices))} is allowed" if choices else str(problem)
        raise ConfigError(f"{stage}: {name} = {value!r} does not fit: {allowed}") from problem
    except TypeError:  # a type that msgspec knows nothing of
        return value


def _choices(wanted: Any) -> list[Any]:
    """What a Literal allows, alone or in a union."""
    parts = (wanted, *get_args(wanted))
    return [choice for part in parts if get_origin(part) is Literal for choice in get_args(part)]


def _made(wanted: type, value: Any) -> Any:
    """A value for a type of which TOML has none."""
    if isinstance(value, wanted):
        return value
    if wanted is Path and isinstance(value, str):
        return Path(value)
    raise msgspec.ValidationError(f"Expected `{wanted.__name__}`, got `{type(value).__name__}`")
