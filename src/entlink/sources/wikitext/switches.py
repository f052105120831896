"""Magic words between underscores, such as __NOTOC__."""

from __future__ import annotations

import re

from entlink.sources.wikitext.findings import Findings

_SWITCH = re.compile(r"__([^\W\d_]+)__")


def without_switches(text: str, findings: Findings) -> str:
    """The text without magic words; they go to the findings."""

    def note(switch: re.Match[str]) -> str:
        word = switch[1]
        if word != word.upper():
            return switch[0]
        findings.switches.add(word)
        return ""

    return _SWITCH.sub(note, text)
