"""An encoder of pictures from its name in the store, or from a folder of Hugging Face."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from entlink.encoders.images.converting import (
    PICTURES,
    TEXTS,
    convert_pictures,
    describe_pictures,
    is_of_pictures,
    picture_weights,
    preparation_of,
)
from entlink.encoders.images.pictures import require_pictures
from entlink.encoders.loading import card_of
from entlink.errors import InputError

if TYPE_CHECKING:
    from entlink.encoders.images.encoder import OnnxPictureEncoder, TextTower
    from entlink.encoders.models.card import ModelCard

DEFAULT = "efficientnet-lite0"


def load_picture_encoder(spec: str | Path = DEFAULT, *, threads: int | None = None) -> OnnxPictureEncoder:
    """The encoder of pictures that `spec` names: a model of the store, or a folder in the layout of Hugging Face."""
    return opened(*_found(spec), threads)


def picture_identity(spec: str | Path) -> str:
    """The identity of the encoder of pictures that `spec` names; it is not loaded."""
    return _identity(_found(spec)[1])


def _found(spec: str | Path) -> tuple[Path, ModelCard]:
    """The folder and the card of an encoder of pictures, its files compared with the card."""
    from entlink.encoders.models.store import is_installed, missing, open_model

    require_pictures()
    found = card_of(spec)
    if found is None and Path(spec).is_dir():
        return _of_folder(Path(spec))
    if found is None:
        raise missing(str(spec), DEFAULT)
    folder, card = open_model(str(spec)) if is_installed(str(spec)) else found
    if card.kind != "picture":
        raise InputError(
            f"the model {str(spec)!r} is of the kind {card.kind!r} and reads no pictures. See docs/pictures.md"
        )
    return folder, card


def _identity(card: ModelCard) -> str:
    from entlink.encoders.identities import identity_of

    checksums = " ".join(f"{name} {file.sha256}" for name, file in sorted(card.files.items()))
    return identity_of(card.name, f"{checksums} {card.settings}", card.precision)


def reads_pictures(spec: str | Path) -> bool:
    """Whether a name or folder is of an encoder of pictures."""
    from entlink.encoders.models.hugging_face import read_model_type

    found = card_of(spec)
    if found is not None:
        return found[1].kind == "picture"
    return Path(spec).is_dir() and is_of_pictures({"model_type": read_model_type(Path(spec))})


def opened(folder: Path, card: ModelCard, threads: int | None = None) -> OnnxPictureEncoder:
    """The encoder of a card and the files beside it."""
    from entlink.encoders.images.encoder import OnnxPictureEncoder
    from entlink.encoders.text.backends import open_session

    def texts() -> TextTower:
        from entlink.encoders.images.encoder import TextTower
        from entlink.encoders.models.hugging_face import read_tokenizer

        return TextTower(open_session(folder / TEXTS, threads), read_tokenizer(folder), **card.settings["texts"])

    return OnnxPictureEncoder(
        card.name,
        _identity(card),
        open_session(folder / PICTURES, threads),
        preparation_of(card),
        folder,
        texts if "texts" in card.settings else None,
    )


def _of_folder(folder: Path) -> tuple[Path, ModelCard]:
    """Convert a folder once; from then on it is a model of the store, found by the checksum of its files."""
    from entlink.encoders.identities import slug
    from entlink.encoders.images.preparing import SETTINGS
    from entlink.encoders.models.card import write_card
    from entlink.encoders.models.hugging_face import read_layout, weights_hash
    from entlink.encoders.models.store import is_installed, new_model, open_model

    layout = read_layout(folder)
    if not is_of_pictures(layout.config):
        kind = layout.config.get("model_type", "unknown")
        raise InputError(f"{folder}: the model is of the kind {kind!r}. Pictures are read by ResNet, ViT and CLIP")
    small = [folder / name for name in ("config.json", SETTINGS, "tokenizer.json")]
    name = f"{slug(folder.resolve().name)}-{weights_hash(picture_weights(folder), *small)[:12]}"
    if not is_installed(name):
        with new_model(name, replace=True) as written:
            convert_pictures(layout, written)
            write_card(written, describe_pictures(name, layout, written))
    return open_model(name)
