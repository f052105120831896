"""Options of a command from the fields of its options struct, where type, range, default and help are said once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect

from entlink_cli import values

if TYPE_CHECKING:
    from argparse import _ArgumentGroup

    from entlink_cli.parsing import Namespace, Parser


def add_fields(parser: Parser | _ArgumentGroup, struct: type[msgspec.Struct], *names: str) -> None:
    """An option for each of these fields; where it is not given, the struct's own default holds."""
    fields = {field.name: field for field in inspect.type_info(struct).fields}  # type: ignore[attr-defined]
    for name in names:
        parser.add_argument(f"--{name.replace('_', '-')}", default=None, **_argument(fields[name]))


def given_fields(arguments: Namespace, struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of the struct that the command line gives."""
    given = ((name, getattr(arguments, name, None)) for name in struct.__struct_fields__)
    return {name: value for name, value in given if value is not None}


def _argument(field: inspect.Field) -> dict[str, Any]:
    kind, schema = _unwrapped(field.type)
    told = str(schema.get("description", ""))
    if "(default" not in told:
        told += f" (default: {field.default})"
    if isinstance(kind, inspect.LiteralType):
        return {"choices": kind.values, "help": told}
    if isinstance(kind, inspect.IntType):
        read = {1: values.whole, 0: values.weight}.get(kind.ge, values.any_whole)  # type: ignore[arg-type]
        return {"metavar": "N", "type": read, "help": told}
    if isinstance(kind, inspect.FloatType):
        return {"metavar": "S", "type": values.share, "help": told}
    raise TypeError(f"{field.name}: no option can be made of {kind}")


def _unwrapped(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any]]:
    """A field's type without None, and what its annotation says of it."""
    schema: dict[str, Any] = {}
    while isinstance(kind, inspect.Metadata | inspect.UnionType):
        if isinstance(kind, inspect.Metadata):
            schema, kind = {**(kind.extra_json_schema or {}), **schema}, kind.type
        else:
            kind = next(one for one in kind.types if not isinstance(one, inspect.NoneType))
    return kind, schema
