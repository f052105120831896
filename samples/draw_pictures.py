"""Draw the pictures of the sample wiki as small PNG files, with the standard library only.

python samples/draw_pictures.py samples/pictures
"""

from __future__ import annotations

import argparse
import struct
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from shapes import Shape, both, box, disc, polygon, ring, stroke, tilted_ring, wave

SIZE = 96
SAMPLES = 3  # Each pixel is the mean of SAMPLES x SAMPLES points, which makes edges smooth.

Colour = tuple[int, int, int]
Layer = tuple[Colour, Shape]

NIGHT, WHITE, BLACK = (14, 18, 40), (255, 255, 255), (30, 30, 34)
RED, BLUE, GREEN, YELLOW = (204, 36, 48), (32, 84, 164), (52, 140, 72), (240, 190, 50)
SKY, SEA, SAND, BROWN = (206, 230, 244), (44, 118, 176), (236, 214, 160), (110, 68, 40)

STARS = [(12, 14), (80, 10), (88, 60), (20, 84), (62, 88), (8, 50), (50, 6), (90, 88), (34, 10)]


def stars() -> list[Layer]:
    """A few white dots for a night sky."""
    return [((190, 196, 216), disc(x, y, 0.9)) for x, y in STARS]


def mercury() -> list[Layer]:
    """A grey planet with craters, lit from the left."""
    globe = disc(48, 48, 32)
    craters = [(36, 36, 7), (56, 60, 9), (34, 62, 4), (60, 32, 5), (46, 48, 3)]
    layers = [((158, 150, 144), globe)]
    layers += [((128, 120, 116), disc(x, y, radius)) for x, y, radius in craters]
    shade = both(globe, lambda x, y: not disc(38, 44, 38)(x, y))
    return [(NIGHT, box(0, 0, SIZE, SIZE)), *stars(), *layers, ((84, 78, 78), shade)]


def mars() -> list[Layer]:
    """A red planet with dark plains and a white cap."""
    globe = disc(48, 48, 32)
    return [
        (NIGHT, box(0, 0, SIZE, SIZE)),
        *stars(),
        ((200, 92, 52), globe),
        ((160, 66, 40), both(globe, disc(34, 58, 13))),
        ((160, 66, 40), both(globe, disc(64, 46, 9))),
        ((246, 238, 232), both(globe, disc(48, 10, 11))),
        ((122, 50, 34), both(globe, lambda x, y: not disc(38, 44, 38)(x, y))),
    ]


def saturn() -> list[Layer]:
    """A banded planet whose ring passes behind and before it."""
    globe = disc(48, 48, 22)
    rings = tilted_ring(48, 48, (44, 13), 0.68, -18)
    front = both(rings, lambda x, y: (y - 48) + 0.325 * (x - 48) > 0)
    bands = [((206, 170, 112), both(globe, box(0, top, SIZE, top + 5))) for top in (34, 46, 58)]
    return [
        (NIGHT, box(0, 0, SIZE, SIZE)),
        *stars(),
        ((196, 180, 150), rings),
        ((226, 196, 140), globe),
        *bands,
        ((214, 200, 170), front),
    ]


def orion() -> list[Layer]:
    """The hunter's seven stars, joined by lines."""
    shoulders, belt, feet = [(30, 20), (64, 24)], [(41, 50), (48, 47), (55, 44)], [(36, 80), (68, 74)]
    lines = [[shoulders[0], belt[0], feet[0]], [shoulders[1], belt[2], feet[1]], shoulders, belt]
    layers: list[Layer] = [(NIGHT, box(0, 0, SIZE, SIZE)), *stars()]
    layers += [((70, 84, 130), stroke(line, 1)) for line in lines]
    layers += [(WHITE, disc(x, y, 2.2)) for x, y in (shoulders[1], *belt, feet[0])]
    return [*layers, ((244, 130, 84), disc(30, 20, 3.4)), ((170, 200, 255), disc(68, 74, 3.4))]


def apple() -> list[Layer]:
    """A red apple with a stalk and a leaf."""
    leaf = both(disc(56, 10, 14), disc(64, 24, 14))
    return [
        (SKY, box(0, 0, SIZE, SIZE)),
        (BROWN, stroke([(48, 36), (47, 24), (42, 15)], 4)),
        (GREEN, leaf),
        (RED, disc(36, 52, 23)),
        (RED, disc(60, 52, 23)),
        (RED, disc(42, 66, 20)),
        (RED, disc(54, 66, 20)),
        ((240, 140, 140), disc(28, 44, 6)),
    ]


def snake() -> list[Layer]:
    """A green snake in waves, with an eye and a tongue."""
    body = wave((12, 54), 62, 20, 1.5)
    pattern = [((214, 190, 84), disc(x, y, 3.2)) for x, y in body[3:-3:4]]
    head_x, head_y = body[-1]
    tongue = [(head_x + 6, head_y - 4), (head_x + 15, head_y - 10)]
    return [
        (SAND, box(0, 0, SIZE, SIZE)),
        (RED, stroke(tongue, 2)),
        (GREEN, stroke(body, 12)),
        *pattern,
        (GREEN, disc(head_x + 2, head_y - 2, 9)),
        (BLACK, disc(head_x + 4, head_y - 5, 2)),
    ]


def island() -> list[Layer]:
    """A volcano on an island in the sea."""
    return [
        (SKY, box(0, 0, SIZE, SIZE)),
        ((240, 240, 244), disc(50, 16, 7)),
        ((240, 240, 244), disc(60, 12, 9)),
        (SEA, box(0, 64, SIZE, SIZE)),
        (SAND, both(disc(48, 112, 54), box(0, 0, SIZE, 76))),
        ((76, 120, 70), polygon([(16, 68), (42, 24), (54, 24), (80, 68)])),
        ((120, 84, 64), polygon([(36, 34), (42, 24), (54, 24), (60, 34), (53, 31), (48, 37), (43, 31)])),
        *[((120, 176, 216), stroke(wave((left, top), 26, 1.5, 2), 1.6)) for left, top in ((6, 84), (58, 88))],
    ]


def coffee() -> list[Layer]:
    """A steaming cup on a saucer."""
    steam = [stroke([(y_x[1], y_x[0]) for y_x in wave((12, x), 22, 3, 1)], 2.6) for x in (36, 46, 56)]
    return [
        ((246, 232, 212), box(0, 0, SIZE, SIZE)),
        *[((186, 170, 156), shape) for shape in steam],
        (WHITE, ring(70, 56, 10, 5)),
        (WHITE, polygon([(22, 42), (70, 42), (62, 78), (30, 78)])),
        (BROWN, tilted_ring(46, 43, (23, 5), 0, 0)),
        ((206, 186, 164), tilted_ring(46, 82, (34, 5), 0, 0)),
    ]


def car() -> list[Layer]:
    """A blue car seen from the side."""
    layers: list[Layer] = [
        (SKY, box(0, 0, SIZE, SIZE)),
        ((128, 128, 132), box(0, 70, SIZE, SIZE)),
        (BLUE, polygon([(6, 54), (26, 50), (36, 34), (64, 34), (76, 50), (90, 54), (91, 70), (6, 70)])),
        (WHITE, polygon([(32, 50), (39, 38), (49, 38), (49, 50)])),
        (WHITE, polygon([(53, 50), (53, 38), (62, 38), (70, 50)])),
        (YELLOW, disc(88, 58, 2.6)),
    ]
    for x in (26, 72):
        layers += [(BLACK, disc(x, 71, 9)), ((190, 190, 196), disc(x, 71, 4))]
    return layers


def tower() -> list[Layer]:
    """An iron tower above a city's roofs."""
    roofs = [(0, 76, 14), (14, 80, 28), (68, 78, 82), (82, 74, 96)]
    legs = [stroke([(47, 18), (44, 48), (26, 90)], 4), stroke([(49, 18), (52, 48), (70, 90)], 4)]
    decks = [box(36, 62, 60, 66), box(41, 42, 55, 45), box(46, 8, 50, 22)]
    return [
        ((248, 214, 186), box(0, 0, SIZE, SIZE)),
        *[((150, 130, 136), box(left, top, right, 90)) for left, top, right in roofs],
        *[((84, 70, 72), shape) for shape in (*legs, *decks)],
        (GREEN, box(0, 88, SIZE, SIZE)),
    ]


def medal() -> list[Layer]:
    """A gold medal for the first place, on a ribbon."""
    return [
        (SKY, box(0, 0, SIZE, SIZE)),
        (BLUE, polygon([(22, 0), (38, 0), (56, 44), (44, 50)])),
        (RED, polygon([(74, 0), (58, 0), (40, 44), (52, 50)])),
        ((206, 152, 36), disc(48, 64, 24)),
        (YELLOW, disc(48, 64, 20)),
        ((166, 112, 20), stroke([(42, 58), (49, 52), (49, 76)], 4)),
    ]


def georgia_flag() -> list[Layer]:
    """A red cross with four small ones, on white."""
    small = [(24, 32), (72, 32), (24, 64), (72, 64)]
    layers: list[Layer] = [
        ((236, 236, 240), box(0, 0, SIZE, SIZE)),
        (WHITE, box(4, 18, 92, 78)),
        (RED, box(42, 18, 54, 78)),
        (RED, box(4, 42, 92, 54)),
    ]
    for x, y in small:
        layers += [(RED, box(x - 5, y - 1.5, x + 5, y + 1.5)), (RED, box(x - 1.5, y - 5, x + 1.5, y + 5))]
    return layers


def france_flag() -> list[Layer]:
    """Three upright stripes."""
    return [
        ((236, 236, 240), box(0, 0, SIZE, SIZE)),
        (BLUE, box(4, 18, 33, 78)),
        (WHITE, box(33, 18, 63, 78)),
        (RED, box(63, 18, 92, 78)),
    ]


PICTURES: dict[str, Callable[[], list[Layer]]] = {
    "Apple": apple,
    "Car": car,
    "Coffee": coffee,
    "France-flag": france_flag,
    "Georgia-flag": georgia_flag,
    "Island": island,
    "Mars": mars,
    "Medal": medal,
    "Mercury": mercury,
    "Orion": orion,
    "Saturn": saturn,
    "Snake": snake,
    "Tower": tower,
}


def paint(layers: Sequence[Layer]) -> list[bytes]:
    """The rows of the picture, three bytes a pixel; later layers cover earlier ones."""
    on_top = list(reversed(layers))
    return [bytes(value for x in range(SIZE) for value in _pixel(on_top, x, y)) for y in range(SIZE)]


def _pixel(on_top: Sequence[Layer], x: int, y: int) -> Colour:
    steps = [(step + 0.5) / SAMPLES for step in range(SAMPLES)]
    points = [_colour(on_top, x + right, y + down) for right in steps for down in steps]
    red, green, blue = (round(sum(channel) / len(points)) for channel in zip(*points, strict=True))
    return red, green, blue


def _colour(on_top: Sequence[Layer], x: float, y: float) -> Colour:
    return next((colour for colour, inside in on_top if inside(x, y)), WHITE)


def encode_png(rows: Sequence[bytes]) -> bytes:
    """A PNG file of rows of eight-bit RGB pixels."""
    header = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)  # filter 0: a row as it is
    chunks = [(b"IHDR", header), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def draw_pictures(folder: Path) -> int:
    """Write every picture into `folder` and return how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, layers in PICTURES.items():
        (folder / f"{name}.png").write_bytes(encode_png(paint(layers())))
    return len(PICTURES)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the sample wiki.")
    parser.add_argument("folder", type=Path, help="folder to write the PNG files to")
    options = parser.parse_args(arguments)
    print(f"{draw_pictures(options.folder)} pictures written to {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
