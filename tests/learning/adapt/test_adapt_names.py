"""Names cut short in a linker that is adapted."""

from __future__ import annotations

from entlink.documents import Candidate, Document, Mention, Span
from entlink.learning.adapt.names import SHORTENED, found_again, with_short_names
from entlink.learning.own_texts.cases import SAMPLE, Case
from entlink.linking.config import LinkerConfig, read_config, retriever_names
from entlink.linking.linker import load
from knowledge_bases import article, make_kb

TEXT = "Then Reagan spoke of the river."


def test_a_linker_gets_the_retriever_once():
    config = with_short_names(read_config("zero-shot"))
    assert retriever_names(config.retriever)[-1] == SHORTENED
    assert config.fusion is not None
    assert config.fusion["weights"][SHORTENED] > 0
    assert config.ranker["weights"][SHORTENED] > 0
    assert with_short_names(config) == config


def test_a_linker_without_weights_to_fuse_by_stays_as_it_is():
    quotas = LinkerConfig(fusion={"name": "quotas", "shares": {"alias": 1.0}})
    assert with_short_names(quotas) == quotas
    assert with_short_names(LinkerConfig()) == LinkerConfig()


def case(kind, entity):
    mention = Mention(Span(5, 11), "Reagan")
    return Case(kind, "other", Document("d", TEXT), mention, entity, (Candidate("gone", 1.0),))


def test_cases_are_found_again_as_a_linker_finds_them(tmp_path):
    rows = [
        article("ronald", "Ronald Reagan", "Ronald Reagan and Ronald Reagan."),
        article("town", "Reagan", "Once there was [[ronald|Reagan]], and [[ronald|Reagan]]; see [[town|Reagan]]."),
        article("other", "Reagan River", "A river that [[ronald|Reagan]] saw."),
    ]
    config = with_short_names(
        LinkerConfig(
            fusion={"name": "weights", "weights": {"alias": 0.5}},
            retriever=[{"name": "alias"}],
            ranker={"name": "combination", "weights": {"coherence": 0.0}},
        )
    )
    linker = load(make_kb(tmp_path, rows, descriptions="full"), config=config, mentions="given")
    short, linked = found_again(linker, [case("short", "ronald"), case(SAMPLE, "ronald")], lambda *_: None)
    for one in (short, linked):
        assert {found.entity for found in one.candidates} == {"ronald", "town"}  # the text itself is no candidate
    prior = {one.entity: one.evidence["alias"] for one in short.candidates}
    less = {one.entity: one.evidence["alias"] for one in linked.candidates}
    assert less["ronald"] < prior["ronald"]  # as if this very link had not been counted
    assert less["town"] > prior["town"]
    linker.kb.close()
