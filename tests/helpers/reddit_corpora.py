"""A corpus written by hand, with known answers, and what is needed to make sets of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from entlink.datasets.conversations.build import ConversationOptions, Domain
from entlink.formats.documents.lines import read_documents
from entlink.kb.store.store import Store
from entlink.kb.store.writing import insert_redirects
from knowledge_bases import article, make_kb

WIKI = "https://harbour.fandom.com/wiki/"
OLD_WIKI = "http://harbour.wikia.com/wiki/"
BEFORE, AFTER = 1388534400, 1451606400  # the first seconds of 2014 and of 2016
DOMAIN = Domain("Harbour", ("harbour",), "harbour")
REDIRECTS = [("Old Ferry", "Ferry (ship)"), ("Very Old Ferry", "Old Ferry"), ("Round", "Round and round")]

ENTITIES = [
    article("h1", "Lighthouse", "x", types=["harbour"]),
    article("h2", "Ferry (ship)", "x", types=["harbour"]),
    article("h3", "Captain Wren", "x", types=["harbour"]),
    article("h4", "Pier 9", "x", types=["harbour"]),
    article("t1", "Lighthouse", "x", types=["theatre"]),
    article("t2", "Stage", "x", types=["theatre"]),
]


def harbour_kb(folder: Path) -> Path:
    """Two domains that share a title, with redirects, one of them in a circle."""
    kb = make_kb(folder, ENTITIES, "harbour", count_text=False)
    store = Store(kb, writable=True)
    insert_redirects(store, [*REDIRECTS, ("Round and round", "Round")])
    store.close()
    return kb


def say(id: str, text: str, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    """An utterance in the layout of today; a conversation is named by the letters its ids begin with."""
    root = id.rstrip("0123456789")
    number = int(id.removeprefix(root))
    row = {"id": id, "conversation_id": root, "speaker": f"s{number % 3}", "reply-to": parent, "text": text}
    return {**row, "timestamp": BEFORE + number, "meta": {"subreddit": "HarbourTalk"}, **fields}


def chain(root: str, *texts: str, start: int = BEFORE) -> list[dict[str, Any]]:
    """A conversation in which each utterance answers the one before."""
    return [
        say(f"{root}{n}", text, f"{root}{n - 1}" if n > 1 else None, timestamp=start + n)
        for n, text in enumerate(texts, 1)
    ]


def filler(number: int) -> str:
    return f"This is number {number} of many words that say little."


def fillers(count: int) -> list[str]:
    return [filler(number) for number in range(count)]


def as_old(row: dict[str, Any]) -> dict[str, Any]:
    """The same utterance in the older layout."""
    names = {"conversation_id": "root", "speaker": "user"}
    return {names.get(key, key): value for key, value in row.items()}


def write_corpus(folder: Path, rows: Iterable[dict[str, Any]], *, old: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if old:
        (folder / "utterances.json").write_text(json.dumps([as_old(row) for row in rows]), encoding="utf8")
        (folder / "users.json").write_text("{}")
    else:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / "utterances.jsonl").write_text("".join(lines), encoding="utf8")
        (folder / "speakers.json").write_text("{}")
    return folder


def harbour(**fields: Any) -> ConversationOptions:
    """Options of the harbour; trivial threads may stay, so that small sets are not empty."""
    return ConversationOptions(**{"domains": (DOMAIN,), "exact_share": 1.0, **fields})


def gold(path: Path) -> dict[str, list[tuple[str, str, str]]]:
    """Of each thread of a file its gold: mention, entity, and where it comes from."""
    return {
        document.id: [
            (document.text[one.span.start : one.span.end], one.entities[0], one.meta["by"]) for one in document.gold
        ]
        for document in read_documents(path)
    }
