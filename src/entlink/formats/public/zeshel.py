"""Mentions of ZESHEL beside its documents: indexes of tokens become offsets of characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, GoldLink, Span
from entlink.errors import InputError, SourceError
from entlink.formats.json_records import Fail, first_keys, json_lines, read_json_lines
from entlink.formats.offset_units import guess_unit
from entlink.io.files import SUFFIXES, plain_name
from entlink.io.inputs import Input, OnProblem, failing
from entlink.io.ledger import OnError
from entlink.text.spans import Place

MENTIONS, DOCUMENTS = "mentions", "documents"
# The order of the dataset's own page; `debug` repeats a mention of another split.
SPLITS = ("train", "val", "test", "heldout_train_seen", "heldout_train_unseen")
LEFT_OUT = frozenset({"debug"})
_TOKEN = re.compile(r"\S+")
_MENTION_KEYS = {"context_document_id", "label_document_id", "start_index", "end_index"}


class _Mention(msgspec.Struct):
    context_document_id: str
    label_document_id: str | None
    start_index: int
    end_index: int
    corpus: str
    text: str
    mention_id: str
    category: str | None = None


class _Page(msgspec.Struct):
    document_id: str
    text: str
    title: str = ""


class _Candidates(msgspec.Struct):
    mention_id: str
    tfidf_candidates: list[str]


# The mentions of a split by world and document, each with its place in the file.
_Mentions = dict[str, dict[str, list[tuple[Place, _Mention]]]]


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document for each context document that has mentions.

    `source` is a file of mentions, with the folder `documents` beside its own, or the folder that holds both.
    The mentions of one split are held in memory, the documents pass by.
    """
    fail = failing(on_error, on_problem)
    for path in _split_files(source):
        split = Path(plain_name(path)).stem
        for corpus, mentions in _mentions_of(path, fail).items():
            yield from _world(path, split, corpus, mentions, fail)


def read_candidates(
    source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The candidates that ZESHEL's TF-IDF found (`tfidf_candidates/<split>.json`): a mention's id, entities' ids."""

    def make(row: _Candidates, _: dict[str, Any], __: Place) -> tuple[str, tuple[str, ...]]:
        return row.mention_id, tuple(row.tfidf_candidates)

    return read_json_lines(source, _Candidates, make, on_error=on_error, on_problem=on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Lines with a context document and token indexes, or a folder with mentions and documents."""
    if path.is_dir():
        return all((path / name).is_dir() for name in (MENTIONS, DOCUMENTS))
    return first_keys(head) >= _MENTION_KEYS


# Files


def _split_files(source: Input) -> list[Path]:
    if not isinstance(source, str | Path):
        hint = "Pass the path of a file of mentions, or of the folder with mentions and documents"
        raise SourceError("the documents beside an open file cannot be found", hint=hint)
    path = Path(source)
    if not path.is_dir():
        return [path]
    names = {each: Path(plain_name(each)) for each in sorted((path / MENTIONS).glob("*.json*"))}
    files = {name.stem: each for each, name in names.items() if name.suffix == ".json"}
    if not files.keys() - LEFT_OUT:
        raise SourceError(f"there are no files of mentions in {MENTIONS}/", str(path), hint="Check the path")
    further = sorted(files.keys() - {*SPLITS, *LEFT_OUT})
    return [files[split] for split in (*SPLITS, *further) if split in files]


def _mentions_of(path: Path, fail: Fail) -> _Mentions:
    mentions: _Mentions = {}
    for place, mention, _ in json_lines(path, _Mention, fail):
        world = mentions.setdefault(mention.corpus, {})
        world.setdefault(mention.context_document_id, []).append((place, mention))
    return mentions


def _world_file(mentions: Path, corpus: str) -> Path:
    folder = mentions.resolve().parent.parent / DOCUMENTS
    for suffix in ("", *SUFFIXES):
        path = folder / f"{corpus}.json{suffix}"
        if path.is_file():
            return path
    hint = f"Put the folder {DOCUMENTS} of ZESHEL beside the folder of the mentions"
    raise SourceError("the documents that the mentions are of are missing", str(folder / f"{corpus}.json"), hint=hint)


# Documents


def _world(
    path: Path, split: str, corpus: str, mentions: dict[str, list[tuple[Place, _Mention]]], fail: Fail
) -> Iterator[Document]:
    try:
        file = _world_file(path, corpus)
    except InputError as error:
        return fail(error)
    missing = dict(mentions)
    for _, page, _ in json_lines(file, _Page, fail):
        found = missing.pop(page.document_id, None)
        if found is not None:
            meta = {"domain": corpus, "title": page.title, "split": split}
            yield Document(page.document_id, page.text, gold=_gold(page, found, fail), meta=meta)
    for document, left in missing.items():
        place = left[0][0]
        problem = f"the context document {document!r} of mention {left[0][1].mention_id!r} is not in {file}"
        fail(place.error(problem, "Check that mentions and documents belong together"))
    return None


def _gold(page: _Page, mentions: list[tuple[Place, _Mention]], fail: Fail) -> tuple[GoldLink, ...]:
    tokens = token_spans(page.text)
    gold = []
    for place, mention in mentions:
        try:
            gold.append(_gold_link(page.text, tokens, mention, place))
        except InputError as error:
            fail(error)
    return tuple(sorted(gold, key=lambda link: (link.span.start, link.span.end)))


def token_spans(text: str) -> list[Span]:
    """Where the tokens stand that ZESHEL counts: whatever white space separates."""
    return [Span(*match.span()) for match in _TOKEN.finditer(text)]


def _gold_link(text: str, tokens: list[Span], mention: _Mention, place: Place) -> GoldLink:
    first, last = mention.start_index, mention.end_index
    if not 0 <= first <= last < len(tokens):
        problem = f"the tokens {first} to {last} do not lie in the document {mention.context_document_id!r}"
        raise place.error(f"{problem} of {len(tokens)} tokens", _hint(text, mention))
    span = Span(tokens[first].start, tokens[last].end)
    covered = text[span.start : span.end]
    if covered.split() != mention.text.split():
        problem = f"the tokens {first} to {last} of {mention.context_document_id!r} are {covered!r}"
        raise place.error(f"{problem}, not {mention.text!r}", _hint(text, mention))
    meta = {"category": mention.category, "mention_id": mention.mention_id, "mention": mention.text}
    entities = (mention.label_document_id,) if mention.label_document_id else ()
    return GoldLink(span, entities, meta={key: value for key, value in meta.items() if value is not None})


def _hint(text: str, mention: _Mention) -> str:
    counted = "Indexes count tokens between white space from 0, and the end is included"
    first, last, surface = mention.start_index, mention.end_index, mention.text
    if 0 <= first < last and text[first:last] == surface:
        unit: str | None = "characters"
    else:
        unit = guess_unit(text, first, last, surface)
    unit = "tokens with the end left out" if unit == "tokens" else unit
    return counted if unit is None else f"These indexes seem to be {unit}. {counted}"
