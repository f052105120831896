"""The page on probes, and every figure beside it as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from entlink.errors import InputError
from entlink.evaluation.probes.results import ProbeResult
from entlink.evaluation.probes.tables import tables, told_apart
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.report.elements import note, table_element, terms, warning
from entlink.evaluation.report.heat import relative_key
from entlink.evaluation.report.markup import Html, joined
from entlink.evaluation.report.page import page_of
from entlink.evaluation.report.sections import Section
from entlink.evaluation.report.table import Table
from entlink.io.atomic import write_whole

_READING = (
    "Encoders are frozen: a linear model is fitted to their vectors of the training rows. Its regularisation, and "
    "the threshold of typing, are chosen on the validation rows; the test rows are scored once.",
    "Intervals hold 95 % of resamples: of the test rows, and of the probes of all seeds, of which all but the first "
    "are trained on nine tenths of the training rows.",
    "Similarity is not trained: it is Spearman's correlation of cosines with the scores people gave. Published rows "
    "are on the paper's own data, which ours only resembles.",
)


def write_probe_report(
    results: Sequence[ProbeResult],
    path: Path | str,
    *,
    title: str = "",
    command: str = "",
    published: Iterable[PublishedFigure] = (),
) -> list[Path]:
    """Write a page on the results, and a CSV beside it, in place of what is there; returns both, the page first."""
    if not results:
        raise InputError("there are no results of probes to report on. Name files that `entlink probe -o` wrote")
    target = Path(path)
    sheet = target.with_suffix(".csv")
    write_whole(sheet, csv_text(results).encode())
    page = probe_page(results, title=title, command=command, published=published, beside=[sheet.name])
    write_whole(target, page.encode("utf8", "replace"))
    return [target, sheet]


def probe_page(
    results: Sequence[ProbeResult],
    *,
    title: str = "",
    command: str = "",
    published: Iterable[PublishedFigure] = (),
    beside: Sequence[str] = (),
) -> str:
    """The whole page."""
    results = told_apart(results)
    made = tables(results, published)
    plain = {table.name: table for table in made if not table.name.startswith("layers ")}
    heats = [table for table in made if table.name.startswith("layers ")]
    parts = [
        Section("measured", "What was measured", terms(_facts(results, command))),
        *(Section(name, table.title, table_element(table, titled=False)) for name, table in plain.items()),
        Section("layers", "Layer by layer", _heats(heats)),
        Section("reading", "How to read this", joined(note(one) for one in _READING)),
    ]
    subtitle = f"Probes of entity representations, by entlink {results[0].entlink}"
    shown = [part for part in parts if part.body]
    warned = warning("Coverage", dict.fromkeys(_warnings(results)))
    return page_of(title or "Probes of entity representations", subtitle, shown, beside, warnings=warned)


def _heats(heats: Sequence[Table]) -> Html:
    if not heats:
        return Html("")
    key = relative_key("worst layer of the task", "best layer")
    return joined((key, *(table_element(table) for table in heats)))


def _facts(results: Sequence[ProbeResult], command: str) -> dict[str, str]:
    cards = {one.card.name: one.card for one in results}
    found = {one.encoder: f"{one.identity or 'an object'}, {one.layers} layers of {one.dimension}" for one in results}
    for name, card in cards.items():
        sizes = ", ".join(f"{size:,} {split}" for split, size in card.sizes.items())
        found[name] = f"{card.title} ({sizes})"
    return found | {"command": command or results[0].command or "from Python"}


def _warnings(results: Sequence[ProbeResult]) -> Iterator[str]:
    for one in results:
        for text in one.notes:
            yield f"{one.card.name}: {text}"


def csv_text(results: Sequence[ProbeResult]) -> str:
    """Every score, a line each, with nothing rounded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("task", "encoder", "representation", "text", "layer", "measure", "value", "low", "high"))
    for one in told_apart(results):
        for run in one.runs:
            key = (one.card.name, one.encoder, run.representation, run.text, run.layer)
            writer.writerow((*key, one.card.metric, run.score, run.interval.low, run.interval.high))
            writer.writerows((*key, name, value, "", "") for name, value in run.also.items())
    return out.getvalue()
