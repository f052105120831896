"""Corpora of ConvoKit to a set of conversations: threads whose gold is what users linked to a wiki.

Made in a folder beside the target that comes into place at the end. A build that was killed goes on where it stopped
when it is started again in the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.conversations.domains import ZESHEL_DOMAINS, Domain, choose_subreddits
from entlink.datasets.conversations.options import ConversationOptions, check_options
from entlink.datasets.conversations.report import ConversationsReport, told_options
from entlink.datasets.conversations.staging import staging
from entlink.datasets.conversations.statistics import ThreadStatistics
from entlink.datasets.conversations.steps import ConversationBuilder
from entlink.datasets.folder_target import FolderTarget
from entlink.datasets.hyperlinks.report import kb_card
from entlink.errors import InputError
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import Stamp, stamps
from entlink.kb.store.store import Store
from entlink.sources.convokit import find_corpora
from entlink.version import __version__

__all__ = [
    "DEFAULTS",
    "ZESHEL_DOMAINS",
    "ConversationOptions",
    "ConversationsReport",
    "Domain",
    "ThreadStatistics",
    "build_conversations",
    "choose_subreddits",
]

DEFAULTS = ConversationOptions()
NO_PROFANITY = (
    "no list of profanity is given, so that no utterance is pruned for it. Such lists are published: fetch the file "
    "`en` of github.com/LDNOOBW/List-of-Dirty-Naughty-Obscene-and-Otherwise-Bad-Words, and give it with --profanity"
)


class _Plan(msgspec.Struct, frozen=True):
    """What a half-done build must have in common with the one that takes it up again."""

    entlink: str
    corpora: tuple[Stamp, ...]
    options: dict[str, Any]
    kb: str


def build_conversations(
    corpora: Sequence[str | Path] | str | Path,
    out: str | Path,
    options: ConversationOptions = DEFAULTS,
    *,
    kb: str | Path,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
) -> ConversationsReport:
    """Write the threads of corpora that have gold into the folder `out`; returns the card that stands in it.

    A corpus is a folder of ConvoKit's, or a folder of such folders. Links are looked up as titles in `kb`.

        build_conversations("corpora", "reddit", ConversationOptions(domains=ZESHEL_DOMAINS), kb="zeshel.kb")
    """
    given = [Path(path) for path in ([corpora] if isinstance(corpora, str | Path) else corpora)]
    if not given:
        raise InputError("there is no corpus. Give at least one folder")
    check_options(options)
    found = [corpus for path in given for corpus in find_corpora(path)]
    if not options.profanity:
        logging.getLogger(__name__).warning(NO_PROFANITY)
    target = FolderTarget(Path(out), ConversationsReport)
    target.check([corpus.path for corpus in found], replace=replace)
    card = kb_card(Path(kb))
    store = Store(Path(kb))
    try:
        plan = _Plan(__version__, stamps(found), told_options(options), card.sha256)
        with target.making(plan) as folder, staging(target.work) as shelf:
            return ConversationBuilder(found, shelf, store, options, progress).build(folder, card, command)
    finally:
        store.close()
