"""Other systems' answers on the test captions, from files of any format of links that entlink reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from entlink.documents import Document, Link
from entlink.errors import SourceError
from entlink.evaluation.files import File
from entlink.evaluation.identities import Identities
from entlink.studies.pictures.scoring import NO_ANSWER, Outcome, Run
from entlink.studies.pictures.sets import Asked

if TYPE_CHECKING:
    from entlink.studies.conversations.runs import RunSource


class ImportedRun(NamedTuple):
    """What a system said of each mention; `has_lists` where it has candidates, so that R@5 can be counted."""

    name: str
    outcomes: Run
    has_lists: bool
    notes: list[str]


def read_run(source: RunSource, asked: Sequence[Asked], identities: Identities) -> ImportedRun:
    """The answers at exactly the spans of the mentions; other links of the run do not count."""
    file = File(source.path, "links")
    documents = {document.id: identities.links(document) for document in file}
    wanted = {one.document.id for one in asked}
    if not wanted & documents.keys():
        named = ", ".join(map(repr, sorted(documents)[:3]))
        problem = f"none of its documents ({named}, …) is a test caption"
        raise SourceError(problem, str(source.path), hint="Give a run of the captions, with their ids")
    links = {id: _by_span(document) for id, document in documents.items()}
    found = [_outcome(one, links.get(one.document.id, {})) for one in asked]
    missing = len(wanted - documents.keys())
    notes = (
        [f"{source.name}: {missing} of {len(wanted)} captions are not in the run: no answer there"] if missing else []
    )
    has_lists = any(link.candidates for own in links.values() for link in own.values())
    return ImportedRun(source.name, found, has_lists, notes)


def _by_span(document: Document) -> Mapping[tuple[int, int], Link]:
    return {(link.mention.span.start, link.mention.span.end): link for link in document.links}


def _outcome(one: Asked, links: Mapping[tuple[int, int], Link]) -> Outcome:
    link = links.get((one.mention.span.start, one.mention.span.end))
    if link is None or link.entity is None:
        return NO_ANSWER
    if link.entity in one.right:
        return Outcome(link.entity, 0)
    others = [candidate.entity for candidate in link.candidates if candidate.entity != link.entity]
    rank = next((place for place, entity in enumerate(others, 1) if entity in one.right), None)
    return Outcome(link.entity, rank)
