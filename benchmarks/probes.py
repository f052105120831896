"""Linear probes fitted exactly, beside mini-batch Adam with early stopping as SentEval trains the same classifier.

Both get the same standardised features of the same encoder, choose regularisation on the validation rows, and are
scored on the test rows, in one process on one thread:

    python benchmarks/probes.py minilm cerp efp et-schools …

An encoder is anything that `entlink probe` takes; the others are folders of tasks, of one layer's vectors: the last.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy
import scipy.optimize  # noqa: F401  so that no time of ours is that of loading it
import torch
from torch.nn import functional

from entlink.encoders.layered.cached import LayerCache, probes_folder
from entlink.encoders.layered.loading import load_layered
from entlink.evaluation.probes.design import Design, mixed_features
from entlink.evaluation.probes.inputs import Places, Reading, pool_of
from entlink.evaluation.probes.linear import STRENGTHS, Probe, choose
from entlink.evaluation.probes.problems import Problem, Settled, problem_of
from entlink.formats.probes import ProbeTask, read_task

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)  # SentEval's
BATCH, EPOCHS_A_ROUND, MOST_ROUNDS, TENACITY = 64, 4, 50, 5  # SentEval's
Arrays = dict[str, Any]


class Fit(NamedTuple):
    """What a way of fitting scored on the test rows, and the processor seconds that it took."""

    score: float
    seconds: float


def designs_of(vectors: Any, places: dict[str, Places]) -> dict[str, Design]:
    train = Design(vectors, places["train"].left, places["train"].right)
    others = {split: Design(vectors, one.left, one.right, like=train) for split, one in places.items()}
    return others | {"train": train}


def ours(problem: Problem, vectors: Any, places: dict[str, Places]) -> Fit:
    """L-BFGS over all rows, from strong regularisation to weak."""
    begun = process_time()
    designs = designs_of(vectors, places)

    def valid(probe: Probe) -> float:
        logits = probe.logits(designs["valid"])
        return score(problem, "valid", logits, problem.settle(logits))

    probe = choose(designs["train"], problem.loss(places["train"]), valid)
    seconds = process_time() - begun
    settled = problem.settle(probe.logits(designs["valid"]))
    return Fit(score(problem, "test", probe.logits(designs["test"]), settled), seconds)


def score(problem: Problem, split: str, logits: Any, settled: Settled) -> float:
    outcome = problem.outcome(split, logits, settled)
    return outcome.score(outcome.rows)


def theirs(problem: Problem, vectors: Any, places: dict[str, Places], seed: int, penalties: tuple[float, ...]) -> Fit:
    """Adam over mini-batches for each penalty, stopped when the validation rows get no better."""
    begun = process_time()
    like = Design(vectors, places["train"].left, places["train"].right)
    tensors = {split: torch.from_numpy(features_of(vectors, one, like)) for split, one in places.items()}
    columns = problem.loss(places["train"]).columns
    best, kept = -1.0, None
    for penalty in penalties:
        torch.manual_seed(seed)
        model = torch.nn.Linear(tensors["train"].shape[1], columns)
        found = trained(model, penalty, problem, tensors, places["train"])
        if found > best:
            best, kept = found, {name: value.clone() for name, value in model.state_dict().items()}
    seconds = process_time() - begun
    assert kept is not None
    model.load_state_dict(kept)
    settled = problem.settle(logits_of(model, tensors["valid"]))
    return Fit(score(problem, "test", logits_of(model, tensors["test"]), settled), seconds)


def trained(model: torch.nn.Linear, penalty: float, problem: Problem, tensors: Arrays, places: Places) -> float:
    """Train one model, left as it was where it scored best, and return that score."""
    loss_of = batch_loss(problem, places)
    optimiser = torch.optim.Adam(model.parameters(), weight_decay=penalty)
    best, kept, waited = -1.0, model.state_dict(), 0
    for _ in range(MOST_ROUNDS):
        for _ in range(EPOCHS_A_ROUND):
            for batch in torch.split(torch.randperm(len(tensors["train"])), BATCH):
                optimiser.zero_grad()
                loss_of(model(tensors["train"][batch]), batch).backward()
                optimiser.step()
        logits = logits_of(model, tensors["valid"])
        found = score(problem, "valid", logits, problem.settle(logits))
        if found > best:
            best, waited = found, 0
            kept = {name: value.clone() for name, value in model.state_dict().items()}
        elif waited >= TENACITY:
            break
        else:
            waited += 1
    model.load_state_dict(kept)
    return best


def batch_loss(problem: Problem, places: Places) -> Callable[[Any, Any], Any]:
    """The loss of a batch in torch: that of one label, or of each label by itself."""
    loss = problem.loss(places)
    if hasattr(loss, "_right"):
        right = torch.from_numpy(loss._right)
        return lambda logits, batch: (
            functional.binary_cross_entropy_with_logits(logits, right[batch], reduction="sum") / len(batch)
        )
    labels = torch.from_numpy(loss._labels)  # type: ignore[attr-defined]
    if loss.columns == 1:
        return lambda logits, batch: functional.binary_cross_entropy_with_logits(logits[:, 0], labels[batch].float())
    return lambda logits, batch: functional.cross_entropy(logits, labels[batch])


def logits_of(model: torch.nn.Linear, rows: Any) -> Any:
    with torch.inference_mode():
        return model(rows).numpy()


def features_of(vectors: Any, places: Places, like: Design) -> Any:
    """The standardised features of all rows, written out."""
    rows = vectors[places.left]
    if places.right is not None:
        other = vectors[places.right]
        rows = numpy.concatenate([rows, other, mixed_features(rows, other)], axis=1)
    return ((rows - like.mean) / like.scale).astype(numpy.float32)


def compared(task: ProbeTask, encoder: LayerCache, rounds: int, penalties: tuple[float, ...]) -> tuple[Fit, Fit]:
    """Both ways on one task; times are medians of the rounds, the score of Adam is the mean of its seeds."""
    pool = pool_of(task, Reading(task.card.representation, "description", task.card.lower_case), encoder)
    vectors = numpy.ascontiguousarray(pool.vectors[-1])
    problem = problem_of(task, pool.splits)
    mine = [ours(problem, vectors, pool.splits) for _ in range(rounds)]
    other = [theirs(problem, vectors, pool.splits, seed, penalties) for seed in range(rounds)]
    return _middle(mine), _middle(other)


def _middle(fits: list[Fit]) -> Fit:
    return Fit(sum(one.score for one in fits) / len(fits), median(one.seconds for one in fits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("tasks", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=probes_folder())
    parser.add_argument("--our-penalties", action="store_true", help="Adam chooses among ours, not SentEval's")
    arguments = parser.parse_args()
    penalties = STRENGTHS if arguments.our_penalties else PENALTIES
    torch.set_num_threads(1)
    encoder = LayerCache(load_layered(arguments.encoder, threads=1), arguments.cache)
    print("task  rows  ours: score, seconds  Adam: score, seconds  times as fast")
    for task in map(read_task, arguments.tasks):
        mine, other = compared(task, encoder, arguments.rounds, penalties)
        rows = len(task.splits["train"])
        scores = f"{mine.score:.3f}, {mine.seconds:.2f}  {other.score:.3f}, {other.seconds:.2f}"
        print(f"{task.card.name}  {rows:,}  {scores}  {other.seconds / mine.seconds:.0f}", flush=True)


if __name__ == "__main__":
    main()
