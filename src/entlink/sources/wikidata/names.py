"""Which names of an item are taken: those of a language and its variants, else those of others."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files

import msgspec

from entlink.documents import Record

ENGLISH = "en"
OF_ALL = "mul"  # where Wikidata keeps names that are the same in many languages


class Names(Record, frozen=True):
    """The codes of a language, the best first, those to fall back on, and the name of its Wikipedia."""

    language: str
    own: tuple[str, ...]
    others: tuple[str, ...]
    wiki: str

    @property
    def codes(self) -> tuple[str, ...]:
        return self.own + self.others


class _Row(msgspec.Struct):
    """A language of `languages.toml`."""

    variants: tuple[str, ...] = ()
    wiki: str | None = None


@lru_cache
def names_in(language: str | None, wiki: str | None = None) -> Names:
    """Those of a language such as `zh`, or of the language of a Wikipedia such as `zhwiki`; else of English."""
    table = _table()
    if language is None and wiki is not None and wiki.endswith("wiki"):
        language = _language_of(wiki)
    language = (language or ENGLISH).lower().replace("_", "-")
    code = language if language in table else _written_as(language)
    row = table.get(code, _Row())
    own = tuple(dict.fromkeys((language, code, *row.variants)))
    english = (ENGLISH, *table[ENGLISH].variants)
    others = tuple(code for code in (OF_ALL, *english) if code not in own)
    return Names(language, own, others, wiki or row.wiki or f"{code.replace('-', '_')}wiki")


def _language_of(wiki: str) -> str:
    """The language of a Wikipedia such as `zhwiki`, by its name, or as the table calls it."""
    named = wiki.removesuffix("wiki").replace("_", "-")
    return named if named in _table() else next((code for code, row in _table().items() if row.wiki == wiki), named)


def _written_as(language: str) -> str:
    """The language of which `zh-tw` is a way to write it; a code such as `hr` is a language of its own."""
    places = ((row.variants.index(language), code) for code, row in _table().items() if language in row.variants)
    return min(places, key=lambda one: one[0], default=(0, language))[1] if "-" in language else language


@lru_cache
def _table() -> dict[str, _Row]:
    table = files("entlink.sources.wikidata").joinpath("languages.toml").read_text(encoding="utf8")
    return msgspec.convert(tomllib.loads(table), dict[str, _Row])
