"""Scores that name their convention and carry an interval, and say which stage lost each link.

`docs/evaluation.md` is the page to read first. Gold and predictions are documents; an `Evaluation` comes out.
"""

from __future__ import annotations

from entlink.evaluation.files import evaluate_files, load_run
from entlink.evaluation.intervals.comparing import Comparison, compare
from entlink.evaluation.leakage import Leakage, leakage
from entlink.evaluation.results import Evaluation, encode_evaluation, read_evaluation
from entlink.evaluation.runner import EvaluationOptions, evaluate
from entlink.evaluation.scoring.conventions import Convention, GoldMatch, Matching, NilRule
from entlink.evaluation.scoring.counts import Counts, Scores, macro, micro

__all__ = [
    "Comparison",
    "Convention",
    "Counts",
    "Evaluation",
    "EvaluationOptions",
    "GoldMatch",
    "Leakage",
    "Matching",
    "NilRule",
    "Scores",
    "compare",
    "encode_evaluation",
    "evaluate",
    "evaluate_files",
    "leakage",
    "load_run",
    "macro",
    "micro",
    "read_evaluation",
]
