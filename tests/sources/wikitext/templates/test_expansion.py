"""What the shipped rules of expansion make of templates."""

from __future__ import annotations

import bz2
import html
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from entlink.sources.wikitext.templates.arguments import Arguments, named_and_placed, placed
from entlink.sources.wikitext.templates.builtins import BUILTINS
from entlink.sources.wikitext.templates.countries import COUNTRIES
from entlink.sources.wikitext.templates.expansion import MOST_REMEMBERED, default_expander, load_rules, template_name

REAL = Path(__file__).parents[5] / "shared" / "data" / "mediawiki"
REAL_DUMP = REAL / "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"


def expand(written: str, language: str | None = None) -> str | None:
    """What becomes of `name|argument|argument`."""
    name, *arguments = written.split("|")
    return default_expander(language)(template_name(name), arguments)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("lang|fr|Bonjour", "Bonjour"),
        ("Lang|fr|''Bonjour''", "''Bonjour''"),
        ("lang-ru|link=no|Москва", "Москва"),
        ("lang-zh|t=臺北|p=Táiběi", "臺北, Táiběi"),
        ("zh|c=北京", "北京"),
        ("transl|ar|ALA|al-Jazāʾir", "al-Jazāʾir"),
        ("transl|ja|shodō", "shodō"),
        ("nihongo|Mount Fuji|富士山|Fujisan", "Mount Fuji (富士山, Fujisan)"),
        ("nihongo||富士山|Fujisan", "Fujisan (富士山)"),
        ("nowrap|10 [[metre]]s", "10 [[metre]]s"),
        ("small| with blanks ", " with blanks "),
        ("abbr|SR|strike rate", "SR"),
        ("tooltip|W|win", "W"),
        ("resize|80%|text", "text"),
        ("angbr|a", "⟨a⟩"),
        ("keypress|Ctrl|C", "Ctrl+C"),
        ("sub|2", "<sub>2</sub>"),
        ("sup|3", "<sup>3</sup>"),
        ("chem|H|2|O", "H2O"),
        ("e|24", "×10<sup>24</sup>"),
        ("ndash", "–"),
        ("mdash", "—"),
        ("snd", " – "),
        ("spaced ndash", " – "),
        ("·", " · "),
        ("bold dot", " • "),
        ("spaces|3", " "),
        ("'", "&#39;"),
        ('"|so be it', '"so be it"'),
        ("!", "|"),
        ("=", "&#61;"),
        ("pb", "\n\n"),
        ("frac|2", "1/2"),
        ("frac|1|2", "1/2"),
        ("frac|3|1|2", "3 1/2"),
        ("circa|1500", "c. 1500"),
        ("c.|1500|1510", "c. 1500 – c. 1510"),
        ("floruit|1200", "fl. 1200"),
        ("reign|1509|1547", "r. 1509–1547"),
        ("quote|To be.|Hamlet", "\n\nTo be.\n\n"),
        ("blockquote|text=To be.|author=Hamlet", "\n\nTo be.\n\n"),
        ("cquote|To be.", "\n\nTo be.\n\n"),
        ("rquote|right|To be.", "\n\nTo be.\n\n"),
        ("w|Mercury (planet)|Mercury", "[[Mercury (planet)|Mercury]]"),
        ("fb|France", "[[France national football team|France]]"),
        ("sclass|Nimitz|aircraft carrier", "[[Nimitz-class aircraft carrier]]"),
        ("yes", "Yes"),
        ("no|Not yet", "Not yet"),
        ("wide image|View.jpg|800px|The [[Alps]]", "[[File:View.jpg|thumb|The [[Alps]]]]"),
        ("s|XIX", "XIXe siècle"),
        ("siglo|XIX", "siglo XIX"),
        ("unité|12|km", "12 km"),
        ("lien|lang=en|trad=Foo|fr=Bar|texte=bar", "[[Bar|bar]]"),
        ("нп5|Фу|фу|en|Foo", "[[Фу|фу]]"),
        ("link-en|富|Foo", "[[富]]"),
        ("tsl|en|Foo|富", "[[富]]"),
        ("bd|1952年|3月11日|2001年|5月11日", "（1952年3月11日－2001年5月11日）"),
        ("EnS|word", "word"),
    ],
)
def test_texts_of_the_shipped_rules(written: str, expected: str) -> None:
    assert expand(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "cite web|url=http://a.b|title=x",
        "citation|last=A|title=B",
        "citation|stray",
        "infobox person|name=A",
        "main|History",
        "see also|A|B",
        "further|A",
        "coord|1|N|2|E",
        "IPA|/a/",
        "IPAc-en|a|b",
        "pron-en|a",
        "flagicon|FRA",
        "age|1969|07|20",
        "automatic taxobox|name=A",
        "navbox|list1=A",
        "a template nobody knows|x",
        "#tag:ref|text",
        "convert",
        "birth date",
        "lang",
        "lang|fr",
        "nowrap| ",
        "flag",
        "hlist||",
        "USS",
        "",
    ],
)
def test_dropped(written: str) -> None:
    assert expand(written) is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("birth date|1952|3|11", "March 11, 1952"),
        ("birth date|1952|3|11|df=yes", "11 March 1952"),
        ("birth date|df=no|1952|3|11", "March 11, 1952"),
        ("birth date and age|1970|04|09", "April 9, 1970"),
        ("birth date|year=1952|month=3|day=11", "March 11, 1952"),
        ("death date and age|1865|4|15|1809|2|12", "April 15, 1865"),
        ("start date|1993|02", "February 1993"),
        ("start date|1993", "1993"),
        ("start date||2|24", "February 24"),
        ("end date|1993|Feb|24", "Feb 24, 1993"),
        ("dts|1777-12-16", "December 16, 1777"),
        ("dts|-44|3|15", "March 15, 44 BC"),
        ("birth date|1952|13|11", "13 11, 1952"),
        ("birth date|spring of 1952", "spring of 1952"),
        ("as of|2007", "As of 2007"),
        ("as of|2011|June|20", "As of 20 June 2011"),
        ("as of|2011|6|20|df=US|lc=y", "as of June 20, 2011"),
        ("as of|2011|since=y", "Since 2011"),
        ("as of|2011|bare=y", "2011"),
        ("as of|2011|alt=In those days", "In those days"),
        ("date|11|mars|1952", "11 mars 1952"),
        ("date|mars|1952", "mars 1952"),
        ("date|1952", "1952"),
        ("date|1952-03-11", "11 March 1952"),
        ("date de naissance|14|3|1879", "14 mars 1879"),
        ("fecha|11|3|1952", "11 de marzo de 1952"),
        ("дата рождения|11|3|1952", "11 марта 1952"),
    ],
)
def test_dates(written: str, expected: str) -> None:
    assert expand(written) == expected


@pytest.mark.parametrize(
    ("language", "written", "expected"),
    [
        ("zh", "birth date|1952|3|11", "1952年3月11日"),
        ("ja", "start date|1952|3", "1952年3月"),
        ("de", "birth date|1952|3|11", "11. März 1952"),
        ("ru", "start date|1952|3", "март 1952"),
        ("bg", "birth date|1952|3|11", "11 март 1952"),
        ("it", "birth date|1952|3|11", "March 11, 1952"),
        ("de", "formatnum:1234567.5", "1.234.567,5"),
        ("fr", "formatnum:1234567", "1 234 567"),
        ("fr", "citation|Je pense", "« Je pense »"),
        ("en", "USA", "[[United States]]"),
        ("de", "USA", None),
    ],
)
def test_the_language_of_the_wiki_decides(language: str, written: str, expected: str | None) -> None:
    assert expand(written, language) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("formatnum:1234567", "1,234,567"),
        ("FORMATNUM: 178.91 ", "178.91"),
        ("formatnum:-1234", "-1,234"),
        ("formatnum:1,234|R", "1234"),
        ("formatnum:many", "many"),
        ("nts|12345", "12,345"),
        ("val|1.00794|(7)", "1.00794(7)"),
        ("val|1.5|0.1|u=kg", "1.5±0.1 kg"),
        ("val|6.24|e=18|p=~|s=%", "~6.24×10<sup>18</sup>%"),
        ("USS|Enterprise|CVN-65", "[[USS Enterprise (CVN-65)|USS Enterprise]]"),
        ("USS|Hornet|CV-12|6", "[[USS Hornet (CV-12)|Hornet]]"),
        ("HMS|Exeter|68|3", "[[HMS Exeter (68)|Exeter (68)]]"),
        ("HMS|Exeter|68|1", "[[HMS Exeter (68)|68]]"),
        ("SS|Great Britain", "[[SS Great Britain]]"),
        ("ship|HMS|Victory", "[[HMS Victory]]"),
        ("ship||Batavia|1628", "[[Batavia (1628)|Batavia]]"),
        ("flag|France", "[[France]]"),
        ("flag| GER ", "[[Germany]]"),
        ("flagcountry|USA|name=America", "[[United States|America]]"),
        ("flag|GEO", "[[Georgia (country)|Georgia]]"),
        ("USA", "[[United States]]"),
        ("sortname|Ada|Lovelace", "[[Ada Lovelace]]"),
        ("sortname|John|Smith|dab=actor", "[[John Smith (actor)|John Smith]]"),
        ("sortname|John|Smith|John Smith the Elder", "[[John Smith the Elder|John Smith]]"),
        ("sortname|John|Smith|nolink=1", "John Smith"),
        ("ill|Foo|de|Bar", "[[Foo]]"),
        ("ill|Foo|de|Bar|lt=foos", "[[Foo|foos]]"),
        ("ill|de|Bar|Foo|foos", "[[Foo|foos]]"),
        ("hlist|[[A]]| B |", "\n* [[A]]\n* B\n"),
        ("plainlist|\n* A\n* B\n", "\n* A\n* B\n"),
        ("unbulleted list|1=A|2=B", "\n* A\n* B\n"),
        (
            "multiple image|image1=A.jpg|caption1=An [[A]]|image2=File:B.jpg",
            "[[File:A.jpg|thumb|An [[A]]]]\n[[File:B.jpg|thumb|]]",
        ),
        ("gallery|File:A.jpg|first|B.jpg", "[[File:A.jpg|thumb|first]]\n[[File:B.jpg|thumb|]]"),
        ("lc:ABC", "abc"),
        ("uc:abc", "ABC"),
        ("lcfirst:ABC", "aBC"),
        ("ucfirst:abc", "Abc"),
        ("#if: x |a=b|no", "a=b"),
        ("#if: |yes|no", "no"),
        ("#ifeq:a|a |same|other", "same"),
        ("#ifeq:a|b|same|other", "other"),
    ],
)
def test_builtins(written: str, expected: str) -> None:
    assert expand(written) == expected


def test_every_builtin_is_used_by_a_shipped_rule() -> None:
    used = {meaning.rule for meaning in default_expander("en")._names._meanings.values() if meaning}
    assert set(BUILTINS.values()) <= used


def test_the_codes_of_countries_are_read_whole() -> None:
    assert COUNTRIES["BIH"] == "Bosnia and Herzegovina"
    assert COUNTRIES["UK"] == COUNTRIES["GBR"] == "United Kingdom"
    assert all(code.isupper() and not title.isupper() and title for code, title in COUNTRIES.items())


@pytest.mark.parametrize(
    ("given_arguments", "values"),
    [
        (["a", "b"], {"1": "a", "2": "b"}),
        ([" a ", " key = b "], {"1": " a ", "key": "b"}),
        (["2=b", "a"], {"2": "b", "1": "a"}),
        (["a", "1=z"], {"1": "z"}),
        (["[[File:A.jpg|alt=x]]"], {"1": "[[File:A.jpg|alt=x]]"}),
        (['<span style="x">a</span>'], {"1": '<span style="x">a</span>'}),
        (["key=a=b"], {"key": "a=b"}),
        (["key="], {"key": ""}),
    ],
)
def test_arguments_by_place_and_name(given_arguments: list[str], values: dict[str, str]) -> None:
    assert named_and_placed(given_arguments) == values


def test_a_parser_function_has_no_named_arguments() -> None:
    assert placed(["a=b", "c"]) == {"1": "a=b", "2": "c"}


def test_getting_arguments() -> None:
    arguments = Arguments("T", {"1": " ", "2": " b ", "x": "no", "y": "yes"})
    assert arguments.get("1", "2") == "b"
    assert arguments.get("missing") == ""
    assert arguments.places() == ["", "b"]
    assert arguments.items() == ["b"]
    assert [arguments.flag(key) for key in ("x", "y", "missing")] == [False, True, False]


@given(st.sampled_from(sorted(default_expander()._names._meanings)), st.lists(st.text(max_size=12), max_size=6))
@example("Formatnum:", ["9" * 5000])
@example("Birth date", ["²", "²", "²"])
def test_nothing_an_author_writes_makes_it_raise(name: str, arguments: list[str]) -> None:
    for language in ("en", "zh"):
        result = default_expander(language)(name.removesuffix("*"), arguments)
        assert result is None or isinstance(result, str)


@given(st.text(max_size=20))
def test_an_argument_given_by_name_is_trimmed_and_one_by_place_is_not(text: str) -> None:
    expander = default_expander()
    assert expander("Nowrap", [f"1={text}"]) == (text.strip() or None)
    by_place = text.replace("=", "")
    assert expander("Nowrap", [by_place]) == (by_place if by_place.strip() else None)


def test_names_are_normalised() -> None:
    assert template_name("  birth_date  and age ") == "Birth date and age"
    assert template_name("") == ""


def test_the_names_it_remembers_are_limited() -> None:
    expander = load_rules(None, "none-such")
    for number in range(MOST_REMEMBERED + 100):
        expander(f"Unknown {number}", [])
    expander("Formatnum:1", [])
    assert len(expander._names) == MOST_REMEMBERED


def test_an_expander_can_be_sent_to_another_process() -> None:
    copy = pickle.loads(pickle.dumps(default_expander("fr")))
    assert copy("Lang-ru", ["да"]) == "да"
    assert copy("Citation", ["oui"]) == "« oui »"


def test_the_shipped_rules_are_read_once() -> None:
    assert default_expander("de") is default_expander("de") is load_rules(None, "de")


@pytest.mark.skipif(not REAL_DUMP.exists(), reason="the sample dumps are not here")
def test_measures_of_a_real_dump_are_all_converted() -> None:
    with bz2.open(REAL_DUMP, "rt", encoding="utf-8") as dump:
        written = re.findall(r"\{\{[Cc]onvert\|([^{}]*)\}\}", html.unescape(dump.read()))
    results = [default_expander()("Convert", arguments.split("|")) for arguments in written]
    without = [result for result in results if not result or not re.search(r"\(.*\)| or |^[0-9,.]+$", result)]
    assert len(results) > 400
    assert without == []
