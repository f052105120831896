"""A model that tells how likely spans are mentions, and the folder that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.errors import ConfigError, DamagedError, MissingModelError
from entlink.io.atomic import whole_folder
from entlink.io.checksums import checksum, fingerprint
from entlink.mentions.span_features import FEATURES, NEVER_SEEN, Seen

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float32]

CARD = "detector.json"
WEIGHTS = "detector.npz"
FORMAT = 1
FURTHEST = 5.0  # standard deviations


class Choice(NamedTuple):
    """What a threshold gave on texts that the model was not trained on."""

    threshold: float
    precision: float
    recall: float
    f1: float


class DetectorCard(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a trained detector.

    `seen` is how often names were mentions, `own` the same of each document, and `folds` which of the nets was
    trained without a document: one that it learnt from is judged by that, without its own counts. `learnt` tells
    whose a text is that it learnt from, by its fingerprint: ids of texts to come may be the same by chance.
    """

    format: int = FORMAT
    encoder: str | None
    identity: str = ""
    features: tuple[str, ...] = FEATURES
    threshold: float = 0.5
    choices: tuple[Choice, ...] = ()
    slope: float = 1.0
    shift: float = 0.0
    seen: dict[str, Seen] = {}
    own: dict[str, dict[str, Seen]] = {}
    folds: dict[str, int] = {}
    learnt: dict[str, str] = {}
    mentions: int = 0
    texts: int = 0
    entlink: str = ""
    command: str = ""
    made: str = ""
    data: list[dict[str, object]] = []
    sha256: str = ""

    def whose(self, text: str) -> str | None:
        """The document that a text is of, if it learnt from it."""
        return self.learnt.get(fingerprint(text))

    def seen_elsewhere(self, document: str | None) -> Callable[[str], Seen]:
        """What is known of a folded name from all documents but this one."""
        own = self.own.get(document, {}) if document is not None else {}

        def found(key: str) -> Seen:
            every = self.seen.get(key, NEVER_SEEN)
            here = own.get(key, NEVER_SEEN)
            linked = every.linked - here.linked
            # A name that no other text links is not known to be one: in texts to come it would not be here at all.
            return Seen(linked, max(linked, every.total - here.total)) if linked > 0 else NEVER_SEEN

        return found

    def chosen(self, precision: float | None, recall: float | None) -> float:
        """The lowest threshold with that precision, or the highest with that recall."""
        found = [one for one in self.choices if one.recall > 0]  # one that finds nothing makes no mistakes
        if precision is not None:
            fit = [one.threshold for one in found if one.precision >= precision]
            return min(fit) if fit else _refuse("precision", precision, [one.precision for one in found])
        if recall is not None:
            fit = [one.threshold for one in found if one.recall >= recall]
            return max(fit) if fit else _refuse("recall", recall, [one.recall for one in found])
        return self.threshold


def _refuse(what: str, wanted: float, there: Sequence[float]) -> float:
    best = f"the best on texts that were held out is {max(there):.3f}" if there else "it found nothing in them"
    raise ConfigError(f"no threshold of this detector gives a {what} of {wanted:g}: {best}. Ask for less")


class Net(NamedTuple):
    """A layer of hidden units over standardised columns, and one that sums them up."""

    mean: Floats
    spread: Floats
    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    def logits(self, rows: Floats) -> Floats:
        """A number a row: over 0 if it is likelier a mention than not, by the texts it was trained on."""
        import numpy

        within = numpy.clip((rows - self.mean) / self.spread, -FURTHEST, FURTHEST)
        active = numpy.maximum(within @ self.hidden + self.hidden_bias, 0.0)
        found: Floats = active @ self.output + self.output_bias
        return found


class SpanModel(NamedTuple):
    """Several nets, each trained without some of the texts, whose mean counts; and their card."""

    card: DetectorCard
    nets: Sequence[Net]

    def probabilities(self, rows: Floats, document: str | None) -> Floats:
        """How likely each row is a mention; of a document that it learnt from, by the net that did not see it."""
        import numpy

        fold = self.card.folds.get(document) if document is not None else None
        nets = self.nets if fold is None else [self.nets[fold]]
        logits = sum(net.logits(rows) for net in nets) / len(nets)
        raised = numpy.exp(-numpy.clip(self.card.slope * logits + self.card.shift, -60.0, 60.0))
        found: Floats = (1.0 / (1.0 + raised)).astype(numpy.float32)
        return found


def read_model(folder: Path) -> SpanModel:
    """The model in a folder; one that is missing, damaged or of another version is told."""
    import numpy

    path = folder / CARD
    if not path.is_file():
        raise MissingModelError(f"{folder}: there is no trained detector. Train one with `entlink train detector`")
    try:
        card = msgspec.json.decode(path.read_bytes(), type=DetectorCard)
    except msgspec.MsgspecError as problem:
        raise DamagedError(f"{path}: this card of a detector cannot be read ({problem}). Train it anew") from problem
    if card.format != FORMAT or card.features != FEATURES:
        raise DamagedError(f"{folder}: this detector was trained by another version of entlink. Train it anew")
    weights = folder / WEIGHTS
    if not weights.is_file() or checksum(weights) != card.sha256:
        raise DamagedError(f"{weights}: this file of the detector is missing or altered. Train it anew")
    with numpy.load(weights) as arrays:
        count = len(arrays.files) // len(Net._fields)
        nets = [Net(*(arrays[f"{name}{number}"] for name in Net._fields)) for number in range(count)]
    return SpanModel(card, nets)


def write_model(folder: Path, model: SpanModel) -> None:
    """Write a model; its folder is there whole or not at all."""
    import numpy

    arrays = {
        f"{name}{number}": array for number, net in enumerate(model.nets) for name, array in net._asdict().items()
    }
    with whole_folder(folder) as partial:
        numpy.savez(partial / WEIGHTS, **arrays)
        card = msgspec.structs.replace(model.card, sha256=checksum(partial / WEIGHTS))
        (partial / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(card)) + b"\n")
