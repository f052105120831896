"""Linkers tuned and calibrated into a folder: what `entlink tune` and `entlink calibrate` do.

Each starts from the configuration given, else from the linker beside the knowledge base, else from `zero-shot`, and
saves to the folder given, else beside the knowledge base.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from entlink.io.atomic import write_whole
from entlink.io.outputs import file_to_write
from entlink.io.progress import Progress, ignore_progress
from entlink.learning.fit.calibration import Calibration, CalibrationOptions, calibrate
from entlink.learning.fit.judging import Judging, judge
from entlink.learning.fit.logistic import numpy_or_told
from entlink.learning.fit.reliability import reliability_plot
from entlink.learning.fit.tune import Tuned, TuneOptions, tune
from entlink.learning.gold_files import GoldFiles
from entlink.linking.config import DICTIONARY, LinkerConfig, finds_mentions, linker_beside, of_given_spans
from entlink.linking.linker import Linker, load
from entlink.linking.saved import save_linker, starting_config

PLOT = "reliability.svg"


def tune_on_files(
    kb: str | Path,
    data: Sequence[str | Path],
    options: TuneOptions | None = None,
    *,
    config: str | Path | None = None,
    output: str | Path | None = None,
    format: str | None = None,
    command: str = "",
    progress: Progress = ignore_progress,
) -> tuple[Path, Tuned]:
    """Choose the fusion and the weights of a linker on files with gold; returns where it is saved, and a report."""
    options = options or TuneOptions()
    start, files = starting_config(config, kb), GoldFiles(data, format)
    with _loaded(kb, start, mentions="given") as linker:
        tuned, found = tune(linker, start, files, options, progress)
    step = _step(command, options, found, data=files.facts())
    return _saved(kb, output, _usable(tuned, config), step), found


def tune_nil_on_files(
    kb: str | Path,
    data: Sequence[str | Path],
    *,
    seed: int = 0,
    config: str | Path | None = None,
    output: str | Path | None = None,
    format: str | None = None,
    command: str = "",
    progress: Progress = ignore_progress,
) -> tuple[Path, Judging]:
    """Choose when to say NIL by what the linker itself finds in files with gold."""
    numpy_or_told()
    start, files = starting_config(config, kb), GoldFiles(data, format)
    detector = start.detector if finds_mentions(start) else DICTIONARY
    start = msgspec.structs.replace(start, detector=detector)
    never = msgspec.structs.replace(start, nil={"name": "threshold", "threshold": 0.0})
    with _loaded(kb, never) as linker:
        tuned, found = judge(linker, start, files, seed, progress)
    step = _step(command, {"seed": seed}, found, data=files.facts())
    return _saved(kb, output, tuned, step), found


def calibrate_on_kb(
    kb: str | Path,
    options: CalibrationOptions | None = None,
    *,
    config: str | Path | None = None,
    output: str | Path | None = None,
    plot: str | Path | None = None,
    command: str = "",
    progress: Progress = ignore_progress,
) -> tuple[Path, Calibration]:
    """Fit probabilities and a threshold for NIL to a linker, on mentions of the knowledge base itself.

    A plot of how reliable the probabilities are is saved with the linker, and to the file `plot`, too. It is written
    first: a linker that says it is calibrated has all that belongs to it.
    """
    options = options or CalibrationOptions()
    if plot is not None:
        file_to_write(plot)
    start = starting_config(config, kb)
    with _loaded(kb, start, mentions="given") as linker:
        calibrated, found = calibrate(linker, start, options, progress)
    folder = _folder(kb, output)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = reliability_plot({"before": found.bins_before, "calibrated": found.bins})
    for path in (folder / PLOT, *([Path(plot)] if plot is not None else [])):
        write_whole(path, drawn)
    return _saved(kb, output, _usable(calibrated, config), _step(command, options, found)), found


@contextmanager
def _loaded(kb: str | Path, config: LinkerConfig, mentions: str | None = None) -> Iterator[Linker]:
    linker = load(kb, config=config, mentions=mentions)
    try:
        yield linker
    finally:
        linker.kb.close()


def _step(command: str, options: object, found: object, **more: Any) -> dict[str, Any]:
    """What the card of the linker says of a command."""
    return {
        "command": command,
        **more,
        "options": msgspec.to_builtins(options),
        "found": msgspec.to_builtins(found),
    }


def _usable(fitted: LinkerConfig, start: str | Path | None) -> LinkerConfig:
    """What was fitted to given spans: for those alone, unless it started from a linker that somebody named."""
    return of_given_spans(fitted) if start is None else fitted


def _folder(kb: str | Path, output: str | Path | None) -> Path:
    return linker_beside(kb) if output is None else Path(output)


def _saved(kb: str | Path, output: str | Path | None, config: LinkerConfig, step: dict[str, Any]) -> Path:
    folder = _folder(kb, output)
    save_linker(folder, config, step, Path(kb).name)
    return folder
