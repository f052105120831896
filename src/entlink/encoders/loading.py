"""An encoder from its name: a model of the store, a folder of weights, or a file of word vectors."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from entlink.encoders.extras import require_retrieval
from entlink.encoders.models.store import is_installed, missing, models_folder, open_model
from entlink.errors import ConfigError, InputError

if TYPE_CHECKING:
    from entlink.encoders.models.card import ModelCard
    from entlink.encoders.models.hugging_face import Layout
    from entlink.encoders.text.backends import Backend
    from entlink.encoders.text.bert_graph import Precision
    from entlink.encoders.text.tokens import Reader
    from entlink.encoders.text.transformer import Pooling, TransformerEncoder
    from entlink.interfaces import Encoder

Tower = Literal["context", "candidate"]
_log = logging.getLogger(__name__)
_SHORTEST_WINDOW = 4
# The small files that change what tokens a text has: another one of them is another encoder.
_TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "tokenizer_config.json",
    "vocab.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
)


def load_encoder(
    spec: str | Path,
    *,
    pooling: Pooling | None = None,
    window: int | None = None,
    threads: int | None = None,
    precision: Precision = "int8",
    tower: Tower | None = None,
) -> Encoder:
    """The encoder that `spec` names: a model of the store, a folder in the layout of Hugging Face, or word vectors.

    `pooling` and `window` (the most tokens of a text) are the model's own unless given. `precision` holds for a
    folder that is converted, `tower` for one of BLINK, which has two.
    """
    require_retrieval("encoding texts")
    _check_settings(pooling, window, threads)
    name = str(spec)
    if (found := card_of(spec)) is not None:
        _check_reads_texts(found[1], spec)
        if found[1].kind == "recurrent":
            from entlink.encoders.recurrent.encoder import load_recurrent

            return load_recurrent(*found)
    if is_installed(name):
        return _from_store(name, _Settings(pooling, window, threads))
    path = Path(spec)
    if path.is_dir():
        return _from_folder(path, _Settings(pooling, window, threads), precision, tower)
    if path.is_file():
        from entlink.encoders.static.loading import load_vectors

        return load_vectors(path)
    if os.sep in name:
        raise InputError(f"{name}: no such file or folder. Check the path")
    raise missing(name)


def card_of(spec: str | Path) -> tuple[Path, ModelCard] | None:
    """The folder and the card of a model of the store, or of a folder with a card in it; None of anything else."""
    from entlink.encoders.models.card import CARD, read_card

    folder = models_folder() / str(spec) if is_installed(str(spec)) else Path(spec)
    return (folder, read_card(folder)) if (folder / CARD).is_file() else None


_OTHERWISE = {
    "picture": "reads pictures, and no texts. Give it to `entlink kb index --pictures`",
    "dual": "reads mentions and entities, and no plain texts. Name it as the `encoder` of the retriever `dense`",
    "map": "changes vectors of mentions, and reads no plain texts. Name it as the `encoder` of the retriever `dense`",
    "cross": "scores pairs of a mention and an entity, and has no vectors. Name it as `cross` of the ranker "
    "`combination`, or as the `model` of the ranker `cross-encoder`",
    "joint": "finds mentions, and has vectors of spans only. Name it as the `model` of the detector `joint` and of "
    "the retriever `joint`",
}


def _check_reads_texts(card: ModelCard, spec: str | Path) -> None:
    if card.kind in _OTHERWISE:
        raise InputError(f"the model {str(spec)!r} is of the kind {card.kind!r}: it {_OTHERWISE[card.kind]}")


class _Settings:
    """What the caller said of how to read texts."""

    def __init__(self, pooling: Pooling | None, window: int | None, threads: int | None) -> None:
        self.pooling, self.window, self.threads = pooling, window, threads


def _check_settings(pooling: str | None, window: int | None, threads: int | None) -> None:
    from entlink.encoders.text.transformer import POOLINGS

    if pooling is not None and pooling not in POOLINGS:
        raise InputError(f"there is no pooling {pooling!r}. Use one of {', '.join(POOLINGS)}")
    if window is not None and window < _SHORTEST_WINDOW:
        raise InputError(f"a window of {window} tokens is too short. Use {_SHORTEST_WINDOW} or more")
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads cannot work. Use 1 or more")


def _from_store(name: str, settings: _Settings) -> Encoder:
    from entlink.encoders.models.hugging_face import read_tokenizer
    from entlink.encoders.models.pulling import GRAPH
    from entlink.encoders.text.backends import OnnxBackend

    folder, card = open_model(name)
    if card.kind == "static":
        from entlink.encoders.static.encoder import StaticEncoder

        return StaticEncoder(folder, card)
    backend = OnnxBackend(folder / GRAPH, settings.threads)
    return _assembled(card, backend, read_tokenizer(folder), settings)


def _assembled(card: ModelCard, backend: Backend, tokenizer: object, settings: _Settings) -> TransformerEncoder:
    from entlink.encoders.identities import identity_of
    from entlink.encoders.text.tokens import Reader
    from entlink.encoders.text.transformer import POOLINGS, TransformerEncoder

    pooling = settings.pooling or POOLINGS[POOLINGS.index(card.pooling)]
    window = settings.window or card.max_length
    if window > card.max_length:
        raise InputError(f"a window of {window} tokens is too long: {card.name!r} reads {card.max_length} at most")
    checksums = " ".join(f"{name} {file.sha256}" for name, file in sorted(card.files.items()))
    instruction = str(card.settings.get("instruction", ""))
    checksums += f" {instruction}" if instruction else ""
    identity = identity_of(card.name, checksums, card.precision, pooling, window)
    reader: Reader = Reader(tokenizer, window)
    span_pooling = settings.pooling or "span"
    return TransformerEncoder(card.name, identity, backend, reader, pooling, span_pooling, instruction)


def _from_folder(folder: Path, settings: _Settings, precision: Precision, tower: Tower | None) -> Encoder:
    from entlink.encoders.models.hugging_face import EXPORTED, can_convert, exported_graph, read_layout
    from entlink.encoders.recurrent.elmo import is_elmo_folder, load_elmo
    from entlink.encoders.static.loading import is_static_folder, load_static_folder
    from entlink.encoders.text import blink

    if is_static_folder(folder):
        return load_static_folder(folder)
    if is_elmo_folder(folder):
        return load_elmo(folder)
    if blink.checkpoint_in(folder) is not None:
        return _blink(folder, tower, settings, precision)
    if tower is not None:
        raise InputError(f"{folder}: it has no two towers. Leave out tower={tower!r}")
    layout = read_layout(folder)
    exported = next((folder / name for name in EXPORTED if (folder / name).is_file()), None)
    if exported is not None:
        return _exported(layout, exported, settings)
    if can_convert(layout):
        return _converted(layout, settings, precision)
    if (graph := exported_graph(folder)) is not None:
        return _exported(layout, graph, settings)
    return _through_torch(layout, settings)


def _blink(folder: Path, tower: Tower | None, settings: _Settings, precision: Precision) -> Encoder:
    import tempfile

    from entlink.encoders.models.hugging_face import read_layout
    from entlink.encoders.text import blink

    name = f"{blink.tower_name(folder, tower)}-{precision}"
    if is_installed(name):
        return _from_store(name, settings)
    assert tower is not None
    with tempfile.TemporaryDirectory() as place:
        blink.take_out(folder, tower, Path(place))
        return _put_and_load(name, read_layout(Path(place)), settings, precision, str(folder.resolve()))


def _converted(layout: Layout, settings: _Settings, precision: Precision) -> Encoder:
    """Convert a folder once; from then on it is a model of the store, found by the checksum of its weights."""
    from entlink.encoders.identities import slug
    from entlink.encoders.models.hugging_face import weight_files, weights_hash

    folder = layout.folder
    small = [folder / name for name in ("config.json", *_TOKENIZERS, "1_Pooling/config.json")]
    hashed = weights_hash(weight_files(folder), *small, folder / "sentence_bert_config.json")
    name = f"{slug(folder.resolve().name)}-{hashed[:12]}-{precision}"
    if is_installed(name):
        return _from_store(name, settings)
    return _put_and_load(name, layout, settings, precision, str(folder.resolve()))


def _put_and_load(name: str, layout: Layout, settings: _Settings, precision: Precision, source: str) -> Encoder:
    import msgspec

    from entlink.encoders.models.card import write_card
    from entlink.encoders.models.pulling import convert, describe
    from entlink.encoders.models.store import new_model

    try:
        with new_model(name, replace=True) as written:
            convert(layout, written, precision)
            write_card(written, msgspec.structs.replace(describe(name, layout, written, precision), source=source))
    except PermissionError as problem:
        _log.warning("%s: it cannot be written (%s); the model is converted in memory", models_folder(), problem)
        return _in_memory(name, layout, settings, precision)
    return _from_store(name, settings)


def _in_memory(name: str, layout: Layout, settings: _Settings, precision: Precision) -> Encoder:
    import tempfile

    from entlink.encoders.models.hugging_face import read_tokenizer
    from entlink.encoders.models.pulling import GRAPH, convert, describe
    from entlink.encoders.text.backends import OnnxBackend

    with tempfile.TemporaryDirectory() as place:
        convert(layout, Path(place), precision)
        card = describe(name, layout, Path(place), precision)
        backend = OnnxBackend((Path(place) / GRAPH).read_bytes(), settings.threads)
        return _assembled(card, backend, read_tokenizer(layout.folder), settings)


def _exported(layout: Layout, model: Path, settings: _Settings) -> Encoder:
    """A folder with a model that somebody else exported: run as it is."""
    from entlink.encoders.models.hugging_face import parts_of_graph, read_tokenizer
    from entlink.encoders.text.backends import OnnxBackend

    backend = OnnxBackend(model, settings.threads)
    return _as_it_is(layout, backend, read_tokenizer(layout.folder), parts_of_graph(model), "onnx", settings)


def _through_torch(layout: Layout, settings: _Settings) -> Encoder:
    from entlink.encoders.models.hugging_face import weight_files
    from entlink.encoders.text.backends import TorchBackend
    from entlink.encoders.text.torch_tokenizer import fast_tokenizer

    parts = weight_files(layout.folder) or sorted(layout.folder.glob("*.bin"))
    if not parts:
        raise InputError(
            f"{layout.folder}: no weights are here: neither safetensors nor .bin. Fetch the whole folder"
        )
    backend = TorchBackend(layout.folder, settings.threads)
    return _as_it_is(layout, backend, fast_tokenizer(layout.folder), parts, "torch", settings)


def _as_it_is(
    layout: Layout, backend: Backend, tokenizer: object, parts: list[Path], precision: str, settings: _Settings
) -> Encoder:
    from entlink.encoders.models.card import FileCard, ModelCard
    from entlink.encoders.models.pulling import POOLING
    from entlink.io.checksums import checksum

    small = [path for name in _TOKENIZERS if (path := layout.folder / name).is_file()]
    card = ModelCard(
        name=layout.folder.resolve().name,
        kind="transformer",
        source=str(layout.folder),
        dimension=backend.dimension,
        files={path.name: FileCard(path.stat().st_size, checksum(path)) for path in (*parts, *small)},
        precision=precision,
        pooling=layout.pooling or POOLING,
        max_length=layout.max_length,
    )
    return _assembled(card, backend, tokenizer, settings)


def load_token_encoder(name: str) -> TransformerEncoder:
    """The encoder of that name, if it has a vector for each token."""
    encoder = load_encoder(name)
    from entlink.encoders.text.transformer import TransformerEncoder

    if not isinstance(encoder, TransformerEncoder):
        raise ConfigError(f"the encoder {name!r} has no vectors of tokens in their context. Give a transformer")
    return encoder
