"""The reader of a site remembers paragraphs: a text says the same whatever was read before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from entlink.sources.wikitext import parse
from entlink.sources.wikitext import reader as reading
from entlink.sources.wikitext.site import Site

LINES = st.sampled_from(
    [
        "A [[hill]] and a [[dale|valley]].",
        "[[Category:Hills]]",
        "[[de:Hügel]] with [[hill]]",
        "[[File:A.png|thumb|a [[hill]]]]",
        "* a [[hill]] and a [[dale|valley]].",
        "A [[hill]] and a [[dale|valley]]. {{x|[[y]]}}",
        "[[hill|]]&lt;b>[[a",
        "[[ ]]",
        "<nowiki>[[hill]]</nowiki> A [[hill]]",
        "[[[hill]]] [http://example.org x]",
    ]
)
TEXTS = st.lists(st.lists(LINES, max_size=4).map("\n\n".join), max_size=6)


@given(TEXTS)
def test_what_was_read_before_changes_nothing(texts):
    site = Site(language="en")
    assert [parse(text, site) for text in texts] == [parse(text, Site(language="en")) for text in texts]


def test_only_so_many_are_remembered(monkeypatch):
    monkeypatch.setattr(reading, "MOST_KNOWN", 3)
    site = Site()
    texts = [f"Number {n}: a [[hill]].".replace(":", ",") for n in range(10)]
    assert [parse(text, site).paragraphs[0].text for text in texts] == [
        text.replace("[[hill]]", "hill") for text in texts
    ]
    assert len(reading.reader_of(site)._known) <= 3
