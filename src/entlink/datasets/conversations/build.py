"""Corpora of ConvoKit to a set of conversations: threads whose gold is what users linked to a wiki.

Made in a folder beside the target that comes into place at the end. A build that fails leaves nothing; one that was
killed leaves that folder, which the next one clears.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from entlink.datasets.conversations.domains import ZESHEL_DOMAINS, Domain, choose_subreddits
from entlink.datasets.conversations.options import ConversationOptions, check_options
from entlink.datasets.conversations.report import ConversationsReport
from entlink.datasets.conversations.staging import staging
from entlink.datasets.conversations.statistics import ThreadStatistics
from entlink.datasets.conversations.steps import ConversationBuilder
from entlink.datasets.conversations.target import FolderTarget
from entlink.datasets.hyperlinks.report import kb_card
from entlink.errors import InputError
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.store.store import Store
from entlink.sources.convokit import find_corpora

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
    target = FolderTarget(Path(out))
    target.check([corpus.path for corpus in found], replace=replace)
    card = kb_card(Path(kb))
    store = Store(Path(kb))
    try:
        with target.making() as folder, staging(target.work) as shelf:
            return ConversationBuilder(found, shelf, store, options, progress).build(folder, card, command)
    finally:
        store.close()
