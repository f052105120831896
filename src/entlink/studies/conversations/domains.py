"""A set of conversations domain by domain, each against its own part of the knowledge base."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from entlink.errors import InputError
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies.conversations.results import ConversationOptions
from entlink.studies.conversations.sets import ConversationSet
from entlink.studies.systems import System
from entlink.studies.unfamiliar.results import UnfamiliarStudy
from entlink.studies.unfamiliar.study import UnfamiliarOptions, study_unfamiliar_kb

FIELD = "domain"


def by_domain(
    kb: KnowledgeBase,
    data: ConversationSet,
    systems: Sequence[System],
    options: ConversationOptions,
    progress: Progress | None,
) -> tuple[UnfamiliarStudy | None, str]:
    """The study of a set whose conversations have a domain; else None, and why where that is not plain."""
    named = {str(document.meta[FIELD]) for document in data if document.meta.get(FIELD)}
    if not named:
        return None, ""
    if options.turns:
        return None, f"{data.name}: with only some speakers' turns there are no scores by domain"
    how = UnfamiliarOptions(
        by=f"meta:{FIELD}", limit=options.limit, match_gold=options.match_gold, format=options.format
    )
    try:
        study = study_unfamiliar_kb(kb.folder, [file.path for file in data.files], systems, how, progress=progress)
    except InputError as error:  # the knowledge base may be of other domains; the rest of the study stands
        return None, f"{data.name}: no scores by domain: {error}"
    return msgspec.structs.replace(study, published=()), ""
