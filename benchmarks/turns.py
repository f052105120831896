"""A turn with ten turns of history, beside a spaCy pipeline with its own EntityLinker on the same KB and text.

python benchmarks/turns.py [--talks 40]

Conversations of eleven turns are made up about entities of the small knowledge base (see `made_talks.py`), and the
eleventh is measured, on one core. entlink is given the ten before it one by one, as a chat does. spaCy keeps nothing
between two texts: for a turn to be read with its history, the eleven go through the pipeline as one text. Its linker
reads the sentence of a mention; with ten sentences on each side it reads about what entlink does. What it takes for
the turn alone is told beside both. Ratios in parentheses are of processor time.

The pipeline is trained for the benchmark, on conversations of the same kind and in an environment of its own; so is
the detector called learned. Both are kept under build/bench/turns.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

import workspace
from entlink.documents import Document
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.own_names import given_names
from entlink.version import __version__
from made_talks import Talks
from processes import run

TALKS, WARM, TRAINING = 40, 5, 80
SLOW_TALKS = 8  # where each turn takes an encoder
ROUNDS = 3
FLOOR, RATIO = 20, 5
SPACY = "3.8.18"
_FOLDER = workspace.FOLDER / "turns"
_LEARNED = """
[detector]
name = "learned"
model = "./detector"

[[retriever]]
name = "alias"

[[retriever]]
name = "edit-distance"
"""

Figures = dict[str, Any]  # turns a second by the clock and by processor time, and links a turn


def measure(talks: int = TALKS) -> dict[str, Figures]:
    """Print all of it, and return the figures."""
    kb, name = workspace.small_kb()
    _FOLDER.mkdir(parents=True, exist_ok=True)
    texts = _write_talks(kb, talks)
    print(f"  entlink {__version__}, {name}, {talks} made-up conversations of eleven turns, one core", flush=True)
    configs = _configs(kb)
    pipeline = spacy_pipeline(kb)
    ours: dict[str, list[Figures]] = {}
    theirs: list[Figures] = []
    for _ in range(ROUNDS):  # in turns, so that all meet the machine in the same state
        for what, config in configs.items():
            ours.setdefault(what, []).append(_ours(kb, texts, what, config))
        if pipeline is not None:
            theirs.append(spacy_figures(pipeline, texts))
    figures = _told_ours(ours)
    if theirs:
        return figures | _told_theirs(theirs, figures)
    print(f"  spaCy {SPACY} could not be installed here: no ratio")
    return figures


def _told_ours(found: dict[str, list[Figures]]) -> dict[str, Figures]:
    figures = {}
    for what, rounds in found.items():
        figures[what] = best_of(rounds)
        _tell(f"entlink, {what}", figures[what], f"target >= {FLOOR}")
    if "zero-shot" in found:  # only the first round had vectors of entities to make
        figures["zero-shot, first time"] = found["zero-shot"][0]
        _tell("entlink, zero-shot, first time", found["zero-shot"][0])
    return figures


def _told_theirs(rounds: list[Figures], ours: dict[str, Figures]) -> dict[str, Figures]:
    rows = {"whole": "eleven turns", "history": "eleven, ten sentences", "alone": "the turn alone"}
    theirs = {key: best_of([one[key] for one in rounds]) for key in rows}
    for key, what in rows.items():
        _tell(f"spaCy {rounds[0]['version']}, {what}", theirs[key])
    for what, one in ours.items():
        ratios = [
            f"{one['clock'] / their['clock']:.1f} ({one['processor'] / their['processor']:.1f})"
            for their in theirs.values()
        ]
        print(
            f"  {what:34} {ratios[0]} x spaCy, {ratios[1]} x with ten sentences, {ratios[2]} x on the turn alone"
            f"   target >= {RATIO}"
        )
    return {f"spacy {key}": one for key, one in theirs.items()}


def _tell(what: str, one: Figures, target: str = "") -> None:
    print(
        f"  {what:34} {one['clock']:8.1f} turns/s  {one['processor']:8.1f} a processor second, "
        f"{one['links']:4.1f} links   {target}".rstrip(),
        flush=True,
    )


def best_of(rounds: list[Figures]) -> Figures:
    """The quickest by the clock and by processor time: what is slower is the machine doing something else."""
    return {**rounds[0], **{key: max(one[key] for one in rounds) for key in ("clock", "processor")}}


def one_core() -> int:
    """The first core that this process may use."""
    return min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


def _ours(kb: Path, texts: Path, what: str, config: str) -> Figures:
    count = [] if what == "lexical" else ["--talks", str(SLOW_TALKS)]
    words = [str(workspace.HERE / "turns_ours.py"), str(kb), str(texts), config, "--warm", str(WARM), *count]
    found: Figures = json.loads(run(words, core=one_core()).output)
    return found


def spacy_figures(pipeline: Path, texts: Path) -> Figures:
    words = [str(_python()), str(workspace.HERE / "turns_spacy.py"), "measure", str(pipeline), str(texts), str(WARM)]
    if shutil.which("taskset"):
        words = ["taskset", "--cpu-list", str(one_core()), *words]
    found: Figures = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    return found


def _write_talks(kb: Path, count: int) -> Path:
    with KnowledgeBase.open(kb) as opened:
        return _written("talks.jsonl", Talks(opened, seed=1).make(WARM + count, "talk"))


def _training(kb: Path) -> Path:
    with KnowledgeBase.open(kb) as opened:
        return _written("training.jsonl", Talks(opened, seed=2).make(TRAINING, "training"))


def _written(name: str, rows: Iterable[object]) -> Path:
    path = _FOLDER / name
    with path.open("wb") as file:
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
    return path


def _configs(kb: Path) -> dict[str, str]:
    """The linkers to measure: those with an encoder only where it is installed."""
    from entlink.encoders.models.store import is_installed

    configs = {"lexical": "lexical", "everyday": "everyday"}
    if not is_installed("minilm"):
        print("  without an encoder: run `entlink models pull minilm` first to measure those too")
        return configs
    _train_detector(kb)
    learned = _FOLDER / "learned.toml"
    learned.write_text(_LEARNED, encoding="utf8")
    shutil.rmtree(kb / "vectors", ignore_errors=True)  # of an earlier run
    with_encoder = {"everyday-encoder": "everyday-encoder", "zero-shot": "zero-shot"}
    return {**configs, **with_encoder, "learned detector": str(learned)}


def _train_detector(kb: Path) -> None:
    folder = _FOLDER / "detector"
    if folder.exists():
        return
    from entlink.learning.detector.training import train_detector

    print("  training the detector …", flush=True)
    lines = _training(kb).read_bytes().splitlines()
    with KnowledgeBase.open(kb) as opened:
        train_detector(opened, (msgspec.json.decode(line, type=Document) for line in lines), folder)


def _python() -> Path:
    return workspace.FOLDER / "spacy-venv" / "bin" / "python"


def spacy_pipeline(kb: Path) -> Path | None:
    """A trained pipeline; None where spaCy cannot be installed, for instance without a network."""
    folder = _FOLDER / "pipeline"
    if not _is_installed():
        return None
    if not folder.exists():
        print("  training spaCy's pipeline …", flush=True)
        begun = _FOLDER / "pipeline.part"
        names = _written("names.jsonl", peer_rows(kb))
        words = [str(workspace.HERE / "turns_spacy.py"), "train", str(names), str(_training(kb)), str(begun)]
        subprocess.run([str(_python()), *words], check=True)
        begun.rename(folder)
    return folder


def _is_installed() -> bool:
    venv = workspace.FOLDER / "spacy-venv"
    if (venv / "whole").exists():
        return True
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(venv)],
        [str(_python()), "-m", "pip", "install", "--quiet", f"spacy=={SPACY}"],
    ):
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            return False
    (venv / "whole").touch()
    return True


def peer_rows(folder: Path) -> Iterable[dict[str, Any]]:
    """All entities, then all names as they are written, with P(e|m)."""
    names: dict[str, None] = {}
    with KnowledgeBase.open(folder) as kb:
        for entity in kb:
            names.update((name, None) for name, _ in given_names(entity))
            yield {"id": entity.id, "description": entity.description}
        for name in names:
            found = kb.aliases(name)
            if found:
                # Shares that are rounded up may add up to more than 1, which spaCy refuses.
                yield {
                    "name": name,
                    "ids": [one.entity for one in found],
                    "priors": [one.probability * 0.999 for one in found],
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--talks", type=int, default=TALKS, help=f"how many conversations (default: {TALKS})")
    measure(parser.parse_args().talks)


if __name__ == "__main__":
    main()
