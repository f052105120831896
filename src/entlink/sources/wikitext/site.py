"""What the wikitext of a wiki cannot be read without: its namespaces, language and rule for capitals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from entlink.documents import Record

FILE, CATEGORY, ARTICLE = 6, 14, 0
CANONICAL: Mapping[int, tuple[str, ...]] = {
    -2: ("Media",),
    -1: ("Special",),
    0: ("",),
    1: ("Talk",),
    2: ("User",),
    3: ("User talk",),
    4: ("Project",),
    5: ("Project talk",),
    6: ("File", "Image"),
    7: ("File talk", "Image talk"),
    8: ("MediaWiki",),
    9: ("MediaWiki talk",),
    10: ("Template",),
    11: ("Template talk",),
    12: ("Help",),
    13: ("Help talk",),
    14: ("Category",),
    15: ("Category talk",),
}


# What wikis have called their namespaces before: such links still work there, but no export tells of them.
_FORMER: Mapping[str, Mapping[str, int]] = {
    "bg": {"Картинка": FILE},
    "cs": {"Obrázek": FILE},
    "da": {"Billede": FILE},
    "de": {"Bild": FILE},
    "en": {"WP": 4, "WT": 5},
    "es": {"Imagen": FILE},
    "fi": {"Kuva": FILE},
    "hu": {"Kép": FILE},
    "it": {"Immagine": FILE},
    "ja": {"画像": FILE},
    "ko": {"그림": FILE},
    "nl": {"Afbeelding": FILE},
    "no": {"Bilde": FILE},
    "pl": {"Grafika": FILE},
    "pt": {"Imagem": FILE},
    "ru": {"Изображение": FILE},
    "sv": {"Bild": FILE},
    "tr": {"Resim": FILE},
    "uk": {"Зображення": FILE},
    "zh": {"图像": FILE, "圖像": FILE},
}


class Site(Record, frozen=True, dict=True):
    """One wiki. `namespaces` are the local names by number; the canonical English ones always count too."""

    name: str = ""  # as its database is called, such as enwiki
    language: str | None = None
    namespaces: Mapping[int, str] = {}
    capital_links: bool = True  # whether [[apple]] and [[Apple]] are one page

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each namespace by its name, lower-cased, canonical or local."""
        known = {name.lower(): number for number, names in CANONICAL.items() for name in names}
        known |= {name.lower(): number for name, number in _FORMER.get(self.language or "", {}).items()}
        return known | {name.lower(): number for number, name in self.namespaces.items()}

    def namespace_of(self, title: str) -> int:
        """The number of the namespace that a title's prefix names; 0 where it names none."""
        prefix, colon, rest = title.partition(":")
        return self.numbers.get(prefix.strip().lower(), ARTICLE) if colon and rest else ARTICLE
