"""Sets of conversations with gold, read anew in each pass, as a study counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from entlink.documents import Document, GoldLink, Record
from entlink.errors import ConfigError, InputError, SourceError
from entlink.evaluation.files import File, run_name
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.conventions import Matching
from entlink.evaluation.scoring.items import bounds_of, distinct_gold, within_bounds
from entlink.evaluation.scoring.matching import place_of
from entlink.evaluation.scoring.slices import is_covered
from entlink.linking.conversation.turns import wanted_turns
from entlink.studies.conversations.results import ConversationOptions, SetFacts
from entlink.studies.data import no_gold

# What the published tables call these files.
_PUBLISHED_NAMES = {
    "ConEL_CNE": "conel1-all",
    "ConEL22_EL_Val": "conel2-val",
    "ConEL22_EL_Test": "conel2-test",
}
# ConEL-1 has the conversations of TREC CAsT twice. Published scores are of those as they were said: only without the
# rewritten ones do the runs of its authors have the published F1.
_NOT_COUNTED = {"conel1-all": ("dataset_name", "cast20manu")}
_SHOWN = 8


class SetSource(Record, frozen=True):
    """A set by its name and its files."""

    name: str
    paths: tuple[Path, ...]


def set_sources(data: Sequence[str | Path]) -> list[SetSource]:
    """Sets from words such as `FILE` or `NAME=FILE`; files under one name are one set."""
    found: dict[str, list[Path]] = {}
    for word in data:
        name, path = _named(word)
        found.setdefault(name, []).append(path)
    return [SetSource(name, tuple(paths)) for name, paths in found.items()]


def _named(word: str | Path) -> tuple[str, Path]:
    name, equals, path = str(word).partition("=")
    if name and equals and path and not Path(word).exists():
        return name, Path(path)
    own = run_name(Path(word))
    return _PUBLISHED_NAMES.get(own, own), Path(word)


class ConversationSet:
    """The conversations of a set with the gold that counts, under the identifiers of their files.

    Left out are gold of personal mentions and gold of other speakers' turns, where the options say so. `left_out`
    counts what the last pass left out.
    """

    def __init__(self, source: SetSource, options: ConversationOptions) -> None:
        self.name, self._options = source.name, options
        self.files = [File(path, "gold", options.format) for path in source.paths]
        self.left_out: Counter[str] = Counter()
        self.ids_left_out: set[str] = set()

    def __iter__(self) -> Iterator[Document]:
        self.left_out, seen, taken = Counter(), set[str](), 0
        for document in self._read():
            if document.id in seen:
                raise InputError(
                    f"the set {self.name!r} has two conversations with the id {document.id!r}. Ids must differ: runs "
                    "and gold are joined by them. Give the files as sets of their own (NAME=FILE)"
                )
            seen.add(document.id)
            why = self._why_not(document, taken)
            if why:
                self.left_out[why] += 1
                self.ids_left_out.add(document.id)
                continue
            taken += 1
            yield self._counted(document)

    def _read(self) -> Iterator[Document]:
        for file in self.files:
            for document in file:
                if document.meta.get("lacks"):
                    hint = "A study needs texts and places: give the conversations themselves, and this as a run"
                    problem = f"gold of the format {file.format.name} has no offsets"
                    raise SourceError(problem, str(file.path), hint=hint)
                yield document

    def _why_not(self, document: Document, taken: int) -> str:
        field, value = _NOT_COUNTED.get(self.name, ("", ""))
        if field and document.meta.get(field) == value:
            return f"conversations of {value}"
        if not document.turns:
            return "documents without turns"
        return "conversations over the limit" if taken == self._options.limit else ""

    def _counted(self, document: Document) -> Document:
        if self._options.turns:
            document = self._of_speakers(document)
        document = within_bounds(document)
        if self._options.personal:
            return document
        kept = tuple(gold for gold in document.gold if not gold.meta.get("personal"))
        self.left_out["personal mentions"] += len(document.gold) - len(kept)
        return msgspec.structs.replace(document, gold=kept)

    def _of_speakers(self, document: Document) -> Document:
        """The document with only the turns of the wanted speakers as annotated ones."""
        bounds, wanted = bounds_of(document), wanted_turns(document, self._options.turns) or []
        annotated = None if bounds is None else bounds.turns
        turns = [
            number
            for number, span in enumerate(document.turn_spans)
            if span in wanted and (annotated is None or number in annotated)
        ]
        return msgspec.structs.replace(document, meta={**document.meta, "annotated_turns": turns})

    def facts(self, identities: Identities) -> SetFacts:
        """Counts of the set; tells what is wrong with it."""
        counts: Counter[str] = Counter()
        speakers, unheard = set[str](), list(self._options.turns)
        for document in self:
            counts["conversations"] += 1
            counts["turns"] += turns_that_count(document)
            speakers.update(turn.speaker for turn in document.turns if turn.speaker)
            unheard = [one for one in unheard if not wanted_turns(document, [one])]
            self._count(counts, document, identities)
        self._check(counts, speakers, unheard)
        names = ("conversations", "turns", "gold", "strings", "covered", "covered_strings", "nil")
        numbers = {name: counts[name] for name in names}
        left_out = {why: count for why, count in self.left_out.items() if count}
        return SetFacts(self.name, [file.path.name for file in self.files], **numbers, left_out=left_out)

    def _count(self, counts: Counter[str], document: Document, identities: Identities) -> None:
        distinct = distinct_gold(document, place_of(Matching.STRING))
        counts["nil"] += sum(gold.is_nil for gold in document.gold if not gold.optional)
        for name, covered, known in (("gold", "covered", document), ("strings", "covered_strings", distinct)):
            asked = [gold for gold in identities.gold(known).gold if not gold.optional]
            counts[name] += len(asked)
            counts[covered] += sum(_is_known(gold, identities) for gold in asked)

    def _check(self, counts: Counter[str], speakers: set[str], unheard: Sequence[str]) -> None:
        if not counts["conversations"] and self.left_out["documents without turns"]:
            names = ", ".join(str(file.path) for file in self.files)
            raise InputError(
                f"{names}: no document has turns. A conversation is a document with turns; `entlink evaluate` "
                "scores plain texts"
            )
        if unheard:
            there = ", ".join(map(repr, sorted(speakers)[:_SHOWN])) or "nobody by name"
            raise ConfigError(f"the set {self.name!r} has no turn of {unheard[0]!r}; in it speak {there}")
        if not counts["gold"]:
            raise no_gold(self.files)


def turns_that_count(document: Document) -> int:
    """How many turns of a conversation were annotated."""
    bounds = bounds_of(document)
    return len(document.turns if bounds is None or bounds.turns is None else bounds.turns)


def _is_known(gold: GoldLink, identities: Identities) -> bool:
    return bool(gold.entities) and is_covered(gold, identities)


def published_names() -> list[str]:
    """The sets that published figures are of."""
    return list(_PUBLISHED_NAMES.values())
