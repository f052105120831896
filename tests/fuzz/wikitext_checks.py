"""What holds of the reading of any wikitext whatever."""

from __future__ import annotations

import re

from broken_rules import holds

from entlink.sources.page import Anchor, Paragraph
from entlink.sources.wikitext import Site, Wikitext, normalise_title, parse
from entlink.sources.wikitext.reader import reader_of
from entlink.sources.wikitext.templates.expansion import default_expander

SITE = Site("testwiki", "zh", {6: "Datei", 10: "Vorlage", 14: "Kategorie"})

_OTHER_BLANKS = re.compile("[\t\n\r\xa0]")
_SAYS_SOMETHING = re.compile(r"[^\W_]")


def check_wikitext(text: str, site: Site = SITE) -> Wikitext:
    """Read a text, and check all that must hold of the result."""
    read = parse(text, site)
    for paragraph in read.paragraphs:
        check_paragraph(paragraph, site)
    for name in (*read.categories, *read.images, *read.templates):
        holds("names are not blank", bool(name) and name == name.strip(), name)
    check_plain(text, site)
    return read


def check_paragraph(paragraph: Paragraph, site: Site) -> None:
    text = paragraph.text
    holds("no blanks but single ones", "  " not in text and not _OTHER_BLANKS.search(text), text)
    holds("no blanks around a paragraph", text == text.strip(" "), text)
    says_something = _SAYS_SOMETHING.search(text) is not None
    holds("a paragraph says something, or links to it", bool(says_something or paragraph.links), text)
    end = 0
    for anchor in paragraph.links:
        holds("anchors in order and apart", end <= anchor.start, paragraph)
        check_anchor(anchor, text, site)
        end = anchor.end


def check_anchor(anchor: Anchor, text: str, site: Site) -> None:
    holds("anchors within the text", 0 <= anchor.start < anchor.end <= len(text), (anchor, text))
    shown = text[anchor.start : anchor.end]
    holds("no blanks around an anchor", shown == shown.strip(" "), (anchor, text))
    if ":" not in anchor.target:
        holds("targets are normalised", normalise_title(anchor.target, site) == anchor.target, anchor.target)
    holds("targets have no blanks around", anchor.target == anchor.target.strip(), anchor.target)


def check_plain(text: str, site: Site) -> None:
    """The short way of reading a plain page comes to the same as the long one."""
    reader = reader_of(site)
    plain = reader.read_plain(text)
    if plain is not None:
        marked = reader.read_marked(text, default_expander(site.language))
        holds("plain and marked reading agree", plain == marked, (plain, marked))
