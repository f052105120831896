"""Examples that a knowledge base gives of itself."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

import tiny_world
from entlink.documents import Candidate, Document, Mention, Span
from entlink.errors import DamagedError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.own_texts.cases import Case, parted, read_cases, write_cases
from entlink.learning.own_texts.kinds import SHORT_OF_ENTITY, Proposals
from entlink.learning.own_texts.links import link_mentions, link_pairs
from entlink.learning.own_texts.pairs import Wanted, self_pairs
from entlink.learning.own_texts.texts import has_text, read_texts
from entlink.linking.config import LinkerConfig
from entlink.linking.linker import load
from knowledge_bases import article, make_kb

CONFIG = LinkerConfig(
    retriever=[{"name": "alias"}, {"name": "edit-distance"}, {"name": "bm25"}],
    fusion={"name": "weights", "keep": 20, "weights": {"alias": 0.5, "edit-distance": 0.25, "bm25": 0.25}},
    ranker={"name": "combination", "weights": {"coherence": 0.0}},
)


def quiet(stage, done, total):
    pass


def alone(surface, entity):
    return 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("world"), tiny_world.rows(), "world", descriptions="full")


@pytest.fixture
def kb(folder):
    with KnowledgeBase.open(folder) as kb:
        yield kb


@pytest.fixture
def proposals(kb):
    return Proposals(kb, read_texts(kb, 100, 0, quiet), alone, 0)


def test_texts_are_read_with_their_names(kb):
    texts = read_texts(kb, 100, 0, quiet)
    assert len(texts.by_source) == 60
    for passage in texts.passages:
        assert [name.start for name in passage.names] == sorted(name.start for name in passage.names)
        named = {passage.text[name.start : name.end]: name.entities for name in passage.names}
        assert all(key.lower().replace(" ", "-") in ids for key, ids in named.items())
        for start, end in passage.words():
            assert all(end <= name.start or start >= name.end for name in passage.names)
    assert texts.share("the") > 0.9
    assert len(read_texts(kb, 5, 0, quiet).by_source) == 5


def test_a_longer_name_is_cut_where_it_stands(kb, proposals):
    found = list(proposals.short())
    assert found
    for one in found:
        title = kb.get(one.entity).title
        assert one.mention.text in (*title.split(), title)
        assert one.mention.text != title
        assert title not in one.document.text[one.mention.span.start : one.mention.span.start + len(title)]
        assert one.document.text[one.mention.span.start : one.mention.span.end] == one.mention.text
        assert one.entity != one.source
        assert one.gone == {one.source}
    assert max(Counter(one.entity for one in found).values()) <= SHORT_OF_ENTITY


def test_salient_words_of_an_entitys_own_text(proposals):
    found = list(proposals.own())
    assert {one.mention.text for one in found if one.source == "alder-bay"} == {"Bayish"}
    assert all(one.entity == one.source and not one.gone for one in found)


def test_an_entitys_own_name_in_its_own_text(kb):
    texts = read_texts(kb, 100, 0, quiet)
    found = list(Proposals(kb, texts, alone, 0).itself())
    assert found
    for one in found:
        title = kb.get(one.entity).title
        assert one.entity == one.source
        assert not one.gone
        assert one.mention.text in (title, *title.split())
        assert not one.document.text.startswith(f"{title} is one of many")  # the opening
    assert any(one.mention.text != kb.get(one.entity).title for one in found)


def test_own_names_are_for_want_of_others(folder, monkeypatch):
    linker = load(folder, config=CONFIG, mentions="given")
    assert "itself" in {one.kind for one in self_pairs(linker, Wanted(), 0, quiet)}
    assert "itself" not in {one.kind for one in self_pairs(linker, Wanted(), 0, quiet, seconds=0.0)}
    monkeypatch.setattr("entlink.learning.own_texts.pairs._SCARCE", 100)
    assert "itself" not in {one.kind for one in self_pairs(linker, Wanted(), 0, quiet)}


def test_plain_names_as_often_as_they_stand(kb, proposals):
    found = list(proposals.plain())
    assert len(found) > len(list(proposals.name()))
    for one in found:
        assert one.document.text[one.mention.span.start : one.mention.span.end] == one.mention.text
        assert kb.meaning(one.mention.text).entries
        assert one.entity != one.source
        assert len(one.document.text) <= 600 + len(one.mention.text)


def test_words_that_the_page_explains(tmp_path):
    text = "In Netherland the dikes are high. Many Netherlandish painters lived there, and Netherland was rich then."
    rows = [article("nl", "Netherland", "A land."), article("art", "Painting", "An art of some sort.", text)]
    with KnowledgeBase.open(make_kb(tmp_path, rows, "low", descriptions="full")) as kb:
        texts = read_texts(kb, 10, 0, quiet)
        (found,) = [one for one in Proposals(kb, texts, alone, 0).page() if one.mention.text[0].isupper()]
    assert (found.mention.text, found.entity, found.source) == ("Netherlandish", None, "art")


def test_names_with_several_bearers_where_the_text_tells_which(tmp_path):
    rows = [
        article("city", "Mercury City", "A city of the plain.", aliases=["Mercury", "Plainstown"]),
        article("planet", "Mercury (planet)", "A planet near the sun."),
        article("road", "Long Road", "The road goes to Plainstown, and whoever comes to Mercury has arrived there."),
    ]
    with KnowledgeBase.open(make_kb(tmp_path, rows, "named", descriptions="full")) as kb:
        texts = read_texts(kb, 10, 0, quiet)
        (found,) = [one for one in Proposals(kb, texts, alone, 0).name() if one.source == "road"]
    assert (found.mention.text, found.entity) == ("Mercury", "city")


def test_examples_come_with_candidates_and_the_same_for_a_seed(folder):
    linker = load(folder, config=CONFIG, mentions="given")
    cases = self_pairs(linker, Wanted(), 0, quiet)
    kinds = Counter(one.kind for one in cases)
    assert kinds["short"] > 50
    assert kinds["name"]
    for one in cases:
        entities = [found.entity for found in one.candidates]
        assert one.entity in entities or (one.kind == "plain" and not entities)
        assert one.kind in ("own", "itself") or one.source not in entities
    assert self_pairs(linker, Wanted(), 0, quiet) == cases
    few = self_pairs(linker, Wanted(), 0, quiet, seconds=0.0)
    assert max(Counter(one.kind for one in few if one.kind != "plain").values()) <= 100
    linker.kb.close()


def test_whether_there_is_text(kb, tmp_path):
    assert has_text(kb, 0)
    with KnowledgeBase.open(make_kb(tmp_path, [article("a", "A", "Short.")], "bare")) as bare:
        assert not has_text(bare, 0)


def test_links_as_examples(tmp_path):
    with KnowledgeBase.open(make_kb(tmp_path, tiny_world.rows(linked=True), "l", descriptions="full")) as kb:
        found, aside, rare, more = link_mentions(kb, 100, 30, 150, 60, 0, quiet)
        assert (len(found), len(aside), len(more)) == (100, 30, 150)
        assert not {one.source for one in (*found, *more)} & {one.source for one in aside}
        assert not rare  # no name means several here
        for one in (*found, *aside, *more):
            assert one.document.text[one.mention.span.start : one.mention.span.end] == one.mention.text
            assert one.mention.text in kb.get(one.entity).title
        otherwise_named = sum(one.mention.text != kb.get(one.entity).title for one in found)
        assert otherwise_named == 20  # no name means several here


def linked(id, words):
    """An article whose words in brackets lead to what stands after the bar."""
    text, links = "", []
    for number, word in enumerate(words):
        surface, _, target = word.partition("|")
        text += f"{'And' if number else 'Once'} the writers of old times spoke of "
        if target:
            links.append([len(text), len(text) + len(surface), target])
        text += f"{surface}. "
    return {"id": id, "title": id.title(), "paragraphs": [{"text": text.strip(), "links": links}]}


def test_links_of_ambiguous_names_come_first_and_in_balance(tmp_path, monkeypatch):
    rows = [linked("planet", []), linked("god", [])]
    rows += [linked(f"page{number}", ["Mercury|planet", "Mercury|planet"]) for number in range(20)]
    rows += [linked(f"other{number}", ["Mercury|god"]) for number in range(3)]
    with KnowledgeBase.open(make_kb(tmp_path, rows, "m", descriptions="full")) as kb:
        monkeypatch.setattr("entlink.learning.own_texts.links._ASIDE", 0.0)
        monkeypatch.setattr("entlink.learning.own_texts.links._FEWEST_ASIDE", 0)
        found, aside, rare, _ = link_mentions(kb, 100, 30, 0, 60, 0, quiet)
    assert Counter(one.entity for one in found) == {"god": 3, "planet": 8}
    assert not aside
    assert not rare


def test_unusual_links_are_measured_on_besides_a_sample(tmp_path, monkeypatch):
    rows = [linked("planet", []), linked("god", [])]
    rows += [linked(f"page{number}", ["Mercury|planet", "Mercury|planet"]) for number in range(20)]
    rows += [linked(f"other{number}", ["Mercury|god"]) for number in range(6)]
    with KnowledgeBase.open(make_kb(tmp_path, rows, "m", descriptions="full")) as kb:
        monkeypatch.setattr("entlink.learning.own_texts.links._ASIDE", 0.5)
        found, sample, rare, _ = link_mentions(kb, 100, 3, 0, 60, 0, quiet)
        monkeypatch.setattr("entlink.learning.own_texts.links._RARE", 1)
        fewer = link_mentions(kb, 100, 3, 0, 60, 0, quiet).rare
    assert len(sample) == 3
    assert {one.entity for one in rare} == {"god"}
    gods = sum(one.entity == "god" for one in (*found, *sample, *rare))
    assert gods == 6  # none is lost, and none is in two parts
    assert len(fewer) == 1


def test_a_link_does_not_count_itself(tmp_path):
    rows = [linked("planet", []), linked("god", [])]
    rows += [linked(f"page{number}", ["Mercury|planet"]) for number in range(4)] + [linked("other", ["Mercury|god"])]
    linker = load(make_kb(tmp_path, rows, "m", descriptions="full"), config=CONFIG, mentions="given")
    try:
        cases = link_pairs(linker, 100, 60, 0, quiet)
        total = linker.kb.meaning("Mercury").total
        for case in cases:
            priors = {
                one.entity: one.evidence["alias"] for one in case.candidates if one.evidence.get("tier") is not None
            }
            for entity in ("planet", "god"):
                counted = plain_prior(linker, "Mercury", entity) * total - (entity == case.entity)
                assert priors[entity] == pytest.approx(counted / (total - 1))
        assert {one.entity for one in cases} == {"planet", "god"}
    finally:
        linker.kb.close()


def plain_prior(linker, surface, entity):
    meaning = linker.kb.meaning(surface)
    own = sum(entry.support for entry in meaning.entries if entry.entity == linker.kb.key(entity))
    return own / meaning.total


def case(number, source="s", candidates=()):
    text = f"Here is word{number} now"
    return Case("own", source, Document(f"{source}#{number}", text), Mention(Span(8, 12), "word"), "e", candidates)


def test_cases_are_kept_in_a_file(tmp_path):
    cases = [case(1, candidates=[Candidate("e", 0.5, {"sum": 2.0}, "E"), Candidate("f", 0.25, {"sum": 1.0}, None)])]
    write_cases(tmp_path / "cases", cases)
    assert read_cases(tmp_path / "cases") == cases
    (tmp_path / "cases").write_bytes(b'["own",')
    with pytest.raises(DamagedError, match="--restart"):
        read_cases(tmp_path / "cases")


def test_no_page_is_in_two_parts():
    cases = [case(number, f"page{number % 50}") for number in range(500)]
    parts = parted(cases, 30, 0)
    sources = [{one.source for one in part} for part in parts]
    assert not (sources[0] & sources[1] or sources[0] & sources[2] or sources[1] & sources[2])
    assert [len(part) for part in parts] == [400, 30, 30]


def test_plain_cases_are_to_train_on_only():
    cases = [case(number, f"page{number % 50}") for number in range(500)]
    plain = [case(number, f"page{number % 60}")._replace(kind="plain") for number in range(500, 1100)]
    parts = parted([*cases, *plain], 1000, 0)
    assert [len(part) for part in parts[1:]] == [50, 50]
    assert {one.kind for part in parts[1:] for one in part} == {"own"}
    aside = {one.source for part in parts[1:] for one in part}
    assert parts.train == [one for one in [*cases, *plain] if one.source not in aside]


def test_what_was_drawn_to_measure_on_is_not_learnt_from():
    cases = [case(number, f"page{number % 50}")._replace(kind="link") for number in range(500)]
    drawn = [case(number, f"other{number % 10}")._replace(kind="sample") for number in range(100)]
    parts = parted([*drawn, *cases], 200, 0)
    assert parts.train == cases
    assert [len(part) for part in parts[1:]] == [50, 50]
    assert {one.kind for part in parts[1:] for one in part} == {"sample"}


def test_wrong_candidates_to_learn_from():
    ids = [f"c{number}" for number in range(15)]
    one = case(1, candidates=[Candidate(id, 0.0) for id in [*ids[:3], "e", *ids[3:]]])
    example = one.example(6, Random(0))
    assert example.negatives[:2] == ("c0", "c1")
    assert len(set(example.negatives)) == 6
    assert set(example.negatives) <= set(ids[:10])
    assert one.example(2, Random(0)).negatives == ("c0", "c1")
    assert case(1).example(6, Random(0)).negatives == ()
