"""A linker's configuration: a small TOML file that names its stages and their settings.

[detector]
name = "dictionary"
min_link_probability = 0.1

[[retriever]]
name = "alias"

[nil]
name = "threshold"
threshold = 0.2

[kb.normalisation]
case = false
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import field

from entlink.encoders.identities import AUTO
from entlink.errors import ConfigError, EntlinkError, MissingExtraError, MissingModelError
from entlink.kb.names.aliases import PriorWeights
from entlink.kb.names.tiers import Normalisation
from entlink.linking.registry import BUILT_IN, find, names, takes_kb
from entlink.linking.upgrades import upgraded
from entlink.text.nearest import did_you_mean

Stage = dict[str, Any]
LINKER_FILE = "linker.toml"
PRESETS = ("characters", "characters-encoder", "everyday", "everyday-encoder", "lexical", "zero-shot")
_NUMBER = re.compile(r"-\d+$")  # of the second retriever of a name and those after it
MODELS = ("encoder", "model", "pipeline")  # settings that may be paths of models
_IN_THE_BOX = Path(__file__).parent / "presets"


class KnowledgeBaseConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How a linker reads the names of its knowledge base: what their sources count for, and which tiers are tried."""

    weights: PriorWeights = field(default_factory=PriorWeights)
    normalisation: Normalisation = field(default_factory=Normalisation)


class ConversationConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How documents with turns are linked; `docs/conversations.md` tells what each setting does."""

    as_whole: bool = False
    window: int = 2000
    memory: int = 32
    decay: float = 0.8
    speakers: tuple[str, ...] = ()
    overhear: bool = True
    speaker_names: bool = False
    personal: bool | str = False

    def __post_init__(self) -> None:
        for setting, value in (("window", self.window), ("memory", self.memory)):
            if value < 0:
                raise ConfigError(f"[conversation] {setting} = {value} does not fit: it is 0 or more")
        if not 0 < self.decay <= 1:
            raise ConfigError(
                f"[conversation] decay = {self.decay} does not fit: it is what is left after a turn, "
                "above 0 and at most 1"
            )
        if self.personal and self.as_whole:
            raise ConfigError(
                "[conversation] personal and as_whole do not fit: what is personal depends on whose turn it is"
            )


DICTIONARY: Stage = {"name": "dictionary"}
GIVEN: Stage = {"name": "given"}


class LinkerConfig(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which stages a linker is made of: each table of one has a `name` and that stage's own settings."""

    detector: Stage = field(default_factory=lambda: dict(DICTIONARY))
    retriever: list[Stage] = field(default_factory=lambda: [{"name": "alias"}, {"name": "edit-distance"}])
    fusion: Stage | None = None
    evidence: list[Stage] = []
    ranker: Stage = field(default_factory=lambda: {"name": "prior"})
    nil: Stage = field(default_factory=lambda: {"name": "threshold"})
    nil_type: Stage = field(default_factory=lambda: {"name": "vote"})
    kb: KnowledgeBaseConfig = field(default_factory=KnowledgeBaseConfig)
    conversation: ConversationConfig = field(default_factory=ConversationConfig)
    types: tuple[str, ...] = ()
    min_score: float = 0.0
    batch_size: Annotated[int, msgspec.Meta(ge=1)] = 64
    pool: Annotated[int, msgspec.Meta(ge=1)] = 48


def read_config(given: str | Path) -> LinkerConfig:
    """The configuration in a TOML file or in the folder of a saved linker, or one in the box by its name."""
    path = Path(given)
    if str(given) in PRESETS and not path.exists():
        return _decoded(_IN_THE_BOX / f"{given}.toml")
    if path.is_dir():
        path /= LINKER_FILE
    if not path.exists() and not path.suffix and path.parent == Path():
        raise ConfigError(f"{given}: no such file{did_you_mean(str(given), list(PRESETS))}")
    return with_paths_from(upgraded(_decoded(path), path), path.parent)


def of_given_spans(config: LinkerConfig) -> LinkerConfig:
    """The configuration for spans that documents bring, unless it has a detector of its own.

    What is fitted to given spans says nothing of which spans of a text are mentions: that is the default linker's.
    """
    return msgspec.structs.replace(config, detector=GIVEN) if config.detector == DICTIONARY else config


def finds_mentions(config: LinkerConfig) -> bool:
    """Whether a linker finds mentions in texts, and not only links those that documents bring."""
    return config.detector != GIVEN


def with_paths_from(config: LinkerConfig, folder: Path) -> LinkerConfig:
    """The configuration with its models where they are: a path that begins with `./` is one inside `folder`."""
    inside = folder.resolve()
    return _with_models(config, lambda path: str(inside / path[2:]) if path.startswith("./") else path)


def with_paths_inside(config: LinkerConfig, folder: Path) -> LinkerConfig:
    """The reverse, to save it in `folder`: models inside of it are told from there, so that it can be moved."""
    inside = f"{folder.resolve()}/"
    return _with_models(config, lambda path: f"./{path[len(inside) :]}" if path.startswith(inside) else path)


def with_encoder(config: LinkerConfig, encoder: str) -> LinkerConfig:
    """The configuration with this encoder wherever it leaves the choice open (`encoder = "auto"`)."""
    return _with_models(config, lambda name: encoder if name == AUTO else name)


def _with_models(config: LinkerConfig, change: Callable[[str], str]) -> LinkerConfig:
    def changed(stage: Stage) -> Stage:
        return {
            name: change(value) if name in MODELS and isinstance(value, str) else value
            for name, value in stage.items()
        }

    config = upgraded(config)
    personal = config.conversation.personal
    if isinstance(personal, str):
        conversation = msgspec.structs.replace(config.conversation, personal=change(personal))
        config = msgspec.structs.replace(config, conversation=conversation)
    return msgspec.structs.replace(
        config,
        detector=changed(config.detector),
        retriever=[changed(stage) for stage in config.retriever],
        evidence=[changed(stage) for stage in config.evidence],
        ranker=changed(config.ranker),
        nil=changed(config.nil),
        nil_type=changed(config.nil_type),
    )


def found_beside(kb: str | Path, *, trust: bool = False) -> LinkerConfig:
    """That of the linker saved beside a knowledge base (`shop.linker` beside `shop.kb`).

    Without `trust`, one that loads something from outside its folder is a ConfigError.
    """
    folder = linker_beside(kb)
    _check_made_for(kb, folder)
    return read_found(folder, trust=trust)


def read_found(folder: Path, *, trust: bool = False) -> LinkerConfig:
    """The configuration of a saved linker that nobody named: without `trust`, it has to keep to its own folder."""
    from entlink.linking.trust import check_keeps_inside

    config = read_config(folder)
    if not trust:
        check_keeps_inside(config, folder)
    return config


def _check_made_for(kb: str | Path, folder: Path) -> None:
    """A warning where a linker was made for a knowledge base of another name: copied, or renamed."""
    from entlink.linking.saved import read_card

    made_for = read_card(folder).kb
    if made_for and made_for != Path(kb).name:
        import logging

        logging.getLogger(__name__).warning(
            "%s was made for %s: its weights and thresholds may not fit %s", folder, made_for, Path(kb).name
        )


def linker_beside(kb: str | Path) -> Path:
    """Where the linker of a knowledge base is saved."""
    return Path(kb).with_suffix(".linker")


def _decoded(path: Path) -> LinkerConfig:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=LinkerConfig)
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read ({problem.strerror})") from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: {problem}") from problem


def make_retrievers(stages: list[Stage], kb: object) -> dict[str, Any]:
    """The retrievers by name; one whose model or extra is missing is left out with a warning, if others are left."""
    made: dict[str, Any] = {}
    missing: list[EntlinkError] = []
    for name, stage in zip(retriever_names(stages), stages, strict=True):
        try:
            made[name] = make_stage("retriever", stage, kb)
        except (MissingModelError, MissingExtraError) as problem:
            missing.append(problem)
    if missing and not made:
        raise missing[0]
    if missing:
        import logging

        reasons = "; ".join(dict.fromkeys(map(str, missing)))
        logging.getLogger(__name__).warning("linking goes on with %s only: %s", ", ".join(made), reasons)
    return made


def retriever_names(stages: Iterable[Stage]) -> list[str]:
    """What a fusion calls each retriever, whether or not its model is there."""
    given: list[str] = []
    for stage in stages:
        given.append(free_name(str(stage.get("name")), given))
    return given


def make_fusion(config: LinkerConfig, kb: object) -> Any:
    """The fusion, if there is one; a retriever that it speaks of and that cannot be is told."""
    if config.fusion is None:
        return None
    fusion = make_stage("fusion", config.fusion, kb)
    known = [*retriever_names(config.retriever), *(name for stage in config.evidence for name in _numbers(stage))]
    spoken_of = list(getattr(fusion, "names", ()))
    # A linker may go without a retriever that its fusion knows, but not without all of them.
    has_a_say = not spoken_of or not set(known).isdisjoint(spoken_of)
    for name in spoken_of:
        if not has_a_say or (name not in known and _NUMBER.sub("", name) not in names("retriever")):
            raise ConfigError(
                f"[fusion] {config.fusion['name']}: there is no retriever {name!r} to fuse{did_you_mean(name, known)}"
            )
    return fusion


def _numbers(stage: Stage) -> Iterable[str]:
    """The names of the numbers that evidence gives, if what it needs is there."""
    try:
        numbers: Iterable[str] = getattr(find("evidence", str(stage.get("name"))), "gives", ())
    except MissingExtraError:
        return [str(stage.get("name"))]
    return numbers


def free_name(name: str, taken: Container[str]) -> str:
    """The name, or name-2 and so on where it is taken: what a fusion calls a retriever."""
    forms = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(form for form in forms if form not in taken)


def make_stage(kind: str, settings: Stage, kb: object) -> Any:
    """Build one stage from its table."""
    own = dict(settings)
    name = own.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(f'the [{kind}] table needs a name, such as name = "…"')
    factory = find(kind, name)
    before = (kb,) if takes_kb(kind, name, factory) else ()
    if not own and name in BUILT_IN[kind]:
        # Most stages in the box need no settings, and looking into signatures is slow. One that does is told below.
        with suppress(TypeError):
            return factory(*before)
    from entlink.linking.settings import checked

    return factory(*before, **checked(f"[{kind}] {name}", factory, before, own))
