"""Other systems' answers on a set, from files: checked that they fit the set before anything is scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from entlink.documents import Document, Record
from entlink.errors import InputError, SourceError
from entlink.evaluation.files import File
from entlink.evaluation.scoring.items import annotated_turns, predicted_items
from entlink.studies.conversations.sets import ConversationSet
from entlink.text.nearest import nearest_question

_SHOWN = 3


class RunSource(Record, frozen=True):
    """A run: the name of its system and its file; `SET:NAME` says of which set it is, if there are several."""

    name: str
    path: Path


class Run:
    """A system's answers on one set. A run is held in memory: it may have any order.

    `as_written` says that it is a list of strings, compared with gold as both are written: it names titles as the
    gold does, whatever the knowledge base at hand calls them.
    """

    def __init__(self, name: str, file: File, documents: Mapping[str, Document], data: ConversationSet) -> None:
        self.name, self.set, self._file, self._documents = name, data.name, file, documents
        self.lacks_offsets = any(one.meta.get("lacks") == "offsets" for one in documents.values())
        self.as_written = self.lacks_offsets
        self.notes: list[str] = []
        self._check(data)

    def answers(self, data: Iterable[Document]) -> Iterator[Document]:
        """What it says of each conversation, in the order of the set."""
        for document in data:
            found = self._documents.get(document.id)
            yield _bare(document) if found is None else msgspec.structs.replace(found, gold=())

    def _check(self, data: ConversationSet) -> None:
        lost: list[str] = []
        missing = strange = mentions = 0
        for document in data:
            found = self._documents.get(document.id)
            if found is None:
                lost.append(document.id)
                continue
            missing += len(
                annotated_turns(document) - frozenset(found.meta.get("annotated_turns", annotated_turns(document)))
            )
            self._check_turns(document, found)
            strange += self._out_of_place(document, found)
            mentions += len(found.links)
        if lost and not self._file.format.lists:
            raise self._misfit(f"{len(lost)} conversations of the set are not in it ({_some(lost)})")
        if mentions and strange == mentions:
            hint = "Count the turns from 0, and take the run of these conversations"
            raise self._misfit("none of its mentions stands in the turn that it names", hint)
        if strange:
            self.notes.append(f"{strange} of {mentions} mentions do not stand in the turn that they name")
        if missing:
            self.notes.append(f"{missing} annotated turns are not in the run: all their gold is missed")

    def _check_turns(self, document: Document, found: Document) -> None:
        if len(found.turns) > len(document.turns):
            last = len(found.turns) - 1
            count = len(document.turns)
            problem = f"it has an answer in turn {last} of conversation {document.id!r}, which has {count} turns"
            raise self._misfit(problem, "Count the turns from 0, and take the run of these conversations")

    def _out_of_place(self, document: Document, found: Document) -> int:
        """How many mentions are not written so in their turn; where there are offsets, scoring looks at them."""
        if not self.lacks_offsets:
            return 0
        everywhere = msgspec.structs.replace(document, meta={})
        return sum(item.surface not in document.turns[item.unit].text for item in predicted_items(found, everywhere))

    def _misfit(self, problem: str, hint: str = "Take a run of this set, or name the set it is of") -> SourceError:
        return SourceError(f"this run does not fit the set {self.set!r}: {problem}", str(self._file.path), hint=hint)


def read_runs(sources: Sequence[RunSource], sets: Sequence[ConversationSet]) -> list[Run]:
    """The runs, each with the set it is of; an error for one that is of none, or may be of several."""
    ids = {data.name: {document.id for document in data} for data in sets}
    return [_read_run(source, sets, ids) for source in sources]


def _read_run(source: RunSource, sets: Sequence[ConversationSet], ids: Mapping[str, set[str]]) -> Run:
    file = File(source.path, "links")
    documents: dict[str, Document] = {}
    for document in file:
        if document.id in documents:
            raise InputError(f"{source.path}: two conversations have the id {document.id!r}. Ids must differ")
        documents[document.id] = document
    name, chosen = _chosen(source, sets)
    if chosen is None:
        chosen = _fitting(source, documents, sets, ids)
    strangers = [id for id in documents if id not in ids[chosen.name] and id not in chosen.ids_left_out]
    if strangers:
        problem = f"{len(strangers)} of its {len(documents)} conversations are not in the set {chosen.name!r}"
        hint = "Take a run of this set"
        raise SourceError(f"this run does not fit: {problem} ({_some(strangers)})", str(source.path), hint=hint)
    kept = {id: one for id, one in documents.items() if id in ids[chosen.name]}
    return Run(name, file, kept, chosen)


def _chosen(source: RunSource, sets: Sequence[ConversationSet]) -> tuple[str, ConversationSet | None]:
    """The run's name, and its set where that is told or there is one only."""
    set_name, colon, rest = source.name.partition(":")
    for data in sets:
        if colon and rest and data.name == set_name:
            return rest, data
    return source.name, sets[0] if len(sets) == 1 else None


def _fitting(
    source: RunSource,
    documents: Mapping[str, Document],
    sets: Sequence[ConversationSet],
    ids: Mapping[str, set[str]],
) -> ConversationSet:
    fitting = [data for data in sets if documents.keys() <= ids[data.name] | data.ids_left_out]
    if len(fitting) == 1:
        return fitting[0]
    names = [data.name for data in sets]
    told = source.name.partition(":")[0] if ":" in source.name else ""
    near = nearest_question(told, names) if told else ""
    problem = "all its conversations are in several sets" if fitting else "no set has all its conversations"
    hint = f"{near}Say of which set it is: --run SET:{source.name.rpartition(':')[2]}={source.path.name}, where SET "
    raise SourceError(f"{problem}", str(source.path), hint=f"{hint}is one of {', '.join(names)}")


def _bare(document: Document) -> Document:
    return msgspec.structs.replace(document, gold=(), links=(), mentions=None)


def _some(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:_SHOWN])) + (", …" if len(ids) > _SHOWN else "")
