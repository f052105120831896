"""The page of a report: well-formed, self-contained, true to the numbers, and the same each time."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from entlink.evaluation.leakage import Leakage
from entlink.evaluation.report import write_report
from entlink.evaluation.report.loss_tables import CEILINGS
from entlink.evaluation.report.score_tables import TASKS
from entlink.evaluation.results import Coverage, Evaluation, encode_evaluation
from entlink.evaluation.scoring.conventions import Matching, NilRule
from report_runs import GOLD, made_run

VOID = {"meta", "br", "hr"}
HOSTILE = (
    "<script>alert('x')</script>",
    "Zürich & Söhne",
    "same",
    "same",
    'a "quoted" $name$',
    "n" * 200,
    "\x00\n  ",
    "北京",
)


class Page(HTMLParser):
    """What is in a page; tags that do not close are an error at once."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.headings: list[str] = []
        self.texts: list[str] = []
        self.scroll = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in VOID:
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag in ("h1", "h2", "h3"):
            self.headings.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        assert "svg" in self.open, f"<{tag}/> is no HTML"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if {"td", "th"} & set(self.open) and "small" not in self.open and "abbr" not in self.open:
            self.tables[-1][-1][-1] += data
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings[-1] += data

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]

    def table(self, *head: str) -> list[list[str]]:
        """The rows below the head of the table that has these headings first."""
        for table in self.tables:
            for number, row in enumerate(table):
                if tuple(row[: len(head)]) == head:
                    return table[number + 1 :]
        raise AssertionError(f"no table begins with {head}")


def page_of(runs: list[Evaluation], folder: Path, **options) -> Page:
    path = write_report(runs, folder / "report.html", **options)[0]
    return Page(path.read_text(encoding="utf8"))


@pytest.fixture(scope="module")
def three() -> list[Evaluation]:
    return [made_run(name, quality) for name, quality in (("bad", 0.4), ("good", 0.8), ("better", 0.82))]


@pytest.fixture(scope="module")
def page(three, tmp_path_factory) -> Page:
    return page_of(three, tmp_path_factory.mktemp("page"), command="entlink report …")


def plain(**changes) -> Evaluation:
    return msgspec.structs.replace(made_run(rounds=0, candidates=False), **changes)


def test_it_asks_nothing_of_a_network_and_runs_nothing(page, tmp_path, three):
    text = (write_report(three, tmp_path / "report.html")[0]).read_text(encoding="utf8")
    assert "http" not in text
    assert "url(#" in text
    assert "url(" not in text.replace("url(#", "")
    assert "@import" not in text
    assert all(target.startswith("#") for target in page.attributes("href"))
    assert page.attributes("src") == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "image", "foreignobject"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]


def test_every_link_leads_to_one_place(page):
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    used = {target.removeprefix("#") for target in page.attributes("href")}
    clips = {match[1] for value in page.attributes("clip-path") if (match := re.fullmatch(r"url\(#(.+)\)", value))}
    assert used | clips == set(ids)


def test_the_sections_are_those_of_the_contents_and_in_order(page):
    assert page.headings[:12] == [
        "3 runs on gold.jsonl",
        "What was measured",
        "Scores",
        "Conventions side by side",
        "NIL and accuracy",
        "Candidates",
        "Differences between runs",
        "Slices",
        "Where links are lost",
        "Wrong answers",
        "Examples",
        "bad",
    ]
    contents = [target for tag, attributes in page.tags if tag == "a" and (target := attributes.get("href"))]
    sections = [f"#{attributes['id']}" for tag, attributes in page.tags if tag == "section"]
    assert contents == sections


def test_it_fits_phones_and_readers_of_any_kind(page):
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in [one for _, one in page.tags]
    plots = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(plots) == 8
    for plot in plots:
        assert {"width", "height"}.isdisjoint(plot)
        assert plot["viewbox"].startswith("0 0 360 ")
        assert plot["role"] == "img"
        assert "bad" in plot["aria-label"]
        assert "better" in plot["aria-label"]
    boxes = [attributes for tag, attributes in page.tags if attributes.get("class") == "scroll"]
    assert len(boxes) == len(page.tables)
    style = "".join(page.texts)
    for rule in ("@media print", "prefers-color-scheme: dark", "overflow-x: auto"):
        assert rule in style


def test_every_score_is_the_evaluations(page, three):
    rows = iter(page.table("run", "precision", "recall", "F1", "F1", "correct"))
    for name, title in TASKS.items():
        assert next(rows) == [title]
        for run in three:
            task = run.task(name)
            micro = task.micro
            scores = [f"{value:.3f}" for value in (micro.precision, micro.recall, micro.f1, task.macro.f1)]
            counts = [f"{count:,}" for count in (micro.correct, micro.predicted, micro.gold)]
            assert next(rows) == [run.name, *scores, *counts]


def test_every_interval_is_the_evaluations(page, three):
    text = "\n".join(page.texts)
    for run in three:
        for name in TASKS:
            for interval in (run.task(name).micro.intervals.f1, run.task(name).macro.intervals.f1):
                assert f"{interval.low:.3f}–{interval.high:.3f}" in text


def test_conventions_nil_accuracy_and_candidates_are_the_evaluations(page, three):
    rows = page.table("run", "precision", "recall", "F1", "precision", "recall", "F1")
    shown = [row for row in rows if len(row) > 1]
    wanted = [
        [run.name, *(f"{value:.3f}" for task in ("ed", "el") for value in _scores(run.conventions[rule][task].micro))]
        for rule in three[0].conventions
        for run in three
    ]
    assert shown == wanted
    nil = [row for row in page.table("run", "precision", "recall", "F1", "correct", "predicted") if len(row) > 1]
    assert nil[:3] == [[run.name, *_three(run.nil), *_counts(run.nil)] for run in three]
    assert nil[3:] == [[run.name, *_three(run.nil_typed), *_counts(run.nil_typed)] for run in three]
    accuracy = page.table("run", "of entities", "with NIL")
    assert accuracy[0][1:4] == [
        f"{value:.3f}"
        for one in (three[0].ranking,)
        for value in (one.accuracy_in_kb, one.accuracy, one.accuracy_typed_nil)
    ]
    candidates = [row for row in page.table("run", "1", "2", "4") if len(row) > 1]
    assert candidates[0][1:] == [f"{value:.3f}" for value in three[0].ranking.recall_at.values()]
    assert candidates[3][1:] == [f"{value:.3f}" for value in three[0].ranking.accuracy_at.values()]
    blink = three[2].ranking.blink
    assert page.table("run", "MRR")[2] == [
        "better",
        *(f"{value:.3f}" for value in (three[2].ranking.mrr, blink.retriever_accuracy, blink.recall)),
        f"{blink.normalised:.3f}",
        f"{blink.unnormalised:.3f}",
        "64",
        f"{blink.mentions:,}",
    ]


def _scores(micro):
    return micro.precision, micro.recall, micro.f1


def _three(micro):
    return [f"{value:.3f}" for value in _scores(micro)]


def _counts(micro):
    return [f"{count:,}" for count in (micro.correct, micro.predicted, micro.gold)]


def test_slices_blame_and_ceilings_are_the_evaluations(page, three):
    heat = [row for row in page.table("value", "gold", "bad") if len(row) > 1]
    wanted = [
        [one.value, f"{one.gold:,}", *(f"{run.slices[number].el_recall:.3f}" for run in three)]
        for number, one in enumerate(three[0].slices)
    ]
    assert sorted(heat) == sorted(wanted)
    causes = {row[0]: row[2:] for row in page.table("cause", "stage")}
    for cause in three[0].blame.misses:
        assert causes[cause] == [f"{run.blame.misses.get(cause, 0):,}" for run in three]
    ceilings = page.table("run", *CEILINGS)
    for row, run in zip(ceilings, three, strict=True):
        values = [getattr(run.blame.ceilings, stage) for stage in CEILINGS]
        assert row[1:] == ["–" if value is None else f"{value:.3f}" for value in values]
    wrong = {row[0]: row[1:] for row in page.table("reason", "bad")}
    for reason in three[1].blame.wrong:
        assert wrong[reason][1] == f"{three[1].blame.wrong[reason]:,}"
    spans = page.table("run", "predicted", "gold", "predicted ÷ gold")
    assert spans[0][1:4] == [
        f"{value:.2f}"
        for one in (three[0].saliency,)
        for value in (one.predicted_per_document, one.gold_per_document, one.ratio)
    ]


def test_the_best_is_bold_and_those_near_it_are_marked(three, tmp_path):
    text = (write_report(three, tmp_path / "report.html")[0]).read_text(encoding="utf8")
    bad, near, best = sorted(run.el.micro.f1 for run in three)
    assert f"<td><b>{best:.3f}</b>" in text
    assert f"<td>{near:.3f}<abbr" in text  # 0.8 and 0.82 of forty documents cannot be told apart
    assert f"<td>{bad:.3f}<small" in text


def test_examples_have_their_mention_marked_and_the_right_candidate_in_bold(page, three):
    marks = sum(tag == "mark" for tag, _ in page.tags)
    assert marks == sum(len(run.blame.examples) for run in three)
    text = "\n".join(page.texts)
    example = three[0].blame.examples[0]
    assert example.left.strip() in text
    assert example.document in text


@pytest.mark.parametrize("count", [1, 2])
def test_without_intervals_candidates_slices_and_examples(tmp_path, count):
    run = made_run(rounds=0, candidates=False, slices=(), examples=0)
    page = page_of([run] * count, tmp_path)
    assert "Candidates" not in page.headings
    assert "Slices" not in page.headings
    assert "Examples" not in page.headings
    text = "\n".join(page.texts)
    assert "There are no intervals" in text
    if count == 2:
        assert "Without intervals nothing is said of chance." in text
        assert {"run #1", "run #2"} <= set(page.texts)


def test_of_one_run_the_rows_are_tasks_and_nothing_is_best(tmp_path):
    run = made_run("only")
    page = page_of([run], tmp_path)
    rows = page.table("task", "precision")
    assert [row[0] for row in rows] == list(TASKS.values())
    assert rows[3][3] == f"{run.el.micro.f1:.3f}"
    assert "b" not in {tag for tag, _ in page.tags[: len(page.tags) // 2]}
    assert page.table("value", "gold", "MD", "candidates", "EL")
    assert "Differences between runs" not in page.headings
    assert page.headings[0] == "only on gold.jsonl"


def test_hostile_names_are_only_text(tmp_path):
    base = made_run()
    runs = [msgspec.structs.replace(base, name=name, notes=[f"<i>{name}</i>"]) for name in HOSTILE]
    page = page_of(runs, tmp_path, title="<script>&amp;</script>", command="a <b> & c")
    assert page.headings[0] == "<script>&amp;</script>"
    assert not [1 for tag, attributes in page.tags if tag in ("script", "car")]
    text = "\n".join(page.texts)
    assert "<script>alert('x')</script>" in text
    assert "Zürich & Söhne" in text
    assert {"same #1", "same #2", "北京"} <= set(page.texts)
    assert "\x00" not in text
    assert "<b>car</b>" in text  # a type of the gold


def test_different_golds_and_conventions_are_told_and_not_ranked(tmp_path):
    one = made_run("one")
    elsewhere = msgspec.structs.replace(
        made_run("elsewhere", count=30), gold=msgspec.structs.replace(GOLD, name="other.jsonl", sha256="cd" * 32)
    )
    strict = made_run("weak", matching=Matching.WEAK, nil=NilRule.REQUIRED)
    page = page_of([one, elsewhere, strict], tmp_path)
    text = "\n".join(page.texts)
    assert "These runs cannot be compared" in text
    assert (
        f"The runs are not of the same gold: gold.jsonl {'ab' * 6}, 40 documents (one, weak); "
        f"other.jsonl {'cd' * 6}, 30 documents (elsewhere)."
    ) in text
    assert "strict, nil-ignored (one, elsewhere); weak, nil-required (weak)" in text
    assert "The best is not marked" in text
    assert "one and elsewhere: the gold is not the same file, or not the same documents." in text
    assert "their conventions differ" in text
    assert "abbr" not in {tag for tag, _ in page.tags}


def test_other_versions_and_lacking_intervals_are_told(tmp_path):
    runs = [made_run("one"), plain(name="two", version="0.0.9", gold=GOLD)]
    text = "\n".join(page_of(runs, tmp_path).texts)
    assert "The runs were scored by different versions: " in text
    assert "Without intervals: two." in text


def test_notes_are_in_a_box_at_the_top_once_each(tmp_path):
    runs = [plain(name=name, notes=["7 documents are missing"]) for name in ("one", "two")]
    page = page_of(runs, tmp_path)
    assert page.texts.count("one, two: 7 documents are missing") == 1
    assert [one["role"] for tag, one in page.tags if tag == "aside"] == ["note"]


def test_coverage_and_leaks_have_their_section(tmp_path):
    run = made_run()
    coverage = Coverage("my.kb", "strict, nil-gold-dropped", 200, 150, 40, 30, ["Q1 & co"], run.el.micro)
    leakage = Leakage(40, 12, 1, 2, 3, None, 0.25, ["d7"])
    page = page_of([msgspec.structs.replace(run, coverage=coverage, leakage=leakage)], tmp_path)
    assert page.table("run", "knowledge base")[0][:6] == ["run", "my.kb", "200", "150", "40", "30"]
    assert page.table("run", "documents", "same id")[0] == ["run", "40", "1", "2", "3", "–", "0.250"]
    text = "\n".join(page.texts)
    assert "run: gold that my.kb does not know, such as Q1 & co." in text
    assert "run: shared texts, such as d7." in text


def test_where_all_rules_for_nil_agree_it_is_said(tmp_path):
    run = made_run()
    same = dict.fromkeys(run.conventions, run.conventions["strict, nil-ignored"])
    page = page_of([msgspec.structs.replace(run, conventions=same)], tmp_path)
    assert "All rules for NIL give the same scores here." in page.texts
    assert "Conventions side by side" not in page_of([plain(conventions={})], tmp_path).headings


def test_runs_without_a_file_are_compared_by_their_documents(tmp_path):
    runs = [msgspec.structs.replace(made_run(name, quality), gold=None) for name, quality in (("a", 0.5), ("b", 0.9))]
    page = page_of(runs, tmp_path)
    assert page.headings[0] == "Evaluation of 2 runs"
    assert page.table("run", "difference", "p")
    assert "not from a file" in page.texts


def test_many_runs_do_not_make_endless_plots(tmp_path):
    base = made_run(count=5, rounds=0, examples=0)
    runs = [msgspec.structs.replace(base, name=f"r{number}") for number in range(70)]
    page = page_of(runs, tmp_path)
    for told in ("The plots show the first 60 runs.", "The plot of lines shows the first 16 runs."):
        assert any(told in text for text in page.texts)
    assert len([row for row in page.table("run", "precision") if row[0] == "r69"]) == 4


def test_ten_runs_of_five_thousand_documents_fit_five_megabytes(tmp_path):
    base = made_run(count=5000, rounds=20)
    runs = [msgspec.structs.replace(base, name=f"system {number}") for number in range(10)]
    written = write_report(runs, tmp_path / "report.html")
    assert sum(path.stat().st_size for path in written) < 1_000_000
    Page(written[0].read_text(encoding="utf8"))


def test_the_same_runs_give_the_same_bytes_in_any_process(three, tmp_path):
    first = write_report(three, tmp_path / "report.html")
    wanted = {path.name: path.read_bytes() for path in first}
    saved = [tmp_path / f"{run.name}.json" for run in three]
    for path, run in zip(saved, three, strict=True):
        path.write_bytes(encode_evaluation(run))
    (tmp_path / "again").mkdir()
    script = (
        "import sys; from entlink.evaluation.report import write_report; "
        "from entlink.evaluation.results import read_evaluation; "
        "write_report([read_evaluation(path) for path in sys.argv[2:]], sys.argv[1])"
    )
    command = [sys.executable, "-c", script, tmp_path / "again" / "report.html", *saved]
    subprocess.run(command, check=True, env={"PYTHONHASHSEED": "7", "HOME": str(tmp_path)})
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == wanted
