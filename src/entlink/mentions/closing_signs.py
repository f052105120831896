"""Signs that a name may end with, which are no part of what a text is searched for: "U.S.", "Yahoo!"."""

from __future__ import annotations

from entlink.kb.knowledge_base import KnowledgeBase

CLOSING_SIGNS = frozenset(".!?)'’")


def may_end_with_sign(kb: KnowledgeBase, surface: str) -> bool:
    return any(form[-1:] in CLOSING_SIGNS for form in kb.forms(surface))


def end_with_signs(kb: KnowledgeBase, text: str, start: int, end: int) -> int:
    """Where the name ends if it is written with the signs that follow: "U.S.", "Yahoo!", "Mercury (planet)"."""
    while text[end : end + 1] in CLOSING_SIGNS and kb.is_written_so(text[start : end + 1]):
        end += 1
    return end
