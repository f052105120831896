"""Pictures by path, address or data URL, read and decoded; whatever is wrong with one is told."""

from __future__ import annotations

import base64
import binascii
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from entlink.errors import EntlinkError, InputError
from entlink.io.caching import cache_folder

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_BYTES = 200_000_000
MOST_PIXELS = 90_000_000  # about what Pillow itself warns of
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DATA = re.compile(r"data:([^,]*),(.*)", re.DOTALL)
_SHOWN = 60
_TURNED = 0x0112  # the tag of a photo that says how the camera was held
_OPAQUE = "L", "RGB", "1", "CMYK", "YCbCr", "LAB", "HSV"
_RUNS_PROGRAMS = ("EPS", "WMF")  # formats that Pillow draws with other programs
_OTHER_ENDS = (".jpg", ".jpeg", ".png", ".gif", ".webp")
_PATIENCE = 30.0  # seconds for an address
_AGENT = "entlink (+https://pypi.org/project/entlink/)"


def require_pictures() -> None:
    """Raise unless what reads and encodes pictures is installed."""
    from entlink.encoders.extras import require_images

    require_images("reading pictures")


def pictures_folder() -> Path:
    """Where vectors of pictures, and pictures that were fetched, are kept: in the user's cache."""
    return cache_folder("pictures")


class Pictures(NamedTuple):
    """Where pictures are: names that are no whole path are looked for in `folder`.

    Addresses are fetched only with `fetch`; what came is kept in the user's cache, and read from there without it.
    """

    folder: Path = Path()
    fetch: bool = False

    def read(self, reference: str | Path | bytes) -> bytes:
        """The content of a picture, not decoded yet."""
        if isinstance(reference, bytes):
            return _checked(reference, "the picture")
        name = str(reference)
        if name[:5].lower() == "data:":
            return _checked(_of_data_url(name), shown(name))
        if _ADDRESS.match(name):
            return _checked(self._fetched(name), name)
        try:
            path = self._found(name)
        except (OSError, ValueError) as problem:  # a name that no file can have, or a folder that is closed to us
            raise _unreadable(name, problem) from problem
        return _checked(_of_file(path), str(path))

    def find(self, name: str) -> Path | None:
        """The file of a name as `read` looks for it; None where there is none."""
        try:
            path = self._found(name)
            return path if name and path.is_file() else None
        except (OSError, ValueError):  # a name that no file can have, being too long
            return None

    def _found(self, name: str) -> Path:
        """The file of a name; a wiki writes spaces where its files have underscores, and shows drawings as PNG."""
        path = self.folder / name
        if path.exists() or not name:
            return path
        bare = path.with_name(path.name.replace(" ", "_"))
        others = [
            bare,
            *(path.with_suffix(end) for end in _OTHER_ENDS),
            *(bare.with_suffix(end) for end in _OTHER_ENDS),
        ]
        return next((other for other in others if other.is_file()), path)

    def _fetched(self, address: str) -> bytes:
        if not address.lower().startswith(("http://", "https://")):
            raise InputError(f"{address}: only http and https addresses are fetched. Give a file")
        path = pictures_folder() / "fetched" / blake2b(address.encode(), digest_size=16).hexdigest()
        if path.is_file():
            return path.read_bytes()
        if not self.fetch:
            raise InputError(
                f"{address}: this is an address, and none is fetched unasked. Add --fetch, or give a file"
            )
        content = _download(address)
        _keep(path, content)
        return content


def decode(content: bytes, name: str = "the picture", *, at_least: int = 0) -> Image:
    """The first frame of a picture as RGB: turned as its camera was held, what is transparent shown on white.

    Of a large JPEG, about `at_least` pixels a side are enough, which is much quicker.
    """
    require_pictures()
    with quiet():
        return decode_in_quiet(content, name, at_least)


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, Pillow warns of nothing: pixels we count ourselves, and of odd tags nobody needs to know."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def decode_in_quiet(content: bytes, name: str, at_least: int) -> Image:
    """The same for many at once: warnings are turned off for all threads together, by whoever calls this."""
    from PIL import Image

    try:
        with Image.open(BytesIO(content), formats=_formats()) as picture:
            _check_size(picture, name)
            if at_least:
                picture.draft("RGB", (at_least, at_least))
            return _in_rgb(_turned(picture))
    except InputError:
        raise
    except Image.DecompressionBombError as problem:
        raise InputError(f"{name}: {problem}. Make the picture smaller") from problem
    except Exception as problem:  # each format raises its own
        raise InputError(f"{name}: {_told(problem, content)}") from problem


@cache
def _formats() -> list[str]:
    from PIL import Image

    Image.init()
    return [name for name in Image.ID if name not in _RUNS_PROGRAMS]


def _check_size(picture: Image, name: str) -> None:
    wide, high = picture.size
    if wide * high > MOST_PIXELS:
        raise InputError(f"{name}: {wide:,} by {high:,} pixels are too many: {MOST_PIXELS:,} are the most. Shrink it")


def _turned(picture: Image) -> Image:
    from PIL import ImageOps

    try:
        turned = picture.getexif().get(_TURNED, 1)
    except Exception:  # a damaged tag says nothing, and the picture may be whole
        return picture
    return ImageOps.exif_transpose(picture) if turned in range(2, 9) else picture


def _in_rgb(picture: Image) -> Image:
    from PIL import Image

    if picture.mode.startswith("I") or picture.mode == "F":
        picture = _in_bytes(picture)
    if picture.mode in _OPAQUE and "transparency" not in picture.info:
        return picture.convert("RGB")
    clear = picture.convert("RGBA")
    white = Image.new("RGBA", clear.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, clear).convert("RGB")


def _in_bytes(picture: Image) -> Image:
    """Grey of 16 bits in the eight that a screen shows; Pillow would make most of it white."""
    import numpy
    from PIL import Image

    grey = numpy.asarray(picture, dtype=numpy.float64)
    most = 255.0 if grey.max(initial=0) <= 255 else 65535.0
    return Image.fromarray((numpy.clip(grey / most, 0, 1) * 255).astype(numpy.uint8))


def _told(problem: Exception, content: bytes) -> str:
    from PIL import UnidentifiedImageError

    if not isinstance(problem, UnidentifiedImageError):
        return f"the picture cannot be decoded ({problem}). It may be cut off: fetch it again"
    start = content[:300].lstrip().lower()
    if b"<svg" in start or start.startswith(b"<?xml"):
        return "this is a drawing in SVG, which has no pixels. Save it as PNG"
    if start.startswith((b"<!doctype", b"<html")):
        return "this is a web page and no picture. Fetch the picture itself"
    if start.startswith(b"%!ps"):
        return "this is PostScript, which is a program. Save it as PNG"
    return "this is no picture that Pillow reads. Save it as JPEG, PNG or WebP"


def _of_file(path: Path) -> bytes:
    try:
        found = path.stat()
        if S_ISDIR(found.st_mode):
            raise InputError(f"{path}: this is a folder and no picture. Give a file in it")
        if not S_ISREG(found.st_mode):  # a pipe or a device may never end
            raise InputError(f"{path}: this is a pipe or a device and no picture. Save the picture to a file")
        if found.st_size > MOST_BYTES:
            raise InputError(f"{path}: {found.st_size:,} bytes are too many for a picture. Make it smaller")
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)  # a file may grow
    except FileNotFoundError as problem:
        raise InputError(f"{path}: no such picture. Check the path, or the folder of pictures") from problem
    except (OSError, ValueError) as problem:
        raise _unreadable(str(path), problem) from problem


def _unreadable(name: str, problem: OSError | ValueError) -> InputError:
    said = (
        problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
    )  # without the name again
    return InputError(f"{name[:200]!r}: the picture cannot be read ({said}). Check the path")


def _of_data_url(url: str) -> bytes:
    found = _DATA.match(url)
    if found is None:
        raise InputError(f"{shown(url)}: no comma is in this data URL. Write data:image/png;base64,...")
    content = unquote_to_bytes(found[2])
    if not found[1].lower().endswith(";base64"):
        return content
    try:
        return base64.b64decode(b"".join(content.split()), validate=True)
    except binascii.Error as problem:
        raise InputError(
            f"{shown(url)}: this data URL is bad base64 ({problem}). Encode the picture anew"
        ) from problem


def _checked(content: bytes, name: str) -> bytes:
    if not content:
        raise InputError(f"{name}: the picture is empty, 0 bytes. Fetch it again")
    if len(content) > MOST_BYTES:
        raise InputError(f"{name}: {len(content):,} bytes are too many for a picture. Make it smaller")
    return content


def _download(address: str) -> bytes:
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(address, headers={"User-Agent": _AGENT}), timeout=_PATIENCE) as answer:
            content: bytes = answer.read(MOST_BYTES + 1)
            return content
    except (OSError, ValueError) as problem:
        raise EntlinkError(
            f"{address}: it cannot be fetched ({problem}). Check the address and the network"
        ) from problem


def _keep(path: Path, content: bytes) -> None:
    from entlink.io.atomic import write_whole

    with suppress(OSError):  # a cache that cannot be written must not stop the work
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def shown(reference: str | Path | bytes) -> str:
    """A reference as a message names it: a data URL can be very long."""
    if isinstance(reference, bytes):
        return "the picture"
    name = str(reference)
    return name if len(name) <= _SHOWN or name[:5].lower() != "data:" else f"{name[:_SHOWN]}…"


def digest(content: bytes) -> str:
    """What a picture is known by, whatever it is called."""
    return blake2b(content, digest_size=16).hexdigest()
