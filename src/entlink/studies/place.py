"""The folder of a study: what is done is kept there, so that a study that was killed goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from entlink.errors import ExistsError, InputError
from entlink.io.atomic import write_whole
from entlink.io.resuming import PLAN, clear
from entlink.version import __version__

Kept = TypeVar("Kept")
LOCK = "write.lock"


class Place:
    """Files of results by name; each is made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def kept(self, name: str, kind: type[Kept], make: Callable[[], Kept]) -> Kept:
        """What is there under a name, else what `make` gives, which is there from then on."""
        path = self.folder / name
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            return msgspec.json.decode(path.read_bytes(), type=kind)
        made = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, msgspec.json.encode(made))
        return made


def take_place(folder: Path, plan: Mapping[str, Any], marks: Set[str], *, replace: bool) -> Place:
    """The folder for a study of this plan; an error where another study or something else is in it.

    `marks` are keys that only the plans of this kind of study have.
    """
    path = folder / PLAN
    encoded = msgspec.json.format(msgspec.json.encode({"entlink": __version__, **plan})) + b"\n"
    done = [one.name for one in folder.iterdir() if one.name not in (LOCK, PLAN)]
    if done and not _is_of_study(path, marks):
        raise ExistsError(f"{folder}: this folder holds something else than a study. Name another")
    if replace:
        clear(folder)
    elif done and path.read_bytes() != encoded:
        raise InputError(f"{folder}: {_differing(path, encoded)}. Name another folder, or begin anew with --replace")
    write_whole(path, encoded)
    return Place(folder)


def _is_of_study(path: Path, marks: Set[str]) -> bool:
    """Whether a plan is that of a study, a damaged one included; builds of other things leave plans of that name."""
    if not path.exists():
        return False
    try:
        plan = msgspec.json.decode(path.read_bytes())
    except msgspec.MsgspecError:
        return True
    return isinstance(plan, dict) and marks <= plan.keys()


def _differing(path: Path, encoded: bytes) -> str:
    try:
        before: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    except msgspec.MsgspecError:
        return "its plan is damaged"
    now: dict[str, Any] = msgspec.json.decode(encoded)
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    told = "; ".join(f"{key} is {_shown(before.get(key))} there and {_shown(now.get(key))} here" for key in keys)
    return f"it holds another study: {told}"


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:40]}…"
