"""Models of a hub: the files that are needed at one commit, each with the checksum that the hub says it has."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.encoders.images.converting import is_of_pictures
from entlink.encoders.models.hugging_face import EXPORTED, TORCH_WEIGHTS, read_model_type
from entlink.errors import DamagedError, EntlinkError, InputError, MissingExtraError
from entlink.io.checksums import checksum

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_SMALL = (
    *("config.json", "README.md", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json"),
    *("tokenizer.json", "tokenizer_config.json", "vocab.txt", "preprocessor_config.json"),
)
_SAFETENSORS, _INDEX = "model.safetensors", "model.safetensors.index.json"


class Fetched(NamedTuple):
    """A folder with what was fetched: at which commit, and the sha256 of each file."""

    folder: Path
    commit: str
    files: dict[str, str]


def fetch_from_hub(repository: str, revision: str, folder: Path) -> Fetched:
    """The model of a hub at a revision, else the newest; each file compared with the checksum that the hub says.

    The hub is that of `HF_ENDPOINT`, if it is set.
    """
    api = _api()
    place = f"hf:{repository}{f'@{revision}' if revision else ''}"
    with _errors_told(place, api.endpoint):
        told = api.model_info(repository, revision=revision or None, files_metadata=True)
        commit, files = str(told.sha), {one.rfilename: one for one in told.siblings or ()}

        def take(names: Sequence[str]) -> dict[str, str]:
            return {name: _file(api, repository, commit, files[name], folder) for name in names}

        taken = take([name for name in _SMALL if name in files])
        if _INDEX in files:
            taken |= take([_INDEX])
        taken |= take(_weights(place, list(files), folder))
    return Fetched(folder, commit, taken)


def _api() -> HfApi:
    try:
        from huggingface_hub import HfApi
    except ImportError as problem:
        raise MissingExtraError("fetching a model from a hub", "retrieval") from problem
    return HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, library_name="entlink")


def _weights(place: str, files: Sequence[str], folder: Path) -> list[str]:
    """The files of weights to take: those of a BERT, else a model in ONNX."""
    kind = read_model_type(folder)
    if kind == "bert" or is_of_pictures({"model_type": kind}):
        if _SAFETENSORS in files:
            return [_SAFETENSORS]
        if _INDEX in files:
            return [name for name in files if name.startswith("model-") and name.endswith(".safetensors")]
    graphs = [name for name in files if name.endswith(".onnx") and name.count("/") <= 1]
    graph = next((name for name in EXPORTED if name in graphs), graphs[0] if len(graphs) == 1 else None)
    if graph is not None:
        return [graph, *(name for name in files if name.startswith((f"{graph}_data", f"{graph}.data")))]
    if (kind == "bert" or is_of_pictures({"model_type": kind})) and TORCH_WEIGHTS in files:
        return [TORCH_WEIGHTS]
    if graphs:
        raise InputError(
            f"{place}: there are several models in ONNX ({', '.join(sorted(graphs))}). Fetch one of them with the "
            "tokenizer into a folder, and give it with --from FOLDER"
        )
    raise InputError(
        f"{place}: neither weights of a BERT nor a model in ONNX are there. Fetch the whole folder and name it as "
        "the encoder: it is then read through transformers"
    )


def _file(api: HfApi, repository: str, commit: str, told: Any, folder: Path) -> str:
    """Fetch one file and return its sha256, once it is what the hub says it is."""
    from huggingface_hub import utils

    bars: Any = utils
    shown = not bars.are_progress_bars_disabled()
    bars.disable_progress_bars()
    try:
        path = Path(api.hf_hub_download(repository, told.rfilename, revision=commit, local_dir=folder))
    finally:
        if shown:
            bars.enable_progress_bars()
    sha256, lfs = checksum(path), told.lfs
    expected = lfs.get("sha256") if isinstance(lfs, Mapping) else getattr(lfs, "sha256", None)
    found = sha256 if expected else _git_hash(path)
    expected = expected or told.blob_id
    if expected and found != expected:
        raise DamagedError(
            f"hf:{repository}@{commit}: the hub says that the checksum of {told.rfilename} is {expected}, and what "
            f"came has {found}; nothing was kept. Fetch it again"
        )
    return sha256


def _git_hash(path: Path) -> str:
    """The checksum that git has of a file."""
    content = path.read_bytes()  # a small file: large ones have another checksum
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


@contextmanager
def _errors_told(place: str, endpoint: str) -> Iterator[None]:
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as problem:
        raise InputError(
            f"{place}: its owner wants conditions to be accepted first. Accept them at {endpoint}, and set HF_TOKEN"
        ) from problem
    except errors.RevisionNotFoundError as problem:
        raise InputError(
            f"{place}: {endpoint} has this model, and not this revision of it. Give a commit, a branch or a tag"
        ) from problem
    except errors.RepositoryNotFoundError as problem:
        raise InputError(
            f"{place}: {endpoint} has no such model, or it is private. Check OWNER/NAME; for a private one set "
            "HF_TOKEN"
        ) from problem
    except errors.HFValidationError as problem:
        raise InputError(f"{place}: this names no model of a hub ({problem}). Write hf:OWNER/NAME") from problem
    except (OSError, ValueError, getattr(errors, "HTTPError", OSError)) as problem:
        line = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        raise EntlinkError(
            f"{place} cannot be fetched from {endpoint}: {line}. Check the network and HF_ENDPOINT, or fetch its "
            "folder elsewhere and give it with --from FOLDER"
        ) from problem
