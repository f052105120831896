"""Articles and knowledge bases for tests, from texts in which a link is written `[[id|surface]]`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from entlink.documents import Entity
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase

FULL = Entity(
    "full", "Full", "All.", ("F",), ("t",), ("p.png",), "en", "2001", "2002", {"wikidata": "Q1"}, {"P31": ("Q5",)}
)
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
_LINK = re.compile(r"\[\[([^|\]]+)\|([^\]]+)\]\]")


def paragraph(marked: str) -> dict[str, Any]:
    plain, links, end = "", [], 0
    for match in _LINK.finditer(marked):
        plain += marked[end : match.start()]
        links.append([len(plain), len(plain) + len(match[2]), match[1]])
        plain += match[2]
        end = match.end()
    return {"text": plain + marked[end:], "links": links}


def article(id: str, title: str, *texts: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "title": title, "paragraphs": [paragraph(text) for text in texts], **fields}


def write_articles(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf8")
    return path


def make_kb(folder: Path, rows: Iterable[Mapping[str, Any]], name: str = "made", **options: Any) -> Path:
    source = write_articles(folder / f"{name}.jsonl", rows)
    target = folder / f"{name}.kb"
    build([source], target, BuildOptions(**{"format": "articles", "processes": 1, **options}))
    return target


def supports(kb: KnowledgeBase, surface: str) -> dict[str, int]:
    """What a surface may mean, and the support behind each, best first."""
    return {name.entity: name.support for name in kb.aliases(surface)}


# Small, but with everything in it: names that several share, links, unlinked names, dates, two scripts.
WORLD = [
    article(
        "planet",
        "Mercury (planet)",
        "[[planet|Mercury]] is the planet nearest to the [[sun|Sun]]. Mercury has no moon.",
        "Unlike [[venus|Venus]], mercury the metal is liquid. MERCURY!",
        types=["planet"],
        external={"wikidata": "Q308"},
    ),
    article(
        "element",
        "Mercury (element)",
        "[[element|Mercury]] is a metal, once [[element|quicksilver]]; see [[planet|Mercury]] for the planet.",
        types=["substance"],
        aliases=["quicksilver", "Hg"],
    ),
    article("sun", "Sun", "The [[sun|Sun]] rises. The sun sets. [[planet|Mercury]] is near.", types=["star"]),
    article("venus", "Venus", "[[venus|Venus]] is a planet. Venus's days are long.", types=["planet"]),
    article("new-york", "New York", "[[new-york|New York]] City is not [[york|York]]. New York, New York!"),
    article("nyc", "New York City", "[[nyc|New York City]] lies in [[new-york|New York]].", types=["city"]),
    article("york", "York", "York is in England.", types=["city"]),
    article("us", "United States", "The [[us|US]] borders two. Tell us of it.", aliases=["US", "U.S."]),
    article("beijing", "北京", "[[beijing|北京]]在中国。", aliases=["北京市"], types=["city"], language="zh"),
    article("swazi", "Swaziland", "[[swazi|Swaziland]].", types=["country"], valid_to="2018-04-19"),
    article("swazi", "Eswatini", "[[swazi|Eswatini]].", types=["country"], valid_from="2018-04-19"),
]
