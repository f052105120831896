"""Traditional and simplified Chinese characters are one, and no place in a text moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.text import scripts
from entlink.text.folding import fold, key_of
from entlink.text.scripts import simplified

pytest.importorskip("opencc", reason="needs the extra zh")

HAN = "臺灣台湾頭髮头发發裡裏里後后乾干隆龍竜龙國国書书東京々〇𠮷"
TEXTS = st.text(alphabet=HAN + "カナかなＡＢａbc １2，。()\u0301", max_size=20)


@pytest.mark.parametrize(
    ("traditional", "other"),
    [
        ("臺灣", "台湾"),
        ("頭髮", "头发"),
        ("乾隆", "干隆"),  # with several conversions: a character has one of its own, whatever the word
        ("裡", "裏"),
        ("ＨＴＣ手機", "htc手机"),
        ("東京タワー", "东京タワー"),
    ],
)
def test_both_scripts_have_one_key(traditional, other):
    assert key_of(traditional) == key_of(other)


def test_simplified_names_and_other_scripts_stay():
    assert [simplified(name) for name in ("头发", "Zürich", "かな", "한국")] == ["头发", "Zürich", "かな", "한국"]


@given(TEXTS)
def test_a_conversion_keeps_every_place_and_is_done_once(text):
    converted = simplified(text)
    assert len(converted) == len(text)
    assert simplified(converted) == converted
    assert fold(text) == fold(converted)


@given(TEXTS, st.text(alphabet=HAN, min_size=1, max_size=6), TEXTS)
def test_a_name_is_the_same_in_any_text(before, name, after):
    folded = fold(f"{before}。{name}。{after}")
    tokens = [
        token
        for token, start in zip(folded.tokens, folded.starts, strict=True)
        if len(before) < start < len(before) + len(name) + 1
    ]
    assert "".join(tokens) == key_of(name)


def test_without_opencc_nothing_is_converted(monkeypatch):
    scripts._table.cache_clear()
    monkeypatch.setattr(scripts, "can_simplify", lambda: False)
    try:
        assert simplified("臺灣") == "臺灣"
    finally:
        scripts._table.cache_clear()
