"""Gold from users' links: where it shows, what it leads to, and what is none."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from entlink.datasets.conversations.domains import Domain
from entlink.datasets.conversations.mentions import Marker
from entlink.datasets.conversations.pruning import Preparer
from entlink.datasets.wiki_titles import WikiTitles
from entlink.kb.store.store import Store
from entlink.sources.convokit import Utterance
from reddit_corpora import DOMAIN, OLD_WIKI, WIKI, harbour, harbour_kb


@pytest.fixture(scope="module")
def titles(tmp_path_factory) -> Iterator[WikiTitles]:
    store = Store(harbour_kb(tmp_path_factory.mktemp("kb")))
    yield WikiTitles(store)
    store.close()


@pytest.fixture
def marker(titles) -> Marker:
    return Marker(titles, harbour())


def marked(marker: Marker, text: str, domain: Domain | None = DOMAIN) -> list[tuple[str, str, str]]:
    found = marker.mark(text, domain)
    return [(found.text[one.span.start : one.span.end], one.entity.id, one.by) for one in found.annotations]


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        (f"At the [light]({WIKI}Lighthouse) tower.", [("light", "h1", "link")]),
        (f"At the [light]({OLD_WIKI}lighthouse#History) tower.", [("light", "h1", "link")]),
        (f"**[the *old* boat]({WIKI}Ferry_(ship))**", [("the old boat", "h2", "link")]),
        (f"[boat]({WIKI}Ferry_(ship\\))", [("boat", "h2", "link")]),
        (f"[boat]({WIKI}Ferry_\\(ship\\)) sails", [("boat", "h2", "link")]),
        (f"[boat]({WIKI}Ferry_%28ship%29?x=1) sails", [("boat", "h2", "link")]),
        (f"[boat][1] sails\n\n[1]: {WIKI}Old_Ferry", [("boat", "h2", "link")]),
        (f"[boat]({WIKI}Very_Old_Ferry) sails", [("boat", "h2", "link")]),
        (f"&gt; quoting [Wren]({WIKI}Captain_Wren) &amp; co", [("Wren", "h3", "link")]),
        (f"the Captain Wren ({WIKI}Captain_Wren) again", [("Captain Wren", "h3", "url")]),
        (f"{WIKI}Captain_Wren is captain wren's page", [("captain wren", "h3", "url")]),
        (f"a ferry: <{WIKI}Ferry_(ship)> it is", [("ferry", "h2", "url")]),
        (f"old ferry: {WIKI}Old_Ferry.", [("old ferry", "h2", "url")]),
        (f"The lighthouse: [{WIKI}Lighthouse]({WIKI}Lighthouse)", [("lighthouse", "h1", "url")]),
        (f"Lighthouse one, Lighthouse two {WIKI}Lighthouse Lighthouse", [("Lighthouse", "h1", "url")]),
    ],
)
def test_links_become_gold(marker, text, gold):
    assert marked(marker, text) == gold


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        (f"Look [here]({WIKI}Lighthouse).", "nonsense"),
        (f"Look at [This Link!]({WIKI}Lighthouse).", "nonsense"),
        (f"Look [→]({WIKI}Lighthouse).", "nonsense"),
        (f"[it is new]({WIKI}New_page)", "unresolved"),
        (f"[round]({WIKI}Round)", "unresolved"),
        (f"[by number]({WIKI}H1)", "unresolved"),
        (f"[stage]({WIKI}Stage)", "unresolved"),
        ("[light](http://other.wikia.com/wiki/Lighthouse)", "other wiki"),
        ("[light](https://harbour.fandom.com/de/wiki/Lighthouse)", "other language"),
        (f"no name beside {WIKI}Lighthouse", "nameless"),
    ],
)
def test_links_that_are_no_gold_are_counted(marker, text, counted):
    assert marked(marker, text) == []
    assert marker.counts[counted] == 1


@pytest.mark.parametrize(
    "text",
    [
        f"`[light]({WIKI}Lighthouse)`",
        f"text\n\n    [light]({WIKI}Lighthouse)\n",
        f"```\nThe lighthouse {WIKI}Lighthouse\n```",
        f"![light]({WIKI}Lighthouse)",
        "[light](http://example.org/wiki/Lighthouse)",
        f"[light]({WIKI}%ff)",
    ],
)
def test_code_pictures_and_other_addresses_do_not_count(marker, text):
    assert marked(marker, text) == []
    assert not +marker.counts


def test_the_last_name_before_the_address_is_meant(marker):
    text = f"Lighthouse one, Lighthouse two {WIKI}Lighthouse Lighthouse"
    (one,) = marker.mark(text, DOMAIN).annotations
    assert one.span.start == text.index("Lighthouse two")


def test_names_inside_other_words_are_not_meant(marker):
    assert marked(marker, f"Lighthouses, lighthouse-keeper and {WIKI}Lighthouse") == [("lighthouse", "h1", "url")]
    assert marked(marker, f"Lighthouses only: {WIKI}Lighthouse") == []


def test_the_domain_says_which_entity_a_title_means(marker):
    text = f"[light]({WIKI}Lighthouse)"
    assert marked(marker, text, Domain("Stage", (), "theatre")) == [("light", "t1", "link")]
    assert marked(marker, text, None) == [("light", "h1", "link")]


def test_bare_addresses_can_be_left_alone(titles):
    marker = Marker(titles, harbour(bare_urls="none"))
    assert marked(marker, f"the lighthouse {WIKI}Lighthouse and [boat]({WIKI}Old_Ferry)") == [("boat", "h2", "link")]


def test_a_pattern_and_a_language_of_ones_own(titles):
    marker = Marker(titles, harbour(patterns=("https://my.wiki/{language}/{title}",), languages=("de",)))
    assert marked(marker, "[light](http://my.wiki/de/lighthouse)", None) == [("light", "h1", "link")]
    assert marked(marker, f"[light]({WIKI}Lighthouse)", None) == []


def test_spans_hold_with_emoji_and_characters_without_width(marker):
    text = f"😀\u200b &amp; [Cap\u200btain 😀 Wren]({WIKI}Captain_Wren) 😀"
    found = marker.mark(text, DOMAIN)
    (one,) = found.annotations
    assert found.text[one.span.start : one.span.end] == "Cap\u200btain 😀 Wren"


def test_no_annotation_lies_over_another(marker):
    text = f"[Captain Wren]({WIKI}Captain_Wren) {WIKI}Captain_Wren"
    assert marked(marker, text) == [("Captain Wren", "h3", "link")]
    assert marker.counts["nameless"] == 1


# What becomes of the text


def prepared(titles: WikiTitles, text: str, **fields):
    preparer = Preparer(Marker(titles, harbour(**fields)), harbour(**fields))
    ready = preparer.prepare(Utterance("a", "c", None, "s", 0, text, None, 1), DOMAIN)
    return ready, dict(preparer.pruned)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[deleted]", "deleted"),
        (" [removed]\n", "deleted"),
        ("", "deleted"),
        ("one two three four", "short"),
        ("one two three four 😀", "short"),
        ("one two three four http://a.b/c", "short"),
        (" ".join(f"w{n}" for n in range(71)), "long"),
        ("x" * 100_000, "long"),
        ("well I do not like that Darn Thing at all", "profane"),
    ],
)
def test_why_utterances_are_pruned(titles, text, reason):
    assert prepared(titles, text, profanity=("heck", "darn thing")) == (None, {reason: 1})


def test_bounds_are_within(titles):
    for text in ("one two three four five", " ".join(f"w{n}" for n in range(70)), "a darned thing is not profane"):
        ready, pruned = prepared(titles, text, profanity=("darn thing",))
        assert (ready is not None, pruned) == (True, {})


def test_gold_moves_with_the_cleaned_text(titles):
    text = (
        f"😀😀 so, hahahaha: the *[old «ferry»]({WIKI}Old_Ferry)* is at http://x.y/z and {WIKI}Pier_9 (Pier 9)!!!!!"
    )
    ready, _ = prepared(titles, text)
    assert ready.text == 'so, the old "ferry" is at and (Pier 9)!'
    assert [(ready.text[one.span.start : one.span.end], one.entity.id) for one in ready.annotations] == [
        ('old "ferry"', "h2"),
        ("Pier 9", "h4"),
    ]


@pytest.mark.parametrize(
    "piece",
    [
        f"[Wren]({WIKI}Captain_Wren) ",
        f"Captain Wren {WIKI}Captain_Wren ",
        "[",
        "](\\)",
        "a.bc/",
        "no ",
        "`",
        "http://x/)",
    ],
)
def test_a_hundred_thousand_characters_of_anything_take_no_time(titles, piece):
    started = time.process_time()
    prepared(titles, piece * (100_000 // len(piece)), max_characters=200_000, max_tokens=100_000)
    assert time.process_time() - started < 5


def test_what_its_author_links_elsewhere_is_no_place_for_gold(marker):
    found = marker.mark(
        f"[light]({WIKI}Lighthouse), a [light](http://imgur.com/a.jpg) and http://y.com/light.", DOMAIN
    )
    assert [found.text[one.span.start : one.span.end] for one in found.annotations] == ["light"]
    assert [found.text[span.start : span.end] for span in found.refused] == ["light"]
    assert found.refused[0].start > found.annotations[0].span.start


def test_of_links_over_one_another_the_first_is_gold_and_the_other_counted(marker):
    text = f"[Captain Wren <{WIKI}Captain_Wren>]({WIKI}Lighthouse) is there"
    assert marked(marker, text) == [("Captain Wren", "h3", "url")]
    assert marker.counts["overlapping"] == 1
