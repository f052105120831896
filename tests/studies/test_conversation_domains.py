"""Sets of conversations with domains, linked domain by domain: the Reddit half of the paper's table 2, by hand."""

from __future__ import annotations

import json

import pytest

from entlink.evaluation import Counts, Matching
from entlink.studies import (
    ConfiguredSystem,
    ConversationOptions,
    UnfamiliarOptions,
    study_conversations,
    study_unfamiliar_kb,
)
from entlink.studies.conversations.tables import conversation_lines, conversation_tables

NAMES = ConfiguredSystem("names", "lexical")
FAST = ConversationOptions(rounds=0)
# On stage "Line" is that of the script and nobody is called boom; in town there is Harwich.
THREADS = [
    ("t1", "stage", ["A Line please.", "No boom here."], [(0, "Line", "t1"), (1, "boom", "t2")]),
    ("t2", "stage", ["When is the Crew call?"], [(0, "Crew call", "t3")]),
    ("t3", "town", ["Off to Harwich!", "And a Line?"], [(0, "Harwich", "u1"), (1, "Line", "s2")]),
]


def write_threads(path, threads=THREADS):
    rows = []
    for id, domain, texts, gold in threads:
        links = []
        for number, mention, entity in gold:
            start = texts[number].index(mention)
            links.append({"turn": number, "start": start, "end": start + len(mention), "entity": entity})
        meta = {"domain": domain} if domain else {}
        rows.append({"id": id, "turns": [{"text": text} for text in texts], "gold": links, "meta": meta})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return path


@pytest.fixture
def threads(tmp_path):
    return write_threads(tmp_path / "threads.jsonl")


def test_each_domain_against_its_own_part(two, threads):
    found = study_conversations(two, [threads], [NAMES], options=FAST)
    (one,) = found.domains
    (system,) = one.study.systems
    stage, town = system.domains
    # Found on stage: Line and Crew call. In town: Harwich; its Line is of another domain, and so NIL.
    assert stage.end_to_end == {"md": Counts(2, 2, 3), "ed": Counts(2, 2, 3), "el": Counts(2, 2, 3)}
    assert town.end_to_end == {"md": Counts(1, 1, 2), "ed": Counts(1, 1, 1), "el": Counts(1, 1, 1)}
    el = system.end_to_end["el"]
    assert (el.micro.recall, el.macro.recall) == (3 / 4, pytest.approx((2 / 3 + 1) / 2))


def test_it_is_what_the_study_of_unfamiliar_ones_finds(two, threads):
    found = study_conversations(two, [threads], [NAMES], options=FAST)
    other = study_unfamiliar_kb(two, [threads], [NAMES], UnfamiliarOptions(by="meta:domain"))
    assert found.domains[0].study.systems == other.systems


def test_the_table_has_reddit_beside_it(two, threads):
    found = study_conversations(two, [threads], [NAMES], options=FAST)
    table = conversation_tables(found)[-1]
    ours, beside = table.groups
    assert [row[0] for row in ours.rows] == ["stage", "town", "micro average", "macro average"]
    assert ours.rows[0][1:5] == (2, 1.0, 2 / 3, pytest.approx(4 / 5))
    rows = {row[0]: row[2:] for row in beside.rows}
    assert rows["ELQ, micro"] == (0.135, 0.313, 0.189, 0.162, 0.367, 0.225, 0.069, 0.161, 0.097)
    assert len(rows) == 4
    lines = {line[:4]: line for line in conversation_lines(found)}
    assert lines["domains", "names", "threads stage", "el recall"].value == 2 / 3
    assert lines["table 2", "ELQ", "reddit micro", "el f1"].source == "published"
    assert not any("wikia" in line.part for line in lines.values())


def test_the_whole_knowledge_base_stands_beside(two, threads):
    found = study_conversations(two, [threads], [NAMES], options=FAST)
    el = found.result("names", "threads").scored(Matching.STRICT, "all").el
    assert el.gold == 5


def test_domains_can_be_left_out(two, threads):
    assert not study_conversations(
        two, [threads], [NAMES], options=ConversationOptions(rounds=0, domains=False)
    ).domains


def test_domains_that_no_entity_has_are_noted(two, tmp_path):
    strange = [(id, "moon", texts, gold) for id, _, texts, gold in THREADS]
    path = write_threads(tmp_path / "moon.jsonl", strange)
    found = study_conversations(two, [path], [NAMES], options=FAST)
    assert found.domains == []
    assert any("moon: no scores by domain: the documents are of domains that no entity has" in n for n in found.notes)
    assert found.result("names", "moon").scores


def test_a_set_without_domains_has_no_such_table(two, tmp_path):
    plain = [(id, None, texts, gold) for id, _, texts, gold in THREADS]
    found = study_conversations(two, [write_threads(tmp_path / "plain.jsonl", plain)], [NAMES], options=FAST)
    assert found.domains == []
    assert not any("domain" in note for note in found.notes)
