"""Candidates by meaning: entities whose vectors are near the mention's.

With an index over the vectors of a knowledge base (`entlink kb index NAME.kb --vectors minilm`) the nearest of all
its entities are found. Without one, only what other retrievers have found is scored, and only that is encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from entlink.documents import Candidate
from entlink.encoders.dual import CONTEXT, DESCRIPTION, checked_vectors
from entlink.encoders.trained.bi_encoder import TrainedDual
from entlink.errors import ConfigError, DamagedError, MissingExtraError
from entlink.interfaces import DualEncoder, Encoder, Question, Shortlist
from entlink.kb.indexes.vectors.choice import dual_for
from entlink.kb.indexes.vectors.index import PROBED, missing_index, tell_of_other_index
from entlink.kb.indexes.vectors.search import VectorSearch
from entlink.kb.indexes.vectors.store import EntityVectors
from entlink.kb.knowledge_base import KnowledgeBase

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("retrieval by vectors", "retrieval") from problem

if TYPE_CHECKING:
    from entlink.documents import Document, Mention
    from entlink.interfaces import Vectors

Search = Literal["auto", "index", "never"]
_KEPT_MENTIONS = 4096
_KEPT_KEYS = 200_000


class DenseRetriever:
    """The entities nearest to a mention, scored by the cosine; and the cosine of what others found.

    `encoder` is the name or folder of one, or an object; `description` and `context` weigh the words around a name.
    One that was trained on mentions and entities has weights of its own, and may score by the product of vectors.
    `search` says whether to look through all entities: where there is an index for it ("auto"), always, so that a
    missing index is an error ("index"), or not at all ("never"). Without a search, `demand` bounds how many
    candidates of a mention are encoded for it: the first, which are the best that others found; the rest score 0.
    Of more than 50,000 entities, a search looks through those in the `probed` nearest of 1,024 lists (4,096 from a
    million on): more lists miss less and take longer.

    With `hidden`, a mention's name is hidden, and so many tokens are read, signs among them: what it means is told
    by what stands around it alone. This is for an encoder that was trained with hidden names, as `adapt` does.
    """

    needs = "the extra retrieval and an encoder; to search, an index: entlink kb index --vectors"
    gives = ("dense",)

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        encoder: str | Encoder | DualEncoder = "auto",
        limit: int = 30,
        description: float = DESCRIPTION,
        context: float = CONTEXT,
        search: Search = "auto",
        demand: int = 8,
        probed: int = PROBED,
        hidden: int = 0,
    ) -> None:
        for setting, value in (("limit", limit), ("demand", demand), ("probed", probed)):
            if value < 1:
                raise ConfigError(f"{setting} = {value} does not fit: it is 1 or more")
        self.kb, self.limit, self.search, self.demand = kb, limit, search, demand
        self.dual = dual_for(kb, encoder, description=description, context=context)
        if hidden:
            self.dual = _with_names_hidden(self.dual, hidden)
        self._entities = EntityVectors(kb, self.dual)
        self._nearest = VectorSearch(kb, self.dual, self._entities, probed=probed)
        if search == "index" and not self._nearest.is_ready:
            raise missing_index(kb, self.dual)
        if search == "auto" and not self._nearest.is_ready:
            tell_of_other_index(kb, self.dual)
        self._types: frozenset[str] = frozenset()
        self._mentions: dict[object, Vectors] = {}
        self._keys: dict[str, int | None] = {}

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types

    def knowledge_base_changed(self) -> None:
        self._keys.clear()
        self._entities.forget()

    @property
    def searches(self) -> bool:
        """Whether all entities are looked through."""
        return self.search != "never" and (self.search == "index" or self._nearest.is_ready)

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        """The nearest entities of each mention, where there is an index to look through; none without words."""
        if not self.searches:
            return [[() for _ in question.mentions] for question in questions]
        pairs = [(question.document, mention) for question in questions for mention in question.mentions]
        found: list[Sequence[Candidate]] = [() for _ in pairs]
        allowed = [place for place, (_, mention) in enumerate(pairs) if not self.kb.meaning(mention.text).blocked]
        if allowed:
            vectors = self.mention_vectors([pairs[place] for place in allowed])
            for place, keys in zip(allowed, self._nearest.search(vectors, self.limit, self._types), strict=True):
                found[place] = self._candidates(keys)
        each = iter(found)
        return [[next(each) for _ in question.mentions] for question in questions]

    def _candidates(self, found: list[tuple[int, float]]) -> list[Candidate]:
        candidates = []
        for key, cosine in found:
            try:
                id, title = self.kb.head(key)
            except DamagedError:
                continue  # another process removed it just now
            candidates.append(Candidate(id, cosine, {"dense": cosine}, title))
        return candidates

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """The cosine of each candidate and its mention; 0 for a mention without words or an entity that is gone."""
        read = shortlists
        if not self.searches:
            read = [Shortlist(one.document, one.mention, one.candidates[: self.demand]) for one in shortlists]
        return [
            [{"dense": score} for score in (*scores, *[0.0] * (len(one.candidates) - len(scores)))]
            for one, scores in zip(shortlists, self._cosines(read), strict=True)
        ]

    def _cosines(self, shortlists: Sequence[Shortlist]) -> list[Sequence[float]]:
        asked = [one for one in shortlists if one.candidates]
        if not asked:
            return [() for _ in shortlists]
        mentions = iter(self.mention_vectors([(one.document, one.mention) for one in asked]))
        keys = [[self._key(candidate.entity) for candidate in one.candidates] for one in asked]
        places = {key: place for place, key in enumerate({key: 0 for row in keys for key in row if key is not None})}
        entities = numpy.zeros(
            (len(places) + 1, self.dual.dimension), numpy.float32
        )  # the last for those that are gone
        entities[: len(places)] = self.entity_vectors(list(places))
        rows = iter(
            [[places.get(key, len(places)) if key is not None else len(places) for key in row] for row in keys]
        )
        return [(entities[next(rows)] @ next(mentions)).tolist() if one.candidates else () for one in shortlists]

    def mention_vectors(self, mentions: Sequence[tuple[Document, Mention]]) -> Vectors:
        """A row a mention; those of the last batches are kept, for whoever asks for the same again."""
        contents = [self.dual.mention_content(document, mention) for document, mention in mentions]
        missing = {content: row for row, content in enumerate(contents) if content not in self._mentions}
        if missing:
            asked = [mentions[row] for row in missing.values()]
            found = self.dual.encode_mentions(asked)
            checked_vectors(self.dual, found, [mention.text for _, mention in asked])
            kept = {content: self._mentions[content] for content in contents if content in self._mentions}
            if len(self._mentions) + len(missing) > _KEPT_MENTIONS:
                self._mentions = kept
            self._mentions.update(zip(missing, found, strict=True))
        vectors = numpy.zeros((len(contents), self.dual.dimension), numpy.float32)
        for row, content in enumerate(contents):
            vectors[row] = self._mentions[content]
        return vectors

    def entity_vectors(self, keys: Sequence[int]) -> Vectors:
        """A row an entity, by internal key; zeros for one that is not there."""
        return self._entities.of(keys)

    def _key(self, id: str) -> int | None:
        try:
            return self._keys[id]
        except KeyError:
            if len(self._keys) >= _KEPT_KEYS:
                self._keys.clear()
            key = self._keys[id] = self.kb.key(id)
            return key


def _with_names_hidden(dual: DualEncoder, tokens: int) -> DualEncoder:
    if not isinstance(dual, TrainedDual):
        raise ConfigError(
            f"hidden = {tokens} does not fit: {dual.name!r} was not trained on mentions. Give a bi-encoder, or 0"
        )
    return dual.with_names_hidden(tokens)
