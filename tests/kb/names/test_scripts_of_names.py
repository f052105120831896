"""Names in both Chinese scripts: found in either, and a warning where an index was folded in another way."""

from __future__ import annotations

import json

import pytest

import entlink
from entlink import KnowledgeBase
from entlink.kb.build.steps import BuildOptions
from entlink.kb.names import scripts
from entlink.kb.names.tiers import Normalisation, Tier
from entlink.text import scripts as text_scripts
from entlink.text.folding import key_of

pytest.importorskip("opencc", reason="needs the extra zh")

ROWS = """id,title,aliases,description
island,臺灣,,東亞的島嶼。
novel,台湾 (小说),,一部小说。
hair,頭髮,,長在頭上的毛。
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "zh.csv").write_text(ROWS, encoding="utf8")
    entlink.build([tmp_path / "zh.csv"], tmp_path / "zh.kb")
    return tmp_path / "zh.kb"


def set_simplified(folder, value):
    [card] = folder.glob("index-*/index.json")
    card.write_text(json.dumps({**json.loads(card.read_text()), "simplified": value}), encoding="utf8")


def test_a_name_in_one_script_means_what_it_means_in_the_other(folder):
    with KnowledgeBase.open(folder) as kb:
        for surface in ("臺灣", "台湾", "台灣"):
            assert {one.entity for one in kb.aliases(surface)} == {"island", "novel"}
        assert kb.meaning("台湾").tier is Tier.EXACT
        assert kb.meaning("台灣").tier is Tier.UNICODE
        tiers = {kb.head(one.entity)[0]: one.tier for one in kb.wide("台湾")}
        assert tiers == {"novel": Tier.EXACT, "island": Tier.UNICODE}
    with KnowledgeBase.open(folder, normalisation=Normalisation(unicode=False)) as kb:
        assert [one.entity for one in kb.aliases("台湾")] == ["novel"]


def test_a_text_in_the_other_script_is_linked_where_the_name_is(folder):
    [link] = entlink.load(folder, config="lexical").link("她刚剪了头发。").links
    assert (link.entity, link.mention.text, link.mention.span.start) == ("hair", "头发", 4)


def test_an_entity_that_is_added_has_both_scripts_at_once(folder):
    with KnowledgeBase.open(folder) as kb:
        kb.add([entlink.Entity("dragon", "龍")])
        assert [one.entity for one in kb.aliases("龙")] == ["dragon"]


@pytest.fixture
def folder_of_before(tmp_path, monkeypatch):
    """One whose index was made without opencc."""
    key_of.cache_clear()
    with monkeypatch.context() as without:
        without.setattr(text_scripts, "_table", dict)
        (tmp_path / "zh.csv").write_text(ROWS, encoding="utf8")
        entlink.build([tmp_path / "zh.csv"], tmp_path / "zh.kb", BuildOptions(processes=1))
    key_of.cache_clear()
    set_simplified(tmp_path / "zh.kb", False)
    return tmp_path / "zh.kb"


def test_an_index_made_without_opencc_is_warned_of_until_it_is_made_anew(folder_of_before, caplog):
    with KnowledgeBase.open(folder_of_before) as kb:
        assert "until `entlink kb index`" in caplog.text
        assert kb.aliases("頭髮") == []
        kb.index()
        assert [one.entity for one in kb.aliases("頭髮")] == ["hair"]
    caplog.clear()
    KnowledgeBase.open(folder_of_before).close()
    assert not caplog.records


def test_an_index_made_with_opencc_is_warned_of_where_there_is_none(folder, caplog, monkeypatch):
    KnowledgeBase.open(folder).close()
    assert not caplog.records
    monkeypatch.setattr(scripts, "can_simplify", lambda: False)
    KnowledgeBase.open(folder).close()
    assert "pip install 'entlink[zh]'" in caplog.text


def test_a_knowledge_base_without_chinese_names_is_not_warned_of(tmp_path, caplog):
    (tmp_path / "en.csv").write_text("id,title\np,Paris\n", encoding="utf8")
    entlink.build([tmp_path / "en.csv"], tmp_path / "en.kb")
    set_simplified(tmp_path / "en.kb", False)
    KnowledgeBase.open(tmp_path / "en.kb").close()
    assert not caplog.records
