"""The study of captioned pictures as a page, with its figures and tables beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from entlink.evaluation.report.elements import figure, figures, note, table_element, terms, warning
from entlink.evaluation.report.markup import Html, joined, tag
from entlink.evaluation.report.page import page_of
from entlink.evaluation.report.plots import Bar, Line, interval_plot, line_plot
from entlink.evaluation.report.sections import Section
from entlink.evaluation.report.table import Table, signed
from entlink.io.atomic import write_whole
from entlink.studies.pictures.cases import HELPED, HURT, NEITHER
from entlink.studies.pictures.results import Case, Compared, Curve, Pictured, PictureStudy
from entlink.studies.pictures.tables import (
    ablation_table,
    candidates_tables,
    compared_table,
    curve_tables,
    differing_table,
    picture_lines,
    picture_tables,
    pooling_table,
    rankers_table,
    removal_table,
    robustness_table,
    slice_tables,
    splits_table,
)
from entlink.studies.pictures.venn import venn
from entlink.studies.writing import csv_text, latex_text

RESULTS, PAGE, FIGURES, TABLES = "study.json", "report.html", "figures.csv", "tables.tex"
_KINDS: dict[bool | None, str] = {True: HELPED, False: HURT, None: NEITHER}


def write_study(study: PictureStudy, folder: str | Path) -> list[Path]:
    """Write the results, the page, every figure and the tables into the folder of a study; the page comes last."""
    folder = Path(folder)
    written = {
        RESULTS: msgspec.json.format(msgspec.json.encode(study)) + b"\n",
        FIGURES: csv_text(picture_lines(study)).encode(),
        TABLES: latex_text(picture_tables(study), study.notes).encode(),
        PAGE: picture_page(study).encode(),
    }
    for name, content in written.items():
        write_whole(folder / name, content)
    return [folder / name for name in (PAGE, RESULTS, FIGURES, TABLES)]


def picture_page(study: PictureStudy) -> str:
    """The whole page."""
    parts = [
        Section("measured", "What was measured", _measured(study)),
        Section("candidates", "Candidates", _tables(candidates_tables(study))),
        Section("rankers", "Text, pictures and P(e|m)", _rankers(study)),
        Section("cases", "Where the picture makes a difference", _cases(study)),
        Section("slices", "By clue, type and topic", _tables(slice_tables(study))),
        Section("inputs", "Without some inputs", _inputs(study)),
        Section("training", "Negatives and pooling", _training(study)),
        Section("robustness", "Masked names and wrong pictures", _robustness(study)),
        Section("reading", "How to read this", terms(_MEANINGS)),
    ]
    subtitle = f"Linking captions with pictures, by entlink {study.facts.entlink}"
    shown = [part for part in parts if part.body]
    beside = [RESULTS, FIGURES, TABLES]
    title = f"Pictures: {', '.join(one.name for one in study.facts.files)}"
    return page_of(title, subtitle, shown, beside, warnings=warning("Note", study.notes))


def _tables(tables: Sequence[Table]) -> Html:
    return joined(table_element(one) for one in tables if one.rows)


def _measured(study: PictureStudy) -> Html:
    options, facts = study.options, study.facts
    told = {
        "knowledge base": f"{facts.kb}: {facts.entities:,} entities, built {facts.built}",
        "captions": ", ".join(one.name for one in facts.files),
        **{f"encoder of {name}": identity for name, identity in facts.encoders.items()},
        "text evidence": ", ".join(study.text_evidence) or "none",
        "models": _models(study),
        "left out": ", ".join(f"{why} {count:,}" for why, count in study.left_out.items()) or "nothing",
        "near-copies": f"a cosine of {options.near_copy:g} or more with the picture of the right entity",
        "seed": str(options.seed),
        "command": study.command or "from Python",
    }
    return joined((terms(told), table_element(splits_table(study))))


def _models(study: PictureStudy) -> str:
    options = study.options
    if not options.models:
        return "none were trained"
    length = f", at most {options.minutes:g} minutes each" if options.minutes else ""
    return f"preset {options.preset}, {options.seeds} seeds{length}"


def _rankers(study: PictureStudy) -> Html:
    if not study.rankers:
        return Html("")
    bars = [
        Bar(one.ranker, f"{one.test.f1.value:.3f}", one.test.f1.value, one.test.f1.interval)
        for one in study.rankers
        if one.test is not None
    ]
    told = "F1 of rankers: " + "; ".join(f"{bar.name} {bar.said}" for bar in bars)
    ours = [one for one in study.compared if one.condition == "as it is"]
    drawn = [figure("F1 on the test part", interval_plot("rankers-f1", told, bars)), *_differences("added", ours)]
    return joined((figures(*drawn), _tables([rankers_table(study)]), _tables([_those(study, ours)])))


def _differences(name: str, pairs: Sequence[Compared]) -> Iterator[Html]:
    bars = [Bar(one.other, f"{signed(one.difference)}, p {one.p:.4f}", one.difference, one.interval) for one in pairs]
    if bars:
        told = "differences of F1: " + "; ".join(f"{bar.name} {bar.said}" for bar in bars)
        yield figure(
            "What the picture adds to text alone", interval_plot(f"differences-{name}", told, bars, around_zero=True)
        )


def _those(study: PictureStudy, pairs: Sequence[Compared]) -> Table:
    return compared_table(msgspec.structs.replace(study, compared=list(pairs)))


# Figure 7


def _cases(study: PictureStudy) -> Html:
    if not study.cases:
        return Html("")
    parts = [note(_WHAT_CASES), table_element(differing_table(study))]
    for helped, title in _KINDS.items():
        kept = [one for one in study.cases if one.helped is helped]
        if kept:
            parts.append(joined((tag("h3", title.capitalize()), _case_table(kept, title))))
    return joined(parts)


def _case_table(cases: Sequence[Case], title: str) -> Html:
    heads = ("caption", "right entity", "text + picture", "text alone")
    head = tag("tr", *(tag("th", name, scope="col", class_="text") for name in heads))
    body = tag("tbody", *map(_case_row, cases))
    table = tag("table", tag("thead", head), body, class_="cases")
    return tag("div", table, class_="scroll", role="region", tabindex=0, aria_label=f"Cases: {title}")


def _case_row(one: Case) -> Html:
    text = tag("p", one.left, tag("mark", one.mention), one.right, class_="context", dir="auto")
    first = tag("td", _image(one.picture, "the caption's picture"), text, class_="text")
    entities = (one.gold, one.with_picture, one.by_text)
    return tag("tr", first, *(tag("td", _entity(entity, one.gold), class_="text") for entity in entities))


def _entity(entity: Pictured | None, gold: Pictured) -> Html:
    if entity is None:
        return tag("p", "no answer")
    title = tag("b", entity.title) if entity.id == gold.id else entity.title
    return joined((_image(entity.picture, f"picture of {entity.title}"), tag("p", title)))


def _image(url: str, words: str) -> Html:
    return tag("img", src=url, alt=words) if url else tag("p", "(no picture)", class_="note")


# The other figures


def _inputs(study: PictureStudy) -> Html:
    parts = [_tables([ablation_table(study)])] if study.ablation else []
    if study.removal is not None:
        removal = study.removal
        drawn = figure(
            f"{removal.ranker}: right with T, V or both, % of {removal.mentions:,} mentions",
            venn(removal.regions, removal.mentions),
        )
        parts += [figures(drawn), _tables([removal_table(study)])]
    return joined(parts)


def _training(study: PictureStudy) -> Html:
    plots = [_curve_figure(one) for one in study.curves]
    pooled = [pooling_table(study)] if study.pooling else []
    drawn = [figures(*plots)] if plots else []
    return joined((*drawn, _tables([*curve_tables(study), *pooled])))


def _curve_figure(one: Curve) -> Html:
    places = [str(number) for number in one.numbers]
    lines = [Line("dev", list(one.dev)), Line("test", list(one.test))]
    told = "; ".join(
        f"{line.name} {', '.join(f'{place} {value:.3f}' for place, value in zip(places, line.values, strict=True))}"
        for line in lines
    )
    title = f"F1 by {one.negatives}"
    return figure(title, line_plot(f"curve-{one.negatives}", f"{title}: {told}", places, lines))


def _robustness(study: PictureStudy) -> Html:
    if not study.robustness:
        return Html("")
    kept = [one for one in study.compared if one.condition != "as it is"]
    return joined((note(_WHAT_ROBUST), _tables([robustness_table(study), _those(study, kept)])))


_WHAT_CASES = (
    "Mentions that the two link to different entities, a few of each kind, drawn by chance. The right entity is in "
    "bold wherever it was said."
)
_WHAT_ROBUST = (
    "Names masked: a sign stands in the place of the name in the caption, for training and for testing; "
    "the candidates stay those of the name, and P(e|m) is left out. Random pictures: each caption "
    "is tested with the picture of a caption on another page. Near-copies put back: mentions are tested, too, whose "
    "entity has nearly the same picture."
)
_MEANINGS = {
    "P, R, F1": "right ÷ mentions answered; right ÷ all mentions; their harmonic mean. No candidate, or nothing to "
    "say about any: no answer",
    "R@5": "the share of mentions whose entity is among the first five",
    "in brackets": "the sample standard deviation over runs, which differ by their seed only",
    "intervals": "bootstrap over captions: the mentions of one caption are right or wrong together",
    "T, V, m, e": "texts and pictures, of mentions and of entities; T+V -> T is a mention with a picture and "
    "entities without",
}
