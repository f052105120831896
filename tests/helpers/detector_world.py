"""A knowledge base in which some names are linked and some never, and conversations about it with gold."""

from __future__ import annotations

import random
from pathlib import Path

from entlink.documents import Document, GoldLink, Span, Turn
from knowledge_bases import article, make_kb

LINKED = {
    "Paris": "paris",
    "London": "london",
    "New York": "new-york",
    "York": "york",
    "jazz": "jazz",
    "otters": "otter",
    "Miles Davis": "miles",
    "北京": "beijing",
}
NEVER = ("day", "week", "friend", "time")
SAYINGS = (
    "Last {never} I saw {linked} with a {never}.",
    "Have you been to {linked}? It took me a {never}.",
    "i think {linked} is better than {linked}",
    "No {never} goes by without {linked}, my {never}!",
    "Really, a {never}?",
)
ROWS = [
    article("paris", "Paris", "[[paris|Paris]] is far from [[london|London]].", types=["city"]),
    article("london", "London", "[[london|London]] is a city. A day in [[london|London]].", types=["city"]),
    article("new-york", "New York", "[[new-york|New York]] is not [[york|York]].", types=["city"]),
    article("york", "York", "[[york|York]] is old.", types=["city"]),
    article("jazz", "Jazz", "[[jazz|Jazz]] came from the south. [[miles|Miles Davis]] played jazz.", types=["music"]),
    article("otter", "Otter", "The [[otter|otter]] swims by day.", types=["animal"]),
    article("miles", "Miles Davis", "[[miles|Miles Davis]] played [[jazz|jazz]].", types=["person"]),
    article("beijing", "北京", "[[beijing|北京]]在中国。", types=["city"], language="zh"),
    article("day", "Day", "A day has hours; day by day, a friend came one week at a time. A week is seven days."),
    article("week", "Week", "One week, one day, this time."),
    article("friend", "Friend", "A friend comes every day. Time to see a friend."),
    article("time", "Time", "Time passes day by day."),
]


def detector_kb(folder: Path) -> Path:
    return make_kb(folder, ROWS, "talk")


def conversations(count: int, seed: int = 0, prefix: str = "c") -> list[Document]:
    """Conversations of six turns each."""
    chance = random.Random(seed)
    return [_conversation(f"{prefix}{number}", chance) for number in range(count)]


def _conversation(id: str, chance: random.Random) -> Document:
    turns, places = [], []
    for number in range(6):
        text, own = _said(chance)
        turns.append(Turn(text, "ab"[number % 2]))
        places.append(own)
    plain = Document.of_turns(id, turns)
    gold = [
        GoldLink(Span(whole.start + start, whole.start + end), (LINKED[name],))
        for whole, own in zip(plain.turn_spans, places, strict=True)
        for start, end, name in own
    ]
    return Document.of_turns(id, turns, gold=tuple(gold))


def _said(chance: random.Random) -> tuple[str, list[tuple[int, int, str]]]:
    text, own = "", []
    for piece in chance.choice(SAYINGS).replace("{", "|{").replace("}", "}|").split("|"):
        if piece == "{linked}":
            name = chance.choice(list(LINKED))
            own.append((len(text), len(text) + len(name), name))
            text += name
        else:
            text += chance.choice(NEVER) if piece == "{never}" else piece
    return text, own
