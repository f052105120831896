"""A multimodal model at work: mentions and entities to vectors, and scores of pairs, in onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy

from entlink.encoders.extras import require_retrieval
from entlink.encoders.images.dual import entity_picture, mention_picture
from entlink.encoders.images.pictures import Pictures, digest
from entlink.encoders.models.hugging_face import read_tokenizer
from entlink.encoders.multimodal.graph import VECTORS, SideNames
from entlink.encoders.multimodal.inputs import (
    NOTHING,
    InputReader,
    PictureCells,
    SideInputs,
    StateEncoder,
    TextStates,
    check_encoder,
)
from entlink.encoders.multimodal.settings import INPUTS, multimodal_settings
from entlink.encoders.text.backends import OnnxBackend, open_session
from entlink.encoders.trained.folder import (
    ENTITY_GRAPH,
    GRAPH,
    HEAD,
    MENTION_GRAPH,
    PAIR_GRAPH,
    TOKENIZER,
    open_trained,
    trained_identity,
)
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.errors import ConfigError, DamagedError, EntlinkError, InputError

if TYPE_CHECKING:
    from entlink.documents import Document, Entity, Mention
    from entlink.encoders.multimodal.inputs import IdVectors
    from entlink.encoders.multimodal.settings import Input, MultimodalSettings
    from entlink.encoders.trained.folder import TrainedFolder
    from entlink.interfaces import Vectors

Side = Literal["mention", "entity"]
_AT_ONCE = 64  # rows that are read and run together


class Question(NamedTuple):
    """A mention with the entities that are to be scored for it, and P(e|m) of each."""

    document: Document
    mention: Mention
    entities: Sequence[Entity]
    priors: Sequence[float]


class MultimodalModel:
    """The model of a folder of the kind "multimodal".

    It is a dual encoder, too: `encode_mentions` and `encode_entities` give the vectors whose product is scored. One
    that reads a mention and an entity together has no such vectors, and scores pairs only.
    """

    similarity = "dot"

    def __init__(
        self,
        trained: TrainedFolder,
        *,
        spec: str = "",
        pictures: str | Path | None = None,
        fetch: bool = False,
        vectors: IdVectors | None = None,
        threads: int | None = None,
    ) -> None:
        card, folder = trained.card, trained.folder
        self.name, self._spec = card.name, spec
        self.settings = settings = multimodal_settings(card, folder)
        check_encoder(settings)
        self.together = settings.fusion == "read-together"
        self.dimension = settings.vector_width
        pairs = settings.pairs
        tokens = max(pairs.mention_tokens, pairs.entity_tokens)
        backend = OnnxBackend(_file(folder, GRAPH), threads)
        states = TextStates(StateEncoder(backend, trained.checksums(GRAPH), tokens), tokens)
        self.pictures = Pictures(Path(settings.picture_folder if pictures is None else pictures), fetch)
        self.inputs = InputReader(
            settings,
            PairReader(read_tokenizer(folder), pairs),
            states,
            PictureCells(settings, Pictures(fetch=fetch)),
            PictureCells(settings, self.pictures),
            vectors,
        )
        graphs = (PAIR_GRAPH,) if self.together else (MENTION_GRAPH, ENTITY_GRAPH)
        self._sessions = {name: open_session(_file(folder, name), threads) for name in graphs}
        self._scorer = _Scorer(trained, settings)
        files = trained.checksums(GRAPH, *graphs, TOKENIZER, HEAD)
        self.identity = trained_identity(card.name, files, card.settings)
        self.entity_identity = trained_identity(card.name, files, card.settings, str(self.pictures.folder))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    def encode_mentions(
        self,
        mentions: Sequence[tuple[Document, Mention]],
        without: AbstractSet[Input] = NOTHING,
        *,
        masked: bool = False,
    ) -> Vectors:
        """A row a mention; with `masked` names are hidden."""
        self._check_apart()
        checked_inputs(without)
        return self._encoded(
            mentions, MENTION_GRAPH, "mention", lambda part: self.inputs.mentions(part, without, masked=masked)
        )

    def encode_entities(self, entities: Sequence[Entity], without: AbstractSet[Input] = NOTHING) -> Vectors:
        """A row an entity."""
        self._check_apart()
        checked_inputs(without)
        return self._encoded(entities, ENTITY_GRAPH, "entity", lambda part: self.inputs.entities(part, without))

    def compare(self, mention: Vectors, entities: Vectors, priors: Sequence[float]) -> list[float]:
        """The scores of rows of entities for one mention."""
        return self._scorer(mention * entities, priors)

    def scores(
        self,
        questions: Sequence[Question],
        without: AbstractSet[Input] = NOTHING,
        *,
        prior: bool = True,
        masked: bool = False,
    ) -> list[list[float]]:
        """For each mention a score for each of its entities, from minus to plus infinity."""
        checked_inputs(without)
        if self.together:
            vectors = self._read_together(questions, without, masked=masked)
        else:
            vectors = self._products(questions, without, masked=masked)
        found, at = [], 0
        for one in questions:
            rows = vectors[at : at + len(one.entities)]
            at += len(one.entities)
            found.append(self._scorer(rows, one.priors if prior else [0.0] * len(rows)))
        return found

    def entity_content(self, entity: Entity) -> str:
        """All that the vector of an entity depends on: its text, and what its picture holds."""
        shown = self._content(self.pictures, entity_picture(entity), "entity-picture")
        if self.settings.entity_text == "vectors":  # they are made anew when the text has changed
            return f"{entity.id}\n{entity.title}\n{entity.description}\n{shown}"
        return f"{' '.join(map(str, self.inputs.entity_tokens([entity])[0].ids))} {shown}"

    def mention_content(self, document: Document, mention: Mention) -> object:
        """The tokens that are read, and what the picture holds."""
        shown = self._content(Pictures(fetch=self.pictures.fetch), mention_picture(document), "mention-picture")
        read = self.inputs.mention_tokens([(document, mention)], masked=False)[0]
        return tuple(read.ids), read.first, read.last, shown

    def recipe(self) -> dict[str, Any]:
        """Nothing: entities are encoded with the model at hand."""
        return {}

    def _content(self, pictures: Pictures, reference: str | None, name: Input) -> str:
        if reference is None or name not in self.settings.uses:
            return ""
        try:
            return digest(pictures.read(reference))
        except EntlinkError:  # it is told when it is encoded
            return ""

    def _encoded(
        self, items: Sequence[Any], graph: str, side: Side, read: Callable[[Sequence[Any]], SideInputs]
    ) -> Vectors:
        rows = numpy.zeros((len(items), self.dimension), numpy.float32)
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            rows[start : start + len(part)] = self._run(graph, {side: read(part)})
        return rows

    def _run(self, graph: str, sides: dict[Side, SideInputs]) -> Vectors:
        feed = {
            name: value
            for side, given in sides.items()
            for name, value in zip(SideNames.of(side), given, strict=True)
        }
        session = self._sessions[graph]
        wanted = {one.name for one in session.get_inputs()}
        found: Vectors = session.run([VECTORS], {name: value for name, value in feed.items() if name in wanted})[0]
        if not numpy.isfinite(found).all():
            raise InputError(
                f"the model {self.name!r} gave NaN or infinity. Its weights are broken: train it again with a lower "
                "learning rate, or fetch it again"
            )
        return found

    def _products(self, questions: Sequence[Question], without: AbstractSet[Input], *, masked: bool) -> Vectors:
        mentions = self.encode_mentions([(one.document, one.mention) for one in questions], without, masked=masked)
        rows: dict[int, int] = {}
        entities = [one for question in questions for one in question.entities]
        for one in entities:
            rows.setdefault(id(one), len(rows))
        distinct = {id(one): one for one in entities}
        vectors = self.encode_entities([distinct[key] for key in rows], without)
        counts = [len(one.entities) for one in questions]
        product: Vectors = mentions.repeat(counts, axis=0) * vectors[[rows[id(one)] for one in entities]]
        return product

    def _read_together(self, questions: Sequence[Question], without: AbstractSet[Input], *, masked: bool) -> Vectors:
        pairs = [((one.document, one.mention), entity) for one in questions for entity in one.entities]
        found = numpy.zeros((len(pairs), self.dimension), numpy.float32)
        for start in range(0, len(pairs), _AT_ONCE):
            part = pairs[start : start + _AT_ONCE]
            mentions = self.inputs.mentions([one for one, _ in part], without, masked=masked)
            entities = self.inputs.entities([one for _, one in part], without)
            rows = self._run(PAIR_GRAPH, {"mention": mentions, "entity": entities})
            found[start : start + len(part)] = rows
        return found

    def _check_apart(self) -> None:
        if self.together:
            raise ConfigError(
                f"the model {self.name!r} reads a mention and an entity together, and has no vectors of either. "
                "Ask for scores, or train one with another multimodal.fusion"
            )


class _Scorer:
    """The layers that make a product of vectors, and P(e|m), a score.

    A model that was trained without P(e|m) has the weights that it started with for it, and is given zeros.
    """

    def __init__(self, trained: TrainedFolder, settings: MultimodalSettings) -> None:
        wide, width = settings.vector_width, settings.width
        head, self._width, self._takes_prior = trained.head(), width, settings.prior
        self._parts = wide // width
        shapes = {"sum": (1, self._parts + 1), "wide": (width, wide + 1), "narrow": (1, width)}
        layers = {name: trained.layer(head, f"scorer.{name}", *shape) for name, shape in shapes.items()}
        for name, layer in layers.items():
            if layer is None:
                raise DamagedError(
                    f"{trained.folder / HEAD}: the layer {name!r} of the model {trained.card.name!r} is not here. "
                    "Train it again"
                )
        self._sum, self._wide, self._narrow = (layer for layer in layers.values() if layer is not None)

    def __call__(self, products: Vectors, priors: Sequence[float]) -> list[float]:
        prior = numpy.asarray(priors, numpy.float32).reshape(-1, 1) * self._takes_prior
        dots = products[:, : self._parts * self._width].reshape(len(products), self._parts, self._width).mean(axis=2)
        hidden = self._wide(numpy.concatenate([products, prior], axis=1))
        scores = self._sum(numpy.concatenate([dots, prior], axis=1)) + self._narrow(numpy.maximum(hidden, 0))
        found: list[float] = scores[:, 0].tolist()
        return found


def checked_inputs(without: AbstractSet[str]) -> None:
    """Raise for a name that is none of the four inputs."""
    strange = sorted(without - set(INPUTS))
    if strange:
        raise ConfigError(f"without: there is no input {strange[0]!r}. There are {', '.join(INPUTS)}")


def load_multimodal(
    spec: str | Path,
    *,
    pictures: str | Path | None = None,
    fetch: bool = False,
    vectors: IdVectors | None = None,
    threads: int | None = None,
) -> MultimodalModel:
    """The multimodal model by its name in the store, or from its folder.

    `pictures` is the folder of the entities' pictures, if it is another than in training. `vectors` are those
    of entities, for a model that reads them.
    """
    require_retrieval("a multimodal model")
    trained = open_trained(spec, "multimodal")
    return MultimodalModel(trained, spec=str(spec), pictures=pictures, fetch=fetch, vectors=vectors, threads=threads)


def reads_vectors(spec: str | Path) -> bool:
    """Whether a model reads vectors of entities in the place of their texts."""
    trained = open_trained(spec, "multimodal")
    return multimodal_settings(trained.card, trained.folder).entity_text == "vectors"


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise DamagedError(f"{path}: this file of the model is missing. Train it again, or fetch it again")
    return path
