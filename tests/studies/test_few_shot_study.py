"""The study of few-shot gold, counted by hand on five entities and four short documents."""

from __future__ import annotations

import msgspec
import pytest

from entlink.errors import ConfigError, InputError
from entlink.evaluation.few_shot import Loss
from entlink.evaluation.scoring.relations import Relation
from entlink.linking.config import read_config
from entlink.studies import ConfiguredSystem, FewShotOptions, study_few_shot
from entlink.studies.few_shot.results import SAID_NIL
from entlink.studies.few_shot.tables import few_shot_lines, few_shot_tables
from study_worlds import write_kb, write_lines

# Of a name that several have as an alias, the first is the most popular.
ENTITIES = [
    {"id": "Q8567", "title": "2008 Games", "aliases": ["Games"], "claims": {"P585": ["2008-08-08"]}},
    {"id": "Q8577", "title": "2012 Games", "aliases": ["Games"], "claims": {"P585": ["2012-07-27"]}},
    {
        "id": "Q1",
        "title": "North",
        "aliases": ["Gate"],
        "claims": {"P131": ["Q10"]},
        "external": {"freebase": "/m/0n"},
    },
    {"id": "Q2", "title": "South", "aliases": ["Gate"], "claims": {"P131": ["Q20"]}},
    {"id": "Q3", "title": "Duke"},
]
NAMES = [ConfiguredSystem("names", "lexical")]
QUICK = FewShotOptions(rounds=0)


def row(id: str, text: str, mention: str, gold: str) -> dict:
    start = text.index(mention)
    return {"id": id, "text": text, "start": start, "end": start + len(mention), "mention": mention, "gold_id": gold}


GOLD = [
    row("a", "The Games of 2008.", "Games", "Q8567"),  # right
    row("b", "The Games of 2012.", "Games", "Q8577"),  # another time
    row("c", "The south Gate.", "Gate", "Q2"),  # another place
    row("d", "The north Gate.", "Gate", "/m/0n"),  # right, by its mid
    row("e", "A lost mid: Gate.", "Gate", "/m/404"),  # not resolved
    row("f", "A Duke without a page.", "Duke", "Q404"),  # not in the knowledge base
    row("g", "A Prince is Duke.", "Prince", "Q3"),  # not called so
    row("h", "An unknown Harbour.", "Harbour", "NIL_LOC"),  # right, if not by its type
    row("i", "Some other Gate.", "Gate", "NIL_LOC"),  # an entity where gold is NIL
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    return write_kb(tmp_path_factory.mktemp("few"), ENTITIES, "few")


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("gold") / "gold.jsonl", GOLD)


@pytest.fixture(scope="module")
def found(kb, gold):
    return study_few_shot(kb, [gold], NAMES, FewShotOptions(rounds=50))


def test_the_alias_table_on_all_gold(found):
    at = found.systems[0].parts["all gold"]
    assert (found.systems[0].system, at.mentions, at.in_kb) == ("AT", 9, 7)
    # Of seven entities the first two are first, and two more are second.
    assert {k: one.value for k, one in at.recall_at.items()} == {1: 2 / 7, 10: 4 / 7, 100: 4 / 7}
    assert at.recall_at[10].interval.low <= 4 / 7 <= at.recall_at[10].interval.high
    assert (at.with_nil.value, at.typed_nil.value) == (3 / 9, 2 / 9)
    assert at.losses == {Loss.NOT_CHOSEN: 2, Loss.UNRESOLVED: 1, Loss.ABSENT: 1, Loss.NOT_AMONG: 1}
    assert at.relations == {Relation.TIME: 1, Relation.PLACE: 1}
    assert found.notes == ["gold entities that the knowledge base lacks: 2 of 7"]


def test_its_few_shot_part_is_what_the_alias_table_has_wrong(found):
    at = found.systems[0].parts["few-shot"]
    assert (at.mentions, at.in_kb, at.recall_at[1].value, at.with_nil.value) == (6, 5, 0.0, 0.0)
    assert at.recall_at[10].value == 2 / 5
    sizes = found.counts["few-shot"]
    assert (sizes.mentions.total, sizes.documents.nil, sizes.entities) == (6, 1, 5)


def test_a_linker_that_knows_names_alone_is_the_alias_table(found):
    """But it may say NIL: below its threshold, a name that two entities share alike."""
    at, names = (one.parts["all gold"] for one in found.systems)
    assert names.recall_at.keys() == {1}
    assert names.mentions == at.mentions
    assert sum(names.losses.values()) == names.in_kb - round(names.recall_at[1].value * names.in_kb)
    assert set(names.relations) <= {Relation.TIME, Relation.PLACE, SAID_NIL}


def test_what_a_linker_leaves_out_is_nil(kb, gold):
    nil = {"name": "threshold", "threshold": 0.99}
    config = msgspec.structs.replace(read_config("lexical"), nil=nil, min_score=0.99)
    names = study_few_shot(kb, [gold], [ConfiguredSystem("strict", config)], QUICK).systems[1].parts["all gold"]
    # Both NILs are right now, and of the entities none: every name here is shared, or not its own.
    assert (names.recall_at[1].value, names.with_nil.value) == (0.0, 2 / 9)
    assert names.relations == {SAID_NIL: 4}


def test_tables_have_the_published_rows_beside(found):
    sizes, scores, losses, relations = few_shot_tables(found)
    assert sizes.rows[1][:4] == ("few-shot", 5, 1, 6)
    published = {row[0]: row for row in sizes.groups[1].rows}
    assert published["hansel-fs"][1:4] == (3404, 1856, 5260)
    assert scores.rows[0][0] == "AT" and scores.rows[0][1].startswith("0.286 (")
    of_hansel = next(group for group in scores.groups if "hansel-fs" in group.title)
    assert ("AT", "0.000", "0.611", "0.630", "0.000", None) in of_hansel.rows
    assert ("CA-tuned on tac-kbp2015-zh", 1139, 39, 212, 544, 344) in losses.rows
    assert relations.rows[0][:5] == ("AT", 0, 0, 1, 1)
    lines = {(one.table, one.system, one.part, one.measure): one.value for one in few_shot_lines(found)}
    assert lines["scores", "AT", "all gold", "R@1"] == 2 / 7
    assert lines["losses", "AT", "few-shot", Loss.UNRESOLVED] == 1
    assert lines["table 5", "CA", "hansel-zs", "in-kb recall@1"] == 76.6


def test_without_claims_there_is_no_table_of_relations(tmp_path, gold):
    bare = [{key: value for key, value in one.items() if key != "claims"} for one in ENTITIES]
    found = study_few_shot(write_kb(tmp_path, bare), [gold], NAMES, QUICK)
    assert found.systems[0].parts["all gold"].relations == {Relation.UNKNOWN: 2}
    assert [table.name for table in few_shot_tables(found)] == ["sizes", "scores", "losses"]


def test_gold_that_is_all_right_has_no_few_shot_part(kb, tmp_path):
    easy = write_lines(tmp_path / "easy.jsonl", GOLD[:1])
    found = study_few_shot(kb, [easy], NAMES, QUICK)
    assert "brackets" not in few_shot_tables(found)[1].title
    assert [set(one.parts) for one in found.systems] == [{"all gold"}] * 2
    assert found.counts["few-shot"].mentions.total == 0
    assert few_shot_tables(found)[1].rows[0][1:] == ("1.000", "1.000", "1.000", "1.000", None)


def test_a_name_of_its_own_for_each_system_and_gold_at_all(kb, gold, tmp_path):
    with pytest.raises(ConfigError, match="AT is the alias table's"):
        study_few_shot(kb, [gold], [ConfiguredSystem("AT", "lexical")])
    empty = write_lines(tmp_path / "none.jsonl", [{"id": "x", "text": "Nothing.", "gold": []}])
    with pytest.raises(InputError, match="no document has gold links"):
        study_few_shot(kb, [empty], NAMES)
