"""What the characters around a mention say about its candidates, in scripts without spaces."""

from __future__ import annotations

import pytest

import entlink
from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.errors import ConfigError
from entlink.evidence.characters import CharactersEvidence
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

ROWS = """id,title,description
film,英雄 (电影),张艺谋导演的武侠电影，主演有李连杰。
song,英雄 (歌曲),一首流行歌曲，由歌手演唱，收录于专辑。
plain,英雄,
film2,英雄 (電影),張藝謀導演的武俠電影，主演有李連杰。
"""
FILM = "这部由张艺谋执导的英雄在电影院上映。"


@pytest.fixture
def kb(tmp_path):
    (tmp_path / "wiki.csv").write_text(ROWS, encoding="utf8")
    entlink.build([tmp_path / "wiki.csv"], tmp_path / "wiki.kb")
    with KnowledgeBase.open(tmp_path / "wiki.kb") as opened:
        yield opened


def shortlist(text, *entities, surface="英雄"):
    start = text.index(surface)
    mention = Mention(Span(start, start + len(surface)), surface)
    return Shortlist(Document("one", text), mention, [Candidate(one, 0.5) for one in entities])


def test_what_passage_and_description_share_speaks_for_a_candidate(kb):
    [[film, song, plain]] = CharactersEvidence(kb).gather([shortlist(FILM, "film", "song", "plain")])
    assert film["characters"] > song["characters"] >= plain["characters"] == 0
    assert film["pairs"] > song["pairs"] == 0  # 张艺, 艺谋 and 电影, but not the name itself
    assert (film["parenthesis"], song["parenthesis"]) == (1.0, 0.0)
    assert "parenthesis" not in plain


def test_only_what_is_within_reach_is_read(kb):
    [[film]] = CharactersEvidence(kb, reach=2).gather([shortlist(FILM, "film")])
    assert film["pairs"] == 0
    assert film["parenthesis"] < 1  # 电, without 影


def test_both_chinese_scripts_are_compared(kb):
    pytest.importorskip("opencc", reason="needs the extra zh")
    [[film, film2]] = CharactersEvidence(kb).gather([shortlist(FILM, "film", "film2")])
    assert film2 == film


def test_passages_in_spaced_scripts_have_no_such_numbers(kb):
    [[film]] = CharactersEvidence(kb).gather([shortlist("The film 英雄 by Zhang", "film")])
    assert film == {}


def test_a_changed_description_is_read_anew(kb):
    evidence = CharactersEvidence(kb)
    [[before]] = evidence.gather([shortlist(FILM, "plain")])
    kb.add([Entity("plain", "英雄", description="张艺谋的电影。")], replace=True)
    evidence.knowledge_base_changed()
    [[after]] = evidence.gather([shortlist(FILM, "plain")])
    assert after["pairs"] > before["pairs"]


def test_how_rare_characters_are_is_counted_anew(tmp_path):
    (tmp_path / "empty.csv").write_text("id,title,description\n", encoding="utf8")
    entlink.build([tmp_path / "empty.csv"], tmp_path / "new.kb")
    rows = [
        Entity("film", "英雄", description="张艺谋的电影。"),
        *(Entity(f"f{n}", f"甲{n}", description="电影") for n in range(9)),
    ]
    with KnowledgeBase.open(tmp_path / "new.kb") as kb:
        evidence = CharactersEvidence(kb)
        evidence.gather([shortlist(FILM)])
        kb.add(rows)
        evidence.knowledge_base_changed()
        [[after]] = evidence.gather([shortlist(FILM, "film")])
        assert [[after]] == CharactersEvidence(kb).gather([shortlist(FILM, "film")])


def test_a_reach_of_nothing_is_refused(kb):
    with pytest.raises(ConfigError, match="reach = 0"):
        CharactersEvidence(kb, reach=0)
