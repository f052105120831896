"""Two tiny domains with a third beside them, documents whose scores can be counted by hand, and a rescorer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from entlink.documents import Candidate
from entlink.interfaces import Question, Shortlist
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase

ENTITIES = [
    {"id": "s1", "title": "Boom", "type": "sea.parts"},
    {"id": "s2", "title": "Line", "type": "sea.parts"},
    {"id": "s3", "title": "Crew", "type": "sea.people"},
    {"id": "t1", "title": "Line (script)", "type": "stage"},
    {"id": "t2", "title": "Light boom", "type": "stage"},
    {"id": "t3", "title": "Crew call", "type": "stage"},
    {"id": "u1", "title": "Harwich", "type": "town"},
]
DOCUMENTS = [
    ("s1#1", "sea", "The [Boom|s1] hit a [Line|s2] in [Harwich|u1]."),
    ("s3#1", "sea", "[Crew|s3] of [two|]. Crew again."),
    ("t1#1", "stage", "A [Line|t1] and the [boom|t2]."),
    ("t2#1", "stage", "No [Bom|atlantis] today."),
]
_MARK = re.compile(r"\[([^|\]]+)\|([^\]]*)\]")


def document(id: str, domain: str | None, marked: str) -> dict:
    """A row of linked mentions, from a text in which a mention is written [surface|entity]."""
    plain, mentions, end = "", [], 0
    for mark in _MARK.finditer(marked):
        plain += marked[end : mark.start()]
        span = {"start": len(plain), "end": len(plain) + len(mark[1])}
        mentions.append({**span, "text": mark[1], "entity": mark[2] or None})
        plain += mark[1]
        end = mark.end()
    row = {"id": id, "text": plain + marked[end:], "mentions": mentions}
    return row if domain is None else {**row, "domain": domain}


def write_lines(path: Path, rows: Sequence[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return path


def write_documents(path: Path, documents: Sequence[tuple[str, str | None, str]] = DOCUMENTS) -> Path:
    return write_lines(path, [document(*one) for one in documents])


def write_kb(folder: Path, entities: Sequence[dict] = ENTITIES, name: str = "two") -> Path:
    source, target = write_lines(folder / f"{name}.jsonl", entities), folder / f"{name}.kb"
    build([source], target, BuildOptions(processes=1))
    return target


class LongestTitle:
    """Finds nothing by itself, and likes long titles among what others found."""

    gives = ("longest",)

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        return [[() for _ in question.mentions] for question in questions]

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        return [
            [{"longest": float(len(one.title or ""))} for one in shortlist.candidates] for shortlist in shortlists
        ]


class Endless:
    """Gives every entity of the knowledge base in its order, up to a limit."""

    def __init__(self, kb: KnowledgeBase, *, limit: int = 2) -> None:
        self.kb, self.limit = kb, limit

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        found = [Candidate(one.id, 1.0 / number, {}, one.title) for number, one in enumerate(self.kb, 1)]
        return [[found[: self.limit] for _ in question.mentions] for question in questions]
