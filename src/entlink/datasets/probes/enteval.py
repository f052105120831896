"""The tasks of EntEval as its authors published them: folders in its own layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from entlink.datasets.probes.material import Built, Material
from entlink.errors import InputError
from entlink.formats.probes.enteval import Layout, read_examples
from entlink.formats.probes.examples import Family, Kind, Metric, ProbeCard, ProbeExample, Representation

_ED = {"train": "train.txt", "valid": "dev.txt", "test": "test.txt"}
_VALID = {"train": "train.txt", "valid": "valid.txt", "test": "test.txt"}
_CONLL = {"train": "train.final.txt", "valid": "testa.final.txt", "test": "testb.final.txt"}


class _Task(NamedTuple):
    layout: Layout
    files: dict[str, str]
    family: Family
    kind: Kind
    metric: Metric
    representation: Representation
    title: str
    also: tuple[Representation, ...] = ()


TASKS: dict[str, _Task] = {
    "cap-same": _Task("cap", _ED, "cap", "classification", "accuracy", "context", "coreference in one sentence"),
    "cap-next": _Task("cap", _ED, "cap", "classification", "accuracy", "context", "coreference in two sentences"),
    "cerp": _Task("cerp", _ED, "cerp", "classification", "accuracy", "context", "relations in sentences"),
    "efp": _Task("efp", _ED, "efp", "classification", "accuracy", "statement", "factuality", ("context",)),
    "et": _Task("et", _VALID, "et", "typing", "f1", "context", "entity typing"),
    "ert": _Task("ert", _ED, "ert", "classification", "accuracy", "description", "relation types"),
    "kore": _Task("kore", {"test": "all.txt"}, "esr", "similarity", "spearman", "description", "KORE"),
    "wikisrs-similarity": _Task(
        "wikisrs", {"test": "WikiSRS_similarity.csv.pro"}, "esr", "similarity", "spearman", "description", "WikiSRS"
    ),
    "wikisrs-relatedness": _Task(
        "wikisrs", {"test": "WikiSRS_relatedness.csv.pro"}, "esr", "similarity", "spearman", "description", "WikiSRS"
    ),
    "rare": _Task("rare", _VALID, "ned", "choice", "accuracy", "context-description", "rare entities"),
    "conll-yago": _Task("conll", _CONLL, "ned", "choice", "accuracy", "context-description", "CoNLL-YAGO"),
}

_PUBLISHED = {"conll-yago": "conll"}  # what the paper's Table 1 calls a task, where it is not our name


def builder(name: str) -> Callable[[Material], Built]:
    """The builder of a task from the folder with EntEval's files of it."""
    task = TASKS[name]

    def build(material: Material) -> Built:
        if len(material.sources) != 1 or not material.sources[0].is_dir():
            raise InputError(f"give one folder, the one of EntEval with {', '.join(task.files.values())}")
        splits = {split: _rows(material, material.sources[0] / file, task) for split, file in task.files.items()}
        return Built(_card(name, task), splits)

    return build


def _rows(material: Material, path: Path, task: _Task) -> list[ProbeExample]:
    rows = read_examples(task.layout, path, on_error=material.options.on_error, on_problem=material.problem)
    return list(material.counted(path.name, rows))


def _card(name: str, task: _Task) -> ProbeCard:
    return ProbeCard(
        name=f"enteval-{name}",
        title=f"EntEval as published: {task.title}",
        family=task.family,
        kind=task.kind,
        metric=task.metric,
        representation=task.representation,
        also=task.also,
        source="https://github.com/ZeweiChu/EntEval",
        licence="not stated by its source",
        published=_PUBLISHED.get(name, name.replace("-", " ")),
        notes="Rows, labels and descriptions are those of EntEval's files.",
    )
