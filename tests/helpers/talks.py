"""Conversations in ConEL's shape over the entities of `study_worlds`, with answers to be counted by hand.

The knowledge base has Boom (s1), Line (s2), Crew (s3), Light boom (t2) and Harwich (u1). It has no Atlantis, and no
Harwich Harbour.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


def turn(number: int, speaker: str, text: str, gold: Sequence[tuple[str, str | None]] | None = None, **more) -> dict:
    found = {"speaker": speaker, "utterance": text, "turn_number": number, **more}
    if gold is not None:
        found["el_annotations"] = [{"mention": mention, "entity": entity} for mention, entity in gold]
    return found


DEAR_BOAT = {"personal_entity_mention": "my dear boat", "explicit_entity_mention": "Boom", "entity": "Boom"}
TALKS = [
    {
        "dialogue_id": "c1",
        "turns": [
            turn(0, "USER", "The Boom and the Boom hit Harwich.", [("Boom", "Boom"), ("Harwich", "Harwich_Harbour")]),
            turn(1, "SYSTEM", "Crew and Line."),
            turn(
                2,
                "USER",
                "Crew met my dear boat near a Line.",
                [("Crew", "Crew"), ("Line", "Light_boom")],
                personal_entity_annotations=[DEAR_BOAT],
            ),
        ],
    },
    {
        "dialogue_id": "c2",
        "turns": [turn(0, "USER", "No Bom here, two of them.", [("Bom", "Atlantis"), ("two", None)])],
    },
]
# [turn, mention, which occurrence of it, entity]: right, not gold, of other gold, outside, NIL, wrong, personal.
SAID = {
    "c1": [
        (0, "Boom", 0, "s1"),
        (0, "Boom", 1, "s1"),
        (0, "Harwich", 0, "u1"),
        (1, "Crew", 0, "s3"),
        (2, "Crew", 0, None),
        (2, "Line", 0, "s2"),
        (2, "my dear boat", 0, "s1"),
    ],
    "c2": [(0, "two", 0, None)],
}
# The same as a run of ConEL: titles, no offsets, no NIL.
ROWS = [
    ["c1", 0, "Boom", "Boom"],
    ["c1", 0, "Boom", "Boom"],
    ["c1", 0, "Harwich", "Harwich"],
    ["c1", 2, "Line", "Line"],
    ["c1", 2, "my dear boat", "Boom"],
]


def write_json(path: Path, data: object) -> Path:
    path.write_text(json.dumps(data), encoding="utf8")
    return path


def write_said(path: Path, talks: Sequence[dict] = TALKS) -> Path:
    """The answers as documents of entlink, with offsets."""
    rows = []
    for talk in talks:
        texts = [one["utterance"] for one in talk["turns"]]
        links = [_link(texts[number], number, *rest) for number, *rest in SAID[talk["dialogue_id"]]]
        turns = [{"text": one["utterance"], "speaker": one["speaker"]} for one in talk["turns"]]
        rows.append({"id": talk["dialogue_id"], "turns": turns, "links": links})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return path


def _link(text: str, number: int, mention: str, occurrence: int, entity: str | None) -> dict:
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(mention, start + 1)
    end = start + len(mention)
    return {"turn": number, "start": start, "end": end, "text": mention, "entity": entity, "score": 1.0}
