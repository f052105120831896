from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.text.folding import first_token, fold, is_spaceless, key_of

# The alphabet mixes what folds in interesting ways; plain `st.text()` hardly ever puts two of these together.
INTERESTING = (
    "aAzZ09 _-.,'+#C\t\n  "
    "éÉßẞİıŁŒœﬁﬀΣσςΐᾳТ½㎏№™"
    "\u0301\u0308\u0323\u0307\ufe0f\u200d❤☀"
    "编程北京臺灣头頭髮龍竜カガｶﾞﾟ・ーアｱ㍿"
    "한글\u1112\u1161\u11abㄱㅏﾡￂ"
    "हिन्दीไทยกำ\u0e31\u0e49"
)
TEXTS = st.one_of(st.text(max_size=30), st.text(alphabet=INTERESTING, max_size=12))
# A combining iota folds to a letter of its own, and so to a place of its own among the marks around it.
SLICED = TEXTS.filter(lambda text: "\u0345" not in unicodedata.normalize("NFD", text))


@given(TEXTS)
def test_folds_any_text_with_places_in_order_and_inside_it(text):
    folded = fold(text)
    assert len(folded.tokens) == len(folded.starts) == len(folded.ends) == len(folded.at) == len(folded.to)
    assert all(0 <= start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))
    assert folded.starts == sorted(folded.starts)
    assert folded.ends == sorted(folded.ends)
    assert [folded.key[at:to] for at, to in zip(folded.at, folded.to, strict=True)] == folded.tokens


@given(SLICED)
def test_what_stands_where_a_token_stood_folds_to_that_token(text):
    folded = fold(text)
    places = list(zip(folded.starts, folded.ends, strict=True))
    for number, (start, end) in enumerate(places):
        # One character may fold to several tokens (½ to 1 and 2): then they share its place.
        shares = any(s < end and start < e for n, (s, e) in enumerate(places) if n != number)
        if not shares:
            assert key_of(text[start:end]) == folded.tokens[number]


@given(TEXTS)
def test_key_of_a_key_is_itself(text):
    assert key_of(key_of(text)) == key_of(text)


@given(TEXTS)
def test_canonically_equal_texts_have_one_key(text):
    keys = {key_of(unicodedata.normalize(form, text)) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    assert keys == {key_of(text)}


@given(st.lists(st.text(alphabet="abcXYZ019éÑ", min_size=1, max_size=5), min_size=1, max_size=4), st.data())
def test_variants_in_case_width_and_punctuation_share_a_key(words, data):
    gap = st.sampled_from([" ", "-", "  ", "\u00a0", ", ", " – ", "_", "/"])
    other = words[0].upper()
    for word in words[1:]:
        other += data.draw(gap) + data.draw(st.sampled_from([word, word.upper(), word.lower(), wide(word)]))
    assert key_of(other + data.draw(st.sampled_from(["", ".", "!", "”"]))) == " ".join(words).lower()


def wide(text: str) -> str:
    """ASCII letters and digits in their full-width forms."""
    return "".join(chr(ord(character) + 0xFEE0) if character.isascii() else character for character in text)


@pytest.mark.parametrize(
    ("surface", "key"),
    [
        ("Mercury (planet)", "mercury planet"),
        ("Ｍｅｒｃｕｒｙ", "mercury"),
        ("O'Neill", "o neill"),
        ("  New\tYork ", "new york"),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("GROẞ", "gross"),
        ("ﬁre", "fire"),
        ("Œuvre", "œuvre"),
        ("Øre", "øre"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευσ"),
        ("Ὀδυσσεύς", "ὀδυσσεύσ"),
        ("İstanbul", "i\u0307stanbul"),
        ("m²", "m2"),
        ("北京", "北京"),
        ("北 京", "北京"),
        ("Java 编程", "java编程"),
        ("Java编程 Basics", "java编程basics"),
        ("スティーブ・ジョブズ", "スティーブジョブズ"),
        ("ｶﾞｽ", "ガス"),
        ("C", "c"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("c++ 编程", "c++编程"),
        ("C++编程", "c++编程"),
        ("#1 hit", "1 hit"),
        ("C++ Primer", "c++ primer"),
        ("A+B", "a b"),
        ("!!!", "!!!"),
        ("★ ☆", "★ ☆"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("I ❤\ufe0f NY", "i ny"),
        ("", ""),
        (" \n", ""),
    ],
)
def test_keys(surface, key):
    assert key_of(surface) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("C++", "C#"), ("é", "e"), ("हिन्दी", "हनद"), ("กา", "กำ"), ("❤\ufe0f", "☀\ufe0f"), ("ß", "s")],
)
def test_other_names_keep_other_keys(one, other):
    assert key_of(one) != key_of(other)


@pytest.mark.parametrize(
    ("text", "tokens", "places"),
    [
        ("The C++ book", ["the", "c++", "book"], ["The", "C++", "book"]),
        ("Cafe\u0301 noir", ["café", "noir"], ["Cafe\u0301", "noir"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"], ["हिन्दी", "भाषा"]),
        ("ที่นี่", ["ที่", "นี่"], ["ที่", "นี่"]),
        ("ｶﾞｽ gas", ["ガ", "ス", "gas"], ["ｶﾞ", "ｽ", "gas"]),
        ("in Straße 7", ["in", "strasse", "7"], ["in", "Straße", "7"]),
        ("İzmir’de", ["i\u0307zmir", "de"], ["İzmir", "de"]),
        ("oﬃce", ["office"], ["oﬃce"]),
        (unicodedata.normalize("NFD", "한국 사람"), ["한국", "사람"], ["한국", "사람"]),
        ("½ cup", ["1", "2", "cup"], ["½", "½", "cup"]),
    ],
)
def test_tokens_with_their_places(text, tokens, places):
    folded = fold(text)
    assert folded.tokens == tokens
    found = [text[start:end] for start, end in zip(folded.starts, folded.ends, strict=True)]
    assert [unicodedata.normalize("NFC", place) for place in found] == [
        unicodedata.normalize("NFC", place) for place in places
    ]


@given(TEXTS)
def test_the_first_token_of_a_key_begins_it(text):
    key = key_of(text)
    assert key.startswith(first_token(key))
    tokens = fold(key).tokens
    assert first_token(key) == (tokens[0] if tokens else key)


@pytest.mark.parametrize(
    ("character", "expected"), [("京", True), ("カ", True), ("ก", True), ("a", False), ("한", False)]
)
def test_spaceless_scripts(character, expected):
    assert is_spaceless(character) is expected


def test_marks_without_a_letter_are_no_tokens():
    assert fold("\u0301" * 50_000).tokens == []
    assert fold("- \u0301 \ufe0f").tokens == []


@pytest.mark.parametrize("invisible", ["\u00ad", "\u200b", "\u2060", "\ufeff"])
def test_characters_that_are_not_seen_do_not_split_words(invisible):
    text = f"an At{invisible}las 40 Stra{invisible}ße"
    folded = fold(text)
    assert folded.tokens == ["an", "atlas", "40", "strasse"]
    assert text[folded.starts[1] : folded.ends[1]] == f"At{invisible}las"
    assert text[folded.starts[3] : folded.ends[3]] == f"Stra{invisible}ße"
    assert key_of(f"At{invisible}las") == "atlas"
