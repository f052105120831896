"""The stages of linking: each a protocol with one method over a batch.

A stage may import `documents`, `interfaces`, `errors`, `kb` and `encoders`, and never another stage.
`entlink.testing` has checks for those who write their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from entlink.documents import Candidate, Document, Link, Mention


class Question(NamedTuple):
    """A document with its mentions: what a retriever is asked about."""

    document: Document
    mentions: Sequence[Mention]


class Shortlist(NamedTuple):
    """A mention in its document with the candidates found for it: what a ranker orders."""

    document: Document
    mention: Mention
    candidates: Sequence[Candidate]


@runtime_checkable
class Detector(Protocol):
    """Documents to mentions."""

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        """The mentions of each document, sorted by start, none overlapping another."""


@runtime_checkable
class Retriever(Protocol):
    """Mentions to candidates."""

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        """For each question, the candidates of each of its mentions; none is an empty list."""


@runtime_checkable
class Ranker(Protocol):
    """Candidates to an order."""

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        """The candidates of each shortlist, rescored, best first."""


@runtime_checkable
class NilPolicy(Protocol):
    """Ranked candidates to a decision."""

    def decide(self, shortlists: Sequence[Shortlist]) -> list[Link]:
        """A link for each shortlist: to its best candidate, or NIL."""


@runtime_checkable
class Follower(Protocol):
    """A stage that keeps something derived from the knowledge base and must be told when that changed."""

    def knowledge_base_changed(self) -> None:
        """Drop whatever was derived."""
