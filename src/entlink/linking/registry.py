"""Names of stages, those in the box and those that installed packages add through entry points.

A package adds a detector by an entry point in the group `entlink.detector` whose name is the stage's name
and whose object is a callable taking the knowledge base and the stage's settings.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from entlink.errors import ConfigError
from entlink.text.nearest import did_you_mean

Factory = Callable[..., Any]

BUILT_IN: dict[str, dict[str, str]] = {
    "detector": {
        "dictionary": "entlink.mentions.dictionary:DictionaryDetector",
        "names": "entlink.mentions.names:NamesDetector",
        "given": "entlink.mentions.given:GivenMentions",
        "joint": "entlink.mentions.joint:JointDetector",
        "learned": "entlink.mentions.learned:make_learned",
        "spacy": "entlink.mentions.spacy_tagger:SpacyTagger",
        "token-classifier": "entlink.mentions.token_classifier:TokenClassifierDetector",
    },
    "retriever": {
        "alias": "entlink.candidates.alias:AliasRetriever",
        "names": "entlink.candidates.names:NamesRetriever",
        "bm25": "entlink.candidates.bm25:BM25Retriever",
        "dense": "entlink.candidates.dense:DenseRetriever",
        "edit-distance": "entlink.candidates.edit_distance:EditDistanceRetriever",
        "entity-vectors": "entlink.candidates.entity_vectors:EntityVectorsRetriever",
        "inner": "entlink.candidates.inner:InnerNamesRetriever",
        "joint": "entlink.candidates.joint:JointRetriever",
        "pictures": "entlink.candidates.pictures:PicturesRetriever",
        "shortened": "entlink.candidates.shortened:ShortenedRetriever",
        "taught": "entlink.candidates.taught:TaughtRetriever",
    },
    "fusion": {
        "weights": "entlink.candidates.fusion:WeightedFusion",
        "quotas": "entlink.candidates.fusion:QuotaFusion",
    },
    "evidence": {
        "bi-encoder": "entlink.evidence.bi_encoder:BiEncoderEvidence",
        "characters": "entlink.evidence.characters:CharactersEvidence",
        "co-occurrence": "entlink.evidence.cooccurrence:CooccurrenceEvidence",
        "coherence": "entlink.evidence.coherence:CoherenceEvidence",
        "cross-encoder": "entlink.evidence.cross_encoder:CrossEncoderEvidence",
        "pictures": "entlink.evidence.pictures:PicturesEvidence",
        "popularity": "entlink.evidence.popularity:PopularityEvidence",
        "context": "entlink.evidence.context:ContextEvidence",
        "senses": "entlink.evidence.senses:SensesEvidence",
        "similarity": "entlink.evidence.similarity:SimilarityEvidence",
        "spelling": "entlink.evidence.spelling:SpellingEvidence",
        "types": "entlink.evidence.types:TypesEvidence",
    },
    "ranker": {
        "prior": "entlink.ranking.prior:PriorRanker",
        "combination": "entlink.ranking.combination:CombinationRanker",
        "cross-encoder": "entlink.ranking.cross_encoder:CrossEncoderRanker",
        "joint": "entlink.ranking.joint:JointRanker",
        "multimodal": "entlink.ranking.multimodal:MultimodalRanker",
        "prior-times-similarity": "entlink.ranking.similarity:SimilarityRanker",
    },
    "nil": {
        "threshold": "entlink.nil:threshold_nil",
        "calibrated": "entlink.nil:CalibratedNil",
        "judged": "entlink.nil:JudgedNil",
        "keep": "entlink.nil.keep:KeepPolicy",
    },
    "nil_type": {
        "bi-encoder": "entlink.nil.bi_encoder:BiEncoderTypes",
        "vote": "entlink.nil.vote:VotedTypes",
    },
}


def names(kind: str) -> list[str]:
    """All stages of a kind."""
    return sorted({*BUILT_IN[kind], *(point.name for point in _entry_points(kind))})


def find(kind: str, name: str) -> Factory:
    """The factory of a stage; an unknown name is told together with the nearest known one."""
    path = BUILT_IN[kind].get(name)
    if path is not None:
        module, _, attribute = path.partition(":")
        factory: Factory = getattr(import_module(module), attribute)
        return factory
    for point in _entry_points(kind):
        if point.name == name:
            loaded: Factory = point.load()
            return loaded
    raise ConfigError(f"no {kind} named {name!r}{did_you_mean(name, names(kind))}")


def takes_kb(kind: str, name: str, factory: Factory) -> bool:
    """Whether a stage is made with the knowledge base: one of another package always is."""
    if name not in BUILT_IN[kind]:
        return True
    made: Any = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc]
    code = getattr(made, "__code__", None)  # quicker than a signature, and none is there without a constructor
    return code is not None and "kb" in code.co_varnames[: code.co_argcount]


def _entry_points(kind: str) -> Any:
    from importlib.metadata import entry_points

    return entry_points(group=f"entlink.{kind}")
