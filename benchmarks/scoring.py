"""Scoring and reporting, each beside the reading of the same files in the same run.

python benchmarks/scoring.py [--links 1000000]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import scored_files
import workspace
from processes import run
from scored_files import Quality

LINKS = 1_000_000
RUNS, DOCUMENTS = 10, 5_000
ROUNDS = 3
GOLD, ANSWERS = workspace.FOLDER / "scored-gold.jsonl", workspace.FOLDER / "scored-answers.jsonl"
_READ = """
import json, sys, time
from entlink.formats.documents.lines import read_documents
started = time.process_time()
links = sum(len(document.gold) + len(document.links) for path in sys.argv[1:] for document in read_documents(path))
print(json.dumps({"seconds": time.process_time() - started, "links": links}))
"""
_SCORE = """
import json, sys, time
from entlink.evaluation import EvaluationOptions, evaluate
from entlink.formats.documents.lines import read_documents
from processes import own_peak_mb
started = time.process_time()
found = evaluate(read_documents(sys.argv[1]), read_documents(sys.argv[2]), EvaluationOptions(rounds=0))
seconds = time.process_time() - started
print(json.dumps({"seconds": seconds, "el": found.el.micro.f1, "peak_mb": own_peak_mb()}))
"""


def measure(links: int = LINKS) -> dict[str, float]:
    """Print all of it, and return the figures."""
    workspace.FOLDER.mkdir(parents=True, exist_ok=True)
    scored_files.write(GOLD, [(ANSWERS, Quality())], links)
    # In turns, so that both meet the machine in the same state; the quickest of each counts.
    reads, scores = [], []
    for _ in range(ROUNDS):
        reads.append(json.loads(run(["-c", _READ, str(GOLD), str(ANSWERS)], core=0).output))
        scores.append(json.loads(run(["-c", _SCORE, str(GOLD), str(ANSWERS)], core=0).output))
    read, score = min(one["seconds"] for one in reads), min(one["seconds"] for one in scores)
    print(f"  reading gold and answers       {read:8.2f} s     {reads[0]['links']:,} links in two files")
    beyond = (score - read) / read
    print(f"  reading and scoring them       {score:8.2f} s     {score / read:.2f} x reading")
    print(f"  scoring alone                  {score - read:8.2f} s     {beyond:.2f} x reading      target <= 3")
    print(f"  peak memory of that            {scores[0]['peak_mb']:8.0f} MB")
    return {
        "read": read,
        "score": score,
        "whole_ratio": score / read,
        "ratio": beyond,
        "peak_mb": scores[0]["peak_mb"],
        **report(),
    }


def report() -> dict[str, float]:
    """Ten runs of 5,000 documents in one report."""
    folder = workspace.FOLDER / "report"
    folder.mkdir(exist_ok=True)
    gold = folder / "gold.jsonl"
    runs = [(folder / f"run-{number}.jsonl", Quality(confused=0.1 + 0.02 * number)) for number in range(RUNS)]
    scored_files.write(gold, runs, DOCUMENTS * 25)
    page = folder / "report.html"
    entlink = str(Path(sys.executable).with_name("entlink"))
    paths = [str(path) for path, _ in runs]
    finished = run([entlink, "report", *paths, "--gold", str(gold), "-o", str(page), "--quiet"])
    read = json.loads(run(["-c", _READ, str(gold), *paths]).output)
    size = page.stat().st_size / 1e6
    print(f"  report of {RUNS} runs               {finished.seconds:8.2f} s     {size:.2f} MB      target < 5 MB")
    print(f"  reading the same files         {read['seconds']:8.2f} s     {finished.seconds / read['seconds']:.1f} x")
    return {"report_seconds": finished.seconds, "report_mb": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=LINKS, help="how many gold links (default: a million)")
    measure(parser.parse_args().links)


if __name__ == "__main__":
    main()
