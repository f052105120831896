"""BLINK's bi-encoder as an encoder of mentions and entities: both towers, its markers, products of vectors."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.encoders.identities import slug
from entlink.encoders.models.card import ModelCard, file_cards, write_card
from entlink.encoders.models.hugging_face import read_config, read_layout, read_tokenizer, read_weights
from entlink.encoders.models.store import is_installed, new_model
from entlink.encoders.text.bert_graph import BertConfig, bert_graph
from entlink.encoders.text.blink import LENGTH, check_vocabulary, checkpoint_in, take_out
from entlink.encoders.trained.folder import ENTITY_GRAPH, MENTION_GRAPH, TOKENIZER
from entlink.encoders.trained.settings import PairSettings
from entlink.errors import InputError
from entlink.io.checksums import checksum
from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.encoders.loading import Tower
    from entlink.encoders.text.bert_graph import Precision

_GRAPHS: dict[Tower, str] = {"context": MENTION_GRAPH, "candidate": ENTITY_GRAPH}
_SHORTEST = 8


def keep_dual(folder: Path, precision: Precision = "int8") -> str:
    """Convert the checkpoint in a folder once; the name of the model of the store that it is from then on."""
    path = checkpoint_in(folder)
    assert path is not None
    check_vocabulary(folder)
    settings = _settings(path)
    lengths = f"{settings.mention_tokens}-{settings.entity_tokens}"
    name = f"{slug(path.stem)}-dual-{lengths}-{checksum(path)[:12]}-{precision}"
    if not is_installed(name):
        with new_model(name, replace=True) as written:
            for tower in _GRAPHS:
                shape = _write_tower(folder, tower, written, precision)
            write_card(written, _card(name, folder, written, shape, settings, precision))
    return name


def _write_tower(folder: Path, tower: Tower, written: Path, precision: Precision) -> BertConfig:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        take_out(folder, tower, home)
        shape = read_config(read_layout(home))
        (written / _GRAPHS[tower]).write_bytes(bert_graph(read_weights(home), shape, precision))
        read_tokenizer(home).save(str(written / TOKENIZER))
    return shape


def _settings(path: Path) -> PairSettings:
    """As BLINK reads; the lengths are in the file of parameters beside a checkpoint, if it is there."""
    told: dict[str, Any] = {}
    beside = path.with_suffix(".json")
    if beside.is_file():
        try:
            told = msgspec.json.decode(beside.read_bytes(), type=dict[str, Any])
        except msgspec.MsgspecError as problem:
            raise InputError(f"{beside}: this is not a JSON object ({problem}). Fetch the file again") from problem
    lengths = [told.get(key, LENGTH) for key in ("max_context_length", "max_cand_length")]
    for length in lengths:
        if not isinstance(length, int) or length < _SHORTEST:
            raise InputError(f"{beside}: a length of {length!r} tokens does not fit. Give {_SHORTEST} or more")
    mention, entity = lengths
    return PairSettings(mention, entity, pooling="cls", similarity="dot", separate=True)


def _card(
    name: str, folder: Path, written: Path, shape: BertConfig, settings: PairSettings, precision: Precision
) -> ModelCard:
    return ModelCard(
        name=name,
        kind="dual",
        source=str(folder.resolve()),
        dimension=shape.hidden_size,
        files=file_cards(written),
        precision=precision,
        pooling=settings.pooling,
        max_length=shape.max_position_embeddings,
        entlink=__version__,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=msgspec.to_builtins(settings),
    )
