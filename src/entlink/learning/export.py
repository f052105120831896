"""A trained network as a model folder that linking reads without torch; its exact weights are kept beside."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy

from entlink.encoders.models.card import CARD, Kind, ModelCard, file_cards, read_card, write_card
from entlink.encoders.models.pulling import GRAPH, TOKENIZER
from entlink.encoders.text.bert_graph import BertConfig, bert_graph
from entlink.encoders.trained.type_names import TYPES, write_type_names
from entlink.learning.base import HEAD, KEPT, SHAPE, Base
from entlink.learning.building import SHARED, head_weights, tower_names
from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.encoders.joint.settings import JointSettings
    from entlink.encoders.trained.type_names import TypeNames
    from entlink.learning.base import Arrays
    from entlink.learning.building import Network
    from entlink.learning.train_config import TrainConfig

TOLD, PARTIAL = "training.json", ".partial"
_KINDS: dict[str, Kind] = {"bi-encoder": "dual", "cross-encoder": "cross", "joint": "joint"}
WRITTEN = (GRAPH, "mention.onnx", "entity.onnx", "pair.onnx", TOKENIZER, HEAD, KEPT, SHAPE, TYPES, TOLD)


def export(
    folder: Path,
    network: Network,
    base: Base,
    config: TrainConfig,
    facts: dict[str, Any],
    *,
    name: str,
    command: str = "",
    settings: JointSettings | None = None,
    types: TypeNames | None = None,
    finish: Callable[[Path], None] | None = None,
) -> ModelCard:
    """Write the model folder; its card comes last, and without a card it is no model.

    `settings` are those of a joint model, `types` those of a bi-encoder with types. `finish` is given the folder
    before it is in its place, and may change the card: what it takes long for, a kill leaves undone and the model not
    there.
    """
    partial = folder / PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    _write_weights(partial, network, base, config)
    if types is not None:
        write_type_names(partial, types)
    base.tokenizer.save(str(partial / TOKENIZER))
    told = {"config": msgspec.to_builtins(config), "commit": commit(), **facts}
    (partial / TOLD).write_bytes(msgspec.json.format(msgspec.json.encode(told)) + b"\n")
    card = _card(partial, base, config, name, command, settings, int(getattr(network, "dimension", 0)))
    write_card(partial, card)
    if finish is not None:
        finish(partial)
        card = read_card(partial)
    (folder / CARD).unlink(missing_ok=True)
    for file in WRITTEN:
        (folder / file).unlink(missing_ok=True)
        if (partial / file).is_file():
            (partial / file).rename(folder / file)
    (partial / CARD).rename(folder / CARD)
    partial.rmdir()
    return card


def _write_weights(folder: Path, network: Network, base: Base, config: TrainConfig) -> None:
    from safetensors.numpy import save_file

    shape = msgspec.convert(base.config, BertConfig)
    kept: Arrays = {}
    for name, tower in tower_names(network).items():
        weights: Arrays = {key: _array(value) for key, value in tower.bert.state_dict().items()}
        graph = GRAPH if name == SHARED else f"{name}.onnx"
        (folder / graph).write_bytes(bert_graph(weights, shape, config.training.export))
        kept |= {f"{name}.{key}": value for key, value in weights.items()}
    save_file(kept, folder / KEPT)
    head = {key: _array(value) for key, value in head_weights(network).items()}
    if head:
        save_file(head, folder / HEAD)
    (folder / SHAPE).write_bytes(msgspec.json.format(msgspec.json.encode(base.config)) + b"\n")


def _card(
    folder: Path, base: Base, config: TrainConfig, name: str, command: str, joint: JointSettings | None, width: int
) -> ModelCard:
    model = config.model
    most = {
        "bi-encoder": max(model.mention_tokens, model.entity_tokens),
        "cross-encoder": model.mention_tokens + model.entity_tokens,
        "joint": model.text_tokens,
    }
    return ModelCard(
        name=name,
        kind=_KINDS[model.kind],
        source=base.source,
        dimension=width or model.dimension or int(base.config["hidden_size"]),
        files=file_cards(folder),
        precision=config.training.export,
        pooling="span" if joint else model.pooling,
        max_length=most[model.kind],
        licence=base.licence,
        languages=base.languages,
        weights=base.identity,
        entlink=__version__,
        command=command,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=msgspec.to_builtins(joint or model.pairs),
    )


def _array(value: Any) -> Any:
    return numpy.ascontiguousarray(value.detach().float().cpu().numpy())


def commit() -> str:
    """The commit of entlink that trained, if it runs from a checkout."""
    own = Path(__file__)
    if not _git(own.parent, "ls-files", own.name):  # installed within a checkout of something else
        return ""
    return _git(own.parent, "rev-parse", "HEAD")


def _git(folder: Path, *words: str) -> str:
    """What git says; nothing where there is no git or no checkout."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
