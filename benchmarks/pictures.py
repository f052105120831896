"""Features of pictures beside the encoder's own time for them, and a second run from the cache.

python benchmarks/pictures.py IMAGES.tar [--encoder efficientnet-lite0] [--pictures 5810] [--grid]

The two are timed in turns, a few pictures each, so that a busy machine slows both: the encoder alone gets pictures
that are prepared already, in the same batches.
"""

from __future__ import annotations

import argparse
import tarfile
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy

from entlink.encoders.images.cached import PictureVectors
from entlink.encoders.images.encoder import BATCH
from entlink.encoders.images.layers import GRID, PIXELS, POOLED
from entlink.encoders.images.loading import load_picture_encoder
from entlink.encoders.images.pictures import decode

TOGETHER = 4 * BATCH
MOST_SLOWER, LEAST_FASTER = 1.3, 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--encoder", default="efficientnet-lite0")
    parser.add_argument("--pictures", type=int, default=5810)
    parser.add_argument("--grid", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = _unpack(arguments.archive, Path(folder) / "pictures", arguments.pictures)
        _measure(paths, arguments.encoder, Path(folder) / "cache", grid=arguments.grid)


def _unpack(archive: Path, folder: Path, most: int) -> list[Path]:
    with tarfile.open(archive) as source:
        members = list(islice((one for one in source if one.isfile()), most))
        source.extractall(folder, members, filter="data")
    return [folder / one.name for one in members]


def _measure(paths: list[Path], name: str, cache: Path, *, grid: bool) -> None:
    encoder = load_picture_encoder(name)
    output = GRID if grid else POOLED
    vectors = PictureVectors(encoder, output="grid" if grid else "pooled", folder=cache)
    encoder.encode([paths[0].read_bytes()] * BATCH)
    whole, alone, spent, spent_alone = 0.0, 0.0, 0.0, 0.0
    for start in range(0, len(paths), TOGETHER):
        some = paths[start : start + TOGETHER]
        began, worked = time.perf_counter(), time.process_time()
        vectors.encode(some)
        whole, spent = whole + time.perf_counter() - began, spent + time.process_time() - worked
        ready = numpy.stack([encoder.preparation.prepared(decode(path.read_bytes())) for path in some])
        began, worked = time.perf_counter(), time.process_time()
        for first in range(0, len(ready), BATCH):
            encoder._session.run([output], {PIXELS: ready[first : first + BATCH]})
        alone, spent_alone = alone + time.perf_counter() - began, spent_alone + time.process_time() - worked
    again = PictureVectors(encoder, output="grid" if grid else "pooled", folder=cache)
    began = time.perf_counter()
    for _ in again.stream(paths):
        pass
    second = time.perf_counter() - began
    print(f"{len(paths):,} pictures, {encoder.name}, {output}")
    print(f"encoder alone        {alone:8.1f} s  {len(paths) / alone:6.1f} a second")
    ratios = f"{whole / alone:.2f} x (at most {MOST_SLOWER}); CPU {spent / spent_alone:.2f} x"
    print(f"files to features    {whole:8.1f} s  {ratios}")
    print(f"from the cache       {second:8.2f} s  {whole / second:.0f} x faster (at least {LEAST_FASTER})")


if __name__ == "__main__":
    main()
