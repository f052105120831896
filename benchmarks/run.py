"""All benchmarks, each as a ratio to a floor or a peer measured in the same run.

python benchmarks/run.py            on the small knowledge base
python benchmarks/run.py --vectors  also encode its 196,052 entities (some twenty minutes) and search them by vectors
python benchmarks/run.py --large    also on one of 7 million entities (the build takes some twenty minutes)
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path

import company
import cross
import dumps
import encoding
import retrieval
import scoring
import turns
import wikidata
import words
import workspace
from entlink.version import __version__
from processes import quickest, run

HERE = Path(__file__).resolve().parent
_SENTENCE = "Paris is the capital of France."


def speed(kb: Path, texts: workspace.Texts, script: str = "linking.py", *flags: str) -> tuple[float, float]:
    """Megabytes a second and peak memory of a script over the texts, on one core."""
    finished = run([str(HERE / script), str(kb), str(texts.path), str(texts.size), *flags], core=0)
    printed: dict[str, float] = json.loads(finished.output)
    return printed["mb_s"], printed.get("peak_mb", float("nan"))


def linking(kb: Path, texts: workspace.Texts) -> dict[str, float]:
    floor, _ = speed(kb, texts, "scanning.py")
    plain, memory = speed(kb, texts)
    with_candidates, _ = speed(kb, texts, "linking.py", "--candidates")
    print(f"  daachorse, scanning alone      {floor:8.2f} MB/s")
    print(f"  linking, JSONL to JSONL        {plain:8.2f} MB/s   1/{floor / plain:.0f} of the floor   target >= 1")
    print(
        f"  the same with candidates       {with_candidates:8.2f} MB/s   1/{floor / with_candidates:.0f} of the floor"
    )
    print(f"  peak memory while linking      {memory:8.0f} MB")
    return {"floor": floor, "linking": plain, "candidates": with_candidates, "peak_mb": memory}


def starting(kb: Path) -> dict[str, float]:
    nothing = quickest(["-c", "pass"])
    imported = quickest(["-c", "import entlink"])
    link_one = f"import entlink; entlink.load({str(kb)!r}).link({_SENTENCE!r})"
    once = quickest(["-c", link_one])
    resident = float(run(["-c", f"{link_one}\nfrom processes import own_peak_mb\nprint(own_peak_mb())"]).output)
    help_text = quickest([str(Path(sys.executable).with_name("entlink")), "--help"])
    print(f"  python -c pass                 {1e3 * nothing.seconds:8.1f} ms")
    print(
        f"  entlink --help                 {1e3 * help_text.seconds:8.1f} ms     "
        f"{help_text.seconds / nothing.seconds:.2f} x python -c pass      target <= 4"
    )
    print(f"  import entlink                 {1e3 * imported.seconds:8.1f} ms")
    print(
        f"  open the KB, link one sentence {1e3 * once.seconds:8.1f} ms     "
        f"{once.seconds / imported.seconds:.2f} x import entlink      target <= 2"
    )
    print(f"  resident memory of that        {resident:8.1f} MB     target < 300")
    return {
        "help": help_text.seconds / nothing.seconds,
        "open_and_link": once.seconds / imported.seconds,
        "resident_mb": resident,
    }


def adding(kb: Path) -> dict[str, float]:
    finished: dict[str, float] = json.loads(run([str(HERE / "adding.py"), str(kb)]).output)
    print(
        f"  add an entity and link it      {finished['ms']:8.2f} ms beyond the link call, "
        f"worst {finished['worst_ms']:.2f}      target < 20"
    )
    return finished


def large(small: Path, texts: workspace.Texts) -> dict[str, dict[str, float]]:
    folder, build = workspace.large_kb()
    print("\nA knowledge base of 7 million entities and 20 million names")
    print(f"  build                          {build['seconds'] / 3600:8.2f} hours")
    print(f"  peak memory, all processes     {build['peak_mb']:8.0f} MB")
    print(f"  on disk                        {build['disk_mb']:8.0f} MB")
    (small_speed, small_memory), (speed_mb, memory) = speed(small, texts), speed(folder, texts)
    slower, larger = small_speed / speed_mb, memory / small_memory
    print(f"  linking                        {speed_mb:8.2f} MB/s   small / large {slower:.2f}   target <= 2")
    print(f"  peak memory while linking      {memory:8.0f} MB     large / small {larger:.2f}   target <= 2")
    return {
        "build": build,
        "linking": {"mb_s": speed_mb, "slower": slower, "memory": larger},
        "adding": adding(folder),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also build and measure the large knowledge base")
    parser.add_argument(
        "--vectors", action="store_true", help="also encode the small knowledge base whole, and search it"
    )
    parser.add_argument("--megabytes", type=float, default=24.0, help="how much text to link")
    arguments = parser.parse_args()
    workspace.FOLDER.mkdir(parents=True, exist_ok=True)
    small, name = workspace.small_kb()
    texts = workspace.texts(int(arguments.megabytes * 1e6))
    python = platform.python_version()
    print(f"entlink {__version__}, Python {python}, one core; {name}; {texts.name}, {texts.size / 1e6:.1f} MB")
    results: dict[str, object] = {"kb": name, "texts": texts.name, "python": python}
    print("\nSpeed")
    results["linking"] = linking(small, texts)
    print("\nStarting")
    results["starting"] = starting(small)
    print("\nEditing")
    results["adding"] = adding(small)
    print("\nScoring")
    results["scoring"] = scoring.measure()
    print("\nEncoding")
    results["encoding"] = encoding.measure()
    print("\nSearch by words")
    results["words"] = words.measure()
    print("\nCompany")
    results["company"] = company.measure()
    print("\nA cross-encoder")
    results["cross"] = cross.measure()
    print("\nFused retrieval")
    results["retrieval"] = retrieval.measure()
    print("\nA turn of a conversation")
    results["turns"] = turns.measure()
    print("\nReading a wiki's dump")
    results["dumps"] = dumps.measure()
    print("\nReading Wikidata")
    results["wikidata"] = wikidata.measure()
    if arguments.vectors:
        import vectors

        print("\nSearch by vectors")
        vectors.main()
    if arguments.large:
        results["large"] = large(small, texts)
    (workspace.FOLDER / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
