"""How fast the default linkers are, beside the dictionary alone (`lexical`) and spaCy in the same run.

python benchmarks/everyday/speed.py simple.kb DATA

Texts are paragraphs of Schools Wikipedia (`DATA/schools_wikipedia`), three megabytes for linkers without a model and
a twentieth of that with one. Each linker has a process of its own; what is counted is processor time, loading aside.
spaCy is the pipeline with an EntityLinker of its own that `benchmarks/turns.py` trains.
"""

from __future__ import annotations

import argparse
import json
import lzma
import resource
import subprocess
import sys
from pathlib import Path
from time import process_time

import entlink

sys.path.insert(0, str(Path(__file__).parents[1]))
import turns
import workspace

_CHARACTERS, _WITH_MODEL = 3_000_000, 150_000
_ARTICLE = 190  # words of a news article


def texts(data: Path, size: int) -> list[str]:
    """Paragraphs until they are long enough together."""
    found: list[str] = []
    read = 0
    with lzma.open(data / "schools_wikipedia" / "articles.jsonl.xz", "rt", encoding="utf8") as lines:
        for line in lines:
            for paragraph in json.loads(line)["paragraphs"]:
                found.append(paragraph["text"])
                read += len(paragraph["text"])
            if read >= size:
                break
    return found


def measure(kb: Path, data: Path, config: str) -> dict[str, float]:
    """Megabytes and articles a second of processor time, and the memory at its peak."""
    paragraphs = texts(data, _WITH_MODEL if config.endswith("encoder") else _CHARACTERS)
    linker = entlink.load(kb, config=config)
    linker.link("Angela Merkel met Emmanuel Macron in Paris.")
    begun = process_time()
    links = sum(len(document.links) for document in linker.link_all(paragraphs))
    seconds = process_time() - begun
    words = sum(len(text.split()) for text in paragraphs)
    return {
        "megabytes": sum(map(len, paragraphs)) / 1e6 / seconds,
        "articles": words / _ARTICLE / seconds,
        "links": links,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--one", metavar="CONFIG", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        sys.stdout.write(json.dumps(measure(arguments.kb, arguments.data, arguments.one)))
        return
    found: dict[str, dict[str, float]] = {}
    for config in ("lexical", "everyday", "everyday-encoder"):
        command = [sys.executable, __file__, str(arguments.kb), str(arguments.data), "--one", config]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[config] = own = json.loads(done.stdout)
        print(
            f"{config:17} {own['megabytes']:.3f} MB/s, {own['articles']:.1f} articles/s, {own['links']:.0f} links, "
            f"{own['memory']:.0f} MB, {found['lexical']['megabytes'] / own['megabytes']:.1f} x the time of lexical"
        )
    against_spacy(arguments.kb, arguments.data, found["everyday-encoder"]["articles"])


def against_spacy(kb: Path, data: Path, ours: float) -> None:
    """The same paragraphs through spaCy."""
    folder = workspace.FOLDER / "turns"
    folder.mkdir(parents=True, exist_ok=True)
    pipeline = turns.spacy_pipeline(kb)
    if pipeline is None:
        print(f"spaCy {turns.SPACY} cannot be installed here: no ratio")
        return
    paragraphs = texts(data, _WITH_MODEL)
    rows = folder / "paragraphs.jsonl"
    rows.write_text("".join(json.dumps({"text": one, "turns": [{"text": one}]}) + "\n" for one in paragraphs))
    found = turns.spacy_figures(pipeline, rows)["whole"]
    theirs = found["processor"] * sum(len(one.split()) for one in paragraphs) / len(paragraphs) / _ARTICLE
    print(f"spaCy             {theirs:.1f} articles/s: everyday-encoder is {ours / theirs:.1f} x as fast")


if __name__ == "__main__":
    main()
