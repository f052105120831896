"""How `adapt` trains its bi-encoder, how much of the time that takes, and what evidence weighs."""

from __future__ import annotations

from entlink.encoders.identities import AUTO
from entlink.errors import MissingModelError
from entlink.learning.adapt.lessons import BI_ENCODER
from entlink.learning.adapt.senses import SENSES
from entlink.learning.adapt.state import AdaptOptions
from entlink.learning.base import can_be_trained
from entlink.learning.train_config import TrainConfig, read_train_config
from entlink.linking.config import LinkerConfig, retriever_names

MAP = "map"  # the preset, and the kind of model
_FIRST_BASE = "minilm"
_MARKERS = '["[unused1]", "[unused2]", "[unused3]"]'  # not every BERT has [unused0]
SHARE = 0.55  # of the minutes, for training the bi-encoder
_SETTINGS = {
    "training.epochs": "3",
    "training.checkpoint_every": "50",
    "training.held_out": "400",
    "training.batch": "64",
    "training.learning_rate": "5e-5",
    "training.masked": "0.4",
    "model.mention_tokens": "48",
    "model.entity_tokens": "48",
    "model.separate": "true",
    "model.fixed_entities": "true",
}
_OF_A_TOWER = ("training.masked", "model.mention_tokens", "model.entity_tokens", "model.separate", "model.markers")
# Without links only an entity's own text tells what it is spoken of with: more of it is read. Chosen on the
# development mentions of Schools Wikipedia without its links; with them it was not tried.
_SETTINGS_WITHOUT_LINKS = {"model.entity_tokens": "128", "training.learning_rate": "1.5e-4"}


def encoder_of(config: LinkerConfig) -> str:
    """The encoder that a linker's own retriever reads with; "auto" where none that fits was pulled."""
    found = (str(one.get("encoder", "")) for one in config.retriever if one.get("name") == "dense")
    return next((name for name in found if not name.startswith("./")), "")


def config_of_training(options: AdaptOptions, *, links: bool, encoder: str = "") -> TrainConfig:
    """How the bi-encoder is trained, with what the user wants otherwise.

    It starts from `encoder`, that of the linker; a map is learnt over its vectors where it cannot be trained.
    """
    seed = {"training.seed": str(options.seed)}
    if encoder == AUTO and "model.base" not in options.settings:
        raise MissingModelError("no encoder that reads the language of the knowledge base was pulled")
    if encoder and "model.base" not in options.settings:
        if not can_be_trained(encoder):
            own = {name: value for name, value in options.settings.items() if name not in _OF_A_TOWER}
            return read_train_config(MAP, {"model.base": encoder, **seed, **own})
        seed |= {"model.base": encoder} | ({} if encoder == _FIRST_BASE else {"model.markers": _MARKERS})
    settings = {**_SETTINGS, **seed}
    if not links:
        settings |= _SETTINGS_WITHOUT_LINKS
    return read_train_config(BI_ENCODER, {**settings, **options.settings})


# Where nothing but the texts was learnt from, what fits examples made of them need not fit mentions to come: the
# weights are then chosen on the development mentions of Schools Wikipedia.
_WITHOUT_LINKS: dict[str, dict[str, float]] = {
    SENSES: {SENSES: 1.2},
    BI_ENCODER: {
        "alias": 0.9,
        "dense": 13.6,
        "bm25": 2.5,
        "count": 0.67,
        "spelling": 1.35,
        "initials": 3.15,
        "popularity": 0.0,
        "coherence": 0.95,
        "edit-distance": 0.75,
        "company": 0.85,
        "expected": -0.23,
        "shortened": 0.14,
        SENSES: 1.1,
        "dense-2": 3.0,
        "dense-3": 5.0,
    },
}
_OF_STAGES = (SENSES, "shortened", "dense-2", "dense-3")  # evidence that is there with them alone


def weights_without_links(stage: str, config: LinkerConfig) -> dict[str, float]:
    """The weights of a stage for the evidence that the linker has: the bias reckons with all that are given."""
    there = retriever_names([*config.retriever, *config.evidence])
    return {name: weight for name, weight in _WITHOUT_LINKS[stage].items() if name in there or name not in _OF_STAGES}


# What links begin with. They do not teach the weight of coherence: each is an example without the
# others of its text. Of P(e|m) they teach how much it says among entities with one name, not that any has the name:
# that is evidence of its own.
WEIGHTS_WITH_LINKS = {"coherence": 4.4, "borne": 3.0}
