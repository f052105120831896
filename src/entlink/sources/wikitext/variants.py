"""Variants of a language, as in Chinese: -{zh-hans:…; zh-hant:…}- shows the one of the reader."""

from __future__ import annotations

import re

_VARIANT = re.compile(r"-\{([^{}]*)\}-")
_FLAGS = re.compile(r"[A-Za-z;\s-]*")
_CODE = re.compile(r"\s*([A-Za-z]{2,3}(?:-[A-Za-z]+)*)\s*:")
_HIDDEN = frozenset("HT-")  # flags of rules that show nothing: they hold for the rest of the page, or its title


def one_variant(text: str, language: str | None) -> str:
    """The text in one variant: that of the language given, or the first."""
    return _VARIANT.sub(lambda variant: _shown(variant[1], language), text)


def _shown(body: str, language: str | None) -> str:
    flags, bar, rule = body.partition("|")
    if not bar or not _FLAGS.fullmatch(flags):
        flags, rule = "", body
    if _HIDDEN.intersection(flag.strip() for flag in flags.split(";")):
        return ""
    variants = dict(_variants(rule))
    if not variants:
        return rule.strip()
    return variants.get(language or "", next(iter(variants.values())))


def _variants(rule: str) -> list[tuple[str, str]]:
    pieces = [(_CODE.match(piece), piece) for piece in rule.split(";")]
    return [(code[1].lower(), piece[code.end() :].strip()) for code, piece in pieces if code]
