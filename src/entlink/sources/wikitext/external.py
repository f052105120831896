"""Links out of the wiki: [http://… label] is its label. A bare address stays."""

from __future__ import annotations

import re

_SCHEMES = "https?://|ftps?://|//|mailto:|news:|irc://|gopher://|tel:|urn:|geo:|git://|svn://|magnet:|sms:|xmpp:"
_GLANCE = "[a-zA-Z]{3,6}+:|//"  # what they all look like: most brackets are those of pages, which this tells at once
_EXTERNAL = re.compile(
    rf"\[(?={_GLANCE})(?i:{_SCHEMES})[^\s\[\]]++[ \t]*+([^\[\]\n]*+(?:\[\[[^\[\]\n]*+\]\][^\[\]\n]*+)*+)\]"
)


def with_labels_only(text: str) -> str:
    """The text with each external link replaced by its label; one without a label shows nothing."""
    return _EXTERNAL.sub(r"\1", text)


has_external = _EXTERNAL.search
begins_address = re.compile(f"(?i:{_SCHEMES})").match
