"""What a set of conversations was made from and what is in it: the card that stands beside it."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from entlink.datasets.conversations.options import ConversationOptions
from entlink.datasets.conversations.statistics import ThreadStatistics
from entlink.datasets.hyperlinks.report import KnowledgeBaseCard


class CorpusCard(msgspec.Struct):
    """A corpus that was read; `taken` are its utterances in subreddits about a domain."""

    name: str
    subreddit: str | None
    domain: str | None
    bytes: int
    sha256: str
    utterances: int = 0
    taken: int = 0
    skipped: int = 0


class ThreadFile(msgspec.Struct):
    """One file of the set; `split` says which of the two splits it is of."""

    name: str
    split: str
    bytes: int
    sha256: str
    statistics: ThreadStatistics


class ConversationsReport(msgspec.Struct):
    """The record a set of conversations leaves beside itself.

    - `other_corpora`: how many were left unread because they are about no domain
    - `conversations`: those of the chosen subreddits; `linked`: those with an address of the wiki in them
    - `pruned`: utterances of linked conversations by the reason for which they were pruned
    - `links`: what became of users' links
    - `threads`: what became of threads, and of the annotations that were added to them
    - `faults`: replies that hang together with no post, by reason
    """

    entlink: str
    built: str
    command: str
    options: dict[str, Any]
    kb: KnowledgeBaseCard
    corpora: list[CorpusCard]
    other_corpora: int
    conversations: int
    linked: int
    pruned: dict[str, int]
    links: dict[str, int]
    threads: dict[str, int]
    faults: dict[str, int]
    files: list[ThreadFile]
    problems: list[str] = []

    def file(self, name: str) -> ThreadFile:
        return next(file for file in self.files if file.name == name)


def told_options(options: ConversationOptions) -> dict[str, Any]:
    """All options as they are written; of the list of profanity its size and checksum, which is enough to know it."""
    written: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.structs.asdict(options)))
    listed = "\n".join(options.profanity)
    written["profanity"] = {
        "entries": len(options.profanity),
        "sha256": hashlib.sha256(listed.encode()).hexdigest() if options.profanity else None,
    }
    return written
