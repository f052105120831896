"""Weights in the format of torch, read without it: nothing in the file is run, and no class of it is made."""

from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy
from numpy.typing import NDArray

from entlink.errors import InputError

_MAGIC = 0x1950A86A20F9469CFC6C
_KINDS = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "?",
}


class _Storage(NamedTuple):
    """A run of numbers in the file, that tensors are views of."""

    key: str
    kind: str
    size: int


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_torch_weights(path: Path) -> dict[str, NDArray[Any]]:
    """All tensors of a checkpoint by name; of one that holds more, those of its `state_dict`."""
    try:
        named, numbers = _of_archive(path) if zipfile.is_zipfile(path) else _of_stream(path)
    except InputError:
        raise
    except Exception as problem:  # a damaged pickle raises almost anything
        raise InputError(f"{path}: these weights cannot be read ({problem}). Fetch the file again") from problem
    named = named.get("state_dict", named) if isinstance(named, dict) else {}
    tensors = {name: value for name, value in named.items() if isinstance(value, _Tensor)}
    if not tensors:
        raise InputError(f"{path}: no weights by name are in it. Give a file that holds a state_dict")
    try:
        return {name: _array(tensor, numbers[tensor.storage.key]) for name, tensor in tensors.items()}
    except (KeyError, ValueError) as problem:
        raise InputError(f"{path}: a tensor is cut off ({problem}). Fetch the file again") from problem


def _of_archive(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        with archive.open(name) as file:
            reader = _Reader(file)
            named = reader.load()
        folder = name.removesuffix("data.pkl") + "data/"
        return named, {
            one.key: numpy.frombuffer(archive.read(folder + one.key), one.kind) for one in reader.storages.values()
        }


def _of_stream(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The format before torch 1.6: pickles one after the other, then the numbers."""
    with path.open("rb") as file:
        if _Reader(file).load() != _MAGIC:
            raise InputError(f"{path}: this is no file of weights of torch. Fetch it again")
        for _ in range(2):  # the version, and facts about the machine
            _Reader(file).load()
        reader = _Reader(file)
        named = reader.load()
        numbers = {}
        for key in _Reader(file).load():
            one = reader.storages[str(key)]
            size = int.from_bytes(file.read(8), "little")
            content = file.read(size * numpy.dtype(one.kind).itemsize)
            numbers[one.key] = numpy.frombuffer(content, one.kind, size)
        return named, numbers


def _array(tensor: _Tensor, numbers: NDArray[Any]) -> NDArray[Any]:
    item = numbers.itemsize
    reach = (
        tensor.offset + sum((side - 1) * step for side, step in zip(tensor.shape, tensor.strides, strict=True)) + 1
    )
    if min(tensor.shape, default=1) > 0 and (reach > len(numbers) or min((tensor.offset, *tensor.strides)) < 0):
        raise ValueError(f"it reaches to {reach} of {len(numbers)} numbers")
    view = numpy.lib.stride_tricks.as_strided(
        numbers[tensor.offset :], tensor.shape, [step * item for step in tensor.strides], writeable=False
    )
    return numpy.array(view)


class _Reader(pickle.Unpickler):
    """An unpickler that knows dictionaries of tensors, and nothing else."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, encoding="utf-8")
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return lambda tensor, *rest: tensor
        if module == "torch" and name in _KINDS:
            return name
        raise InputError(
            f"the file of weights wants {module}.{name} to be run, and only plain tensors are read. Save it as "
            "safetensors"
        )

    def persistent_load(self, told: Any) -> _Storage:
        _, kind, key, _, size, *_ = told
        return self.storages.setdefault(str(key), _Storage(str(key), _KINDS[kind], int(size)))


def _tensor(storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *rest: Any) -> _Tensor:
    return _Tensor(storage, int(offset), tuple(shape), tuple(strides))
