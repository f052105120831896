"""Sources to a probing task: `build_probes` runs the builder of the task and writes its folder, whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.datasets.folder_target import check_folder
from entlink.datasets.hyperlinks.report import kb_card, source_checksum
from entlink.datasets.probes import cap, cerp, efp, enteval, ert, esr, et, ned, rare
from entlink.datasets.probes.material import Built, Material
from entlink.datasets.probes.options import DEFAULTS, ProbeOptions, checked
from entlink.errors import InputError
from entlink.formats.probes import ProbeCard, write_task
from entlink.formats.probes.writing import CARD
from entlink.io.files import check_is_path
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.nearest import nearest_question
from entlink.version import __version__

_CHECKSUM = 16  # digits of a source's checksum in the card
_HALF = 2


class Task(NamedTuple):
    """A task that can be built: how, from what, and what it needs beside its sources."""

    build: Callable[[Material], Built]
    sources: str
    needs_kb: bool = False
    needs_vectors: bool = False


TASKS: Mapping[str, Task] = {
    "cap-same": Task(cap.build_same, "PreCo, JSON lines", needs_vectors=True),
    "cap-next": Task(cap.build_next, "PreCo, JSON lines", needs_vectors=True),
    "cap-links-same": Task(cap.build_links_same, "documents with gold", needs_vectors=True),
    "cap-links-next": Task(cap.build_links_next, "documents with gold", needs_vectors=True),
    "cap-links-across": Task(cap.build_links_across, "documents with gold", needs_vectors=True),
    "cerp": Task(cerp.build, "ConceptNet's assertions, or triples", needs_vectors=True),
    "efp": Task(efp.build, "FEVER, JSON lines"),
    "et": Task(et.build_ultra_fine, "Ultra-Fine's train, dev and test"),
    "et-links": Task(et.build_links, "documents with gold", needs_kb=True),
    "esr-kore": Task(esr.build_kore, "KORE's rankedrelatedentities.txt", needs_kb=True),
    "esr-wikisrs-similarity": Task(esr.build_similarity, "WikiSRS_similarity.csv", needs_kb=True),
    "esr-wikisrs-relatedness": Task(esr.build_relatedness, "WikiSRS_relatedness.csv", needs_kb=True),
    "ert": Task(ert.build_triples, "triples in TSV, or ConceptNet's assertions", needs_kb=True, needs_vectors=True),
    "ert-claims": Task(ert.build_claims, "a knowledge base with claims", needs_kb=True, needs_vectors=True),
    "ned-conll-yago": Task(ned.build_conll, "AIDA CoNLL-YAGO", needs_kb=True),
    "ned-links": Task(ned.build_links, "documents with gold", needs_kb=True),
    "rare": Task(rare.build_long, "corpus.txt and entities.txt of Long et al."),
    "rare-links": Task(rare.build_links, "documents with gold", needs_kb=True),
    **{f"enteval-{name}": Task(enteval.builder(name), "EntEval's own folder") for name in enteval.TASKS},
}


class ProbesReport(msgspec.Struct):
    """What was built: the card of the task, what was left out of its sources, and what was wrong with them."""

    folder: str
    card: ProbeCard
    left_out: dict[str, int]
    facts: dict[str, int]
    skipped: int = 0
    problems: list[str] = []

    @property
    def coverage(self) -> float | None:
        """The share of the source's rows of which all descriptions were found."""
        card = self.card
        return card.covered / card.of if card.covered is not None and card.of else None

    @property
    def lacks_most(self) -> bool:
        """Whether descriptions of fewer than half of the rows were found."""
        return self.coverage is not None and self.coverage * _HALF < 1


def build_probes(
    task: str,
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    options: ProbeOptions = DEFAULTS,
    *,
    kb: str | Path | None = None,
    vectors: str | Path | None = None,
    name: str = "",
    replace: bool = False,
    progress: Progress = ignore_progress,
    on_coverage: Callable[[int, int], None] | None = None,
) -> ProbesReport:
    """Write the folder of a probing task, which `entlink.formats.probes.read_task` reads.

    Descriptions are of the entities of `kb`, vectors of words of a file such as GloVe's. `on_coverage` is told of how
    many rows descriptions were found, and how many rows the source has, before anything is written.

        build_probes("esr-wikisrs-similarity", "WikiSRS_similarity.csv", "similarity", kb="simple.kb")
    """
    about = _known(task)
    options = checked(options)
    given = tuple(Path(source) for source in ([sources] if isinstance(sources, str | Path) else sources))
    _check(about, task, given, kb, vectors)
    folder = Path(out)
    check_folder(folder, given, (folder / CARD).is_file, replace=replace)
    opened = KnowledgeBase.open(kb) if kb is not None else nullcontext()
    with opened as base:
        material = Material(given, options, progress, base)
        material.vectors_file = None if vectors is None else Path(vectors)
        built = about.build(material)
        if on_coverage is not None and built.covered is not None and built.of is not None:
            on_coverage(built.covered, built.of)
        _check_rows(built, material)
    card = _card(built, material, kb, name)
    card = write_task(folder, card, built.splits)
    return ProbesReport(
        str(folder),
        card,
        {what: count for what, count in material.left_out.items() if count},
        dict(material.facts),
        material.skipped,
        material.problems,
    )


def _known(task: str) -> Task:
    if task not in TASKS:
        raise InputError(
            f"there is no probing task {task!r}. {nearest_question(task, TASKS)}Choose among {', '.join(TASKS)}"
        )
    return TASKS[task]


def _check(
    about: Task, task: str, sources: tuple[Path, ...], kb: str | Path | None, vectors: str | Path | None
) -> None:
    is_of_kb = about.build is ert.build_claims
    if not sources and not is_of_kb:
        raise InputError(f"there is no source. {task} is built of {about.sources}")
    if sources and is_of_kb:
        raise InputError(f"{task} is built of the claims of the knowledge base alone. Give no source")
    for source in sources:
        check_is_path(source)
        if not source.exists():
            raise InputError(f"{source}: there is no such file or folder. Check the path")
    if about.needs_kb and kb is None:
        raise InputError(f"{task} needs descriptions of entities. Give a knowledge base with --kb")
    if about.needs_vectors and vectors is None:
        raise InputError(f"{task} needs vectors of words, such as GloVe's. Give a file with --vectors")
    if vectors is not None and not Path(vectors).is_file():
        raise InputError(f"{vectors}: there is no such file. Give a file of word vectors, unpacked")


def _check_rows(built: Built, material: Material) -> None:
    """Every split has rows; else it is said why there are none."""
    empty = [split for split, rows in built.splits.items() if not rows]
    if not empty:
        return
    reasons = [f"{count:,} {what}" for what, count in material.left_out.most_common() if count]
    covered = f" Descriptions were found for {built.covered:,} of {built.of:,} rows." if built.of else ""
    told = f" Left out: {', '.join(reasons)}." if reasons else ""
    raise InputError(
        f"nothing is left for {', '.join(empty)}.{covered}{told} Give more sources, files of each split, or a "
        "knowledge base that describes more of their entities"
    )


def _card(built: Built, material: Material, kb: str | Path | None, name: str) -> ProbeCard:
    """The builder's card with what this build was made of."""
    settings: dict[str, Any] = {"entlink": __version__}
    for source in material.sources:
        settings[f"source {source.name}"] = source_checksum(source)[:_CHECKSUM]
    if kb is not None:
        about = kb_card(Path(kb))
        settings[f"kb {about.name}"] = about.sha256[:_CHECKSUM]
    if material.vectors_file is not None:
        settings[f"vectors {material.vectors_file.name}"] = source_checksum(material.vectors_file)[:_CHECKSUM]
    defaults = msgspec.to_builtins(DEFAULTS)
    for key, value in msgspec.to_builtins(material.options).items():
        if value != defaults[key] or key == "seed":
            settings[key] = value if isinstance(value, str | int | float | bool) else ",".join(map(str, value))
    for what, count in (*material.left_out.items(), *material.facts.items()):
        if count:
            settings[what] = count
    notes = " ".join(part for part in (built.card.notes, built.notes) if part)
    return msgspec.structs.replace(
        built.card,
        name=name or built.card.name,
        covered=built.covered,
        of=built.of,
        notes=notes,
        settings=settings,
    )
