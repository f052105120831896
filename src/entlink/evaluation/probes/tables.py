"""Results of probes as tables: families and their average beside published rows, tasks, layers, and what it took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

import msgspec

from entlink.errors import InputError
from entlink.evaluation.probes.results import ProbeResult, ProbeRun
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.report.table import Amount, Cell, Group, Row, Score, Shade, Table, marked
from entlink.formats.probes.examples import FAMILIES

PUBLISHED = "published, on the paper's own data"
_LEAST_REACH = 0.01  # layers that differ by less are coloured less
_METRICS = {"accuracy": "accuracy", "f1": "F1", "spearman": "Spearman"}
# The tasks of each family in the paper, as its Table 1 calls them.
_OF_PAPER: Mapping[str, set[str]] = {
    "cap": {"cap same", "cap next"},
    "cerp": {"cerp"},
    "efp": {"efp"},
    "et": {"et"},
    "esr": {"kore", "wikisrs similarity", "wikisrs relatedness"},
    "ert": {"ert"},
    "ned": {"rare", "conll"},
}


def tables(results: Sequence[ProbeResult], published: Iterable[PublishedFigure] = ()) -> list[Table]:
    """All tables that have rows."""
    figures, results = list(published), told_apart(results)
    found = [
        families_table(results, figures),
        tasks_table(results),
        runs_table(results),
        *(layers_table(results, encoder) for encoder in encoders(results)),
        inputs_table(results, figures),
        cost_table(results),
    ]
    return [table for table in found if table is not None]


def told_apart(results: Sequence[ProbeResult]) -> list[ProbeResult]:
    """The results, with the identity in the name of each encoder whose name another one has, too."""
    identities: dict[str, set[str]] = {}
    for one in results:
        identities.setdefault(one.encoder, set()).add(one.identity)
    found, seen = [], set()
    for one in results:
        key = (one.encoder, one.identity, one.card.name)
        if key in seen:
            raise InputError(f"two results are of {one.encoder!r} on the task {one.card.name!r}. Leave one out")
        seen.add(key)
        is_shared = len(identities[one.encoder]) > 1
        label = f"{one.encoder} ({one.identity or 'an object'})" if is_shared else one.encoder
        found.append(msgspec.structs.replace(one, encoder=label))
    return found


def encoders(results: Iterable[ProbeResult]) -> list[str]:
    """The encoders in the order in which they come."""
    return list(dict.fromkeys(one.encoder for one in results))


def families_table(results: Sequence[ProbeResult], published: Sequence[PublishedFigure] = ()) -> Table | None:
    """A row an encoder: the mean of each family's tasks, and the mean of the families that all encoders have.

    Of a family, the tasks count that all encoders have which have the family.
    """
    families = [family for family in FAMILIES if any(one.card.family == family for one in results)]
    tasks: dict[str, set[str]] = {family: _shared_tasks(results, family) for family in families}
    means = {encoder: dict(_families(results, encoder, tasks)) for encoder in encoders(results)}
    shared = [family for family in families if all(family in one for one in means.values())]
    rows: list[Row] = [_family_row(encoder, own, families, shared) for encoder, own in means.items()]
    fitting = [family for family in shared if _is_of_paper(results, tasks[family], family)]
    of_paper = {
        system: {one.where["task"]: one.value / 100 for one in published if one.table == "3" and one.system == system}
        for system in dict.fromkeys(one.system for one in published if one.table == "3")
    }
    others: list[Row] = [
        (system, *(own.get(family) if family in fitting else None for family in families), None)
        for system, own in of_paper.items()
        if fitting
    ]
    if not rows:
        return None
    average = f"mean of {len(shared)}" if len(shared) != 1 else "mean of 1"
    groups = [Group("", rows), Group(PUBLISHED, others)] if others else [Group("", rows)]
    columns = ("encoder", *(family.upper() for family in families), average)
    return Table("families", "Families of tasks: the mean of their main scores", columns, groups)


def _shared_tasks(results: Sequence[ProbeResult], family: str) -> set[str]:
    """The tasks of a family that all encoders have which have the family."""
    own: dict[str, set[str]] = {}
    for one in results:
        if one.card.family == family:
            own.setdefault(one.encoder, set()).add(one.card.name)
    return set.intersection(*own.values())


def _families(
    results: Sequence[ProbeResult], encoder: str, tasks: Mapping[str, set[str]]
) -> Iterator[tuple[str, float]]:
    for family, names in tasks.items():
        own = [
            one.main.score
            for one in results
            if one.encoder == encoder and one.card.family == family and one.card.name in names
        ]
        if own:
            yield family, fmean(own)


def _family_row(encoder: str, own: Mapping[str, float], families: Sequence[str], shared: Sequence[str]) -> Row:
    average = fmean(own[family] for family in shared) if shared else None
    return (encoder, *(own.get(family) for family in families), average)


def _is_of_paper(results: Sequence[ProbeResult], names: set[str], family: str) -> bool:
    """Whether the tasks of a family are all of the paper's, built alike, so that its mean may stand beside."""
    built_as = {one.card.published for one in results if one.card.name in names}
    return built_as == _OF_PAPER[family] and len(names) == len(built_as)


def tasks_table(results: Sequence[ProbeResult]) -> Table | None:
    """A row a task, a column an encoder: the main score with its interval, and what takes no encoder at all."""
    names = encoders(results)
    rows: list[Row] = []
    for task in _tasks(results):
        own = {one.encoder: one for one in results if one.card.name == task}
        card, first = next((one.card, one.main) for one in own.values())
        scores = marked([_score(own[name].main) if name in own else None for name in names])
        metric = "micro F1" if card.kind == "typing" else _METRICS[card.metric]
        rows.append((task, metric, *scores, _floor(first)))
    if not rows:
        return None
    return Table("tasks", "Tasks", ("task", "score", *names, "without an encoder"), [Group("", rows)])


def _tasks(results: Iterable[ProbeResult]) -> list[str]:
    names = {one.card.name: FAMILIES.index(one.card.family) for one in results}
    return sorted(names, key=lambda name: (names[name], name))


def _score(run: ProbeRun) -> Score:
    return Score(run.score, run.interval)


def _floor(run: ProbeRun) -> Cell:
    """What priors, the most frequent label or chance alone score."""
    known = (run.also.get(name) for name in ("prior alone", "most frequent label", "chance"))
    return next((one for one in known if one is not None), None)


def runs_table(results: Sequence[ProbeResult]) -> Table | None:
    """Every representation that was probed beside the reported one, and the other scores of each."""
    rows: list[Row] = []
    for result in results:
        shown = [run for run in result.runs if run.layer == result.main.layer]
        for run in shown:
            also = ", ".join(f"{name} {value:.3f}" for name, value in run.also.items())
            read = (
                f"{run.representation}, by {run.text}" if "description" in run.representation else run.representation
            )
            seeds = " ".join(f"{one:.3f}" for one in run.seeds)
            rows.append((result.card.name, result.encoder, read, run.layer, _score(run), run.valid, seeds, also))
    columns = ("task", "encoder", "read", "layer", "score", "valid", "seeds", "other scores")
    return Table("runs", "All that was probed", columns, [Group("", rows)]) if rows else None


def layers_table(results: Sequence[ProbeResult], encoder: str) -> Table | None:
    """A row a task, a column a layer, of the reported representation; None where one layer was probed."""
    own = {one.card.name: one for one in results if one.encoder == encoder}
    numbers = sorted({run.layer for one in own.values() for run in one.runs if run.layer != "mix"}, key=int)
    if len(numbers) < 2:
        return None
    columns = [*numbers, "mix"]
    rows: list[Row] = []
    for task in _tasks(own.values()):
        main = own[task].main
        scores = {run.layer: run.score for run in own[task].runs if _is_read_alike(run, main)}
        rows.append((task, *_shaded([scores.get(one) for one in columns])))
    title = f"Layers of {encoder}: 0 is the embedding"
    return Table(f"layers {encoder}", title, ("task", *columns), [Group("", rows)])


def _shaded(scores: Sequence[float | None]) -> list[Cell]:
    """Each score coloured by where it is between the worst and the best layer of its task."""
    known = [one for one in scores if one is not None]
    middle = (max(known) + min(known)) / 2
    reach = max(max(known) - middle, _LEAST_REACH)
    return [None if one is None else Shade(one, (one - middle) / reach) for one in scores]


def _is_read_alike(run: ProbeRun, other: ProbeRun) -> bool:
    return (run.representation, run.text) == (other.representation, other.text)


def inputs_table(results: Sequence[ProbeResult], published: Sequence[PublishedFigure] = ()) -> Table | None:
    """Descriptions beside names, and beside entity vectors: tables 4 and 5 of the paper."""
    rows: list[Row] = []
    for result in results:
        scores = {run.text: _score(run) for run in result.runs if _is_other_text(run, result.main)}
        if len(scores) > 1:
            cells = (scores.get("description"), scores.get("name"), scores.get("vectors"))
            rows.append((result.card.name, result.encoder, *cells))
    if not rows:
        return None
    groups = [Group("", rows), Group(PUBLISHED, list(_published_inputs(published)))]
    columns = ("task", "encoder", "description", "name", "entity vectors")
    title = "What stands for an entity: its description, its name, or a vector of its own"
    return Table("inputs", title, columns, [group for group in groups if group.rows])


def _is_other_text(run: ProbeRun, main: ProbeRun) -> bool:
    return (run.representation, run.layer) == (main.representation, main.layer)


def _published_inputs(published: Sequence[PublishedFigure]) -> Iterator[Row]:
    cells: dict[tuple[str, str], dict[str, float]] = {}
    for one in published:
        if one.table == "4" and not one.misprint:
            cells.setdefault((one.where["task"], one.system), {})[one.where["encoded"]] = one.value / 100
        elif one.table == "5" and one.system != "ELMo":
            cells.setdefault(("conll", one.system), {})["vectors"] = one.value / 100
    for (task, system), own in cells.items():
        yield (task, system, own.get("description"), own.get("name"), own.get("vectors"))


def cost_table(results: Sequence[ProbeResult]) -> Table | None:
    """What each encoder took: seconds to encode and in all, texts that were new, and the most memory."""
    rows: list[Row] = []
    for encoder in encoders(results):
        own = [one for one in results if one.encoder == encoder]
        encoding, total = (sum(one.encoding_seconds for one in own), sum(one.seconds for one in own))
        memory = max(one.peak_megabytes for one in own)
        rows.append((encoder, len(own), sum(one.encoded for one in own), Amount(encoding), Amount(total), memory))
    columns = ("encoder", "tasks", "texts encoded", "seconds to encode", "seconds in all", "MB at most")
    return Table("cost", "Time and memory", columns, [Group("", rows)]) if rows else None
