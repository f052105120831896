"""Mentions by the named entities of a spaCy pipeline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from entlink.documents import Document, Mention
from entlink.encoders.text.windows import windows
from entlink.errors import ConfigError, InputError, MissingExtraError, MissingModelError
from entlink.mentions.labels import trimmed

_ROOM, _OVERLAP = 20_000, 400  # characters that the pipeline reads at once, and that two readings share
_SPACE = re.compile(r"\s")


class _Piece(NamedTuple):
    """A part of a text that is tagged at once; spans that begin from `from_` to `to` are its own."""

    document: int
    text: str
    start: int
    from_: int
    to: int


class SpacyTagger:
    """Takes what a spaCy pipeline finds (`doc.ents`) for mentions, typed by its labels.

    `pipeline` is the name of an installed pipeline, a folder with one, or the object itself. `labels` keeps the
    mentions of some; without, all stay. Pipelines give no scores.
    """

    needs = "the extra spacy and a pipeline"

    def __init__(self, pipeline: str | Path | Any, *, labels: Sequence[str] = ()) -> None:
        is_named = isinstance(pipeline, str | Path)
        given: Any = pipeline  # a Language of spaCy, which need not be installed
        self._nlp = _loaded(pipeline) if isinstance(pipeline, str | Path) else given
        if not hasattr(self._nlp, "pipe_names"):
            raise ConfigError(
                f"pipeline = {pipeline!r} does not fit: give the name or the folder of a spaCy pipeline"
            )
        finders = [name for name in self._nlp.pipe_names if "doc.ents" in self._nlp.get_pipe_meta(name).assigns]
        if is_named and not finders:
            there = ", ".join(self._nlp.pipe_names) or "nothing"
            raise InputError(
                f"the spaCy pipeline {str(pipeline)!r} finds no entities: it has {there}. Give one with a component "
                "such as ner or entity_ruler"
            )
        self.labels = frozenset(_checked(labels, {label for name in finders for label in self._labels_of(name)}))

    def _labels_of(self, component: str) -> Sequence[str]:
        return tuple(getattr(self._nlp.get_pipe(component), "labels", ()))

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        found: list[list[Mention]] = [[] for _ in documents]
        pieces = [piece for number, one in enumerate(documents) for piece in _pieces(number, one.text)]
        for piece, doc in zip(pieces, self._nlp.pipe(piece.text for piece in pieces), strict=True):
            text, own = documents[piece.document].text, found[piece.document]
            for ent in sorted(doc.ents, key=lambda ent: int(ent.start_char)):
                start, end = piece.start + ent.start_char, piece.start + ent.end_char
                mention = trimmed(text, start, end, ent.label_ or None, None)
                if mention is None or not piece.from_ <= start < piece.to or not self._keeps(ent.label_):
                    continue
                if not own or own[-1].span.end <= mention.span.start:
                    own.append(mention)
        return found

    def _keeps(self, label: str) -> bool:
        return not self.labels or label in self.labels


def _pieces(number: int, text: str) -> Iterator[_Piece]:
    """A text in one piece, or a long one in several that end between words."""
    for first, last, from_, to in windows(len(text), _ROOM, _OVERLAP):
        if first and (space := _SPACE.search(text, first, from_)):
            first = space.end()
        while to < last < len(text) and not text[last].isspace():
            last -= 1
        yield _Piece(number, text[first:last], first, from_, to)


def _checked(labels: Sequence[str], known: set[str]) -> Sequence[str]:
    for label in labels:
        if known and label not in known:
            raise ConfigError(f"the pipeline gives no label {label!r}; there are {', '.join(sorted(known))}")
    return labels


def _loaded(pipeline: str | Path) -> Any:
    try:
        import spacy
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.partition(".")[0] != "spacy":
            raise
        raise MissingExtraError("the detector spacy", "spacy") from problem
    try:
        return spacy.load(pipeline)
    except (OSError, ValueError, KeyError, ImportError) as problem:
        line = (str(problem).strip().splitlines() or [""])[0]
        if Path(pipeline).exists():
            raise InputError(f"{pipeline}: this is no pipeline that spaCy can load ({line})") from problem
        raise MissingModelError(
            f"the spaCy pipeline {str(pipeline)!r} is not here ({line}). Fetch it with "
            f"`python -m spacy download {pipeline}`, or give the folder of one"
        ) from problem
