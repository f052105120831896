from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.sources.wikitext import Site
from wiki_dumps import WikiPage, write_dump

pytest.importorskip("mwparserfromhell", reason="mwparserfromhell is not installed: pip install 'entlink[dev]'")

ROOT = Path(__file__).resolve().parents[2]
DUMPS = ROOT.parent / "shared" / "data" / "mediawiki"
NAMES = ("causes", "limits", "links", "page", "peer", "readings", "tables", "tally", "titles", "words")
TOLERANCE = 0.003
WIKI = Site("toy", "en", {6: "Fails"})
SIGNS = "[[ ]] | {{ }} '' ''' <ref> </ref> <br> * == {| |} # : <nowiki> &amp; <gallery> </gallery>"
WORDS = "a Boat s File: de: thumb é 7"
FRAGMENTS = st.sampled_from([*SIGNS.split(), *WORDS.split(), " ", "\n"])


class _Modules:
    """The script and its parts, by the ends of their names."""

    def __init__(self) -> None:
        self.script = importlib.import_module("wikitext_agreement")
        for name in NAMES:
            setattr(self, name, importlib.import_module(f"agreement_{name}"))


@pytest.fixture(scope="module")
def agreement():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "reproductions"))
        yield _Modules()


def _differences(tally, part):
    return Counter(
        {(side, cause.name): count for (where, side, cause), count in tally.causes.items() if where == part}
    )


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("boat", ("page", "Boat")),
        (" old__boat#Sails ", ("page", "Old boat")),
        ("Caf%C3%A9 &amp; bar", ("page", "Café & bar")),
        ("ßtadt", ("page", "ßtadt")),
        ("#Sails", ("elsewhere", "")),
        ("", ("elsewhere", "")),
        ("image:boat.jpg", ("picture", "Boat.jpg")),
        (":image:boat.jpg", ("page", "Fails:Boat.jpg")),
        ("category:boats", ("category", "Boats")),
        ("user talk:anna", ("page", "User talk:Anna")),
        ("de:Boot", ("language", "de:Boot")),
        (":de:Boot", ("elsewhere", "")),
        ("wikt:boat", ("elsewhere", "")),
        ("Boat: the game", ("page", "Boat: the game")),
    ],
)
def test_targets_are_brought_to_titles(agreement, target, expected):
    assert agreement.titles.target_of(target, WIKI) == expected


@pytest.mark.parametrize(
    ("wikitext", "places"),
    [
        ("{{box|[[Boat]]}}", "template"),
        ("<ref>[[Boat]]</ref>", "<ref>"),
        ("== [[Boat]] ==", "heading"),
        ('<span title="[[Boat]]">x</span>', "attribute"),
        ("[[File:A.jpg|thumb|a [[Boat]]]]", "caption"),
        ("[[File:A.jpg|thumb|a [[Boat]]|b]]", "option"),
        ("[[{{x}}|Boat]]", "target"),
    ],
)
def test_links_tell_where_they_stand(agreement, wikitext, places):
    links = agreement.peer.peer_reading(wikitext, WIKI).links
    assert places in next(link.places for link in links if link.kind != "picture")


def test_galleries_are_read_apart(agreement):
    reading = agreement.peer.peer_reading("<gallery>\nFile:A.jpg|The [[boat]]\nb.jpg|1984\n</gallery>", WIKI)
    assert not reading.links
    assert [link.key[:2] for link in reading.gallery_links] == [
        ("picture", "A.jpg"),
        ("page", "Boat"),
        ("picture", "B.jpg"),
    ]
    assert agreement.page.words(agreement.readings.running_text(reading.gallery_pieces)) == Counter(
        ["The", "boat", "1984"]
    )


def test_the_running_text_is_that_of_strip_code(agreement):
    import mwparserfromhell

    wikitext = "The '''old''' [[boat|ship]] &ndash; {{note}} of [http://example.org Anna] sank.<!-- so -->"
    pieces = agreement.peer.peer_reading(wikitext, WIKI).pieces
    assert agreement.readings.running_text(pieces) == mwparserfromhell.parse(wikitext).strip_code()


@pytest.mark.parametrize(
    ("text", "expected"), [("s sank", "s"), ("sFoo", "s"), ("'s", ""), ("é2", "é"), ("S", ""), ("", "")]
)
def test_a_trail_ends_before_a_capital(agreement, text, expected):
    assert agreement.peer.trail(text) == expected


def test_links_with_and_without_a_trail_are_paired_off_rightly(agreement):
    link = agreement.page.Link
    theirs = [link("page", "Boat", "boat", "s"), link("page", "Boat", "boat")]
    matches = agreement.links.match_links(theirs, [link("page", "Boat", "boat"), link("page", "Boat", "boats")])
    assert [(match.theirs.trail, match.ours.shown) for match in matches] == [("s", "boats"), ("", "boat")]
    assert [match.cause for match in matches] == [agreement.causes.TRAIL, None]


def test_a_link_that_is_read_is_matched_before_one_that_is_not(agreement):
    link = agreement.page.Link
    theirs = [link("page", "Boat", "boat", places=("template",)), link("page", "Boat", "boat")]
    found, left = agreement.links.match_links(theirs, [link("page", "Boat", "boat")])
    assert (found.theirs.places, left.theirs.places, left.ours) == ((), ("template",), None)


@pytest.mark.parametrize(
    ("wikitext", "part", "expected"),
    [
        ("The [[boat]] sank.", "whole page", []),
        ("Two ''[[boat]]''s sank.", "running text", []),
        ("{|\n| [[Full stop|.]]\n|}", "running text", []),
        ("Two [[boat]]s sank.", "running text", [("label", "TRAIL")]),
        ("See [[:Boat]] now.", "running text", [("label", "COLON")]),
        ("See [[Boat|old<br>boat]] now.", "running text", [("label", "BREAK")]),
        ("See [[Boat|{{x}}]] now.", "running text", [("label", "LABEL")]),
        ("{{box|[[Boat]]}}", "running text", []),
        ("{{box|[[Boat]]}}", "whole page", [("theirs", "TEMPLATE")]),
        ("It sank.<ref>[[Boat]]</ref>", "running text", []),
        ("It sank.<ref>[[Boat]]</ref>", "whole page", [("theirs", "REFERENCE")]),
        ("A <includeonly>[[Boat]]</includeonly>", "whole page", [("theirs", "UNREAD")]),
        ("== [[Boat]] ==\nIt sank.", "running text", [("theirs", "HEADING")]),
        ('<span title="[[Boat]]">It</span> sank.', "running text", [("theirs", "ATTRIBUTE")]),
        ("[[File:A.jpg|thumb|a [[boat]]|b]]", "running text", [("theirs", "OPTION")]),
        ("Ask [[User:{{{1}}}|her]].", "running text", [("theirs", "MADE")]),
        ("[[de:Boot]] [[de:Schiff]]", "running text", [("theirs", "REPEATED")]),
        ("{{Infobox|image=A.jpg}}", "running text", [("ours", "BOX")]),
        ("<gallery>\nA.jpg|a [[boat]]\n</gallery>", "running text", [("ours", "GALLERY")] * 2),
        ("{{flag|Austria}}", "whole page", [("ours", "RULE")]),
        ("It sank.<ref>''[[Boat]]</ref>\n\nIt ''rose''.", "running text", [("theirs", "QUOTES")]),
        ("<td>The [[boat]]\n" * 101, "running text", [("ours", "LEFT_LINK")] * 3),
    ],
)
def test_every_difference_of_links_has_its_cause(agreement, wikitext, part, expected):
    tally = agreement.tally.tally(("A page", wikitext, WIKI))
    wanted = Counter((side, getattr(agreement.causes, name).name) for side, name in expected)
    assert _differences(tally, part) == wanted


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("The [[old boat]] &amp; the '''ship''' sank.", {}),
        ("== The boat ==\nIt sank.<ref>So they say</ref>{{note|it}}", {}),
        ("It sank. __NOTOC__", {("theirs", "SWITCH"): 1}),
        ("It <charinsert>sank</charinsert>.", {("ours", "UNKNOWN_TAG"): 2}),
        ("<gallery>\nA.jpg|two boats\n</gallery>", {("ours", "GALLERY"): 2}),
        ("<gallery>\n|two boats\n</gallery>", {("ours", "NAMELESS"): 3}),
        ("See [[Old boat|{{x}}]].", {("ours", "LABEL"): 2}),
        ("An ''old''<sub>''boat''</sub> sank.", {}),
        ("The colour is {{{colour|#fff}}} now.", {}),
        ("It sank. [[de:]]", {}),
        ("It sank.<ref>''Almanac</ref>\n\nIt ''rose''.", {("theirs", "LEFT_TAG"): 2, ("theirs", "QUOTES"): 1}),
    ],
)
def test_every_difference_of_words_has_its_cause(agreement, wikitext, expected):
    tally = agreement.tally.tally(("A page", wikitext, WIKI))
    wanted = Counter(
        {(side, getattr(agreement.causes, name).name): count for (side, name), count in expected.items()}
    )
    assert _differences(tally, "words") == wanted


def test_a_difference_without_a_cause_is_told(agreement):
    words = agreement.words
    caused, rest = words._caused(
        Counter({"boat": 2, "ship": 1}), iter([(agreement.causes.SWITCH, Counter(["boat"]))])
    )
    assert caused == {agreement.causes.SWITCH: 1, agreement.causes.UNEXPLAINED: 2}
    assert rest == {"boat": 1, "ship": 1}


def test_links_that_a_bare_pattern_misses_are_told(agreement):
    wikitext = (
        "[[File:A.jpg|thumb|a [[boat]]]] and [[Letter|the [old] one]] {{x|[[Letter|a [new] one]]}} <!-- [[Ship]] -->"
    )
    assert agreement.tally.tally(("A page", wikitext, WIKI)).pattern == {
        "mwparserfromhell": 4,
        "pattern": 2,
        "only the pattern": 1,
        "a picture with brackets in its caption: found": 1,
        "a link with brackets in its label: found": 1,
        f"a link with brackets in its label: left out, {agreement.causes.TEMPLATE.name}": 1,
    }


@settings(max_examples=150, deadline=None)
@given(wikitext=st.lists(FRAGMENTS, max_size=25).map("".join))
def test_the_counts_add_up_for_any_wikitext(agreement, wikitext):
    page = agreement.readings.PageReadings(wikitext, WIKI)
    matches = agreement.links.match_links(page.peer.links, page.own_with_rules)
    assert sum(match.theirs is not None for match in matches) == sum(
        link.kind != "elsewhere" for link in page.peer.links
    )
    assert sum(match.ours is not None for match in matches) == len(page.own_with_rules)
    words = agreement.words.WordAgreement(page)
    assert words.both + words.theirs.total() == agreement.page.words(page.peer_text).total()
    assert words.both + words.ours.total() == agreement.page.words(page.own_text).total()


def test_work_that_takes_too_long_or_too_much_is_given_up(agreement):
    with agreement.limits.BoundedWorker(eval, seconds=5, megabytes=2048) as worker:
        assert worker("6 * 7") == 42
        assert worker("len(bytearray(1 << 40))") is None
        assert worker("6 * 7") == 42
    with agreement.limits.BoundedWorker(eval, seconds=0.1) as worker:
        assert worker("__import__('time').sleep(60)") is None


def test_a_dump_is_compared_page_by_page(agreement, tmp_path):
    pages = [
        WikiPage("Boat", "A [[boat]] and a [[ship]]."),
        WikiPage("Anna", "Two [[boat]]s. {{x|[[Ship]]}}", ns=2),
        WikiPage("A script", "[[no]] wikitext", model="javascript"),
    ]
    dump = write_dump(tmp_path / "dump.xml", pages)
    found = agreement.script.compare(dump, agreement.tally.tally)
    assert (found.pages, found.given_up, found.unexplained) == (2, 0, ())
    assert agreement.tables.link_shares(found, "running text") == (3, 3, 2)
    assert agreement.tables.link_shares(found, "whole page") == (4, 3, 2)
    assert agreement.tables.word_shares(found).rate == 1
    given_up = agreement.script.compare(dump, lambda task: None, most=1)
    assert (given_up.pages, given_up.given_up) == (0, 1)


def test_the_report_is_the_same_for_the_same_pages(agreement):
    def report(*wikitexts):
        tallies = {str(name): agreement.tally.tally(("A page", text, WIKI)) for name, text in enumerate(wikitexts)}
        return agreement.script.report(tallies)

    text = report("Two [[boat]]s | sank.", "{{x|[[Ship]]}}")
    assert text == report("Two [[boat]]s | sank.", "{{x|[[Ship]]}}")
    assert "| all | 2 | 0 | 1 | 100.00 % | 2 | 50.00 % | 3 | 100.00 % |" in text
    assert f"| {agreement.causes.TRAIL.name} | both, shown differently | 1 |" in text
    assert "`[[Boat\\|" not in text


def test_the_causes_are_documented(agreement):
    page = (ROOT / "docs" / "limitations.md").read_text(encoding="utf8")
    named = [cause for cause in vars(agreement.causes).values() if isinstance(cause, agreement.causes.Cause)]
    assert len(named) > 20
    missing = [cause.name for cause in named if cause.name.partition(":")[0] not in page]
    assert missing == [agreement.causes.UNEXPLAINED.name]


@pytest.mark.parametrize(
    ("name", "most", "running", "whole", "words"),
    [
        ("enwiki, shortened", 12, 0.997, 0.865, 0.999),
        ("enwiki, tables", None, 1.0, 0.977, 1.0),
        ("bgwiki, shortened", None, 0.995, 0.993, 1.0),
        ("ltgwiki, tiny", None, 1.0, 0.851, 1.0),
    ],
)
def test_real_pages_agree_as_published(agreement, name, most, running, whole, words):
    dump = DUMPS / agreement.script.DUMPS[name]
    if not dump.is_file():
        pytest.skip(f"the real dumps are not at {DUMPS}")
    found = agreement.script.compare(dump, agreement.tally.tally, most)
    assert found.unexplained == ()
    assert agreement.tables.link_shares(found, "running text").rate > running - TOLERANCE
    assert agreement.tables.link_shares(found, "whole page").rate > whole - TOLERANCE
    assert agreement.tables.word_shares(found).rate > words - TOLERANCE
