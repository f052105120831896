"""ELMo as its authors published it: weights in HDF5 as bilm-tf wrote them, and the file of options beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy

from entlink.encoders.identities import identity_of
from entlink.encoders.recurrent.encoder import RecurrentEncoder
from entlink.encoders.recurrent.network import RecurrentNetwork
from entlink.encoders.recurrent.settings import RecurrentShape, checked_shape
from entlink.encoders.recurrent.words import BYTES, BYTES_OF_ELMO
from entlink.errors import ConfigError, DamagedError, InputError, MissingExtraError
from entlink.io.checksums import checksum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[numpy.float32]

_WEIGHTS, _OPTIONS = "*.hdf5", "*options.json"
_FORGET_BIAS = 1.0  # TensorFlow adds it when it runs, and keeps the bias without it


class _CharCnn(msgspec.Struct):
    filters: list[tuple[int, int]]
    embedding: dict[str, Any]
    n_highway: int = 0
    activation: str = "relu"
    max_characters_per_token: int = 50


class _Lstm(msgspec.Struct):
    dim: int
    projection_dim: int
    n_layers: int = 2
    cell_clip: float = 3.0
    proj_clip: float = 3.0
    use_skip_connections: bool = True


class _Options(msgspec.Struct):
    char_cnn: _CharCnn
    lstm: _Lstm


def is_elmo_folder(folder: Path) -> bool:
    """Whether a folder has ELMo's two files."""
    return folder.is_dir() and any(folder.glob(_WEIGHTS)) and any(folder.glob(_OPTIONS))


def load_elmo(folder: Path | str) -> RecurrentEncoder:
    """The encoder of a folder with ELMo's weights (`….hdf5`) and options (`…options.json`); needs h5py."""
    folder = Path(folder)
    path, options = _only(folder, _WEIGHTS), _only(folder, _OPTIONS)
    shape = _shape(options)
    weights = _converted(_read(path), shape, path)
    name = folder.resolve().name
    identity = identity_of(name, f"{checksum(path)} {shape}", "recurrent")
    return RecurrentEncoder(name, identity, RecurrentNetwork(weights, shape, str(path)))


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise InputError(
            f"{folder}: it has {len(found)} files {pattern}, and ELMo has one. Put one model in a folder"
        )
    return found[0]


def _shape(path: Path) -> RecurrentShape:
    try:
        read = msgspec.json.decode(path.read_bytes(), type=_Options)
        cnn, lstm = read.char_cnn, read.lstm
        shape = msgspec.convert(
            {
                "word_bytes": cnn.max_characters_per_token,
                "characters": cnn.embedding.get("dim"),
                "filters": cnn.filters,
                "activation": cnn.activation,
                "highways": cnn.n_highway,
                "hidden": lstm.dim,
                "projection": lstm.projection_dim,
                "layers": lstm.n_layers,
                "clip": lstm.cell_clip,
                "lower": False,
                "signs": False,
            },
            RecurrentShape,
        )
        checked_shape(shape)
    except (msgspec.MsgspecError, ConfigError) as problem:
        raise DamagedError(f"{path}: these are no options of ELMo ({problem}). Fetch the file again") from problem
    if lstm.cell_clip != lstm.proj_clip or not lstm.use_skip_connections:
        raise InputError(
            f"{path}: cell_clip and proj_clip differ, or use_skip_connections is false, which no published ELMo has. "
            "Give another model"
        )
    return shape


def _read(path: Path) -> dict[str, Array]:
    """All arrays of an HDF5 file by their names."""
    try:
        import h5py
    except ImportError as problem:
        raise MissingExtraError("reading ELMo's weights", "elmo") from problem
    found: dict[str, Array] = {}

    def take(name: str, value: Any) -> None:
        if isinstance(value, h5py.Dataset):
            found[name] = numpy.asarray(value[...], numpy.float32)

    try:
        with h5py.File(path, "r") as file:
            file.visititems(take)
    except OSError as problem:
        raise DamagedError(f"{path}: this is no HDF5 file, or it is cut off ({problem}). Fetch it again") from problem
    return found


def _converted(read: Mapping[str, Array], shape: RecurrentShape, path: Path) -> dict[str, Array]:
    """The arrays as our network names and turns them; sizes are checked where it is made."""
    source = _Source(read, path)
    found = {"reader.characters.weight": _with_our_signs(source("char_embed", 2), path)}
    for number in range(len(shape.filters)):
        filters = source(f"CNN/W_cnn_{number}", 4)[0]  # [width, characters, count]
        found[f"reader.filters.{number}.weight"] = filters.transpose(2, 1, 0)
        found[f"reader.filters.{number}.bias"] = source(f"CNN/b_cnn_{number}", 1)
    for number in range(shape.highways):
        name = f"CNN_high_{number}"
        # Its gate is how much is new, ours how much is carried: one is the other with its sign changed.
        weights = (-source(f"{name}/W_carry", 2).T, source(f"{name}/W_transform", 2).T)
        found[f"reader.highways.{number}.weight"] = numpy.concatenate(weights)
        biases = (-source(f"{name}/b_carry", 1), source(f"{name}/b_transform", 1))
        found[f"reader.highways.{number}.bias"] = numpy.concatenate(biases)
    found["reader.projection.weight"] = source("CNN_proj/W_proj", 2).T
    found["reader.projection.bias"] = source("CNN_proj/b_proj", 1)
    for at, side in enumerate(("forwards", "backwards")):
        for number in range(shape.layers):
            cell = f"RNN_{at}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            weight, bias = source(f"{cell}/W_0", 2), source(f"{cell}/B", 1)
            both = _our_gates(weight).T  # [4h, input + projection]
            found[f"{side}.{number}.input"] = both[:, : shape.projection]
            found[f"{side}.{number}.recurrent"] = both[:, shape.projection :]
            bias = _our_gates(bias).copy()
            bias[shape.hidden : 2 * shape.hidden] += _FORGET_BIAS
            found[f"{side}.{number}.bias"] = bias
            found[f"{side}.{number}.projection"] = source(f"{cell}/W_P_0", 2).T
    return found


class _Source:
    """Arrays by name, with a clear error for one that is missing or of another kind."""

    def __init__(self, read: Mapping[str, Array], path: Path) -> None:
        self._read, self._path = read, path

    def __call__(self, name: str, sides: int) -> Array:
        found = self._read.get(name)
        if found is None or found.ndim != sides:
            has = "is not in it" if found is None else f"has the shape {found.shape}"
            raise DamagedError(f"{self._path}: {name!r} {has}: these are not ELMo's weights. Fetch the file again")
        return found


def _with_our_signs(characters: Array, path: Path) -> Array:
    if len(characters) != BYTES_OF_ELMO:
        raise DamagedError(
            f"{path}: 'char_embed' has {len(characters)} rows, and ELMo has {BYTES_OF_ELMO}. Fetch the file again"
        )
    return numpy.concatenate([characters, numpy.zeros((BYTES - BYTES_OF_ELMO, characters.shape[1]), numpy.float32)])


def _our_gates(values: Array) -> Array:
    """TensorFlow has the gates as input, new values, forget, output; ours are input, forget, output, new values."""
    into, new, forget, out = numpy.split(values, 4, axis=-1)
    return numpy.concatenate([into, forget, out, new], axis=-1)
