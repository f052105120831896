"""The multimodal model as rankers of the study: its fusions, its baselines, and what is left of it without inputs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from entlink.documents import Candidate
from entlink.errors import ConfigError
from entlink.io.progress import Progress
from entlink.kb.indexes.vectors.pictures import pictures_of_entities
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies.pictures.material import Material
from entlink.studies.pictures.rankers import Input, PictureRanker
from entlink.studies.pictures.results import PictureOptions
from entlink.studies.place import Place

if TYPE_CHECKING:
    import torch

    from entlink.learning.base import Base
    from entlink.learning.multimodal.examples import PicturedExample
    from entlink.learning.multimodal.sharing import SharedInputs, SharedTraining
    from entlink.learning.train_config import TrainConfig

FOLDER = "models"
Settings = tuple[tuple[str, object], ...]
_BINARY: Settings = (("model.loss", "binary"),)
_LETTERS: dict[Input, str] = {
    "mention-picture": "V_m",
    "entity-picture": "V_e",
    "mention-text": "T_m",
    "entity-text": "T_e",
}
# As in table 6 of the paper; both texts or both pictures are inputs of two sides.
_ABLATED: tuple[tuple[Input, ...], ...] = (
    ("mention-picture",),
    ("entity-picture",),
    ("mention-picture", "entity-picture"),
    ("mention-text",),
    ("entity-text",),
    ("mention-text", "entity-text"),
)
_POOLINGS = {"first": "first", "first-last": "first and last", "average": "average"}
_LAST = -1e9
_HARD, _IN_BATCH = (1, 3, 5, 7, 9), (0, 3, 7, 15, 31)
FUSIONS = ("single-stream", "separate-first", "cross-attention")


def training_of(options: PictureOptions) -> dict[str, object]:
    """How every model is trained, before what makes it another."""
    found: dict[str, object] = msgspec.to_builtins(_config(options, (), 0))
    return found


def _config(options: PictureOptions, settings: Settings, seed: int, folder: str = "") -> TrainConfig:
    from entlink.learning.train_config import read_train_config

    laid = {key: json.dumps(value) for key, value in settings}
    laid["training.seed"] = str(seed)
    if folder:
        laid["multimodal.picture_folder"] = json.dumps(folder)
    config = read_train_config(options.preset, {**options.settings, **laid})
    if config.model.kind != "multimodal":
        raise ConfigError(f"{options.preset}: it trains a {config.model.kind}. Name a preset of a multimodal model")
    if config.training.masked:
        raise ConfigError(
            f"training.masked = {config.training.masked} does not fit this study: its models read each name as it is "
            "written, and the study masks names itself. Leave it at 0"
        )
    return config


class ModelSpec(NamedTuple):
    """A model of the study: the preset with some settings over it."""

    name: str
    modality: str
    settings: Settings
    models: Models
    kind: Literal["evidence", "model"] = "model"
    is_seeded: bool = True

    def fit(self, train: Material, dev: Material, seed: int, name: str) -> PictureRanker:
        return self.models.trained(self, train, dev, seed, name)


class Trained(msgspec.Struct, frozen=True):
    """How long a training took, and how it did on the dev part."""

    steps: int
    best: float | None
    seconds: float


class Models:
    """The models of the study, each trained when it is first asked and kept in the study's folder."""

    def __init__(self, kb: KnowledgeBase, place: Place, options: PictureOptions, progress: Progress) -> None:
        from entlink.encoders.extras import require_train

        require_train("training the models of this study")
        self._kb, self._place, self._options, self._progress = kb, place, options, progress
        self._pictures = pictures_of_entities(kb)
        self._seconds: dict[str, list[float]] = {}
        self._shared: SharedInputs | None = None
        self._base: Base | None = None
        self._device: torch.device | None = None
        self.training = training_of(options)

    # Which there are

    def _spec(self, name: str, modality: str, *settings: tuple[str, object]) -> ModelSpec:
        return ModelSpec(name, modality, settings, self)

    @property
    def text(self) -> ModelSpec:
        """The twin of the fusions that reads text only."""
        return self._spec("text only", "T -> T", ("multimodal.without", ["mention-picture", "entity-picture"]))

    @property
    def fusions(self) -> list[ModelSpec]:
        """With the contrastive loss."""
        return [self._spec(name, "T+V -> T+V", ("multimodal.fusion", name)) for name in FUSIONS]

    @property
    def best(self) -> ModelSpec:
        """That of the paper's analyses: cross-attention."""
        return self.fusions[-1]

    @property
    def table(self) -> list[ModelSpec]:
        """The models of table 5: baselines of one modality, simple fusions, fusions without and with contrast."""
        without_texts = ("multimodal.without", ["mention-text", "entity-text"])
        without_pictures = ("multimodal.without", ["mention-picture", "entity-picture"])
        to_text = ("multimodal.without", ["entity-picture"])
        together = ("multimodal.fusion", "read-together")
        return [
            self.text,
            self._spec("text only, read together", "T -> T", together, without_pictures),
            self._spec("picture only", "V -> V", without_texts),
            self._spec("modality attention", "T+V -> T", ("multimodal.fusion", "modality-attention"), to_text),
            self._spec("concatenation", "T+V -> T", ("multimodal.fusion", "concatenation"), to_text),
            *(
                self._spec(f"{name}, not contrastive", "T+V -> T+V", ("multimodal.fusion", name), *_BINARY)
                for name in FUSIONS
            ),
            *self.fusions,
        ]

    def ablated(self) -> Iterator[tuple[str, ModelSpec]]:
        """The best fusion, whole and trained without inputs, with what is missing as the paper writes it."""
        best = self.best
        yield "nothing", best
        for inputs in _ABLATED:
            told = " and ".join(_LETTERS[one] for one in inputs)
            settings = (*best.settings, ("multimodal.without", list(inputs)))
            yield told, self._spec(f"{best.name}, without {told}", best.modality, *settings)

    def pooled(self) -> Iterator[tuple[str, ModelSpec]]:
        """The best fusion with each way of pooling."""
        for pooling, words in _POOLINGS.items():
            yield words, self._varied("multimodal.pooling", pooling, f"pooling {words}")

    def curves(self) -> Iterator[tuple[Literal["K", "B"], list[tuple[int, ModelSpec]]]]:
        """The best fusion with fewer hard negatives, and with fewer in the batch."""
        config = _config(self._options, (), 0)
        hard, batch = config.training.negatives, config.multimodal.in_batch
        most = min(batch, config.training.batch - 1)
        yield "K", [(k, self._varied("training.negatives", k, f"K {k}")) for k in _numbers(_HARD, hard)]
        yield "B", [(b, self._varied("multimodal.in_batch", b, f"B {b}")) for b in _numbers(_IN_BATCH, most)]

    def _varied(self, key: str, value: object, told: str) -> ModelSpec:
        """The best fusion with another setting; with the one it has, itself, so that it is not trained twice."""
        part, _, name = key.partition(".")
        config = _config(self._options, self.best.settings, 0)
        if getattr(getattr(config, part), name) == value:
            return self.best
        return self._spec(f"{self.best.name}, {told}", self.best.modality, *self.best.settings, (key, value))

    # Training

    def trained(self, spec: ModelSpec, train: Material, dev: Material, seed: int, name: str) -> PictureRanker:
        """A model, trained now if it is not there; its weights are kept."""
        masked: Settings = (("multimodal.prior", False),) if train.condition.masked else ()
        made = self._made((*spec.settings, *masked), seed, name)
        weights = self._place.folder / FOLDER / f"{name}.safetensors"

        def train_now() -> Trained:
            examples, held_out = examples_of(self._kb, train), examples_of(self._kb, dev)
            checkpoint = weights.with_suffix(".checkpoint")
            minutes = self._options.minutes
            state, _ = made.run(examples, held_out, checkpoint, minutes=minutes, restart=False, spent=0.0)
            made.save(weights)
            shutil.rmtree(checkpoint, ignore_errors=True)
            return Trained(state.step, state.best, round(state.seconds, 1))

        report = self._place.kept(f"{FOLDER}/{name}.json", Trained, train_now)
        made.load(weights)
        self._seconds.setdefault(spec.name, []).append(report.seconds)
        return ModelRanker(self._kb, made)

    def _made(self, settings: Settings, seed: int, name: str) -> SharedTraining:
        """A training that reads what all read; the base is loaded, and the inputs read, once for all."""
        import torch

        from entlink.learning.base import load_base
        from entlink.learning.multimodal.sharing import SharedInputs, SharedTraining
        from entlink.learning.train import check_start

        def told(stage: str, done: float, total: float) -> None:
            self._progress(f"{name}: {stage}", done, total)

        pictures = str(self._pictures.folder.resolve())
        config = _config(self._options, settings, seed, pictures)
        if self._shared is None:
            plain = _config(self._options, (), seed, pictures)
            device = check_start(plain, self._place.folder / FOLDER / "base")
            self._base = load_base(plain.model.base, self._progress)
            self._device = device
            self._shared = SharedInputs(SharedTraining(plain, self._kb, self._base, device, told))
        assert self._base is not None
        device = torch.device(self._device or "cpu")
        return SharedTraining(config, self._kb, self._base, device, told).share(self._shared)

    def seconds_of(self, spec: object) -> float | None:
        """How long a training of it took on average, of those that were done in this run."""
        found = self._seconds.get(getattr(spec, "name", ""))
        return sum(found) / len(found) if found else None


def _numbers(few: Sequence[int], most: int) -> list[int]:
    return [*(number for number in few if number < most), most]


def examples_of(kb: KnowledgeBase, material: Material) -> list[PicturedExample]:
    """The mentions to learn from, with their fixed candidates and P(e|m) as the ranker has it."""
    from entlink.learning.multimodal.examples import PicturedExample
    from entlink.ranking.priors import priors

    found = []
    for one, own in zip(material.asked, material.numbers, strict=True):
        known = [candidate for candidate in own if kb.get(candidate.entity) is not None]
        chances = priors(kb, one.mention.text, known)
        candidates = tuple((candidate.entity, chance) for candidate, chance in zip(known, chances, strict=True))
        right = next((id for id, _ in candidates if id in one.right), min(one.right))
        others = tuple(pair for pair in candidates if pair[0] == right or pair[0] not in one.right)
        found.append(PicturedExample(one.document, one.mention, right, others))
    return found


class ModelRanker:
    """A trained model on fixed candidates."""

    is_large = True  # it is not kept in memory beside the next one

    def __init__(self, kb: KnowledgeBase, model: SharedTraining) -> None:
        self._kb, self._model = kb, model

    def scores(
        self, material: Material, *, without: Set[Input] = frozenset(), prior: bool = True
    ) -> list[list[float]]:
        from entlink.encoders.multimodal.model import Question
        from entlink.ranking.priors import priors

        entities = {one.entity: self._kb.get(one.entity) for own in material.numbers for one in own}
        known = {id: entity for id, entity in entities.items() if entity is not None}
        questions = []
        for document, mention, candidates in material.shortlists:
            there = [one for one in candidates if one.entity in known]
            chances = priors(self._kb, mention.text, there)
            questions.append(Question(document, mention, [known[one.entity] for one in there], chances))
        scored = self._model.scores(questions, without, prior=prior)
        return [_filled(own, known, values) for own, values in zip(material.numbers, scored, strict=True)]


def _filled(candidates: Sequence[Candidate], known: Mapping[str, object], scores: Sequence[float]) -> list[float]:
    """A candidate that is gone from the knowledge base is the last."""
    given = iter(scores)
    return [next(given) if one.entity in known else _LAST for one in candidates]
