"""The weights that find and resolve personal mentions: a small JSON file, one of them in the box."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from entlink.errors import ConfigError
from entlink.version import __version__

_FORMAT = "entlink-personal-1"
_IN_THE_BOX = "conel2.json"


class PersonalModel(msgspec.Struct, frozen=True, kw_only=True):
    """`ends` say where a phrase ends, `choice` what it means; `made` tells from what they were fitted."""

    ends: dict[str, float]
    choice: dict[str, float]
    made: dict[str, Any] = {}
    format: str = _FORMAT
    entlink: str = __version__


def read_model(path: str | Path) -> PersonalModel:
    """The weights in a file that `entlink train personal` wrote."""
    path = Path(path)
    advice = "Make it anew with `entlink train personal`"
    try:
        model = msgspec.json.decode(path.read_bytes(), type=PersonalModel)
    except OSError as problem:
        raise ConfigError(
            f"{path}: the weights of personal mentions cannot be read ({problem.strerror}). {advice}, or set "
            "[conversation] personal = true for those in the box"
        ) from problem
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: these are no weights of personal mentions ({problem}). {advice}") from problem
    if model.format != _FORMAT:
        raise ConfigError(f"{path}: its format is {model.format!r}, and {_FORMAT!r} can be read. {advice}")
    return model


def write_model(path: Path, model: PersonalModel) -> None:
    """Write the weights; the file is whole or as it was."""
    from entlink.io.atomic import write_whole

    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(model)) + b"\n")


@cache
def default_model() -> PersonalModel:
    """The weights in the box, fitted on the training part of ConEL-2."""
    content = files("entlink.linking.conversation.personal").joinpath(_IN_THE_BOX).read_bytes()
    return msgspec.json.decode(content, type=PersonalModel)
