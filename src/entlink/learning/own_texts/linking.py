"""A knowledge base's own mentions taken through a linker, some of their entities kept from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from copy import copy
from itertools import groupby, islice

from entlink.documents import Candidate
from entlink.interfaces import Question, Retriever, Shortlist
from entlink.io.progress import Progress
from entlink.learning.own_texts.mentions import SelfMention
from entlink.linking.linker import Linker

Gone = Mapping[tuple[str, int], Set[str]]  # by document and start of a mention: what it is not to find
_BATCH = 64  # documents


def ranked(linker: Linker, mentions: Sequence[SelfMention], progress: Progress) -> Iterator[Shortlist]:
    """The ranked candidates of each mention, in order; of one taken out, as if its entity did not exist."""
    gone = {(one.document.id, one.mention.span.start): one.gone for one in mentions if one.gone}
    parted = _parted(linker, gone)
    documents = (list(group) for _, group in groupby(mentions, key=lambda one: one.document.id))
    done = 0
    while batch := list(islice(documents, _BATCH)):
        questions = [Question(group[0].document, [one.mention for one in group]) for group in batch]
        shortlists = [
            Shortlist(question.document, mention, candidates)
            for question, lists in zip(questions, parted.retrieve(questions), strict=True)
            for mention, candidates in zip(question.mentions, lists, strict=True)
        ]
        for shortlist, candidates in zip(shortlists, parted.rank(shortlists), strict=True):
            yield shortlist._replace(candidates=candidates)
        done += len(shortlists)
        progress("linking", done, len(mentions))


def _parted(linker: Linker, gone: Gone) -> Linker:
    """The linker with retrievers that do not find what is gone."""
    pooling = linker.pooling
    retrievers: Sequence[Retriever] | Mapping[str, Retriever]
    if pooling is None:
        retrievers = [without(retriever, gone) for retriever in linker.retrievers]
    else:
        retrievers = {name: without(retriever, gone) for name, retriever in pooling.retrievers.items()}
    return Linker(
        linker.kb,
        linker.detector,
        retrievers,
        linker.ranker,
        linker.nil,
        evidence=linker.evidence,
        fusion=None if pooling is None else pooling.fusion,
        pool=48 if pooling is None else pooling.widest,
        types=tuple(linker.types),
    )


def without(retriever: Retriever, gone: Gone) -> Retriever:
    """A copy of the retriever that finds what it finds, but for what is gone; the rest share P(e|m) among them."""
    less = copy(retriever)  # so that it can do all else that the retriever can

    def retrieve(questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        return [
            [
                _less(candidates, gone.get((question.document.id, mention.span.start), frozenset()))
                for mention, candidates in zip(question.mentions, lists, strict=True)
            ]
            for question, lists in zip(questions, retriever.retrieve(questions), strict=True)
        ]

    setattr(less, "retrieve", retrieve)  # noqa: B010 - mypy lets no method be assigned
    return less


def _less(candidates: Sequence[Candidate], gone: Set[str]) -> Sequence[Candidate]:
    left = 1.0 - sum(one.evidence.get("prior", 0.0) for one in candidates if one.entity in gone)
    return [_grown(one, left) for one in candidates if one.entity not in gone]


def _grown(candidate: Candidate, left: float) -> Candidate:
    """With P(e|m) as if those who had all but `left` of it were not there; other evidence stays."""
    prior = candidate.evidence.get("prior")
    if prior is None or not 0.0 < left < 1.0 or "edit" in candidate.evidence:
        return candidate
    grown = min(1.0, prior / left)
    score = grown if candidate.score == prior else candidate.score
    return Candidate(candidate.entity, score, {**candidate.evidence, "prior": grown}, candidate.title)
