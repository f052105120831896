"""Relations as sentences, said and denied, with both things marked: from the source's own sentence, or a template."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.documents import Span
from entlink.errors import InputError
from entlink.formats.probes.sources.relations import Relation

IN_THE_BOX = Path(__file__).parent / "templates.toml"
_SLOT = re.compile(r"\{([01])\}")
_MARKED = re.compile(r"\[\[(.*?)\]\]")


class Statement(NamedTuple):
    """A sentence about two things, and where they are in it."""

    sentence: str
    subject: Span
    object: Span


class Templates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence that says each relation and one that denies it; why others are left out; and how to deny."""

    relations: Mapping[str, tuple[str, str]]
    excluded: Mapping[str, str] = {}
    negations: Mapping[str, str] = {}

    def statement(self, relation: Relation, *, denied: bool = False) -> Statement:
        """The relation as a sentence; its own one where it has one with both things marked, in their order."""
        found = self._own_sentence(relation, denied) if relation.sentence else None
        return found or _filled(self.relations[relation.relation][denied], relation)

    def _own_sentence(self, relation: Relation, denied: bool) -> Statement | None:
        text = f" {' '.join(relation.sentence.replace('*', ' ').split())} "
        names = [name.strip() for name in _MARKED.findall(text)]
        if [name.casefold() for name in names] != [relation.subject.casefold(), relation.object.casefold()]:
            return None
        pieces = _MARKED.split(text)[::2]
        if denied and not self._deny(pieces):
            return None
        sentence, spans = pieces[0], []
        for name, after in zip(names, pieces[1:], strict=True):
            spans.append((len(sentence), len(sentence) + len(name)))
            sentence += name + after
        lead = len(sentence) - len(sentence.lstrip())
        subject, object = (Span(start - lead, end - lead) for start, end in spans)
        return Statement(sentence.strip(), subject, object)

    def _deny(self, pieces: list[str]) -> bool:
        """Put a negation between the two things, else before or behind them; whether there is a place for one."""
        for at in (1, 0, 2):
            for said, denied in self.negations.items():
                if said in pieces[at]:
                    pieces[at] = pieces[at].replace(said, denied, 1)
                    return True
        return False


def read_templates(path: Path = IN_THE_BOX) -> Templates:
    """The templates of a TOML file; each must name both things once."""
    try:
        templates = msgspec.convert(tomllib.loads(path.read_text(encoding="utf8")), Templates)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError(f"{path}: the templates cannot be read ({problem}). Give a TOML file") from problem
    except msgspec.ValidationError as problem:
        raise InputError(f"{path}: {problem}. docs/probe-tasks.md shows what templates are") from problem
    for name, both in templates.relations.items():
        for template in both:
            if sorted(_SLOT.findall(template)) != ["0", "1"]:
                raise InputError(f"{path}: {name}: {template!r} must have {{0}} and {{1}} once each. Correct it")
    return templates


def _filled(template: str, relation: Relation) -> Statement:
    names = (relation.subject, relation.object)
    spans = [Span(0, 0), Span(0, 0)]
    sentence = ""
    for at, piece in enumerate(_SLOT.split(template)):
        if at % 2:
            spans[int(piece)] = Span(len(sentence), len(sentence) + len(names[int(piece)]))
            piece = names[int(piece)]
        sentence += piece
    return Statement(sentence, spans[0], spans[1])
