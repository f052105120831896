"""The pictures of captions: found in a folder or tar, decoded once, and brought into a form that everything reads."""

from __future__ import annotations

import os
import shutil
import tarfile
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from entlink.encoders.images.pictures import Pictures, decode, digest
from entlink.errors import EntlinkError, InputError, SourceError

FOLDER = "pictures"  # of the set
Fate = Literal["there", "missing", "unreadable", "video", "sound", "unchecked"]

_VIDEO = frozenset((".ogv", ".webm", ".mp4", ".mpg", ".mpeg", ".avi", ".mov"))
_SOUND = frozenset((".ogg", ".oga", ".mid", ".midi", ".wav", ".flac", ".mp3", ".opus"))
_DRAWN = frozenset((".svg", ".pdf", ".djvu"))  # what a wiki shows as a picture made of it
_USUAL = {"JPEG": (".jpg", ".jpeg"), "PNG": (".png",), "WEBP": (".webp",)}
_AT_LEAST = 256  # pixels a side, of a large JPEG that is only looked at


class Found(NamedTuple):
    """What became of a picture: how the set names it, its file, and whether it is a frame of a video.

    The file of one that was copied or made anew is named as by the set.
    """

    fate: Fate
    name: str | None = None
    file: str = ""
    is_frame: bool = False


class PictureFiles:
    """The files behind the names of pictures; without a folder nothing is looked for.

    `out` is the folder of the set, from which it names pictures. What is made anew, a GIF or TIFF as PNG, is written
    to `made`, and with `copied` all others, too.
    """

    def __init__(self, folder: Path | None, out: Path, made: Path, *, copied: bool) -> None:
        self._pictures = None if folder is None else Pictures(folder)
        self._out, self._made, self._copied = out, made, copied
        self._known: dict[str, Found] = {}
        self._digests: dict[str, str | None] = {}

    def find(self, name: str) -> Found:
        """What becomes of a picture of that name; each is looked at once."""
        if name not in self._known:
            self._known[name] = self._look(name)
        return self._known[name]

    def content(self, name: str) -> str | None:
        """What the file of a name holds, as a digest; None where there is none."""
        if name not in self._digests:
            path = None if self._pictures is None else self._file(name)
            self._digests[name] = None if path is None else digest(path.read_bytes())
        return self._digests[name]

    def _look(self, name: str) -> Found:
        end = PurePosixPath(name).suffix.lower()
        if end in _SOUND:
            return Found("sound")
        is_video = end in _VIDEO
        if self._pictures is None:
            return Found("video") if is_video else Found("unchecked", name=name)
        path = self._file(name)
        if path is None or (is_video and path.suffix.lower() in _VIDEO):
            return Found("video" if is_video else "missing")
        try:
            return self._usable(path, name)._replace(is_frame=is_video)
        except EntlinkError:
            return Found("unreadable")

    def _file(self, name: str) -> Path | None:
        """The file of a name; of a drawing or video rather the picture that was made of it."""
        assert self._pictures is not None
        end = PurePosixPath(name).suffix
        if end.lower() in _DRAWN | _VIDEO:
            for shown in (f"{name}.png", f"{name}.jpg", f"{name.removesuffix(end)}.png"):
                if (path := self._pictures.find(shown)) is not None and path.suffix.lower() != end.lower():
                    return path
        return self._pictures.find(name)

    def _usable(self, path: Path, name: str) -> Found:
        assert self._pictures is not None
        content = self._pictures.read(path.resolve())
        decode(content, str(path), at_least=_AT_LEAST)
        ends = _USUAL.get(kind_of(content))
        if ends is None:
            target = self._target(name, ".png")
            decode(content, str(path)).save(target)
        elif self._copied:
            target = self._target(name, "" if PurePosixPath(name).suffix.lower() in ends else ends[0])
            shutil.copyfile(path, target)
        else:
            return Found("there", relative(path, self._out), str(path.resolve()))
        named = f"{FOLDER}/{target.relative_to(self._made).as_posix()}"
        return Found("there", named, named)

    def _target(self, name: str, end: str) -> Path:
        return inside(self._made, name.replace("\\", "/") + end)


def inside(folder: Path, name: str) -> Path:
    """The place of a name in a folder, whatever the name says; its own folders are made."""
    place = folder.joinpath(*(part for part in PurePosixPath(name).parts if part not in ("/", "..")))
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def relative(path: Path, folder: Path) -> str:
    """A path as seen from a folder that need not be there yet."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def kind_of(content: bytes) -> str:
    """The format of a picture by what is in it, as Pillow calls it."""
    from PIL import Image

    with Image.open(BytesIO(content)) as picture:
        return picture.format or ""


def unpack(tar: Path, folder: Path) -> None:
    """Take the files out of a tar of pictures; a folder that all of them are in is left out of their names."""
    shutil.rmtree(folder, ignore_errors=True)  # a killed run may have left half of it
    folder.mkdir()
    try:
        with tarfile.open(tar) as archive:
            names = [member.name for member in archive.getmembers() if member.isfile()]
            top = _common(names)
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    target = inside(folder, member.name.removeprefix(top))
                    with content, target.open("wb") as file:
                        shutil.copyfileobj(content, file)
    except (tarfile.TarError, EOFError, OSError) as problem:
        raise SourceError(
            f"the pictures cannot be taken out ({problem})", str(tar), hint="Fetch it again"
        ) from problem


def check_pictures(path: Path) -> None:
    """Raise unless that is a folder or a tar, and what reads pictures is installed."""
    from entlink.encoders.images.pictures import require_pictures

    require_pictures()
    if not path.exists():
        raise InputError(f"{path}: there is no such folder of pictures. Check the path")
    if path.is_file() and not tarfile.is_tarfile(path):
        raise InputError(f"{path}: this is neither a folder nor a tar. Give the folder of the pictures")


def _common(names: list[str]) -> str:
    tops = {name.partition("/")[0] for name in names if "/" in name}
    return f"{tops.pop()}/" if len(tops) == 1 and all("/" in name for name in names) else ""
