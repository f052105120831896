"""Addresses of wikis' pages, as Fandom has and had them and as anybody may give them."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from entlink.datasets.wiki_urls import FANDOM_PATTERNS, WikiPage, WikiUrls, find_urls, normal_title
from entlink.errors import InputError

FANDOM = WikiUrls(FANDOM_PATTERNS)
TITLES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=20).map(
    normal_title
)


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://starwars.fandom.com/wiki/Darth_Vader", WikiPage("starwars", "Darth Vader")),
        (
            "http://starwars.wikia.com/wiki/Darth_Vader#Early_life",
            WikiPage("starwars", "Darth Vader", None, "Early_life"),
        ),
        ("//starwars.wikia.com/wiki/darth_Vader?oldid=7", WikiPage("starwars", "Darth Vader")),
        ("starwars.wikia.com/wiki/Padm%C3%A9_Amidala", WikiPage("starwars", "Padmé Amidala")),
        ("https://starwars.fandom.com/de/wiki/Yoda", WikiPage("starwars", "Yoda", "de")),
        ("https://starwars.fandom.com/pt-br/wiki/Yoda", WikiPage("starwars", "Yoda", "pt-br")),
        ("http://de.starwars.wikia.com/wiki/Yoda", WikiPage("starwars", "Yoda", "de")),
        ("http://en.memory-alpha.wikia.com/wiki/Q", WikiPage("memory-alpha", "Q", "en")),
        ("https://chem.wikia.org/wiki/Mercury", WikiPage("chem", "Mercury")),
        ("http://x.wikia.com/index.php?title=A_%28b%29&action=edit", WikiPage("x", "A (b)")),
        (r"http://x.wikia.com/wiki/A\_\(b\)", WikiPage("x", "A (b)")),
        ("HTTP://X.WIKIA.COM:80/wiki/A/B", WikiPage("x", "A/B")),
        ("http://x.wikia.com/wiki/:Category:A", WikiPage("x", "Category:A")),
        ("http://x.wikia.com/wiki/", None),
        ("http://x.wikia.com/wiki/_", None),
        ("http://x.wikia.com/wiki/%ff", None),
        ("http://x.wikia.com/wiki/a%00b", None),
        ("http://x.wikia.com/index.php?action=edit", None),
        ("http://notwikia.com/wiki/A", None),
        ("http://wikia.com.evil.org/wiki/A", None),
        ("http://en.wikipedia.org/wiki/A", None),
        ("", None),
    ],
)
def test_fandoms_addresses(url, page):
    assert FANDOM.page(url) == page


@given(TITLES, st.sampled_from(["starwars", "memory-alpha"]), st.sampled_from([None, "de", "pt-br"]))
def test_a_page_is_found_at_its_own_address(title, wiki, language):
    assume(title and normal_title(title) == title)
    page = WikiPage(wiki, title, language)
    assert FANDOM.page(FANDOM.url(page)) == page


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_none(text):
    page = FANDOM.page(text)
    assert page is None or FANDOM.may_be_in(text)


def test_a_pattern_of_ones_own():
    mine = WikiUrls(["https://{language}.wikipedia.org/wiki/{title}", "wiki.example.org/{wiki}/view?page={title}"])
    assert mine.page("https://en.wikipedia.org/wiki/Mercury_(planet)") == WikiPage(
        "en.wikipedia.org", "Mercury (planet)", "en"
    )
    assert mine.page("http://wiki.example.org/hr/view?x=1&page=holidays") == WikiPage("hr", "Holidays")
    assert mine.page("http://starwars.wikia.com/wiki/Yoda") is None
    assert mine.may_be_in("see EN.WIKIPEDIA.ORG/wiki/A")
    assert mine.may_be_in(r"see en.wikipedia\.org/wiki/A")
    assert not mine.may_be_in("see starwars.wikia.com/wiki/A")


@pytest.mark.parametrize(
    "pattern",
    [
        "https://my.wiki/",
        "https://{title}.wiki/x",
        "https://my.wiki/{title}/{title}",
        "https://my.wiki/{page}",
        "{title}",
    ],
)
def test_patterns_that_mean_nothing_are_refused(pattern):
    with pytest.raises(InputError, match="no pattern of addresses"):
        WikiUrls([pattern])


def test_no_pattern_and_no_place_for_a_language_are_told():
    with pytest.raises(InputError, match="there is no pattern"):
        WikiUrls([])
    with pytest.raises(InputError, match="no pattern has a place for the language 'de'"):
        WikiUrls(["https://my.wiki/{title}"]).url(WikiPage("my.wiki", "A", "de"))


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("See http://a.b/c, or https://d.e/f_(g).", ["http://a.b/c", "https://d.e/f_(g)"]),
        ("(http://a.b/c)", ["http://a.b/c"]),
        ("(x.wikia.com/wiki/A_(b))!", ["x.wikia.com/wiki/A_(b)"]),
        (r"www.a.b\) c", ["www.a.b"]),
        ("[t](http://a.b/c) <http://d.e>", ["http://a.b/c", "http://d.e"]),
        ("and/or, 3.5/10, me@x.com/ a.b e.g. this", []),
        ("http://", []),
    ],
)
def test_bare_addresses_end_before_the_signs_of_the_sentence(text, urls):
    assert [text[start:end] for start, end in find_urls(text)] == urls


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("https://w.org/index.php?lang=en&title={title}", "https://w.org/index.php?lang=en&title=Yoda"),
        ("https://w.org/index.php?title={title}&lang=en", "https://w.org/index.php?lang=en&title=Yoda"),
        ("http://localhost:8080/wiki/{title}", "http://localhost:8080/wiki/Yoda"),
    ],
)
def test_a_pattern_with_more_parameters_or_a_port(pattern, url):
    page = WikiUrls((pattern,)).page(url)
    assert page is not None
    assert page.title == "Yoda"
