"""Stages put together: documents in, linked documents out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import msgspec

from entlink.documents import Candidate, Document, Link, Mention, Span
from entlink.errors import ConfigError, InputError
from entlink.formats.roles import gold_as_mentions
from entlink.interfaces import (
    Detector,
    Evidence,
    Fitted,
    Follower,
    Fusion,
    Linked,
    NilPolicy,
    NilTyper,
    Question,
    Ranker,
    Retriever,
    Settling,
    Shortlist,
    Typed,
)
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.as_of import DOCUMENT, choose_linker
from entlink.linking.config import (
    ConversationConfig,
    LinkerConfig,
    make_fusion,
    make_retrievers,
    make_stage,
)
from entlink.linking.evidence import Gathering, make_evidence
from entlink.linking.language_check import LanguageCheck
from entlink.linking.long_texts import is_long, link_in_pieces
from entlink.linking.pooling import Lists, Pooling, in_turn
from entlink.linking.upgrades import upgraded
from entlink.text.spans import check_mentions

if TYPE_CHECKING:
    from entlink.linking.conversation.personal.resolver import PersonalResolver
    from entlink.linking.conversation.turns import Conversation
    from entlink.linking.dated import DatedLinker
    from entlink.linking.explain import Explanation


class Linker:
    """Finds and links the mentions of documents.

    A detector finds mentions; the first retriever that knows a mention gives its candidates, or, with a fusion,
    all of them do; evidence says numbers about them; a ranker weighs those and orders the candidates; a NIL policy
    decides, and `nil_types` says of what type a NIL is. Without `evidence`, it is what the ranker weighs by default.
    `types` keeps candidates of these types and kinds of them only, by id, name or coarse type; `min_score` drops
    weaker links. A fusion speaks of retrievers by name: then they come as a mapping. Documents with turns are linked
    a turn at a time, as `conversations` says. With `spans_of_gold`, the spans of the documents' gold are given to the
    stages as mentions, and nothing else of it.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        detector: Detector,
        retrievers: Sequence[Retriever] | Mapping[str, Retriever],
        ranker: Ranker,
        nil: NilPolicy,
        *,
        evidence: Sequence[Evidence] | None = None,
        fusion: Fusion | None = None,
        nil_types: NilTyper | None = None,
        pool: int = 48,
        types: Sequence[str] = (),
        min_score: float = 0.0,
        batch_size: int = 64,
        conversations: ConversationConfig | None = None,
        spans_of_gold: bool = False,
    ) -> None:
        self.kb, self.detector = kb, detector
        self.retrievers: list[Retriever] = (
            list(retrievers.values()) if isinstance(retrievers, Mapping) else list(retrievers)
        )
        self.ranker, self.nil = ranker, nil
        self.nil_types: NilTyper = nil_types or make_stage("nil_type", LinkerConfig().nil_type, kb)
        self.min_score, self.batch_size = min_score, batch_size
        self._settling = nil if isinstance(nil, Settling) else None
        if min_score > 0.0 and self._settling is not None:
            self._settling.threshold = min_score  # it leaves weak links out, or shows those that are asked for
        self.conversations = conversations or ConversationConfig()
        self.spans_of_gold = spans_of_gold
        self.personal = _personal(kb, self.conversations)
        self._languages = LanguageCheck(kb)
        self._revision = kb.revision
        self._check_stages()
        self.evidence = make_evidence((), ranker, kb) if evidence is None else list(evidence)
        names = retrievers if isinstance(retrievers, Mapping) else ()
        self._gathering = Gathering(self.evidence, names, has_pools=fusion is not None)
        of_pools = self._gathering.of_pools
        self.pooling = None if fusion is None else _pooling(retrievers, fusion, pool, of_pools)
        self._wanted_types = tuple(types)
        self._keep_to_types()

    def _keep_to_types(self) -> None:
        """The types that are wanted, and all kinds of them that the knowledge base has now."""
        self.types = self.kb.types.kinds_of(self._wanted_types)
        for stage in (self.detector, *self.retrievers):
            if isinstance(stage, Typed):
                stage.keep_to_types(self.types)

    def _check_stages(self) -> None:
        """Whether the parts fit, before anything runs."""
        wanted: list[tuple[str, Any, type[Any]]] = [
            ("detector", self.detector, Detector),
            *(("retriever", retriever, Retriever) for retriever in self.retrievers),
            ("ranker", self.ranker, Ranker),
            ("nil", self.nil, NilPolicy),
            ("nil_type", self.nil_types, NilTyper),
        ]
        for kind, stage, protocol in wanted:
            if not isinstance(stage, protocol):
                raise ConfigError(
                    f"{type(stage).__name__} is not a {kind}: it lacks the method of {protocol.__name__}"
                )
        if not self.retrievers:
            raise ConfigError("a linker needs at least one retriever")

    def link(self, text: str | Document) -> Document:
        """Link one text or document."""
        if not isinstance(text, str | Document):
            raise InputError(f"a text (str) or a Document can be linked, not {type(text).__name__}")
        document = text if isinstance(text, Document) else Document("text", text)
        return self._link_batch([document])[0]

    def link_all(self, documents: Iterable[str | Document]) -> Iterator[Document]:
        """Link a stream of texts or documents, a batch at a time."""
        if isinstance(documents, str | Document):
            raise InputError("link_all takes several texts or documents; link takes one")
        numbered = (
            item if isinstance(item, Document) else Document(str(number), item)
            for number, item in enumerate(documents)
        )
        while batch := list(islice(numbered, self.batch_size)):
            yield from self._link_batch(batch)

    def conversation(
        self, id: str = "conversation", *, speakers: Iterable[str] | None = None, keep: bool = True
    ) -> Conversation:
        """A conversation to add turns to, each linked when it comes; see `entlink.linking.conversation.turns`."""
        from entlink.linking.conversation.turns import Conversation

        return Conversation(self, id, speakers=speakers, keep=keep)

    def explain(self, text: str | Document, span: Span | None = None) -> Explanation:
        """Why each name in a text was linked or not; with `span`, why that span was or was not."""
        from entlink.linking.explain import explain

        document = text if isinstance(text, Document) else Document("text", text)
        return explain(self, document, span)

    def candidates(self, document: Document, mentions: Sequence[Mention]) -> list[Sequence[Candidate]]:
        """The candidates of each mention of a document, undecided, less those not of the wanted types."""
        return self.retrieve([Question(document, mentions)])[0]

    def retrieve(self, questions: Sequence[Question]) -> Lists:
        """The same for the mentions of several documents at once."""
        if self.pooling is None:
            found = in_turn(self.retrievers, questions)
        else:
            found = self.pooling.candidates(questions, self._allowed)
        if self.types:
            found = [[self._of_types(one) for one in lists] for lists in found]
        return [[self._titled(one) for one in lists] for lists in found]

    def _titled(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """With the titles that a retriever left out, which only has to know entities by their id."""
        if None not in [one.title for one in candidates]:
            return candidates
        return [one if one.title else self._with_title(one) for one in candidates]

    def _with_title(self, candidate: Candidate) -> Candidate:
        entity = self.kb.get(candidate.entity)
        return candidate if entity is None else msgspec.structs.replace(candidate, title=entity.title)

    def _allowed(self, shortlist: Shortlist) -> Sequence[Candidate]:
        """Of a pool, before it is cut: a pin or block on a name holds whatever other retrievers find."""
        meaning = self.kb.meaning(shortlist.mention.text)
        if meaning.blocked or meaning.pinned:
            return [one for one in shortlist.candidates if one.evidence.get("pinned")]
        return shortlist.candidates

    def _of_types(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        return [one for one in candidates if self.types.intersection(self.kb.types(one.entity))]

    def _link_batch(self, documents: list[Document]) -> list[Document]:
        self.keep_up()
        self._languages.look_at(documents)
        if self.spans_of_gold:
            linked = self._link_given([gold_as_mentions(one) for one in documents])
            return [
                msgspec.structs.replace(document, links=one.links)
                for document, one in zip(documents, linked, strict=True)
            ]
        for document in documents:
            if document.mentions:
                check_mentions(document)
        return self._link_given(documents)

    def _link_given(self, documents: list[Document]) -> list[Document]:
        if any(document.turns for document in documents):
            from entlink.linking.conversation.turns import link_documents

            return link_documents(self, documents)
        return self.link_whole(documents)

    def link_whole(self, documents: Sequence[Document]) -> list[Document]:
        """The documents linked as texts, turns or not, all in one pass; very long ones by themselves, in pieces."""
        linked: list[Document] = []
        for is_alone, group in groupby(documents, is_long):
            if is_alone:
                linked += (link_in_pieces(one, lambda piece: self._link_together([piece])[0]) for one in group)
            else:
                linked += self._link_together(list(group))
        return linked

    def _link_together(self, documents: Sequence[Document]) -> list[Document]:
        questions = list(map(Question, documents, self.detector.detect(documents)))
        return [
            msgspec.structs.replace(document, links=links)
            for document, links in zip(documents, self.decide(questions, self.retrieve(questions)), strict=True)
        ]

    def decide(self, questions: Sequence[Question], lists: Lists) -> list[tuple[Link, ...]]:
        """The links of the mentions of each question, from the candidates that were found for them."""
        shortlists: list[Shortlist] = []
        for (document, mentions), candidates in zip(questions, lists, strict=True):
            if self._settling is not None and document.mentions is None:
                is_hopeless = self._settling.is_hopeless  # ranking those would be most of the work
                candidates = [
                    () if is_hopeless(one.text, own) else own for one, own in zip(mentions, candidates, strict=True)
                ]
            shortlists += map(Shortlist, repeat(document), mentions, candidates)
        ranked = [
            one if best is one[2] else Shortlist(one[0], one[1], best)
            for one, best in zip(shortlists, self.rank(shortlists), strict=True)
        ]
        links = iter(self.nil.decide(ranked))
        found = [
            Linked(document, tuple(self._wanted(islice(links, len(mentions)), document)))
            for document, mentions in questions
        ]
        return list(map(_with_types, found, self.nil_types.types_of(found)))

    def proposals(self, document: Document) -> list[Link]:
        """The best link of every mention that the detector proposes, before any of them is left out."""
        question = Question(document, self.detector.detect([document])[0])
        [lists] = self.retrieve([question])
        asked = [Shortlist(document, *one) for one in zip(question.mentions, lists, strict=True)]
        return self.nil.decide([Shortlist(*one[:2], best) for one, best in zip(asked, self.rank(asked), strict=True)])

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        """The candidates of each shortlist with their evidence, best first."""
        return self._gathering.ranked(self.ranker, shortlists)

    def _wanted(self, links: Iterable[Link], document: Document) -> Iterable[Link]:
        """Weak links go; so do found names none of whose entities is of the wanted types, and proposals not kept."""
        if self._settling is not None:
            links = self._settling.settle(document, list(links))
        if not self.types and self.min_score <= 0.0:
            return links
        given = document.mentions is not None
        return (
            link
            for link in links
            if (link.score >= self.min_score if link.entity else given or link.candidates or not self.types)
        )

    def keep_up(self) -> None:
        """Tell the stages when another process, or this one, has edited the knowledge base."""
        self.kb.refresh()
        if self.kb.revision != self._revision:
            self._revision = self.kb.revision
            if self._wanted_types:
                self._keep_to_types()
            for stage in (self.detector, *self.retrievers, *self.evidence, self.ranker, self.nil, self.nil_types):
                if isinstance(stage, Follower):
                    stage.knowledge_base_changed()


def _with_types(linked: Linked, types: Mapping[Span, str]) -> tuple[Link, ...]:
    """The links, those that lack a type with the one that was found for their span."""
    if not types:
        return tuple(linked.links)
    replace = msgspec.structs.replace
    lacking = {id(one) for one in linked.untyped}
    return tuple(
        replace(one, nil_type=types.get(one.mention.span)) if id(one) in lacking else one for one in linked.links
    )


def _pooling(
    retrievers: Sequence[Retriever] | Mapping[str, Retriever],
    fusion: Fusion,
    widest: int,
    evidence: Mapping[str, Evidence],
) -> Pooling:
    if not isinstance(retrievers, Mapping):
        raise ConfigError("a fusion speaks of retrievers by name: give them as a mapping of names to retrievers")
    if not isinstance(fusion, Fusion):
        raise ConfigError(f"{type(fusion).__name__} is not a fusion: it lacks the method of Fusion")
    return Pooling(retrievers, fusion, widest=widest, evidence=evidence)


def _personal(kb: KnowledgeBase, conversations: ConversationConfig) -> PersonalResolver | None:
    """What links personal mentions; most linkers have no use for it, and need not wait for its weights."""
    if not conversations.personal:
        return None
    from entlink.linking.conversation.personal.resolver import make_resolver

    return make_resolver(kb, conversations.personal)


@overload
def load(path: str | Path, *, as_of: Literal["document"], **settings: Any) -> DatedLinker: ...  # type: ignore[overload-overlap]
@overload
def load(
    path: str | Path,
    *,
    config: LinkerConfig | str | Path | None = None,
    as_of: str | None = None,
    mentions: str | None = None,
    types: Sequence[str] | str = (),
    min_score: float | None = None,
    speakers: Sequence[str] | str = (),
    personal: bool | str | None = None,
    trust: bool = False,
) -> Linker: ...
def load(path: str | Path, *, as_of: str | None = None, **settings: Any) -> Linker | DatedLinker:
    """A linker for a knowledge base, ready to use: `entlink.load("my.kb").link("…")`.

    `config` is a LinkerConfig, a TOML file, the folder of a saved linker or the name of one in the box; without it,
    the best that is there: the linker saved beside the knowledge base, else one with the encoder, else one without.
    `as_of` is an ISO date: a knowledge base with snapshots is linked with as it was at the nearest one before it, and
    with nothing that was learnt later; one without by its dated versions. With `as_of="document"` each document is
    linked as of its own `date`, and what comes back is a `DatedLinker`. `mentions="given"` links only the spans that
    documents bring, `mentions="gold"` those of their gold, whose entities no stage sees; `types` and `min_score`
    filter; where `speakers` are named, only their turns of conversations are linked. With `personal`, or a file of
    weights for it, what a speaker calls "my dog" is linked to the entity that the speaker named. A linker that is
    found beside the knowledge base loads nothing from outside its folder, unless `trust` allows it; one that is named
    may.
    """
    if as_of != DOCUMENT:
        return _load(path, as_of, **settings)
    from entlink.linking.dated import DatedLinker

    spans_of_gold = settings.get("mentions") == "gold"
    return DatedLinker(path, lambda date: _load(path, date, **settings), spans_of_gold=spans_of_gold)


def _load(
    path: str | Path,
    as_of: str | None,
    *,
    config: LinkerConfig | str | Path | None = None,
    mentions: str | None = None,
    types: Sequence[str] | str = (),
    min_score: float | None = None,
    speakers: Sequence[str] | str = (),
    personal: bool | str | None = None,
    trust: bool = False,
) -> Linker:
    if isinstance(types, str):
        types = (types,)
    if isinstance(speakers, str):
        speakers = (speakers,)
    chosen = choose_linker(path, as_of, config, spans_given=mentions in ("given", "gold"), trust=trust)
    config = upgraded(chosen.config)
    conversations = config.conversation
    if speakers:
        conversations = msgspec.structs.replace(conversations, speakers=tuple(speakers))
    if personal is not None:
        conversations = msgspec.structs.replace(conversations, personal=personal)
    kb = KnowledgeBase.open(
        chosen.folder, date=chosen.date, weights=config.kb.weights, normalisation=config.kb.normalisation
    )
    try:
        nil = make_stage("nil", config.nil, kb)
        if isinstance(nil, Fitted):
            nil.runs_with(config.ranker["name"])
        ranker = make_stage("ranker", config.ranker, kb)
        detector = {"name": "given" if mentions == "gold" else mentions} if mentions else config.detector
        return Linker(
            kb,
            make_stage("detector", detector, kb),
            make_retrievers(config.retriever, kb),
            ranker,
            nil,
            evidence=make_evidence(config.evidence, ranker, kb),
            types=tuple(types) or config.types,
            fusion=make_fusion(config, kb),
            nil_types=make_stage("nil_type", config.nil_type, kb),
            pool=config.pool,
            min_score=config.min_score if min_score is None else min_score,
            batch_size=config.batch_size,
            conversations=conversations,
            spans_of_gold=mentions == "gold",
        )
    except BaseException:
        kb.close()
        raise
