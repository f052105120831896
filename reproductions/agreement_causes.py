"""Why two readers of wikitext differ: every cause with an example of our own, and with whom MediaWiki sides."""

from __future__ import annotations

from typing import NamedTuple

OURS, THEIRS, RULE_OF_OURS = "entlink", "mwparserfromhell", "left out by rule"


class Cause(NamedTuple):
    """A cause, what it looks like, and which reader does as MediaWiki."""

    name: str
    example: str
    right: str


TRAIL = Cause("letters right after the link belong to it", "`[[boat]]s` shows `boats`", OURS)
COLON = Cause("the colon before a target is not shown", "`[[:Boat]]` shows `Boat`", OURS)
BREAK = Cause("a line break in a label is a blank", "`[[Boat|old<br>boat]]` shows `old boat`", OURS)
LABEL = Cause("the label is a template that is dropped", "`[[Boat|{{x}}]]` shows the target, `Boat`", RULE_OF_OURS)
TEMPLATE = Cause("in the argument of a template that is dropped", "`{{Infobox|port=[[Lindau]]}}`", RULE_OF_OURS)
RULE = Cause("a template's rule puts it there", "`{{flag|Austria}}` is a link to `Austria`", OURS)
REFERENCE = Cause("in a reference", "`<ref>[[Almanac]]</ref>`", RULE_OF_OURS)
UNREAD = Cause("in a tag that holds no running text", "`<includeonly>[[Boat]]</includeonly>`", RULE_OF_OURS)
HEADING = Cause("in a heading", "`== [[Boat]]s ==`", RULE_OF_OURS)
ATTRIBUTE = Cause("in the attribute of a tag or a table", '`{| title="[[Boat]]"`', OURS)
OPTION = Cause("in a picture's argument that a later one replaces", "`[[File:A.jpg|a [[boat]]|a ship]]`", OURS)
MADE = Cause("the target is made by a template or a parameter", "`[[User:{{{1}}}|talk]]`", RULE_OF_OURS)
BOX = Cause("a picture that an infobox names, which entlink keeps", "`{{Infobox|image=A.jpg}}`", OURS)
REPEATED = Cause("a second link to the same language", "`[[de:Boot]] [[de:Schiff]]`", OURS)
GALLERY = Cause("in a gallery, which mwparserfromhell does not read", "`<gallery>` with `A.jpg|A [[boat]]`", OURS)
QUOTES = Cause(
    "bold or italics that do not match: mwparserfromhell gives up what is around",
    "`<ref>''Almanac</ref>` is text for it",
    OURS,
)
LEFT_TAG = Cause("tags that mwparserfromhell leaves as text", "`<td>` without `</td>`", OURS)
LEFT_BRACES = Cause("templates that mwparserfromhell leaves as text", "`{{#if:…}}` deep in a template's code", OURS)
LEFT_TABLE = Cause("tables that mwparserfromhell leaves as text", "`{|` with rows of HTML", OURS)
LEFT_LINK = Cause(
    "behind a hundred tags without an end, where mwparserfromhell looks no further",
    "`<td>[[Boat]]` in a hundred rows",
    OURS,
)
SWITCH = Cause("magic words", "`__NOTOC__`", OURS)
TWO_SIGNS = Cause("two signs at the start of a table's line", '`!! width="9"|Boat`: attributes are text', OURS)
UNKNOWN_TAG = Cause("tags that are none", "`<charinsert>` stays text", OURS)
NAMELESS = Cause("a gallery's line without a picture, which entlink shows", "`<gallery>` with `|a boat`", THEIRS)
UNEXPLAINED = Cause("unexplained", "", "")
