from __future__ import annotations

from pathlib import Path

import pytest

from entlink.engine.local import LocalEngine
from entlink.kb.build.source_parts import PROBLEMS_KEPT, Omissions, PartRunner
from entlink.sources import Ledger, Page, Part, open_source
from knowledge_bases import article, write_articles


def write_titles(part: Part, number: int, path: Path) -> None:
    titles = [item.entity.title for item in part.items(Ledger("stop")) if isinstance(item, Page)]
    path.write_text(f"{number}: {' '.join(titles)}")


def titles_in(path: Path) -> int:
    return len(path.read_text().split()) - 1


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.setattr("entlink.sources.part.PART_PAGES", 2)
    rows = {name: [article(f"{name}{n}", f"{name}{n}") for n in range(5)] for name in "ab"}
    return [
        open_source(write_articles(tmp_path / f"{name}.jsonl", each), format="articles")
        for name, each in rows.items()
    ]


def runner(folder: Path, sources, *, limit: int | None = None, **options) -> PartRunner:
    total = sum(source.size for source in sources)
    engine = LocalEngine(**{"processes": 1, **options})
    return PartRunner(engine, write_titles, folder, measure=titles_in, limit=limit, total=total)


def run(runner: PartRunner, source) -> list[str]:
    return [path.read_text() for path in runner.run(source, lambda part, number: (part, number))]


A, B = ["0: a0 a1", "1: a2 a3", "2: a4"], ["3: b0 b1", "4: b2 b3", "5: b4"]


def test_the_parts_of_all_sources_are_numbered_on(tmp_path, sources):
    made = runner(tmp_path / "parts", sources)
    assert [run(made, source) for source in sources] == [A, B]


@pytest.mark.parametrize(
    ("limit", "first", "second"), [(1, 1, 0), (2, 1, 0), (3, 2, 0), (5, 3, 0), (6, 3, 1), (99, 3, 3)]
)
@pytest.mark.parametrize("processes", [1, 2])
def test_a_limit_takes_the_parts_it_needs(tmp_path, sources, monkeypatch, processes, limit, first, second):
    monkeypatch.setattr("entlink.kb.build.source_parts._WORTH_A_POOL", 0)
    made = runner(tmp_path / "parts", sources, limit=limit, processes=processes)
    assert [run(made, source) for source in sources] == [A[:first], B[:second]]


def test_nothing_beyond_the_limit_is_read(tmp_path, sources):
    run(runner(tmp_path / "parts", sources, limit=2), sources[0])
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["part-000000"]


def test_a_source_that_was_read_before_counts(tmp_path, sources):
    made = runner(tmp_path / "parts", sources, limit=7)
    made.pass_over(sources[0], 3, 5)
    assert run(made, sources[1]) == B[:1]


def test_progress_runs_through_all_sources_to_their_end(tmp_path, sources):
    seen: list[tuple[str, float, float]] = []
    made = runner(tmp_path / "parts", sources, progress=lambda *step: seen.append(step))
    for source in sources:
        run(made, source)
    total = sum(source.size for source in sources)
    done = [step[1] for step in seen]
    assert done == sorted(done)
    assert (seen[0], seen[-1]) == (("reading", 0, total), ("reading", total, total))


def test_what_was_left_out_adds_up_and_the_first_problems_are_kept():
    total = Omissions()
    for _ in range(2):
        total.add(Omissions(70, [f"problem {n}" for n in range(70)], {"empty": 2}))
    total.add(Omissions(0, ["one more"], {"other": 1}))
    assert (total.skipped, len(total.problems), total.left_out) == (140, PROBLEMS_KEPT, {"empty": 4, "other": 1})
    assert total.problems[70] == "problem 0"
