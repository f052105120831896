from __future__ import annotations

import json
from collections import Counter
from math import log

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.errors import DamagedError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.indexes.derived import COMPLETE, derived_folder
from entlink.kb.indexes.names import reindex
from entlink.kb.indexes.words.search import WordSearch
from entlink.kb.indexes.words.terms import entity_terms, terms_of
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, remove
from entlink.sources import Page

ANIMALS = [
    {"id": "ant", "title": "Ant", "types": ["insect"], "text": "An ant is an insect. An ant is small."},
    {"id": "bee", "title": "Bee", "types": ["insect"], "text": "A bee is an insect that makes honey."},
    {
        "id": "bear",
        "title": "Bear",
        "types": ["mammal"],
        "text": "A bear eats honey, and honey, and a bee or an ant.",
    },
    {"id": "cat", "title": "Cat", "types": ["mammal"], "text": "A cat is a small mammal."},
    {"id": "city", "title": "北京市", "types": ["city"], "text": "北京是中国的首都。"},
    {"id": "other", "title": "南京市", "types": ["city"], "text": "南京在中国。"},
    {"id": "none", "title": "?!", "text": ""},
]
QUERIES = [
    "ant",
    "an ant",
    "small insect",
    "honey bee",
    "a",
    "unheard of",
    "北京",
    "京",
    "Ant ANT bee",
    "中国 honey",
    "?",
]


@pytest.fixture
def animals(tmp_path):
    return table(tmp_path, ANIMALS)


def table(folder, rows):
    source = folder / "animals.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    build(source, folder / "animals.kb", BuildOptions(processes=1, count_text=False))
    return folder / "animals.kb"


class Statistics:
    """Rows, rows that hold a term, and mean length, of texts that are looked at one by one."""

    def __init__(self, entities):
        self.counted = [entity_terms(entity) for entity in entities]
        self.rows = len(self.counted)
        self.mean = sum(one.total() for one in self.counted) / self.rows

    def idf(self, term):
        held = sum(term in one for one in self.counted)
        return log(1 + (self.rows - held + 0.5) / (held + 0.5))

    def score(self, entity, query, k1=1.2, b=0.75):
        counted, weights = entity_terms(entity), query if isinstance(query, dict) else Counter(terms_of(query))
        norm = k1 * (1 - b + b * counted.total() / self.mean)
        whole = sum(weight * self.idf(term) * (k1 + 1) for term, weight in weights.items())
        parts = (
            weight * self.idf(term) * counted[term] * (k1 + 1) / (counted[term] + norm)
            for term, weight in weights.items()
            if counted[term]
        )
        return sum(parts) / whole if whole else 0.0

    def times(self, entity, query):
        counted = entity_terms(entity)
        return min((counted[term] for term in terms_of(query)), default=0)


def by_id(kb, found):
    return {kb.head(one.key)[0]: (one.score, one.times) for one in found}


def expected(statistics, entities, query):
    scored = {entity.id: (statistics.score(entity, query), statistics.times(entity, query)) for entity in entities}
    return {id: (pytest.approx(score), times) for id, (score, times) in scored.items() if score}


@pytest.mark.parametrize("query", QUERIES)
def test_scores_and_counts_are_those_of_looking_at_every_entity(animals, opened, query):
    kb = opened(animals)
    found = WordSearch(kb).search(query)
    assert by_id(kb, found) == expected(Statistics(kb), kb, query)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 < one.score < 1 for one in found)


@pytest.mark.parametrize("query", QUERIES)
def test_given_entities_are_weighed_on_the_same_scale(animals, opened, query):
    kb = opened(animals)
    statistics, entities = Statistics(kb), list(kb)
    keys = [kb.key(entity.id) for entity in entities]
    weights = WordSearch(kb).weigh(query, [*reversed(keys), 99, -1, keys[0]])
    assert weights[:-3] == [
        (pytest.approx(statistics.score(entity, query)), statistics.times(entity, query))
        for entity in reversed(entities)
    ]
    assert weights[-3:] == [(0.0, 0), (0.0, 0), weights[len(keys) - 1]]
    assert WordSearch(kb).weigh(query, []) == []


def test_terms_with_weights(animals, opened):
    kb = opened(animals)
    search = WordSearch(kb, k1=2.0, b=0.3)
    query = {"honey": 1.0, "small": 0.25, "never": 0.5, "cat": 0.0}
    statistics = Statistics(kb)
    found = {kb.head(one.key)[0]: one.score for one in search.search(query)}
    query.pop("cat")
    scores = {entity.id: statistics.score(entity, query, k1=2.0, b=0.3) for entity in kb}
    assert found == {id: pytest.approx(score) for id, score in scores.items() if score}


def test_words_in_another_order_score_alike(animals, opened):
    search = WordSearch(opened(animals))
    assert search.search("honey bee") == search.search("Bee, HONEY!")


def test_the_cut_comes_after_types(animals, opened):
    kb = opened(animals)
    search = WordSearch(kb)
    insects = frozenset({"insect"})
    assert by_id(kb, search.search("honey", 1)).keys() == {"bear"}
    assert by_id(kb, search.search("honey", 1, insects)).keys() == {"bee"}
    assert by_id(kb, search.search("a", 30, frozenset({"insect", "city"}))).keys() == {"bee"}
    assert search.search("honey", 1, frozenset({"robot"})) == []
    assert search.search("honey", 0) == []


def test_those_that_score_alike_come_by_key(tmp_path, opened):
    rows = [{"id": str(number), "title": f"twin {number}"} for number in range(50)]
    kb = opened(table(tmp_path, rows))
    search = WordSearch(kb)
    keys = [one.key for one in search.search("twin", 10)]
    assert keys == sorted(keys) == [kb.key(str(number)) for number in range(10)]
    add(kb.folder, [Entity("7", "twin 7"), Entity("60", "twin 60")], replace=True)
    kb.refresh()
    assert [one.key for one in search.search("twin", 10)] == keys


def test_a_knowledge_base_without_entities(tmp_path, opened):
    kb = opened(table(tmp_path, []))
    search = WordSearch(kb)
    assert search.search("ant") == []
    assert search.weigh("ant", [1]) == [(0.0, 0)]
    add(kb.folder, [Entity("ant", "Ant")])
    kb.refresh()
    ((key, score, times),) = search.search("ant")
    assert (key, times) == (kb.key("ant"), 1)
    assert 0 < score < 1


# Dates


def test_each_date_has_its_versions(own_world, opened):
    now, then = opened(own_world), opened(own_world, date="2010-01-01")
    for kb, title, other in ((now, "Eswatini", "Swaziland"), (then, "Swaziland", "Eswatini")):
        search = WordSearch(kb)
        assert by_id(kb, search.search(title)).keys() == {"swazi"}
        assert search.search(other) == []
        key = kb.key("swazi")
        assert search.weigh(title, [key])[0].times == 2
        assert search.weigh(other, [key]) == [(0.0, 0)]


def test_fresh_versions_have_dates_too(own_world, opened):
    page = Page(Entity("turkey", "Türkiye", "A country."), (), "2022-06-01", None)
    add(own_world, [Page(Entity("turkey", "Turkey", "A country."), (), None, "2022-06-01"), page])
    now, then = opened(own_world), opened(own_world, date="2020")
    for _ in range(2):
        assert by_id(now, WordSearch(now).search("Türkiye Turkey")).keys() == {"turkey"}
        assert WordSearch(now).search("Turkey") == []
        assert WordSearch(then).search("Türkiye") == []
        assert WordSearch(then).weigh("turkey", [then.key("turkey")])[0].times == 1
        reindex(own_world, processes=1)
        now.refresh()
        then.refresh()


# Edits


def test_edits_count_at_once_with_the_numbers_of_the_index(animals, opened):
    kb = opened(animals)
    search = WordSearch(kb)
    statistics = Statistics(kb)  # those of the index stay
    search.search("ant")
    add(animals, [Entity("wasp", "Wasp", "A wasp is an insect that stings.", types=("insect",))])
    add(animals, [Entity("ant", "Ant", "The ant carries honey.", ("Emmet",))], replace=True)
    remove(animals, ["cat"])
    kb.refresh()
    for query in (*QUERIES, "wasp", "emmet", "stings"):
        assert by_id(kb, search.search(query)) == expected(statistics, kb, query)
        keys = [kb.key(entity.id) for entity in kb]
        weighed = [(pytest.approx(statistics.score(one, query)), statistics.times(one, query)) for one in kb]
        assert search.weigh(query, keys) == weighed
    assert by_id(kb, search.search("insect", 30, frozenset({"insect"}))).keys() == {"bee", "wasp"}
    assert by_id(kb, search.search("honey", 2)).keys() == set(
        sorted((one.id for one in kb), key=lambda id: -statistics.score(kb.get(id), "honey"))[:2]
    )


def test_an_index_made_after_the_edits_gives_their_own_numbers(animals, opened):
    kb = opened(animals)
    search = WordSearch(kb)
    search.search("ant")
    add(animals, [Entity("wasp", "Wasp", "A wasp is an insect that stings.")])
    remove(animals, ["cat"])
    reindex(animals, processes=1)
    kb.refresh()
    statistics = Statistics(kb)
    for query in (*QUERIES, "wasp"):
        assert by_id(kb, search.search(query)) == expected(statistics, kb, query)
    assert derived_folder(kb, "words").parent.name == "index-2"


def test_what_was_removed_comes_back_when_it_is_added_again(animals, opened):
    kb = opened(animals)
    search = WordSearch(kb)
    statistics = Statistics(kb)
    before = search.search("honey")
    remove(animals, ["bee"])
    kb.refresh()
    assert by_id(kb, search.search("honey")).keys() == {"bear"}
    add(animals, [Entity("bee", "Bee", "A bee is an insect that makes honey.")])
    kb.refresh()
    assert by_id(kb, search.search("honey")) == expected(statistics, kb, "honey")
    assert sorted(one.score for one in search.search("honey")) == sorted(one.score for one in before)
    remove(animals, ["bee"])
    kb.refresh()
    assert by_id(kb, search.search("honey")).keys() == {"bear"}


def test_an_index_made_after_edits_does_not_know_of_them_twice(animals, opened):
    add(animals, [Entity("wasp", "Wasp", "A wasp.")])
    kb = opened(animals)
    assert len(WordSearch(kb).search("wasp")) == 1
    add(animals, [Entity("wasp", "Hornet", "A hornet.")], replace=True)
    kb.refresh()
    assert WordSearch(kb).search("wasp") == []


def test_another_process_may_have_made_a_new_index_meanwhile(animals, opened):
    kb = opened(animals)
    reindex(animals, processes=1)
    search = WordSearch(kb)
    assert by_id(kb, search.search("honey")).keys() == {"bear", "bee"}
    kb.refresh()
    assert by_id(kb, search.search("honey")).keys() == {"bear", "bee"}
    assert [path.name for path in animals.glob("index-*/words")] == ["words"]


def test_an_open_search_outlives_its_files(animals, opened):
    kb = opened(animals)
    search = WordSearch(kb)
    before = search.search("honey")
    reindex(animals, processes=1)
    assert search.search("honey") == before
    kb.refresh()
    assert search.search("honey") == before


def test_progress_is_told_while_the_index_is_made(animals, opened):
    seen = []
    search = WordSearch(opened(animals))
    search.ensure(lambda stage, done, total: seen.append(stage))
    assert set(seen) == {"indexing words", "merging words"}
    seen.clear()
    WordSearch(opened(animals)).ensure(lambda stage, done, total: seen.append(stage))
    assert seen == []


def test_an_index_that_does_not_fit_is_told(animals, opened):
    kb = opened(animals)
    WordSearch(kb).ensure()
    folder = derived_folder(kb, "words")
    card = (folder / COMPLETE).read_text(encoding="utf8")
    (folder / COMPLETE).write_text(card.replace('"format": 1', '"format": 0'), encoding="utf8")
    with pytest.raises(DamagedError, match="another release"):
        WordSearch(kb).ensure()
    (folder / COMPLETE).write_text(card, encoding="utf8")
    numpy.save(folder / "lengths.npy", numpy.zeros(2, numpy.uint32))
    with pytest.raises(DamagedError, match="do not fit each other"):
        WordSearch(kb).ensure()


# At random

words = st.lists(st.sampled_from(["ant", "bee", "cat", "北京", "京", "x"]), max_size=6).map(" ".join)
entities = st.dictionaries(st.integers(0, 9).map(str), st.tuples(words, words), max_size=8)
edits = st.lists(
    st.tuples(st.sampled_from(["put", "remove", "index"]), st.integers(0, 9).map(str), words), max_size=6
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=entities, edits=edits, query=words, limit=st.integers(1, 5))
def test_any_edits_give_what_looking_at_every_entity_gives(tmp_path_factory, made, edits, query, limit):
    rows = [{"id": id, "title": f"t{id}", "text": text, "aliases": [alias]} for id, (text, alias) in made.items()]
    folder = table(tmp_path_factory.mktemp("any"), rows)
    with KnowledgeBase.open(folder) as kb:
        search = WordSearch(kb)
        search.ensure()
        frozen = list(kb)
        for operation, id, text in edits:
            if operation == "put":
                add(folder, [Entity(id, f"t{id}", text)], replace=True)
            elif operation == "index":
                reindex(folder, processes=1)
                frozen = list(kb)
            elif kb.get(id) is not None:
                remove(folder, [id])
            kb.refresh()
            found = search.search(query, limit)
            if frozen:
                statistics = Statistics(frozen)
                scores = sorted((statistics.score(one, query) for one in kb), reverse=True)
                assert [one.score for one in found] == pytest.approx([score for score in scores if score][:limit])
                assert all(one.score == pytest.approx(statistics.score(kb.entity(one.key), query)) for one in found)
