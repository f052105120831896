"""Studies: what papers measure of linkers, on any knowledge base and any data with gold.

`docs/studies.md` is the page to read first. `study_candidates` looks at retrieval given the gold spans,
`study_unfamiliar_kb` at linking against a knowledge base that nothing was learnt from, domain by domain,
`study_conversations` at linking in conversations, beside other systems and published scores.
"""

from __future__ import annotations

from entlink.studies.candidate_results import CandidateOptions, CandidateStudy
from entlink.studies.candidates import study_candidates
from entlink.studies.conversation_results import ConversationOptions, ConversationStudy
from entlink.studies.conversation_runs import RunSource
from entlink.studies.conversations import study_conversations
from entlink.studies.systems import ConfiguredSystem, NearestTitleSystem, default_systems
from entlink.studies.unfamiliar import UnfamiliarOptions, study_unfamiliar_kb
from entlink.studies.unfamiliar_results import UnfamiliarStudy

__all__ = [
    "CandidateOptions",
    "CandidateStudy",
    "ConfiguredSystem",
    "ConversationOptions",
    "ConversationStudy",
    "NearestTitleSystem",
    "RunSource",
    "UnfamiliarOptions",
    "UnfamiliarStudy",
    "default_systems",
    "study_candidates",
    "study_conversations",
    "study_unfamiliar_kb",
]
