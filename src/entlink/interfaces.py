"""The stages of linking: each a protocol with one method over a batch.

A stage may import the ground floor, `kb` and `encoders`, and never another stage.
`entlink.testing` has checks for those who write their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from entlink.documents import Candidate, Document, Entity, Link, Mention, Span

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[numpy.float32]


OnPictureProblem: TypeAlias = Callable[[int, Exception], None]
What = Literal["names", "terms", "all"]  # which words without a capital are wanted: none, rarer ones, or most


class Question(NamedTuple):
    """A document with its mentions: what a retriever is asked about."""

    document: Document
    mentions: Sequence[Mention]


class Linked(NamedTuple):
    """A document with the links that were found in it: what is asked of what type its NILs are."""

    document: Document
    links: Sequence[Link]

    @property
    def untyped(self) -> list[Link]:
        """Its NILs that have no type yet, as a tagger or a policy gave it."""
        return [one for one in self.links if one.entity is None and one.nil_type is None]


class Shortlist(NamedTuple):
    """A mention in its document with the candidates found for it: what a ranker orders."""

    document: Document
    mention: Mention
    candidates: Sequence[Candidate]


@runtime_checkable
class Detector(Protocol):
    """Documents to mentions."""

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        """The mentions of each document, sorted by start, none overlapping another.

        A detector with the attribute `may_overlap` proposes overlapping ones: a `Settling` NIL policy chooses.
        """


@runtime_checkable
class Listener(Protocol):
    """A detector that reads a turn of a conversation after what was said before it, and not by itself."""

    def detect_last_turns(self, documents: Sequence[Document]) -> list[list[Mention]]:
        """The mentions of the last turn of each document, sorted; their spans count in the whole document."""


@runtime_checkable
class Retriever(Protocol):
    """Mentions to candidates."""

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        """For each question, the candidates of each of its mentions; none is an empty list."""


@runtime_checkable
class Evidence(Protocol):
    """Numbers about candidates, which a ranker weighs by name. A retriever can be evidence for what others found.

    `gives` names the numbers. The first is its score: that of a second stage of its kind goes under a name with -2.
    An attribute `when` may say which candidates it is asked about: "shortlist", those that go to the ranker, is the
    default; "pool", all that were found, before a fusion cuts them; "ranked", those of the ranker, best first.
    """

    @property
    def gives(self) -> Sequence[str]:
        """The names of its numbers."""

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """For each shortlist, the numbers of each of its candidates by name; a name is left out where it has none."""


@runtime_checkable
class Rescorer(Protocol):
    """What came before `Evidence`: a retriever that scores what others found. In 0.1 it is asked, with a warning."""

    def rescore(self, shortlists: Sequence[Shortlist]) -> list[Sequence[float]]:
        """For each shortlist, a score for each of its candidates; 0 where it has nothing to say of one."""


@runtime_checkable
class Fusion(Protocol):
    """What several retrievers found to one list."""

    def fuse(self, pools: Sequence[Sequence[Candidate]]) -> list[Sequence[Candidate]]:
        """The candidates of each pool to go on with, best first.

        In a pool every candidate comes once; its evidence has the score of each retriever that knows it, under
        that retriever's name.
        """


@runtime_checkable
class Ranker(Protocol):
    """Candidates to an order, by the evidence they have.

    An attribute `wanted_evidence` may name the evidence stages that it weighs without being told, and
    `needed_evidence` those it cannot do without.
    """

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        """The candidates of each shortlist, rescored, best first."""


@runtime_checkable
class NilPolicy(Protocol):
    """Ranked candidates to a decision."""

    def decide(self, shortlists: Sequence[Shortlist]) -> list[Link]:
        """A link for each shortlist: to its best candidate, or NIL."""


@runtime_checkable
class NilTyper(Protocol):
    """Mentions of what is not in the knowledge base to its types."""

    def types_of(self, linked: Sequence[Linked]) -> list[dict[Span, str]]:
        """For each document, the types of those of its links that are `untyped`, where anything says them."""


@runtime_checkable
class Settling(Protocol):
    """A NIL policy that also says which of overlapping proposals are mentions, after all are ranked.

    `threshold` is what a link has to score to be kept.
    """

    threshold: float

    def is_hopeless(self, surface: str, candidates: Sequence[Candidate]) -> bool:
        """Whether the surface is no link in any text, so that its candidates need not be ranked."""

    def settle(self, document: Document, links: Sequence[Link]) -> Sequence[Link]:
        """The links to keep, none overlapping another; mentions that the document gives all stay."""


@runtime_checkable
class Encoder(Protocol):
    """Texts to vectors of unit length, so that a dot product is a cosine.

    `identity` names the weights and every setting that changes a vector: vectors of two identities never mix.
    """

    name: str
    dimension: int
    identity: str

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row a text, in the order of the texts; a text without words is a row of zeros."""


@runtime_checkable
class LayeredEncoder(Protocol):
    """Mentions in their sentences, and descriptions, to the vectors of every layer: what probes compare.

    Vectors are as the model gives them, of any length. `mixing` is how a probe weighs the layers where it learns to:
    "softmax", with a scalar, for recurrent models; "weights", without bounds, for transformers.
    """

    name: str
    identity: str
    layers: int
    dimension: int
    mixing: Literal["softmax", "weights"]

    def encode_contexts(self, contexts: Sequence[tuple[str, Span]]) -> Vectors:
        """Shaped layers, contexts, dimension: each is a sentence, and where the mention is in it."""

    def encode_descriptions(self, texts: Sequence[str]) -> Vectors:
        """Shaped layers, texts, dimension: each is a description of an entity, or its name."""


@runtime_checkable
class PictureEncoder(Protocol):
    """Pictures to vectors of unit length; the same `identity` always gives the same vectors.

    A picture is the content of its file. `grid` says how many cells its map has, and how wide a row of it is.
    `on_problem` is told the number of a picture that cannot be used, and why: its row is of zeros. Without it, that
    is an error.
    """

    name: str
    dimension: int
    identity: str
    grid: tuple[int, int]

    def encode(self, pictures: Sequence[bytes], on_problem: OnPictureProblem | None = None) -> Vectors:
        """A row a picture."""

    def encode_grid(self, pictures: Sequence[bytes], on_problem: OnPictureProblem | None = None) -> Vectors:
        """For each picture, a row for each cell of its map, as the model gives it: shaped pictures, cells, width."""


@runtime_checkable
class SpanEncoder(Protocol):
    """An encoder that can also tell what a span of a text means where it stands."""

    def encode_spans(self, texts: Sequence[tuple[str, Span]]) -> Vectors:
        """A row a span; of a text longer than the model reads, the part around the span is read."""


@runtime_checkable
class DualEncoder(Protocol):
    """Mentions where they stand, and entities, to vectors of one space: the nearer, the likelier.

    `similarity` is "cosine", of vectors of length 1, or "dot", of vectors of any length. `entity_identity` names all
    that changes the vector of an entity: not the whole `identity` where some settings are about mentions only.
    """

    name: str
    dimension: int
    identity: str
    entity_identity: str
    similarity: str

    def encode_mentions(self, mentions: Sequence[tuple[Document, Mention]]) -> Vectors:
        """A row a mention; a mention without words is a row of zeros."""

    def encode_entities(self, entities: Sequence[Entity]) -> Vectors:
        """A row an entity, from its title and description."""

    def mention_content(self, document: Document, mention: Mention) -> object:
        """All that the vector of a mention depends on, as something that can be a key."""

    def entity_content(self, entity: Entity) -> str:
        """All that the vector of an entity depends on, by which vectors are kept."""

    def recipe(self) -> dict[str, Any]:
        """What `load_recipe` needs to encode entities the same way again; nothing if it cannot be loaded by name."""


@runtime_checkable
class Typed(Protocol):
    """A detector or retriever that keeps to entities of some types by itself, before it counts or cuts anything."""

    def keep_to_types(self, types: frozenset[str]) -> None:
        """From now on only entities with one of these types; none means all."""


class Reason(StrEnum):
    """Why a name was left alone; a detector of your own may say it in other words."""

    NO_MEANING = "no entity has the name now"
    WRONG_TYPE = "no entity of the wanted types has the name"
    BLOCKED = "blocked by a rule"
    CASE = "the case policy wants it written as the name is"
    BROKEN = "it runs across the end of a sentence or paragraph"
    SHORT = "shorter than the names that are looked for"
    RARELY_LINKED = "below the threshold of link probability"
    COMMON_WORD = "a common word of the texts, mostly in lower case"
    LOST = "lost to an overlapping name"
    NOT_LOOKED_FOR = "not looked for here: its ends are not word ends, or only given spans may be written so"
    NOT_GIVEN = "not among the mentions that the document gives"
    UNLIKELY = "below the threshold of what the detector learnt"


class Verdict(NamedTuple):
    """What a detector thinks of a surface: a reason to leave it alone, or None.

    `value` is the number behind it, `threshold` what it was held against.
    """

    score: float
    reason: str | None = None
    value: float | None = None
    threshold: float | None = None


class Judgement(NamedTuple):
    """What became of a span in a detector, and to which other one it lost."""

    span: Span
    verdict: Verdict
    lost_to: Span | None = None


@runtime_checkable
class Explainer(Protocol):
    """A detector that can tell what became of the names it met; `Linker.explain` asks it."""

    def explain(self, document: Document, span: Span | None = None) -> Iterable[Judgement]:
        """A judgement of each name in the document; of `span` too, whatever it is, if there is one to tell."""


@runtime_checkable
class Fitted(Protocol):
    """A NIL policy that was fitted to the scores of one ranker."""

    def runs_with(self, ranker: str) -> None:
        """The name of the ranker whose candidates it is going to see."""


@runtime_checkable
class Follower(Protocol):
    """A stage that keeps something derived from the knowledge base and must be told when that changed."""

    def knowledge_base_changed(self) -> None:
        """Drop whatever was derived."""
