"""A world of lands and tongues that share their adjectives."""

from __future__ import annotations

from typing import Any

from knowledge_bases import article

LANDS = ("Corv", "Delv", "Fenn", "Garr", "Hisp")
FILLER = "and so it was told for many years by all who lived there"


def world() -> list[dict[str, Any]]:
    """Lands and tongues that share an adjective, and towns whose texts use it."""
    rows = []
    for land in LANDS:
        word = f"{land}ish"
        fields = [f"The {word} fields of summer number {number} are wide {FILLER}." for number in range(16)]
        verbs = [f"A verb in {word} of class {number} has many endings {FILLER}." for number in range(16)]
        rows.append(article(f"{land}ia", f"{land}ia", f"{land}ia is a land of the {word} people.", *fields))
        rows.append(article(f"{word}-tongue", f"{word} tongue", f"The {word} tongue is spoken in {land}ia.", *verbs))
    for number in range(30):
        texts = [f"Near the hall a {land}ish guest number {number} was seen {FILLER}." for land in LANDS]
        texts += [f"The door number {door} of this hall is made of old wood {FILLER}." for door in range(4)]
        rows.append(article(f"hall-{number}", f"Hall {number}", f"Hall {number} is one of many.", *texts))
    return rows


def linked_world() -> list[dict[str, Any]]:
    """Halls whose texts link the adjective to the land or the tongue."""
    rows = world()[: 2 * len(LANDS)]
    for number in range(60):
        texts = [
            text
            for land in LANDS
            for text in (
                f"Near the hall a [[{land}ia|{land}ish]] guest number {number} was seen {FILLER}.",
                f"They spoke in [[{land}ish-tongue|{land}ish]] on day {number} of the feast {FILLER}.",
            )
        ]
        rows.append(article(f"hall-{number}", f"Hall {number}", f"Hall {number} is one of many.", *texts))
    return rows
