from __future__ import annotations

import pytest

from entlink.kb.names.tiers import Normalisation, Tier, inflected, tier_between
from entlink.text.folding import key_of


@pytest.mark.parametrize(
    ("surface", "form", "tier"),
    [
        ("Mercury", "Mercury", Tier.EXACT),
        (" New  York", "New York", Tier.EXACT),
        ("Ｍercury", "Mercury", Tier.UNICODE),
        ("Cafe\u0301", "Café", Tier.UNICODE),
        ("MERCURY", "Mercury", Tier.CASE),
        ("STRASSE", "Straße", Tier.CASE),
        ("U.S.", "US", Tier.PUNCTUATION),
        ("new-york", "New York", Tier.PUNCTUATION),
    ],
)
def test_how_close_two_forms_are(surface, form, tier):
    assert tier_between(surface, form) is tier
    assert tier_between(form, surface) is tier


@pytest.mark.parametrize("off", ["unicode", "case", "punctuation", "inflection"])
def test_each_step_can_be_switched_off_and_the_exact_one_cannot(off):
    normalisation = Normalisation(**{off: False})
    allowed = {tier.name.lower() for tier in Tier if normalisation.allows(tier)}
    assert allowed == {"exact", "unicode", "case", "punctuation", "inflection"} - {off}


@pytest.mark.parametrize(
    ("surface", "name"),
    [
        ("planets", "planet"),
        ("planet", "planets"),
        ("buses", "bus"),
        ("cities", "city"),
        ("Venus's", "Venus"),
        ("Paris’s", "Paris"),
    ],
)
def test_inflections_of_a_name(surface, name):
    assert key_of(name) in set(inflected(key_of(surface)))


@pytest.mark.parametrize("key", ["is", "a", "京", "", "编程", "москва"])
def test_what_has_no_english_inflection(key):
    assert list(inflected(key)) == []
