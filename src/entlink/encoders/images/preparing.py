"""From a picture to the numbers a model reads: resized, cut out, scaled, as the model's own settings say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy

from entlink.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

    from entlink.interfaces import Vectors

SETTINGS = "preprocessor_config.json"
NEAREST, LANCZOS, BILINEAR, BICUBIC = range(4)
_IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_HALF = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
_CLIP = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
# 128 pictures of a children's encyclopedia: with these numbers the classes are surer (mean probability of the
# first .30) than with those of ImageNet (.23), and surer still (.31) if pictures are resized whole.
_LITE = (127 / 255,) * 3, (128 / 255,) * 3


class Preparation(msgspec.Struct, frozen=True):
    """How a picture is made to fit.

    It is resized so that its shorter side is `shorter`, and `size` by `size` pixels are cut out of its middle; with
    no `shorter` it is resized to that, whatever its shape. Then each channel becomes (value - mean) / deviation.
    """

    size: int
    shorter: int = 0
    resample: int = BICUBIC
    mean: tuple[float, float, float] = _HALF[0]
    deviation: tuple[float, float, float] = _HALF[1]

    def __post_init__(self) -> None:
        if self.size < 1 or (self.shorter and self.shorter < self.size) or min(map(abs, self.deviation)) == 0:
            raise InputError(
                f"pictures cannot be cut to {self.size} pixels from {self.shorter}, nor divided by {self.deviation}. "
                f"Check {SETTINGS}"
            )

    def prepared(self, picture: Image) -> Vectors:
        """The numbers of one picture in RGB, channels first."""
        pixels = numpy.asarray(self._cut(picture), dtype=numpy.float32)
        scale = 1 / (255 * numpy.asarray(self.deviation, numpy.float32))
        shift = numpy.asarray(self.mean, numpy.float32) / numpy.asarray(self.deviation, numpy.float32)
        return numpy.ascontiguousarray((pixels * scale - shift).transpose(2, 0, 1), numpy.float32)

    def _cut(self, picture: Image) -> Image:
        from PIL.Image import Resampling

        resample = Resampling(self.resample)
        if not self.shorter:
            return picture.resize((self.size, self.size), resample)
        wide, high = picture.size
        scale = self.shorter / min(wide, high)
        longer = int(max(wide, high) * scale + 1e-6)
        target = (longer, self.shorter) if wide > high else (self.shorter, longer)
        left, top = (target[0] - self.size) // 2, (target[1] - self.size) // 2
        # Only the part that is cut out is resized: a long strip would else grow very large.
        across, down = wide / target[0], high / target[1]
        box = (left * across, top * down, (left + self.size) * across, (top + self.size) * down)
        return picture.resize((self.size, self.size), resample, box=box)


USUAL: dict[str, Preparation] = {
    "efficientnet-lite": Preparation(224, 0, BICUBIC, *_LITE),
    "resnet": Preparation(224, 256, BICUBIC, *_IMAGENET),
    "vit": Preparation(224, 0, BILINEAR, *_HALF),
    "clip": Preparation(224, 224, BICUBIC, *_CLIP),
}


def read_preparation(folder: Path, kind: str, size: int) -> Preparation:
    """What `preprocessor_config.json` says, or what is usual for the kind; `size` is what the model reads."""
    usual = USUAL[kind]
    path = folder / SETTINGS
    if not path.is_file():
        return msgspec.structs.replace(usual, size=size, shorter=round(usual.shorter * size / usual.size))
    try:
        said = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        found = _said(said, usual)
    except (msgspec.MsgspecError, TypeError, ValueError, KeyError) as problem:
        raise InputError(f"{path}: these settings cannot be read ({problem}). Fetch the file again") from problem
    if found.size != size:
        raise InputError(
            f"{path}: pictures are cut to {found.size} pixels, and config.json says that the model reads {size}. "
            "Check that both files are of one model"
        )
    return found


def _said(said: dict[str, Any], usual: Preparation) -> Preparation:
    size, cut = said.get("size", usual.size), said.get("crop_size", said.get("size", usual.size))
    side = _side(cut)
    shorter = size.get("shortest_edge", 0) if isinstance(size, dict) else 0
    if isinstance(size, int) and "crop_size" in said and said.get("do_center_crop", True):
        shorter = size
    if said.get("crop_pct"):  # as ConvNext and ResNet say it
        shorter = int(side / said["crop_pct"])
    if shorter and not said.get("do_center_crop", True):
        shorter = 0
    factor = 255 * float(said.get("rescale_factor", 1 / 255)) if said.get("do_rescale", True) else 255.0
    mean = said.get("image_mean", usual.mean) if said.get("do_normalize", True) else (0.0,) * 3
    deviation = said.get("image_std", usual.deviation) if said.get("do_normalize", True) else (1.0,) * 3
    return Preparation(
        side,
        shorter,
        int(said.get("resample", usual.resample)),
        tuple(float(value) / factor for value in mean),  # type: ignore[arg-type]
        tuple(float(value) / factor for value in deviation),  # type: ignore[arg-type]
    )


def _side(size: Any) -> int:
    """The one side that a size says; the model reads squares."""
    if isinstance(size, int):
        return size
    sides = {int(value) for name, value in size.items() if name in ("height", "width", "shortest_edge")}
    if len(sides) != 1:
        raise ValueError(f"the size {size} is no square")
    return sides.pop()
