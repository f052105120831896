"""How far adapting a linker has come: a folder that whoever calls again goes on from."""

from __future__ import annotations

import hashlib
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from entlink.errors import DamagedError, ExistsError, InputError
from entlink.io.atomic import write_whole
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt.report import StageFigures
from entlink.linking.config import LINKER_FILE, LinkerConfig, read_config, with_paths_from
from entlink.linking.saved import read_card

STATE_FILE, CASES_FILE, USES_FILE, LINKER_FOLDER = "state.json", "examples.jsonl", "uses.jsonl", "linker"
LOG_FILE = "adapt.log"
ADAPTING = ".adapting"
FORMAT = 6  # of what is kept of a run under way: one of another format cannot be gone on with
STEP = "adapt"  # in the card of a linker: what made it


class AdaptOptions(msgspec.Struct, frozen=True):
    """How long to adapt for, what to start from, and whether to train models.

    `output` is the folder of the linker; empty, it is beside the knowledge base. `settings` such as
    {"model.base": "…"} are laid over the configuration of the training. `nil_share` is the share of mentions in texts
    to come whose entity is not in the knowledge base: the more, the sooner a mention is NIL.
    """

    minutes: float = 60.0
    output: str = ""
    config: str = "zero-shot"
    seed: int = 0
    train: bool = True
    nil_share: float = 0.02
    settings: dict[str, str] = {}


class AdaptState(msgspec.Struct):
    """`state.json`: what is being adapted and how, the stages that are done, and the linker so far.

    `budgets` are the seconds of each training, reckoned once: one that is gone on with knows what it has spent.
    `replaces` says that the linker in the place of the new one may go, whoever made it. Once it is `finished`, the
    new linker is whole, and perhaps in its place.
    """

    facts: dict[str, Any]
    config: LinkerConfig
    seconds: float = 0.0
    stages: list[StageFigures] = []
    examples: dict[str, int] = {}
    held_back: int = 0
    budgets: dict[str, float] = {}
    replaces: bool = False
    finished: bool = False


class AdaptFolder:
    """The folder of an adapting under way; the linker that it makes is the folder `linker` in it."""

    def __init__(self, output: Path) -> None:
        output = output if output.name not in ("", "..") else output.resolve()  # so that a folder can be beside it
        self.output = output
        self.path = output.with_name(output.name + ADAPTING)
        self.linker = self.path / LINKER_FOLDER
        self.cases, self.uses = self.path / CASES_FILE, self.path / USES_FILE

    def read(self) -> AdaptState | None:
        """What was begun, if anything was."""
        path = self.path / STATE_FILE
        try:
            return msgspec.json.decode(path.read_bytes(), type=AdaptState)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as problem:
            raise DamagedError(f"{path}: cannot be read ({problem}). Begin anew with --restart") from problem

    def write(self, state: AdaptState) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        write_whole(self.path / STATE_FILE, msgspec.json.format(msgspec.json.encode(state)))

    def log(self, line: str) -> None:
        """A line for people in `adapt.log`, with the time; the log goes with the linker when it is finished."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOG_FILE).open("a", encoding="utf8") as file:
            file.write(f"{datetime.now():%Y-%m-%d %H:%M:%S}  {line}\n")

    def resolved(self, config: LinkerConfig) -> LinkerConfig:
        """The configuration with the models that are under way."""
        return with_paths_from(config, self.linker)

    def clear(self, lock: str) -> None:
        """Nothing is in it any more but its lock."""
        for path in self.path.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != lock:
                path.unlink()

    def forget(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def put_in_place(self) -> None:
        """The finished linker where it belongs; one that was there goes only now."""
        if self.linker.exists():
            shutil.copyfile(self.path / LOG_FILE, self.linker / LOG_FILE)
            before = self.path / "before"
            shutil.rmtree(before, ignore_errors=True)
            if self.output.exists():
                self.output.replace(before)
            self.linker.replace(self.output)
        self.forget()

    def check_output(self, *, replaces: bool) -> None:
        """A linker that was made or changed in another way is somebody's work, unless it was said that it may go.

        What is no linker stays in any case: a folder is given for one more easily than it is made again.
        """
        if not self.output.exists():
            return
        if not self.output.is_dir():
            raise InputError(f"{self.output}: this is a file. Give a folder for the linker with -o")
        if not (self.output / LINKER_FILE).exists():
            if any(self.output.iterdir()):
                raise ExistsError(
                    f"{self.output}: this folder holds something else than a linker. Give another with -o"
                )
            return
        if not replaces and not _is_as_adapted(self.output):
            what = "was changed since it was adapted" if is_adapted(self.output) else "was not made by adapting"
            raise ExistsError(
                f"{self.output}: a linker is there that {what}. Give another folder with -o, or --restart to "
                "replace it"
            )

    def check_start(self, config: str) -> None:
        """What is started from stays: its models are not copied, and what was learnt before is not learnt twice."""
        start = Path(config)
        folder = start.parent if start.name == LINKER_FILE else start
        if (folder / LINKER_FILE).exists() and is_adapted(folder):
            raise InputError(f"{start}: this linker was adapted already. Start from what it was made from (--config)")
        if start.resolve().is_relative_to(self.output.resolve()):
            raise InputError(f"{start}: the new linker would take its place. Give another folder for that with -o")


def is_adapted(linker: Path) -> bool:
    """Whether a saved linker was made by adapting."""
    return any(STEP in step for step in read_card(linker).steps)


def _is_as_adapted(linker: Path) -> bool:
    """Whether adapting is what was done to a saved linker last: nobody has tuned it since."""
    steps = read_card(linker).steps
    return bool(steps) and STEP in steps[-1]


def facts_of(kb: KnowledgeBase, options: AdaptOptions) -> dict[str, Any]:
    """What must stay the same for an adapting to go on."""
    return {
        "state": {"format": FORMAT},
        "knowledge base": {
            "name": kb.folder.name,
            "entities": len(kb),
            "index": kb.index_folder.name,
            "edits": kb.pending_edits,
            "built": _digest(kb.manifest()),
        },
        "linker to start from": {"configuration": _digest(read_config(options.config))},
        "options": {name: value for name, value in msgspec.to_builtins(options).items() if name != "output"},
    }


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:16]


def check_same(folder: AdaptFolder, state: AdaptState, facts: dict[str, Any]) -> None:
    """An error if something else was begun in the folder."""
    changes = [
        f"{name} was {then.get(name)!r} and is {value!r}"
        for part, values in facts.items()
        for name, value in values.items()
        if (then := state.facts.get(part, {})).get(name) != value
    ]
    if changes:
        raise InputError(
            f"{folder.path}: adapting was begun otherwise: {'; '.join(changes)}. Go on as it was begun, or give "
            "--restart to begin anew"
        )
