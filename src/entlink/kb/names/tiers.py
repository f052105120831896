"""How close a surface is to a known form of a name: the steps of the normalisation, tightest first."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from enum import IntEnum

import msgspec

from entlink.text.scripts import simplified
from entlink.text.titles import tidy


class Tier(IntEnum):
    """The step at which a surface met a form; a looser step is tried only when the tighter found nothing."""

    EXACT = 0
    UNICODE = 1
    CASE = 2
    PUNCTUATION = 3
    INFLECTION = 4


# How much less a name is worth that a surface meets only at a looser step.
FACTORS = {Tier.EXACT: 1.0, Tier.UNICODE: 0.95, Tier.CASE: 0.8, Tier.PUNCTUATION: 0.6, Tier.INFLECTION: 0.5}


class Normalisation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which steps after the exact form are tried."""

    unicode: bool = True
    case: bool = True
    punctuation: bool = True
    inflection: bool = True

    def allows(self, tier: Tier) -> bool:
        return tier is Tier.EXACT or (self.unicode, self.case, self.punctuation, self.inflection)[tier - 1]


def tier_between(surface: str, form: str) -> Tier:
    """The tightest step at which the two are the same; they must have one key."""
    if surface == form:
        return Tier.EXACT
    surface, form = tidy(surface), tidy(form)
    if surface == form:
        return Tier.EXACT
    if surface.isascii() and form.isascii():
        return Tier.CASE if surface.lower() == form.lower() else Tier.PUNCTUATION
    surface = simplified(unicodedata.normalize("NFKC", surface))
    form = simplified(unicodedata.normalize("NFKC", form))
    if surface == form:
        return Tier.UNICODE
    return Tier.CASE if surface.casefold() == form.casefold() else Tier.PUNCTUATION


def inflected(key: str) -> Iterator[str]:
    """Keys of the same name without its possessive, in the singular and in the plural (English endings)."""
    if key.endswith(" s"):
        yield key[:-2]
    if not key[-1:].isascii() or len(key) < 3:
        return
    if key.endswith("ies"):
        yield key[:-3] + "y"
    if key.endswith("s"):
        yield key[:-1]
        if key.endswith("es"):
            yield key[:-2]
    else:
        yield key + "s"
