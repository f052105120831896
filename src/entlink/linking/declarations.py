"""What a stage declares, read from its class: no table beside it has to be kept in step.

Whether it takes the knowledge base and which settings it has is in the signature of its constructor, what it is for
in its docstring. Two attributes say the rest: `needs`, in words, and `gives`, the names of the numbers of evidence.
"""

from __future__ import annotations

from inspect import Parameter, getdoc, signature
from typing import Any

import msgspec

from entlink.linking.registry import find, takes_kb


class Setting(msgspec.Struct, frozen=True, omit_defaults=True):
    """A setting with its type, as it is annotated; without a default it has to be given."""

    name: str
    type: str
    default: Any = None
    required: bool = False


class Declaration(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that can be known of a stage without making it."""

    kind: str
    name: str
    summary: str
    takes_kb: bool
    settings: tuple[Setting, ...] = ()
    needs: str = ""
    gives: tuple[str, ...] = ()


def declaration(kind: str, name: str) -> Declaration:
    """What the stage of that name declares; its module is imported, so that a missing extra is told."""
    factory = find(kind, name)
    parameters = list(signature(factory).parameters.values())
    has_kb = takes_kb(kind, name, factory)
    return Declaration(
        kind=kind,
        name=name,
        summary=(getdoc(factory) or "").partition("\n")[0],
        takes_kb=has_kb,
        settings=tuple(map(_setting, parameters[1:] if has_kb else parameters)),
        needs=getattr(factory, "needs", ""),
        gives=tuple(getattr(factory, "gives", ())),
    )


def _setting(parameter: Parameter) -> Setting:
    annotation = parameter.annotation
    told = "" if annotation is Parameter.empty else annotation if isinstance(annotation, str) else repr(annotation)
    if parameter.default is Parameter.empty:
        return Setting(parameter.name, told, required=True)
    return Setting(parameter.name, told, parameter.default)
