"""The runs that ConEL-2's authors published, scored by entlink, beside the F1 they published.

python reproductions/conel2_runs.py [DATA]      DATA: the folder conel2 of the dataset, default ../shared/data/conel2
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from entlink.evaluation import EvaluationOptions, Matching, evaluate_files
from entlink.evaluation.published import PublishedFigure, figures, find_one

HERE = Path(__file__).resolve().parent
RUNS = {"GENRE": "GENRE", "TagMe": "Tagme", "WAT": "WAT", "REL": "REL", "CREL": "CREL"}


def rows(data: Path) -> list[dict[str, object]]:
    """A row a system: published and ours, by ConEL's convention and without articles."""
    published = [one for one in figures(HERE / "published") if one.paper == "conversational_el"]
    gold = data / "eval" / "gold" / "Val" / "gold_cne.json"
    found: list[dict[str, object]] = []
    for system, name in RUNS.items():
        run = data / "eval" / "runs" / "Val" / f"{name}-WO-PE.json"
        ours = evaluate_files(gold, run)
        bare = evaluate_files(gold, run, EvaluationOptions(matching=Matching.STRING_WITHOUT_ARTICLES, rounds=0))
        row: dict[str, object] = {"system": system, "convention": ours.convention.name}
        for task in ("md", "el"):
            scores = ours.task(task).micro
            row |= {f"{task}_published": _value(published, system, task), task: round(scores.f1, 3)}
            if scores.intervals is not None:
                interval = scores.intervals.f1
                row[f"{task}_interval"] = [round(interval.low, 3), round(interval.high, 3)]
        found.append(row | {"el_without_articles": round(bare.el.micro.f1, 3)})
    return found


def _value(published: list[PublishedFigure], system: str, task: str) -> float:
    return float(find_one(published, table="4", system=system, dataset="conel2-val", task=task).value)


def main() -> None:
    """Print the rows; exit with 1 where a figure is not the published one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HERE.parent.parent / "shared" / "data" / "conel2"
    parser.add_argument("data", type=Path, nargs="?", default=default, help="the folder conel2")
    found = rows(parser.parse_args().data)
    for row in found:
        sys.stdout.write(json.dumps(row) + "\n")
    if any(row[task] != row[f"{task}_published"] for row in found for task in ("md", "el")):
        raise SystemExit("a figure differs from the published one")


if __name__ == "__main__":
    main()
