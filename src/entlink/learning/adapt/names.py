"""Names cut short as a further retriever of the linker that is adapted, and cases as another linker finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from entlink.io.progress import Progress
from entlink.learning.adapt.weights import with_weights
from entlink.learning.own_texts.cases import LINKED
from entlink.learning.own_texts.linking import ranked
from entlink.learning.own_texts.links import as_if_unlinked
from entlink.learning.own_texts.mentions import Kind, SelfMention
from entlink.linking.config import LinkerConfig, retriever_names

if TYPE_CHECKING:
    from entlink.learning.own_texts.cases import Case
    from entlink.linking.linker import Linker

SHORTENED = "shortened"
_FUSED = 0.5  # the weight of a share in the fusion: as that of P(e|m)
_WEIGHT = 1.0


def with_short_names(config: LinkerConfig) -> LinkerConfig:
    """The configuration with the retriever of short names, unless it has it or its fusion leaves no room for it."""
    fusion = config.fusion
    if fusion is None or fusion.get("name") != "weights" or SHORTENED in retriever_names(config.retriever):
        return config
    fusion = {**fusion, "weights": {**fusion.get("weights", {}), SHORTENED: _FUSED}}
    retrievers = [*config.retriever, {"name": SHORTENED}]
    return with_weights(msgspec.structs.replace(config, retriever=retrievers, fusion=fusion), {SHORTENED: _WEIGHT})


def found_again(linker: Linker, cases: Sequence[Case], progress: Progress) -> list[Case]:
    """The cases with what this linker finds for them."""
    asked = [SelfMention(one.document, one.mention, one.entity, Kind.KNOWN, one.source) for one in cases]
    again = []
    for case, mention, shortlist in zip(cases, asked, ranked(linker, asked, progress), strict=True):
        found = shortlist.candidates
        if case.kind in LINKED:
            found = as_if_unlinked(linker.kb, mention, found)
        again.append(case._replace(candidates=found))
    return again
