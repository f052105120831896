"""Builds and linking on Apache Spark beside the embedded engine, in the same run.

python benchmarks/spark.py               a dump on local[2], then on a cluster of one and of two workers, then four
                                         times the dump; and 100,000 short texts linked
python benchmarks/spark.py --texts 1000000 --repeat 4
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import msgspec

import dump_files
import workspace
from processes import Cost, watch

sys.path.append(str(workspace.ROOT / "tests" / "helpers"))
PROCESSES = 2


def entlink(*words: object, log: str) -> Cost:
    """What a command takes."""
    command = [sys.executable, "-m", "entlink", *map(str, words)]
    return watch(command, workspace.FOLDER / f"spark-{log}.log")


def build(dump: Path, name: str, *words: object) -> Cost:
    """What a build takes. The processes of a cluster are not its children, and not counted in memory."""
    target = workspace.FOLDER / f"spark-{name}.kb"
    cost = entlink(
        "kb", "build", dump, "-o", target, "--replace", "--quiet", "--processes", PROCESSES, *words, log=name
    )
    print(
        f"  {name:24} {cost.seconds:8.1f} s   {cost.processor_seconds:8.1f} s of processor   {cost.peak_mb:7.0f} MB"
    )
    return cost


def builds(repeat: int) -> dict[str, Cost]:
    """The same dump everywhere, then a longer one."""
    from spark_runs import assert_equal, cluster  # type: ignore[import-not-found]

    dump, name = dump_files.dump()
    print(f"building a knowledge base of {name}, {dump.stat().st_size / 1e6:.1f} MB")
    spark = ("--engine", "spark")
    local = (*spark, "--master", f"local[{PROCESSES}]")
    costs = {"embedded": build(dump, "embedded"), "local[2]": build(dump, "local", *local)}
    assert_equal(workspace.FOLDER / "spark-embedded.kb", workspace.FOLDER / "spark-local.kb")
    for workers in (1, 2):
        with cluster(workspace.FOLDER / f"spark-cluster-{workers}", workers) as made:
            on = (*spark, "--master", made.master, "--conf", "spark.executor.memory=700m")
            costs[f"{workers} workers"] = build(dump, f"cluster-{workers}", *on)
    longer, _ = dump_files.dump(repeat)
    costs[f"embedded, {repeat} times"] = build(longer, f"embedded-{repeat}")
    costs[f"local[2], {repeat} times"] = build(longer, f"local-{repeat}", *local)
    for one, other in (("local[2]", "embedded"), (f"local[2], {repeat} times", f"embedded, {repeat} times")):
        print(f"  {one} / {other}: {costs[one].seconds / costs[other].seconds:.2f} (target <= 4)")
    return costs


def linking(texts: int, config: str) -> dict[str, float]:
    """Short texts on local[2], beside two embedded processes that link half of them each."""
    kb, _ = workspace.small_kb()
    halves = _write_texts(texts)
    two = ["-c", _TWO, sys.executable, str(kb), config, *map(str, halves)]
    embedded = watch([sys.executable, *two], workspace.FOLDER / "spark-linking-embedded.log")
    made = workspace.FOLDER / "spark-linked.parquet"
    _clear(made)
    words = ["link", kb, halves[0].parent / "half-*.jsonl", "-o", made, "--config", config]
    spark = entlink(*words, "--engine", "spark", "--master", f"local[{PROCESSES}]", log="linking")
    share = embedded.seconds / spark.seconds
    print(
        f"linking {texts:,} short texts: two processes {texts / embedded.seconds:,.0f} a second, local[2] "
        f"{texts / spark.seconds:,.0f} a second, {share:.0%} of that (target >= 70 %)"
    )
    print(f"  of processor time: {embedded.processor_seconds:.1f} s and {spark.processor_seconds:.1f} s")
    return {"embedded": texts / embedded.seconds, "local[2]": texts / spark.seconds, "share": share}


_TWO = """
import subprocess, sys
python, kb, config, *halves = sys.argv[1:]
link = [python, "-m", "entlink", "link", kb, "--config", config]
running = [subprocess.Popen([*link, half, "-o", half + ".linked"]) for half in halves]
sys.exit(max(process.wait() for process in running))
"""


def _write_texts(texts: int) -> Sequence[Path]:
    """Sentences of the texts of the other benchmarks, in two files."""
    source = workspace.texts()
    rows = (msgspec.json.decode(line)["text"] for line in source.path.read_bytes().splitlines())
    short = [sentence for text in rows for sentence in text.split(". ") if 20 < len(sentence) < 200]
    folder = workspace.FOLDER / "spark-texts"
    folder.mkdir(exist_ok=True)
    halves = [folder / f"half-{half}.jsonl" for half in range(PROCESSES)]
    stream = islice(cycle(short), texts)
    for path in halves:
        with path.open("wb") as file:
            for number, text in enumerate(islice(stream, texts // PROCESSES)):
                file.write(msgspec.json.encode({"id": f"{path.stem}-{number}", "text": text}) + b"\n")
    return halves


def _clear(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument("--config", default="everyday", help="the linker")
    parser.add_argument("--only", choices=("builds", "linking"))
    arguments = parser.parse_args()
    workspace.FOLDER.mkdir(parents=True, exist_ok=True)
    results: dict[str, object] = {}
    if arguments.only != "linking":
        results["builds"] = {name: cost._asdict() for name, cost in builds(arguments.repeat).items()}
    if arguments.only != "builds":
        results["linking"] = linking(arguments.texts, arguments.config)
    (workspace.FOLDER / "spark.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
