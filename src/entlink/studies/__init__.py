"""Studies: what papers measure of linkers, on any knowledge base and any data with gold.

`docs/studies.md` is the page to read first. `study_candidates` looks at retrieval given the gold spans,
`study_unfamiliar_kb` at linking against a knowledge base that nothing was learnt from, domain by domain,
`study_conversations` at linking in conversations, beside other systems and published scores, `study_time` at linking
over the snapshots of a temporal dataset, `study_few_shot` at gold whose most popular entity is not the right one,
`study_pictures` at captions with pictures.
"""

from __future__ import annotations

from entlink.studies.candidates.results import CandidateOptions, CandidateStudy
from entlink.studies.candidates.study import study_candidates
from entlink.studies.conversations.results import ConversationOptions, ConversationStudy
from entlink.studies.conversations.runs import RunSource
from entlink.studies.conversations.study import study_conversations
from entlink.studies.few_shot.results import FewShotOptions, FewShotStudy
from entlink.studies.few_shot.study import study_few_shot
from entlink.studies.pictures.results import PictureOptions, PictureStudy
from entlink.studies.pictures.study import study_pictures
from entlink.studies.systems import ConfiguredSystem, NearestTitleSystem, default_systems
from entlink.studies.time.results import TimeOptions, TimeStudy
from entlink.studies.time.study import study_time
from entlink.studies.unfamiliar.results import UnfamiliarStudy
from entlink.studies.unfamiliar.study import UnfamiliarOptions, study_unfamiliar_kb

__all__ = [
    "CandidateOptions",
    "CandidateStudy",
    "ConfiguredSystem",
    "ConversationOptions",
    "ConversationStudy",
    "FewShotOptions",
    "FewShotStudy",
    "NearestTitleSystem",
    "PictureOptions",
    "PictureStudy",
    "RunSource",
    "TimeOptions",
    "TimeStudy",
    "UnfamiliarOptions",
    "UnfamiliarStudy",
    "default_systems",
    "study_candidates",
    "study_conversations",
    "study_few_shot",
    "study_pictures",
    "study_time",
    "study_unfamiliar_kb",
]
