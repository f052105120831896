"""What probing an encoder on a task gave, as one record that is written, read and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from entlink.documents import Record
from entlink.errors import InputError, SourceError
from entlink.evaluation.intervals.resampling import Interval
from entlink.formats.probes.examples import ProbeCard, Representation
from entlink.io.atomic import write_whole

KIND = "entlink-probe"


class ProbeOptions(Record, frozen=True, omit_defaults=False):
    """How encoders are probed.

    `layers` is "mix" (weights of the layers are learnt), "last", "all" (each, and the mix), or numbers from 0, the
    embedding. `names` also reads the title in the place of the description; `entity_vectors` is a file of vectors of
    entities, which stand for the candidates of a choice in one more run. Each of the `seeds` after the first
    trains on nine tenths of the training rows; `rounds` resamples of rows make the interval.
    """

    layers: Literal["mix", "last", "all"] | tuple[int, ...] = "mix"
    names: bool = False
    entity_vectors: str = ""
    seeds: int = 3
    seed: int = 0
    rounds: int = 1000
    most_candidates: int = 30
    description_words: int = 100

    def __post_init__(self) -> None:
        for name, least in (("seeds", 1), ("rounds", 1), ("most_candidates", 2), ("description_words", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} = {getattr(self, name)} is too small. Use {least} or more")
        if not self.layers or (not isinstance(self.layers, str) and len(set(self.layers)) < len(self.layers)):
            raise InputError(f"layers = {self.layers} are none, or one comes twice. Give each layer once")


class ProbeRun(Record, frozen=True):
    """One score: of a representation, read from descriptions or names (or entity vectors), at a layer or of a mix.

    `also` has other scores by name, such as the prior alone; `weights` are those of the layers in a mix.
    """

    representation: Representation
    text: Literal["description", "name", "vectors"]
    layer: str
    score: float
    interval: Interval
    seeds: tuple[float, ...] = ()
    valid: float | None = None
    strength: float | None = None
    threshold: float | None = None
    weights: tuple[float, ...] = ()
    also: Mapping[str, float] = {}
    seconds: float = 0.0


class ProbeResult(Record, frozen=True, kw_only=True, tag_field="kind", tag=KIND):
    """All scores of an encoder on a task; the first run is the one to report.

    `encoder` is the name it is shown by; two of one name are told apart by `identity`.
    """

    encoder: str
    identity: str
    layers: int
    dimension: int
    card: ProbeCard
    runs: tuple[ProbeRun, ...]
    options: ProbeOptions
    encoding_seconds: float
    seconds: float
    peak_megabytes: int
    encoded: int  # texts that were not remembered from before
    notes: tuple[str, ...] = ()
    entlink: str = ""
    command: str = ""

    @property
    def main(self) -> ProbeRun:
        return self.runs[0]


def write_result(path: Path, result: ProbeResult) -> None:
    """Write a result as indented JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(result)) + b"\n")


def is_result(head: bytes) -> bool:
    """Whether a file that begins so is a saved result of a probe."""
    return f'"kind": "{KIND}"'.encode() in head[:200]


def read_result(path: Path | str) -> ProbeResult:
    """A result that was written before."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=ProbeResult)
    except OSError as problem:
        raise SourceError(
            f"the file cannot be read: {problem.strerror}", str(path), "", "Check the path"
        ) from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        hint = "Make one with `entlink probe ENCODER --tasks FOLDER -o OUT`"
        raise SourceError(f"this is no saved result of a probe ({problem})", str(path), "", hint) from problem


def read_results(paths: Iterable[Path | str]) -> list[ProbeResult] | None:
    """The results in some files, and in all below folders; None unless all of them are results of probes."""
    files = [
        file for path in map(Path, paths) for file in (sorted(path.rglob("*.json")) if path.is_dir() else [path])
    ]
    if not files or not all(_is_result_file(file) for file in files):
        return None
    return [read_result(file) for file in files]


def _is_result_file(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return is_result(file.read(200))
