from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.sources.mediawiki.dumps.moves import may_tell_of_move, move_told
from entlink.sources.mediawiki.dumps.raw_page import Move
from entlink.sources.mediawiki.dumps.redirects import redirect_in


@pytest.mark.parametrize(
    "comment",
    [
        "moved page [[A b]] to [[C]]",
        "moved [[A b]] to [[C]]",
        "[[User:X]] moved page [[A b]] to [[C]]: see [[D]] to [[E]]",
        "X moved page [[A_b]] to [[:C]] over redirect",
        "X moved page [[A b]] to [[C]] without leaving a redirect: spelling",
        "[[A b]] moved to [[C]]: spelling",
        "[[A b|Ab]] moved to [[C|Cc]] over redirect",
        "X verschob die Seite [[A b]] nach [[C]]: besser",
        "hat „[[A b]]“ nach „[[C]]“ verschoben",
        "X a déplacé la page [[A b]] vers [[C]]",
        "X trasladó la página [[A b]] a [[C]]",
        "X ha spostato la pagina [[A b]] a [[C]]",
        "X moveu [[A b]] para [[C]]",
        "Titel van [[A b]] hernoemd naar [[C]]",
        "X flyttade sidan [[A b]] till [[C]]",
        "X przeniósł stronę [[A b]] do [[C]]",
        "X переименовал страницу [[A b]] в [[C]]",
        "«[[A b]]» переименована в «[[C]]»",
        "X がページ「[[A b]]」を「[[C]]」に移動しました",
        "X移动页面[[A b]]至[[C]]",
        "X님이 [[A b]] 문서를 [[C]] 문서로 옮겼습니다",
        "X siirsi sivun [[A b]] uudelle nimelle [[C]]",
    ],
)
def test_comments_that_tell_of_a_move(comment):
    assert may_tell_of_move(comment.encode())
    assert move_told(comment, "2020") == Move("2020", "A b", "C")


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "moved a paragraph to [[C]]",
        "links from [[A]] to [[C]]",
        "moved the text of [[A]] and of [[C]]",
        "moved [[A] to [C]]",
        "moved [[ ]] to [[C]]",
    ],
)
def test_comments_that_tell_of_none(comment):
    assert move_told(comment, "2020") is None


def test_a_comment_with_one_link_is_not_looked_into():
    assert not may_tell_of_move(b"moved a paragraph to [[C]]")


@pytest.mark.parametrize(
    "word", ["REDIRECT", "WEITERLEITUNG", "REDIRECTION", "REDIRECCIÓN", "ПЕРЕНАПРАВЛЕНИЕ", "転送", "重定向", "تحويل"]
)
def test_redirects_in_many_languages(word):
    assert redirect_in(f"#{word} [[Hill top]]") == "Hill top"
    assert redirect_in(f"\n#{word}: [[:Hill_top#High|there]]\n[[Category:X]]") == "Hill top"


def test_case_does_not_matter():
    assert redirect_in("#redirect[[Hill]]") == redirect_in("#Перенаправление [[Hill]]") == "Hill"


@pytest.mark.parametrize(
    "text", ["", "#REDIRECT Hill", "#REDIRECT [[#High]]", "REDIRECT [[Hill]]", "#REDIRECTS [[Hill]]"]
)
def test_texts_that_are_no_redirects(text):
    assert redirect_in(text) is None


@given(st.text(alphabet="#REDICT[]|: \nab", max_size=60))
def test_any_text_may_be_asked(text):
    target = redirect_in(text)
    assert target is None or target in " ".join(text.split())


@pytest.mark.parametrize("unit", [" ", "[[", "[[a]] or ", "#REDIRECT ", ":", "[[a|"])
def test_long_nonsense_takes_no_time(unit):
    assert redirect_in("#REDIRECT" + unit * 200_000) in (None, "a")
    assert move_told("moved " + unit * 200_000, "2020") is None
