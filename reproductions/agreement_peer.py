"""A page as mwparserfromhell reads it: every link and every piece of text, each with the constructs it stands in."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

import mwparserfromhell
from agreement_page import PAGE, PICTURE, Link, tidy
from agreement_titles import target_of
from mwparserfromhell.nodes import (
    Argument,
    Comment,
    ExternalLink,
    Heading,
    HTMLEntity,
    Node,
    Tag,
    Template,
    Text,
    Wikilink,
)
from mwparserfromhell.wikicode import Wikicode

from entlink.sources.wikitext import Site
from entlink.sources.wikitext.blanks import words

TEMPLATE, HEADING, ATTRIBUTE, ADDRESS = "template", "heading", "attribute", "address"
NAME, TARGET, OPTION, CAPTION, GALLERY = "name", "target", "option", "caption", "<gallery>"
REFERENCE = ("<ref>", "<references>")
UNREAD_TAGS = words(
    """
    <includeonly> <math> <ce> <chem> <graph> <hiero> <imagemap> <score> <timeline> <templatedata> <categorytree>
    <inputbox> <section> <source> <syntaxhighlight> <style> <script>
    """
)
Places = tuple[str, ...]

_APART = frozenset(words("table caption tr td th ul ol dl li dt dd br hr div p center blockquote pre h1 h2 h3 h4"))
_LETTERS = re.compile(r"[^\W\d_]+")
_OPTION = re.compile(
    r"(?:[0-9x ]+px|(?:alt|link|upright|class|lang|page|thumb|mini)\s*=.*|thumb|thumbnail|mini|frame|framed"
    r"|frameless|border|left|right|center|centre|none|upright|baseline|sub|super|top|middle|bottom|вляво|вдясно|)",
    re.IGNORECASE | re.DOTALL,
)


class Piece(NamedTuple):
    """A piece of text."""

    text: str
    places: Places


class PeerReading(NamedTuple):
    """All links and pieces of a page; apart from them those of galleries, which mwparserfromhell leaves unread."""

    links: list[Link]
    pieces: list[Piece]
    gallery_links: list[Link]
    gallery_pieces: list[Piece]


def peer_reading(text: str, site: Site, *, skip_style_tags: bool = False) -> PeerReading:
    """What mwparserfromhell finds. With `skip_style_tags` it does not look for bold and italics."""
    walk = _Walk(site)
    walk.through(mwparserfromhell.parse(text, skip_style_tags=skip_style_tags), ())
    galleries = _Walk(site)
    for line in walk.gallery_lines:
        has_prefix = target_of(line.partition("|")[0], site)[0] == PICTURE
        galleries.through(mwparserfromhell.parse(f"[[{line}]]" if has_prefix else f"[[File:{line}]]"), ())
    return PeerReading(walk.links, walk.all_pieces, galleries.links, galleries.all_pieces)


class _Walk:
    """Goes through a tree from the left to the right."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.links: list[Link] = []
        self.pieces: list[Piece] = []
        self._captions: list[Piece] = []
        self.gallery_lines: list[str] = []

    @property
    def all_pieces(self) -> list[Piece]:
        return self.pieces + self._captions

    def through(self, code: Wikicode, places: Places) -> None:
        nodes = code.nodes
        for node, following in zip(nodes, [*nodes[1:], None], strict=False):
            if isinstance(node, Wikilink):
                self._link(node, following, places)
            else:
                self._other(node, places)

    def _other(self, node: Node, places: Places) -> None:
        match node:
            case Text():
                self._say(node.value, places)
            case HTMLEntity():
                self._say(node.normalize(), places)
            case Template():
                for child in node.__children__():
                    self.through(child, (*places, TEMPLATE))
            case Argument():
                self.through(node.name, (*places, NAME))
                if node.default is not None:
                    self.through(node.default, places)
            case Heading():
                self.through(node.title, (*places, HEADING))
            case ExternalLink():
                self.through(node.url, (*places, ADDRESS) if node.brackets else places)
                if node.title is not None:
                    self.through(node.title, places)
            case Tag():
                self._tag(node, places)
            case _:
                assert isinstance(node, Comment), node

    def _say(self, text: str, places: Places) -> None:
        self.pieces.append(Piece(text, places))

    def _tag(self, tag: Tag, places: Places) -> None:
        name = str(tag.tag).strip().lower()
        for attribute in tag.attributes:
            self.through(attribute.name, (*places, ATTRIBUTE))
            if attribute.value is not None:
                self.through(attribute.value, (*places, ATTRIBUTE))
        separator = "\n" if name in _APART else ""
        self._say(separator, places)
        if f"<{name}>" == GALLERY:
            self.gallery_lines += [line.strip() for line in str(tag.contents).split("\n") if line.strip()]
        elif tag.contents is not None:
            self.through(tag.contents, (*places, f"<{name}>"))
        self._say(separator, places)

    def _link(self, link: Wikilink, following: Node | None, places: Places) -> None:
        kind, title = target_of(link.title.strip_code(), self._site)
        made = any(not isinstance(node, Text | HTMLEntity | Comment) for node in link.title.nodes)
        self.links.append(
            Link(
                kind,
                title,
                tidy((link.title if link.text is None else link.text).strip_code()) if kind == PAGE else "",
                trail(following.value) if isinstance(following, Text) else "",
                (*places, TARGET) if made else places,
                str(link),
            )
        )
        if kind == PICTURE:
            self._picture(link, places)
        elif link.text is None:
            self.through(link.title, (*places, kind))
        else:
            self.through(link.title, (*places, kind, TARGET))
            self.through(link.text, (*places, kind))

    def _picture(self, link: Wikilink, places: Places) -> None:
        """Of the arguments the last that is no option is the caption."""
        arguments = [] if link.text is None else _arguments(link.text)
        captions = [argument for argument in arguments if not _OPTION.fullmatch(str(argument).strip())]
        for argument in arguments:
            is_caption = bool(captions) and argument is captions[-1]
            self._aside(argument, (*places, CAPTION if is_caption else OPTION))

    def _aside(self, argument: Wikicode, places: Places) -> None:
        """What stands around a picture is not parted by its caption, which so comes after the text."""
        running, self.pieces = self.pieces, []
        self.through(argument, places)
        self._captions += [Piece("\n", places), *self.pieces]
        self.pieces = running


def trail(text: str) -> str:
    """The letters that begin a text, up to the first capital."""
    letters = _LETTERS.match(text)
    return "".join(takewhile(lambda letter: not letter.isupper(), letters[0])) if letters else ""


def _arguments(code: Wikicode) -> list[Wikicode]:
    """The arguments of a picture: mwparserfromhell gives them as one text with bars."""
    arguments: list[list[Node]] = [[]]
    for node in code.nodes:
        if not isinstance(node, Text):
            arguments[-1].append(node)
            continue
        first, *others = node.value.split("|")
        arguments[-1].append(Text(first))
        arguments += [[Text(other)] for other in others]
    return [Wikicode(nodes) for nodes in arguments]
