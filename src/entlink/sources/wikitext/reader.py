"""Reads the wikitext of a page: one step for each kind of markup, taken only where its signs occur."""

from __future__ import annotations

import re
from collections.abc import Mapping

from entlink.documents import Record
from entlink.sources.page import Kind, Paragraph
from entlink.sources.wikitext.blanks import one_blank
from entlink.sources.wikitext.blocks import Blocks
from entlink.sources.wikitext.braces import Braces, Expander
from entlink.sources.wikitext.external import has_external, with_labels_only
from entlink.sources.wikitext.fast import plain_lines
from entlink.sources.wikitext.findings import Findings
from entlink.sources.wikitext.links import Links
from entlink.sources.wikitext.literals import decode_entities, has_stand_ins, show, without_reserved
from entlink.sources.wikitext.pictures import Pictures
from entlink.sources.wikitext.quotes import without_quotes
from entlink.sources.wikitext.seams import SEAM, close_seams, without_seams
from entlink.sources.wikitext.site import Site
from entlink.sources.wikitext.tags import has_tag, without_html, without_switches, without_unread
from entlink.sources.wikitext.titles import titles_of
from entlink.sources.wikitext.variants import one_variant

DEFAULT_SITE = Site()
TEMPLATE = 10  # the number of the namespace
MOST_KNOWN = 1 << 9  # paragraphs

_SAYS_SOMETHING = re.compile(r"[^\W_]").search
_SIGNATURE = re.compile("~{3,5}")


class Wikitext(Record, frozen=True):
    """What the wikitext of a page says.

    The captions of its pictures come after its other paragraphs. Names are normalised: blanks for underscores, and
    the first letter a capital. `switches` are words such as `NOTOC`; `languages` has what others call the page.
    """

    paragraphs: tuple[Paragraph, ...] = ()
    categories: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    templates: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    languages: Mapping[str, str] = {}


def parse(text: str, site: Site = DEFAULT_SITE, expand: Expander | None = None) -> Wikitext:
    """The paragraphs of a wikitext with their links, and what else it holds.

    `expand` says what stands for a template, as wikitext, or None to drop it; it is given the template's name and
    arguments, innermost first. By default templates that carry text are expanded by the rules that come with entlink.
    """
    reader = reader_of(site)
    return reader.read_plain(text) or reader.read_marked(text, _default_expander() if expand is None else expand)


def reader_of(site: Site) -> Reader:
    """The reader of a site's pages; made once and kept with it."""
    reader = vars(site).get("wikitext_reader")
    if not isinstance(reader, Reader):
        reader = vars(site)["wikitext_reader"] = Reader(site)
    return reader


def _default_expander() -> Expander:
    from entlink.sources.wikitext.templates.expansion import default_expander

    return default_expander()


class Reader:
    """Reads the pages of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known: dict[str, Paragraph] = {}  # by its wikitext: the versions of a page have most in common
        self._links = Links(titles_of(site))
        self._pictures = Pictures(titles_of(site))
        self._templates = titles_of(site).names_of(TEMPLATE)

    def read_plain(self, text: str) -> Wikitext | None:
        """A page without any markup but links; None where it has other markup."""
        lines = plain_lines(text)
        if lines is None:
            return None
        findings = Findings()
        paragraphs: list[Paragraph | None] = []
        for line in lines:
            if "[" not in line and line[0].isalnum():
                paragraphs.append(Paragraph(line))
                continue
            paragraph = self._paragraph(line, "text", None, findings)
            if paragraph is not None and "[" in paragraph.text and has_external(line):
                return None
            paragraphs.append(paragraph)
        return None if findings.images or findings.unread_picture else _wikitext(paragraphs, findings)

    def read_marked(self, text: str, expand: Expander) -> Wikitext:
        """A page with any markup."""
        findings = Findings()
        text = self._without_inline_markup(self._expanded(text, expand, findings), findings)
        blocks = Blocks().divide(text)
        paragraphs = [self._paragraph(raw, kind, None, findings) for kind, raw in blocks]
        for image, caption in findings.captions:
            raw = one_blank(close_seams(without_quotes(caption.replace("\n", " "))))
            paragraphs.append(self._paragraph(raw.strip(" "), "caption", image, findings))
        return _wikitext(paragraphs, findings)

    def _expanded(self, text: str, expand: Expander, findings: Findings) -> str:
        """The text without templates, tags and comments."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = without_reserved(text)
        if "<" in text and has_tag(text):
            text = without_unread(text, lambda gallery: "\n".join(self._pictures.of_gallery(gallery)))
        if "{{" in text:
            text = Braces(self._templates, expand, findings).replace(text)
        if "-{" in text:
            text = one_variant(text, self._site.language)
        return without_html(text) if "<" in text else text

    def _without_inline_markup(self, text: str, findings: Findings) -> str:
        """The text with no markup left but that of lines, links between pages, bold and italics."""
        if "&" in text:
            text = decode_entities(text)
        if "__" in text:
            text = without_switches(text, findings)
        if "~~~" in text:
            text = _SIGNATURE.sub("", text)
        if "[" in text:
            text = self._pictures.take_out(with_labels_only(text), findings)
        findings.literal = has_stand_ins(text)
        return text

    def _paragraph(self, raw: str, kind: Kind, image: str | None, findings: Findings) -> Paragraph | None:
        # What has no colon leads to no category, language or picture: all there is to find is the paragraph.
        if "[" not in raw or ":" in raw or kind != "text" or findings.literal:
            return self._read_paragraph(raw, kind, image, findings)
        if (known := self._known.get(raw)) is None and (known := self._read_paragraph(raw, kind, image, findings)):
            if len(self._known) == MOST_KNOWN:
                self._known.clear()
            self._known[raw] = known
        return known

    def _read_paragraph(self, raw: str, kind: Kind, image: str | None, findings: Findings) -> Paragraph | None:
        if "[" in raw:
            text, anchors = self._links.read(raw, findings)
            text = text.rstrip(" ")
        else:
            text, anchors = raw, ()
        if SEAM in text:
            text, anchors = without_seams(text, anchors)
        if not text[:1].isalnum() and not anchors and not _SAYS_SOMETHING(text):
            return None
        return Paragraph(show(text) if findings.literal else text, anchors, kind, image)


def _wikitext(paragraphs: list[Paragraph | None], findings: Findings) -> Wikitext:
    return Wikitext(
        tuple(filter(None, paragraphs)),
        tuple(findings.categories),
        tuple(findings.images),
        frozenset(findings.templates),
        frozenset(findings.switches),
        findings.languages,
    )
