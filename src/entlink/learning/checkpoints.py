"""Training as far as it has come, on disk: whole or not there, and only for the training it is of."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import torch

from entlink.errors import DamagedError, OtherTrainingError

_STATE = "state.pt"
# What may differ from the training a checkpoint is of: none of it changes what is learnt.
_FREE = ("training.checkpoint_every", "training.device", "training.export", "commit")
_ANEW = "Train into another folder, or begin anew with --restart (restart=True)"


class Look(msgspec.Struct, frozen=True):
    """What was seen at a step: the mean loss since the last look, and the figure on what is held out."""

    step: int
    loss: float | None
    figure: float | None
    seconds: float = 0.0


class State(msgspec.Struct):
    """How far training has come."""

    step: int = 0
    seconds: float = 0.0
    summed: float = 0.0  # the losses since the last look
    counted: int = 0
    history: list[Look] = []
    best: float | None = None
    best_step: int = 0
    waited: int = 0  # looks since the best


class Checkpoint(msgspec.Struct):
    """All that training goes on from; tensors by name."""

    state: State
    network: dict[str, Any]
    optimizer: dict[str, Any]
    best: dict[str, Any] | None


class Checkpoints:
    """The folder of the checkpoint of one training, which `facts` tell from others."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self._folder, self._facts = folder, _flat(facts)

    def load(self) -> Checkpoint | None:
        """The checkpoint, if there is one; one of another training is told."""
        path = self._folder / _STATE
        if not path.is_file():
            self._keep("")
            return None
        try:
            read = torch.load(path, map_location="cpu", weights_only=True)
            best = read["best"] and torch.load(self._folder / read["best"], map_location="cpu", weights_only=True)
            facts = msgspec.json.decode(read["facts"], type=dict[str, Any])
            state = msgspec.json.decode(read["state"], type=State)
        except Exception as problem:  # torch raises whatever a broken file leads it to
            raise DamagedError(
                f"{path}: this checkpoint is cut off or altered ({type(problem).__name__}). {_ANEW}"
            ) from problem
        self._check(facts)
        self._keep(read["best"])
        return Checkpoint(state, read["network"], read["optimizer"], best or None)

    def save(self, checkpoint: Checkpoint) -> None:
        """Write it in place of the one before; a process killed meanwhile leaves that one."""
        self._folder.mkdir(parents=True, exist_ok=True)
        state = checkpoint.state
        name = f"best-{state.best_step}.pt" if checkpoint.best is not None else ""
        if name and not (self._folder / name).is_file():
            _write(self._folder / name, checkpoint.best)
        told = {
            "facts": msgspec.json.encode(self._facts),
            "state": msgspec.json.encode(state),
            "network": checkpoint.network,
            "optimizer": checkpoint.optimizer,
            "best": name,
        }
        _write(self._folder / _STATE, told)
        self._keep(name)

    def _keep(self, name: str) -> None:
        """Remove the best weights of other steps: those a killed process wrote last are of no checkpoint."""
        for path in self._folder.glob("best-*.pt"):
            if path.name != name:
                path.unlink()

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _check(self, found: dict[str, Any]) -> None:
        keys = [key for key in {**found, **self._facts} if key not in _FREE]
        differ = [
            f"{key} is {_shown(found.get(key))} there and {_shown(self._facts.get(key))} here"
            for key in keys
            if found.get(key) != self._facts.get(key)
        ]
        if differ:
            raise OtherTrainingError(
                f"{self._folder}: this checkpoint is of another training: {'; '.join(differ)}. {_ANEW}"
            )


def has_checkpoint(folder: Path) -> bool:
    return (folder / _STATE).is_file()


def is_unfinished(folder: Path) -> bool:
    """Whether a folder has nothing but what a kill leaves of a checkpoint."""
    return folder.is_dir() and all(path.match("best-*.pt") or path.match("*.pt.partial") for path in folder.iterdir())


def _write(path: Path, told: Any) -> None:
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("wb") as file:
        torch.save(told, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _flat(facts: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Settings by their dotted names, as a message names them."""
    flat: dict[str, Any] = {}
    for key, value in facts.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[before + key] = list(value) if isinstance(value, tuple) else value
    return flat


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:12]}…"
