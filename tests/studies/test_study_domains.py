"""Which domain a document belongs to, and what is told where there is none; a linker keeps to its domain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, GoldLink, Mention, Span
from entlink.errors import ConfigError, InputError
from entlink.evaluation.identities import Identities
from entlink.interfaces import Question
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store import edits
from entlink.linking.linker import load
from entlink.studies import NearestTitleSystem, UnfamiliarOptions, study_unfamiliar_kb
from entlink.studies.domains import Domains, assigner
from entlink.studies.nearest_title import NearestTitle
from study_worlds import ENTITIES, document, write_documents, write_kb, write_lines

FILE = Path("folder/stage.jsonl.xz")


def study(kb, gold, **options):
    return study_unfamiliar_kb(kb, [gold], [NearestTitleSystem()], UnfamiliarOptions(**options))


def told(kb, gold, **options) -> str:
    with pytest.raises(InputError) as problem:
        study(kb, gold, **options)
    return str(problem.value)


@pytest.fixture
def kb(two):
    with KnowledgeBase.open(two) as kb:
        yield kb


def links(*entities: str) -> Document:
    gold = tuple(GoldLink(Span(number, number + 1), (id,)) for number, id in enumerate(entities))
    return Document("s1#3", "x" * len(entities), gold=gold, meta={"world": "sea", "empty": ""})


@pytest.mark.parametrize(
    ("by", "entities", "domain"),
    [
        ("file", (), "stage"),
        ("meta:world", (), "sea"),
        ("meta:empty", (), None),
        ("meta:none", (), None),
        ("page", ("t1",), "sea"),
        ("type", ("t1", "s1", "t2"), "stage"),
        ("type", ("t1", "s1"), "sea"),  # as many: the first by name
        ("type", ("atlantis",), None),
        ("type", (), None),
    ],
)
def test_ways_to_tell_a_domain(kb, by, entities, domain):
    assign = assigner(by, Domains(kb, 1), Identities(kb))
    assert assign(links(*entities), FILE) == domain


def test_types_that_begin_alike_are_one_domain(kb):
    whole, joined = Domains(kb), Domains(kb, 1)
    assert "sea" not in whole
    assert joined.types("sea") == ("sea.parts", "sea.people")
    assert joined.of_types(("sea.people", "town", "sea.parts")) == ["sea", "town"]


@pytest.mark.parametrize("name", ["alias", "bm25", "edit-distance"])
def test_a_linker_of_a_domain_gives_nothing_else(kb, two, name):
    own = {"s1", "s2", "s3"}
    linker = load(two, config=_config(name), types=Domains(kb, 1).types("sea"))
    try:
        text = "Boom Bomm Line Lines Harwich Harwhich Crew call"
        mentions = [Mention(Span(0, len(one)), one) for one in [*text.split(), "Crew call", "Light boom"]]
        lists = linker.retrieve([Question(Document("d", text), mentions)])[0]
        assert {one.entity for candidates in lists for one in candidates} <= own
        linked = linker.link(text)
        assert {link.entity for link in linked.links} <= own
        assert "Harwich" not in {link.mention.text for link in linked.links}
    finally:
        linker.kb.close()


def _config(name):
    from entlink import LinkerConfig

    return LinkerConfig(retriever=[{"name": name}])


@given(st.lists(st.text("abc ", min_size=1, max_size=6), min_size=1, max_size=12), st.text("abcd", max_size=6))
def test_the_nearest_title_is_that_of_brute_force(titles, surface):
    class Kb:
        def keys_of_types(self, types):
            return set(range(len(titles)))

        def head(self, key):
            return str(key), titles[key]

    found = NearestTitle(Kb(), ["t"], limit=5).candidates(surface)
    wanted = sorted(range(len(titles)), key=lambda key: (edits_between(surface, titles[key]), key))[:5]
    assert [one.entity for one in found] == [str(key) for key in wanted]


def edits_between(a: str, b: str) -> int:
    """Levenshtein's distance by its definition."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def test_a_knowledge_base_without_types(tmp_path, gold):
    kb = write_kb(tmp_path, [{"id": "a", "title": "A"}])
    assert "no entity has a type" in told(kb, gold)


def test_an_empty_knowledge_base(tmp_path, gold):
    kb = write_kb(tmp_path, ENTITIES[:1])
    edits.remove(kb, ["s1"])
    assert "is empty" in told(kb, gold)


def test_a_domain_that_nobody_has(two, gold):
    with pytest.raises(ConfigError, match="no entity has the domain 'seas'; did you mean 'sea'"):
        study(two, gold, depth=1, domains=("seas",))


def test_documents_of_domains_that_nobody_has(two, gold):
    found = study(two, gold)  # without a depth, there is only sea.parts
    assert ([one.name for one in found.domains], found.left_out) == (["stage"], {"of a domain that no entity has": 2})
    assert "2 documents are of the domain 'sea', which no entity has; there are sea.parts" in found.notes[0]
    assert "such as 'gold'" in told(two, gold, by="file", depth=1)


def test_a_domain_without_gold(two, gold, tmp_path):
    assert "gold of the domain 'town'" in told(two, gold, depth=1, domains=("town",))
    some = write_documents(tmp_path / "g.jsonl", [("a", "town", "[Boom|s1]"), ("b", "sea", "[Boom|s1]")])
    assert "gold of the domain 'town'" in told(two, some, depth=1, domains=("town",))
    found = study(two, some, depth=1)
    assert [one.name for one in found.domains] == ["sea"]
    assert found.left_out == {"of domains without gold of their own": 1}
    alone = write_documents(tmp_path / "alone.jsonl", [("a", "town", "[Boom|s1]")])
    assert "gold of its own domain" in told(two, alone, depth=1)


def test_data_without_gold(two, tmp_path):
    rows = [{"id": "d", "text": "Boom", "gold": [], "meta": {"domain": "sea"}}]
    assert "no document has gold links" in told(two, write_lines(tmp_path / "none.jsonl", rows), depth=1)


def test_data_without_domains(two, tmp_path):
    rows = [document("d", None, "[Boom|s1]")]
    assert "no document has a domain" in told(two, write_lines(tmp_path / "g.jsonl", rows), by="page", depth=1)
    assert study(two, tmp_path / "g.jsonl", depth=1).by == "type"


def test_data_without_offsets(two, tmp_path):
    rows = [["dialogue", 1, "Boom", "s1"]]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(rows), encoding="utf8")
    assert "has no offsets" in told(two, path, by="type", depth=1)


def test_another_way_to_tell_a_domain(two, gold):
    with pytest.raises(ConfigError, match="'pages'; did you mean 'page'"):
        study(two, gold, by="pages")


def test_an_unknown_detector_is_told_before_anything_runs(two, gold):
    with pytest.raises(ConfigError, match="did you mean 'dictionary'"):
        study(two, gold, detector="dictionry", depth=1)
