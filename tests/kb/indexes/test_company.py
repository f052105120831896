from __future__ import annotations

import json
import re
from itertools import combinations
from random import Random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.errors import DamagedError
from entlink.kb.indexes.cooccurrence import search as company_search
from entlink.kb.indexes.cooccurrence import writing as company_writer
from entlink.kb.indexes.cooccurrence.paragraphs import (
    LONGEST,
    SHORTEST,
    ParagraphReader,
    entity_term,
    paragraphs_of,
    word_term,
)
from entlink.kb.indexes.cooccurrence.postings import CompanyIndex
from entlink.kb.indexes.cooccurrence.search import Company
from entlink.kb.indexes.cooccurrence.writing import ensure_company, write_company
from entlink.kb.indexes.derived import COMPLETE, derived_folder, derived_indexes, is_complete, read_complete
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add
from entlink.kb.store.store import Store
from entlink.kb.verify import verify
from knowledge_bases import make_kb

FILLED = " and so on it goes for quite a while here"  # makes a line long enough

# What each says of the others; a name is a title, a parenthesis left out.
LANDS = {
    "nl": ("Netherlands", ["The Netherlands has Dutch painters.", "Dutch ships went far from the Netherlands."]),
    "en": ("England", ["England fought Dutch ships near the Netherlands.", "English is spoken in England."]),
    "sea": ("North Sea", ["The north sea parts England from Dutch land; English ships cross the North Sea."]),
    "planet": ("Mercury (planet)", ["Mercury is seen from England by Dutch eyes."]),
    "metal": ("Mercury (element)", ["Mercury went to England in Dutch ships, and to the Netherlands."]),
    "east": ("East", ["East of England lies the Dutch north."]),
    "short": ("Brief", ["Dutch England."]),
    "zh": ("北京", ["北京在中国的北方，上海在中国的东方。" * 3]),
    "sh": ("上海", ["上海人说汉语，北京人也说汉语，他们都住在城里。" * 2]),
}


def rows(lands):
    for id, (title, lines) in lands.items():
        filled = [line if len(line) < 20 or not line.isascii() else line + FILLED for line in lines]
        yield {"id": id, "title": title, "description": "\n".join(filled)}


def made(folder, lands, name="made"):
    source = folder / f"{name}.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows(lands)), encoding="utf8")
    from entlink.kb.build.from_sources import BuildOptions, build

    target = folder / f"{name}.kb"
    build([source], target, BuildOptions(format="jsonl", processes=1))
    return target


def brute(lands, surface, id):
    """The same by looking at every paragraph, for plain English."""
    names = {}
    for one, (title, _) in lands.items():
        names.setdefault(tuple(_words(re.sub(r" \(.*", "", title))), set()).add(one)
    read = []
    for row in rows(lands):
        for line in row["description"].split("\n"):
            if len(line) >= SHORTEST:
                read.append(_read(_words(line), names, row["id"]))
    wanted = set(_words(surface))
    if not wanted or any(sum(word in words for words, _ in read) < 2 for word in wanted):
        return 0
    return sum(wanted <= words and id in named for words, named in read)


def _words(text):
    return re.findall(r"[a-z]+", text.lower())


def _read(words, names, own):
    left, named, place = set(), set(), 0
    while place < len(words):
        lengths = [n for n in range(len(words) - place, 0, -1) if tuple(words[place : place + n]) in names]
        if lengths:
            bearers = names[tuple(words[place : place + lengths[0]])]
            named |= bearers if len(bearers) == 1 else set()
        else:
            left.add(words[place])
        place += lengths[0] if lengths else 1
    return left, named - {own}


def counts(kb, surface, *ids):
    return Company(kb).of(surface, [kb.key(id) for id in ids])


@pytest.fixture
def lands(tmp_path):
    folder = made(tmp_path, LANDS)
    ensure_company(folder, processes=1)
    return folder


def test_paragraphs_that_hold_a_surface_and_a_name(lands, opened):
    kb = opened(lands)
    # England: sea, planet, metal, east; its own paragraphs do not count. Netherlands: en, metal.
    assert counts(kb, "Dutch", "en", "nl", "sea", "planet", "metal") == [4, 2, 0, 0, 0]
    assert counts(kb, "DUTCH ships", "en", "nl") == [2, 2]
    assert counts(kb, "ships, dutch", "en", "nl") == [2, 2]  # in any order
    assert counts(kb, "English ships", "en", "nl") == [1, 0]


def test_a_name_is_no_word(lands, opened):
    kb = opened(lands)
    assert counts(kb, "Netherlands", "en", "nl") == [0, 0]
    assert counts(kb, "North Sea", "en") == [0]
    assert counts(kb, "North", "en") == [0]  # once outside of "North Sea": not enough to be kept
    assert counts(kb, "Mercury", "en") == [0]  # several bear it: it stands for none of them, and is a name still


def test_a_paragraph_that_is_short_does_not_count(lands, opened):
    assert read_complete(derived_folder(opened(lands), "company")).rows == 10


def test_scripts_without_spaces(lands, opened):
    kb = opened(lands)
    index = CompanyIndex(derived_folder(kb, "company"))
    spoken, country, capital = index.find([word_term(word) for word in ("汉语", "中国", "北京")])
    assert [len(spoken), len(country), len(capital)] == [0, 0, 0]  # in one paragraph each, or within a name
    assert counts(kb, "在", "zh", "sh") == [1, 1]  # each in the paragraph of the other
    assert [len(one) for one in index.find([entity_term(kb.key(id)) for id in ("zh", "sh")])] == [1, 1]


def test_pairs_of_characters_are_words(tmp_path, opened):
    spoken = "上海人说汉语，北京人也说汉语，他们都住在城里，城里的人很多很多，路上的车也很多很多。"
    folder = made(tmp_path, {"zh": ("北京", [spoken, spoken]), "sh": ("上海", [spoken])})
    ensure_company(folder, processes=1)
    kb = opened(folder)
    assert counts(kb, "汉语", "zh", "sh") == [1, 2]
    assert counts(kb, "海人", "zh", "sh") == [0, 0]  # half of it is within a name


@pytest.mark.parametrize("surface", ["", "!?", "unheard", "Dutch unheard"])
def test_what_is_nowhere_has_no_company(lands, opened, surface):
    assert counts(opened(lands), surface, "en", "nl") == [0, 0]


def test_as_by_looking_at_every_paragraph(lands, opened):
    kb = opened(lands)
    plain = {id: land for id, land in LANDS.items() if land[0].isascii()}
    words = ["dutch", "english", "ships", "north", "east", "the", "of", "seen", "england", "land"]
    for surface in [*words, *map(" ".join, combinations(words, 2))]:
        assert counts(kb, surface, *plain) == [brute(plain, surface, id) for id in plain], surface


WORDS = ["a", "b", "c", "d", "e", "dutch"]
TITLES = ["A", "B", "A b", "A b c", "C (one)", "C (two)", "D d"]


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    """Titles of letters, and texts of letters drawn by chance."""
    chance = Random(0)
    lands = {
        f"id{number}": (title, [" ".join(chance.choices(WORDS, k=chance.randint(1, 5))) + FILLED for _ in range(12)])
        for number, title in enumerate(TITLES)
    }
    folder = made(tmp_path_factory.mktemp("letters"), lands)
    ensure_company(folder, processes=1)
    with KnowledgeBase.open(folder) as kb:
        yield kb, lands


def test_many_texts_as_by_looking_at_every_paragraph(letters):
    kb, lands = letters
    found = {}
    for surface in [*WORDS, *map(" ".join, combinations(WORDS, 2))]:
        found[surface] = counts(kb, surface, *lands)
        assert found[surface] == [brute(lands, surface, id) for id in lands], surface
    assert max(found["e dutch"]) > 1


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_any_paragraph_is_read_by_its_longest_names(letters, words):
    kb, lands = letters
    names = {}
    for id, (title, _) in lands.items():
        names.setdefault(tuple(_words(re.sub(r" \(.*", "", title))), set()).add(id)
    left, named = _read(words, names, None)
    found = ParagraphReader(kb.alias_index).read(" ".join(words))
    assert found.words == left
    assert found.entities == {kb.key(id) for id in named}


NUMBERS = st.sets(st.integers(0, 60)).map(lambda numbers: numpy.array(sorted(numbers), numpy.uint32))


@given(NUMBERS, st.lists(NUMBERS))
def test_common_counts_are_those_of_sets(paragraphs, others):
    expected = [len(set(paragraphs.tolist()) & set(other.tolist())) for other in others]
    assert company_search._common_counts(paragraphs, others) == expected


def test_lines_become_paragraphs():
    word = "x" * 9
    long = " ".join([word] * 500)
    short, enough = "s" * (SHORTEST - 1), "e" * SHORTEST
    found = list(paragraphs_of(f"{short}\n\n  {enough}\r\n{long}\n"))
    assert found[0] == enough
    assert " ".join(found[1:]) == long
    assert all(SHORTEST <= len(one) <= LONGEST and set(one.split()) == {word} for one in found[1:])
    assert [*map(len, paragraphs_of("y" * (2 * LONGEST + SHORTEST)))] == [LONGEST, LONGEST, SHORTEST]
    assert list(paragraphs_of("")) == []


def arrays(folder):
    return {name: numpy.load(folder / f"{name}.npy").tolist() for name in ("terms", "starts", "rows")}


def test_however_it_is_cut_up_it_is_the_same(lands, tmp_path, monkeypatch):
    monkeypatch.setattr(company_writer, "_FEWEST", 2)
    monkeypatch.setattr(company_writer, "POSTINGS_A_RUN", 5)
    monkeypatch.setattr(company_writer, "POSTINGS_A_SLICE", 7)
    store, seen = Store(lands), []
    try:
        write_company(
            store, tmp_path / "cut", processes=2, progress=lambda stage, done, total: seen.append((stage, done))
        )
    finally:
        store.close()
    assert arrays(tmp_path / "cut") == arrays(lands / "index-1" / "company")
    assert [done for stage, done in seen if stage == "reading paragraphs"] == [1, 2, 3, 4, 5]


def test_an_interrupted_run_is_taken_up(lands, tmp_path, monkeypatch):
    whole, target, made_blocks = arrays(lands / "index-1" / "company"), tmp_path / "again", []
    monkeypatch.setattr(company_writer, "_FEWEST", 2)
    write_block = company_writer.write_block

    def fails_at_third(folder, names, first, last, path):
        if len(made_blocks) == 2:
            raise KeyboardInterrupt
        made_blocks.append(first)
        write_block(folder, names, first, last, path)

    store = Store(lands)
    try:
        monkeypatch.setattr(company_writer, "write_block", fails_at_third)
        with pytest.raises(KeyboardInterrupt):
            write_company(store, target, processes=1)
        assert not is_complete(target)
        made_blocks[:] = []
        monkeypatch.setattr(
            company_writer,
            "write_block",
            lambda *given: (made_blocks.append(given[2]), write_block(*given)),
        )
        write_company(store, target, processes=1)
    finally:
        store.close()
    assert made_blocks == [5, 7, 9]
    assert arrays(target) == whole


def test_common_words_are_left_aside_where_there_are_others(lands, opened, monkeypatch):
    kb = opened(lands)
    assert counts(kb, "dutch goes english", "en") == [1]
    assert counts(kb, "dutch english", "nl", "en") == [0, 1]
    monkeypatch.setattr(company_search, "_COMMON", 3)
    assert counts(kb, "dutch", "en") == [4]  # it is in most paragraphs, but there is no other
    assert len(CompanyIndex(derived_folder(kb, "company")).find([word_term("ships")])[0]) == 4
    assert counts(kb, "dutch ships goes english", "en") == counts(kb, "english", "en") == [1]
    monkeypatch.setattr(company_search, "_COMMON_SHARE", 0.95)
    assert counts(kb, "dutch", "en") == [4]


def test_counts_are_remembered_and_the_memory_is_bounded(lands, opened, monkeypatch):
    kb = opened(lands)
    monkeypatch.setattr(company_search, "_CACHED", 4)
    company = Company(kb)
    keys = [kb.key(id) for id in ("en", "nl", "en")]
    for surface in ("dutch", "ships", "english", "dutch", "ships", "dutch"):
        assert company.of(surface, keys) == Company(kb).of(surface, keys)
        assert company.of(surface, keys[::-1]) == Company(kb).of(surface, keys)[::-1]
        assert company._size <= 6
    assert company.of("dutch", []) == []


def test_without_an_index_there_is_none_until_it_is_made(tmp_path, opened):
    folder = made(tmp_path, LANDS)
    kb = opened(folder)
    company = Company(kb)
    assert not company.is_there()
    assert company.of("Dutch", [kb.key("en")]) == [0]
    assert not is_complete(derived_folder(kb, "company"))
    ensure_company(folder, processes=1)
    assert company.is_there()
    assert company.of("Dutch", [kb.key("en")]) == [4]


def test_entities_that_come_later_have_company_by_the_words_of_their_titles(lands, opened):
    """Words of one paragraph alone are not in the index; from the next one on, titles are names."""
    kb = opened(lands)
    company = Company(kb)
    assert company.of("Dutch", [kb.key("en")]) == [4]
    text = "Dutch ships, Dutch eyes, and much else that is Dutch in England."
    add(lands, [Entity("eyes", "Eyes", text), Entity("else", "Much else", text), Entity("ships", "Ships (sail)", "")])
    kb.refresh()
    keys = [kb.key(id) for id in ("en", "eyes", "else", "ships")]
    assert company.of("Dutch", keys) == [4, 0, 0, 4]
    assert company.of("ships", keys) == [2, 0, 0, 0]  # nothing keeps company with itself
    reindex(lands, processes=1)
    kb.refresh()
    assert company.of("Dutch", keys) == [6, 2, 1, 6]
    assert [one.name for one in derived_indexes(lands / "index-2")] == ["company", "short"]
    assert not (lands / "index-1").exists()


def test_titles_alone_are_names(tmp_path, opened):
    """What is linked, and what is an alias, may be what is asked for."""
    text = "People who speak [[nl|Dutch]] live in Holland, and in the [[nl|Netherlands]] as well."
    articles = [
        {"id": "nl", "title": "Netherlands", "aliases": ["Holland"], "paragraphs": []},
        *({"id": f"x{number}", "title": f"X {number}", "paragraphs": []} for number in range(2)),
    ]
    from knowledge_bases import paragraph

    for one in articles[1:]:
        one["paragraphs"] = [paragraph(text)]
    folder = make_kb(tmp_path, articles, descriptions="full")
    ensure_company(folder, processes=1)
    kb = opened(folder)
    assert [counts(kb, surface, "nl") for surface in ("Dutch", "Holland", "Netherlands")] == [[2], [2], [0]]


def test_an_empty_knowledge_base(tmp_path, opened):
    folder = make_kb(tmp_path, [])
    ensure_company(folder, processes=1)
    company = Company(opened(folder))
    assert company.is_there()
    assert company.of("Dutch", [1, 2]) == [0, 0]


def test_files_that_are_not_whole_are_told(lands, opened):
    folder = lands / "index-1" / "company"
    verify(lands)
    card = (folder / COMPLETE).read_text()
    (folder / COMPLETE).write_text(card.replace('"format": 1', '"format": 99'))
    with pytest.raises(DamagedError, match=r"made by another release.*Remove the folder and run `entlink kb index"):
        Company(opened(lands)).is_there()
    (folder / COMPLETE).write_text(card)
    (folder / "rows.npy").write_bytes((folder / "rows.npy").read_bytes()[:-8])
    with pytest.raises(DamagedError, match="missing or cut off"):
        Company(opened(lands)).is_there()
