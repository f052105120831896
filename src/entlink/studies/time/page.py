"""The study of time as a page, with its figures and tables beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from entlink.evaluation.report.elements import figure, figures, folded, note, table_element, terms, warning
from entlink.evaluation.report.heat import relative_key
from entlink.evaluation.report.markup import Html, joined, tag
from entlink.evaluation.report.page import page_of
from entlink.evaluation.report.plots import Line, line_plot
from entlink.evaluation.report.sections import Section
from entlink.evaluation.report.table import without_empty
from entlink.io.atomic import write_whole
from entlink.studies.time.categories import CONTINUAL, NEW
from entlink.studies.time.results import IN, OUT, UNTRAINED, Mean, TimeStudy
from entlink.studies.time.tables import (
    OTHER_DATA,
    all_tables,
    emerging_table,
    group_title,
    label,
    matrix_table,
    means_table,
    published_matrix,
    published_means,
    snapshots_table,
    time_lines,
)
from entlink.studies.writing import csv_text, latex_text

RESULTS, PAGE, FIGURES, TABLES = "study.json", "report.html", "figures.csv", "tables.tex"
_PARTS = (CONTINUAL, NEW)


def write_study(study: TimeStudy, folder: str | Path) -> list[Path]:
    """Write the results, the page, every figure and the tables into the folder of a study; the page comes last."""
    folder = Path(folder)
    written = {
        RESULTS: msgspec.json.format(msgspec.json.encode(study)) + b"\n",
        FIGURES: csv_text(time_lines(study)).encode(),
        TABLES: latex_text(all_tables(study), study.notes).encode(),
        PAGE: time_page(study).encode(),
    }
    for name, content in written.items():
        write_whole(folder / name, content)
    return [folder / name for name in (PAGE, RESULTS, FIGURES, TABLES)]


def time_page(study: TimeStudy) -> str:
    """The whole page."""
    parts = [
        Section("measured", "What was measured", _measured(study)),
        Section("means", "In and out of snapshot", _means(study)),
        Section("matrices", "Trained on one snapshot, asked about another", _matrices(study)),
        Section("emerging", "New entities in use", _emerging(study)),
        Section("reading", "How to read this", _reading(study)),
    ]
    subtitle = f"Entity linking over time, by entlink {study.entlink}"
    beside = [RESULTS, FIGURES, TABLES]
    shown = [part for part in parts if part.body]
    return page_of(f"Time: {study.dataset}", subtitle, shown, beside, warnings=warning("Note", study.notes))


def _measured(study: TimeStudy) -> Html:
    options = study.options
    length = f"{options.minutes:g} minutes a snapshot" if options.minutes else f"at most {options.steps} steps"
    facts = {
        "dataset": study.dataset,
        "snapshots": ", ".join(label(one.date) for one in study.snapshots),
        **study.systems,
        "training": f"preset {options.preset}, {length}: {_settings(study)}" if options.train else "none",
        "seed": str(options.seed),
        "entlink": study.entlink,
        "command": study.command or "from Python",
    }
    return joined((terms(facts), table_element(without_empty(snapshots_table(study)))))


def _settings(study: TimeStudy) -> str:
    """What most changes a bi-encoder."""
    model, training = ((study.training or {}).get(part, {}) for part in ("model", "training"))
    told = {
        "base": model.get("base"),
        "tokens of a mention": model.get("mention_tokens"),
        "of an entity": model.get("entity_tokens"),
        "batch": training.get("batch"),
        "learning rate": training.get("learning_rate"),
    }
    return ", ".join(f"{name} {value}" for name, value in told.items())


def _means(study: TimeStudy) -> Html:
    plots = [_means_figure(study, category) for category in study.categories if _of(study, category)]
    beside = [_published_figure(study, entities) for entities in _PARTS]
    return joined(
        (
            figures(*plots),
            note(_WHAT_MEANS),
            table_element(means_table(study)),
            *([folded(f"Figures: {OTHER_DATA}", figures(*filter(None, beside)))] if any(beside) else []),
        )
    )


_WHAT_MEANS = (
    "In snapshot: each mention by the model of its own snapshot. Out of snapshot: by the models of all the "
    "others, their "
    "mean. Every mention counts the same. The difference is the first less the second, on the same mentions."
)


def _of(study: TimeStudy, category: str) -> list[Mean]:
    return [one for one in study.means if one.category == category and one.setting in (IN, OUT, UNTRAINED)]


def _means_figure(study: TimeStudy, category: str) -> Html:
    means = _of(study, category)
    lines = {
        one.setting if one.setting in (IN, OUT) else one.system: [at.value for at in one.at.values()] for one in means
    }
    return _lines_figure(f"means-{category}", group_title(means), study.options.ks, lines)


def _published_figure(study: TimeStudy, entities: str) -> Html | None:
    means = [(k, one) for k in study.options.ks if (one := published_means(study.published, k, entities))]
    if not means:
        return None
    lines: dict[str, list[float]] = {
        setting: [one[place] for _, one in means] for place, setting in enumerate((IN, OUT))
    }
    return _lines_figure(f"published-{entities}", f"published: {entities}", [k for k, _ in means], lines)


def _lines_figure(name: str, title: str, ks: Sequence[int], lines: Mapping[str, Sequence[float]]) -> Html:
    places = [str(k) for k in ks]
    told = "; ".join(
        f"{line} {', '.join(f'{place} {value:.3f}' for place, value in zip(places, values, strict=True))}"
        for line, values in lines.items()
    )
    drawn = [Line(line, list(values)) for line, values in lines.items()]
    id = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name)
    return figure(f"Accuracy@K: {title}", line_plot(id, f"Accuracy@K, {title}: {told}", places, drawn))


def _matrices(study: TimeStudy) -> Html:
    key = relative_key("worse than", "better than on the snapshot it was trained on, row by row")
    return joined((key, note(_WHAT_MATRICES), *_matrices_by_k(study)))


_WHAT_MATRICES = (
    "As in tables 5 to 11 of the paper: of each row, the value farthest from that on the snapshot trained on, "
    "the white "
    "one, has the full colour. Small differences are coloured as well: look at the numbers of mentions and at the "
    "intervals of the means."
)


def _matrices_by_k(study: TimeStudy) -> Iterator[Html]:
    for k in study.options.ks:
        ours = [table_element(one) for entities in _PARTS if (one := matrix_table(study, k, entities)).rows]
        tables = (published_matrix(study, k, entities) for entities in _PARTS)
        theirs = [table_element(one) for one in tables if one is not None]
        yield joined((tag("h3", f"Accuracy@{k}"), *ours))
        if theirs:
            yield folded(f"Accuracy@{k}, {OTHER_DATA}", *theirs)


def _emerging(study: TimeStudy) -> Html:
    if not study.emerging:
        return Html("")
    return joined((note(_WHAT_EMERGING), table_element(emerging_table(study))))


_WHAT_EMERGING = (
    "Mentions of entities that came up between two snapshots. Added: the linker of the snapshot before, its "
    "knowledge "
    "base as it was and the entities that it lacks added in one edit; nothing is trained. Rebuilt: the knowledge "
    "base of "
    "the later snapshot, and for the bi-encoder the model trained on it. The seconds are those of the edit; and "
    "of the "
    "build, its index of vectors and the training."
)


def _reading(study: TimeStudy) -> Html:
    meanings = {
        "accuracy@K": "the share of mentions whose target is among the first K of all entities of the snapshot asked "
        "about. For a bi-encoder that is by the similarity to every one of them, ties against it; for a linker "
        "by its "
        "ranked candidates, whether it would say NIL or not",
        CONTINUAL: "targets that exist in all snapshots",
        NEW: "targets created inside the interval that ends at the snapshot",
        "categories of new": f"{', '.join(study.categories[2:])}: by patterns on the title, which can be replaced",
        "intervals": "bootstrap over targets: the mentions of one target are right or wrong together",
        "p": "of a paired permutation test over targets",
    }
    return terms(meanings)
