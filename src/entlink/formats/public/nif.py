"""NIF in Turtle, as GERBIL reads and writes it: contexts that hold texts, and phrases that point into them.

The phrases of a context may stand anywhere in the file, even before it, so a file is held in memory while it is read.
Offsets count characters (Unicode code points), as RFC 5147 has it, in what is written too. Programs in Java, GERBIL
among them, count UTF-16 units: where a phrase's `nif:anchorOf` fits only so, it is read so.

| in NIF | becomes |
|---|---|
| the context's IRI without `#char=…` or `#offset_…` | the document's id |
| `nif:isString` and its language | the text and the language |
| `itsrdf:taIdentRef`, and what it is `owl:sameAs` | the gold entities, as alternatives; one of Wikidata as its QID |
| one in a namespace for what no knowledge base has, such as `http://aksw.org/notInWiki/` | NIL |
| `itsrdf:taConfidence`, `itsrdf:taClassRef` | the gold's `meta["score"]` and `meta["type"]`; of a NIL `nil_type` |
| a phrase without `itsrdf:taIdentRef` | a given mention |

An id that is no http address is written as one under `http://entlink.invalid/`, and read back as it was.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from io import BytesIO
from math import isfinite, nan
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from entlink.documents import Document, GoldLink, Mention, Span
from entlink.errors import InputError, MissingExtraError, SourceError
from entlink.formats.foreign import Fail
from entlink.formats.offset_units import checked_span
from entlink.formats.public.nif_writing import ITSRDF, NIF, OWN_DOCUMENTS, OWN_ENTITIES, OWN_TYPES, WIKIDATA, write
from entlink.io.files import broken_stream_errors
from entlink.io.inputs import Input, OnProblem, failing, input_name, open_input
from entlink.io.ledger import OnError
from entlink.io.lines import cut_off
from entlink.text.spans import Place

__all__ = ["looks_like", "read", "write"]

# Each name with its values, and their languages, in the order of the file.
Statements = dict[str, list[tuple[str, str | None]]]

NOT_IN_KB = (
    "http://aksw.org/notinwiki",
    "http://scms.eu/",
    "http://www.ontologydesignpatterns.org/data/oke-challenge",
    "http://ontologydesignpatterns.org/data/oke-challenge",
)
_NAMES = {
    **{f"{NIF}{name}": name for name in ("isString", "beginIndex", "endIndex", "referenceContext", "anchorOf")},
    **{f"{ITSRDF}{name}": name for name in ("taIdentRef", "taConfidence", "taClassRef")},
    "http://www.w3.org/2002/07/owl#sameAs": "sameAs",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#type": "type",
}
_NO_MENTIONS = {f"{NIF}{name}" for name in ("Word", "Sentence", "Paragraph", "Section", "Title", "Structure")}
_PLACE = re.compile(r"[#?](?:char=(\d+)(?:,(\d*))?|offset_(\d+)_(\d+))$")


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a context, in the order of the file; its phrases in the order of the text."""
    fail, place = failing(on_error, on_problem), Place(input_name(source))
    subjects = _subjects(source, place.file, fail)
    phrases = _phrases(subjects, place, fail)
    contexts = [iri for iri, about in subjects.items() if "isString" in about]
    ids = _ids(contexts)
    for iri in contexts:
        try:
            yield _document(iri, ids[iri], subjects, phrases.get(iri, []), place, fail)
        except InputError as error:
            fail(error)


def looks_like(path: Path, head: bytes) -> bool:
    """Turtle that speaks of NIF."""
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return NIF.encode() in head and start.startswith((b"@", b"<http", b"#", b"_:", b"PREFIX", b"BASE", b"prefix"))


# Statements


def _parser() -> Any:
    """The library that parses RDF, which is an optional part."""
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtraError("Reading NIF", "rdf") from error
    return pyoxigraph


def _subjects(source: Input, name: str, fail: Fail) -> dict[str, Statements]:
    """What the file says, by subject, in the words we know; after a syntax error the parser goes on."""
    library, subjects = _parser(), dict[str, Statements]()
    quads = library.parse(BytesIO(_content(source, name)), format=library.RdfFormat.TURTLE)
    while True:
        try:
            quad = next(quads, None)
        except SyntaxError as error:
            position = f"line {error.lineno}" if error.lineno else ""
            fail(SourceError(f"bad Turtle: {error.msg}", name, position, "Is this NIF in Turtle?"))
            continue
        if quad is None:
            return subjects
        said = _NAMES.get(quad.predicate.value)
        if said is not None:
            value = (quad.object.value, getattr(quad.object, "language", None))
            subjects.setdefault(quad.subject.value, {}).setdefault(said, []).append(value)


def _content(source: Input, name: str) -> bytes:
    with open_input(source) as file:
        try:
            return file.read().removeprefix(codecs.BOM_UTF8)
        except broken_stream_errors() as error:
            raise cut_off(Path(name), error, "", "nothing was read") from error


def _phrases(subjects: dict[str, Statements], place: Place, fail: Fail) -> dict[str, list[str]]:
    """The phrases of each context."""
    phrases: dict[str, list[str]] = {}
    for iri, about in subjects.items():
        types = {type for type, _ in about.get("type", [])}
        if "taIdentRef" not in about and ("isString" in about or types & _NO_MENTIONS):
            continue
        # A phrase that is the whole text may have the very IRI of its context.
        context = iri if "isString" in about else _one(about, "referenceContext")
        if context is not None and "isString" in subjects.get(context, {}):
            phrases.setdefault(context, []).append(iri)
        elif context is not None or "taIdentRef" in about:
            problem = f"<{iri}> has no nif:referenceContext that has a text"
            fail(place.error(problem, "Give it one with nif:isString"))
    return phrases


def _one(about: Statements, name: str) -> str | None:
    return about[name][0][0] if name in about else None


# Documents


def _ids(contexts: list[str]) -> dict[str, str]:
    """The id of each context: what its IRI has in common with its phrases', unless another context has it too."""
    short = {iri: _PLACE.sub("", iri) for iri in contexts}
    owners: dict[str, int] = {}
    for base in short.values():
        owners[base] = owners.get(base, 0) + 1
    return {iri: _own(base, OWN_DOCUMENTS) if owners[base] == 1 else iri for iri, base in short.items()}


def _own(iri: str, prefix: str) -> str:
    """What was made an IRI under our prefix is as it was."""
    return unquote(iri.removeprefix(prefix)) if iri.startswith(prefix) else iri


def _document(
    iri: str, id: str, subjects: dict[str, Statements], phrases: list[str], place: Place, fail: Fail
) -> Document:
    texts = subjects[iri]["isString"]
    if len({text for text, _ in texts}) > 1:
        raise place.error(f"<{iri}> has more than one nif:isString", "Give each text its own context")
    text, language = texts[0]
    gold, mentions = list[GoldLink](), list[Mention]()
    for phrase in phrases:
        about = subjects[phrase]
        try:
            span = _span(phrase, about, text, id, place)
            score = _score(phrase, about, place)
        except InputError as error:
            fail(error)
            continue
        types = sorted(_own(type, OWN_TYPES) for type, _ in about.get("taClassRef", []))
        if "taIdentRef" in about:
            gold.append(_gold(span, _entities(about, subjects), types, score))
        else:
            mentions.append(Mention(span, text[span.start : span.end], types[0] if types else None, score))
    gold.sort(key=_where)
    mentions.sort(key=_where)
    return Document(id, text, language, gold=tuple(gold), mentions=tuple(mentions) or None)


def _where(one: GoldLink | Mention) -> tuple[int, int]:
    return one.span.start, one.span.end


def _gold(span: Span, entities: tuple[str, ...], types: list[str], score: float | None) -> GoldLink:
    meta: dict[str, Any] = {} if score is None else {"score": score}
    if types and entities:
        meta["type"] = types[0]
    if len(types) > 1:
        meta["types"] = types
    return GoldLink(span, entities, types[0] if types and not entities else None, meta=meta)


def _span(phrase: str, about: Statements, text: str, id: str, place: Place) -> Span:
    start, end = _offset(phrase, about, "beginIndex", place), _offset(phrase, about, "endIndex", place)
    anchor = _one(about, "anchorOf")
    if anchor and text[start:end] != anchor:
        units = text.encode("utf-16-le")
        if units[2 * start : 2 * end] == anchor.encode("utf-16-le"):
            start = len(units[: 2 * start].decode("utf-16-le"))
            end = start + len(anchor)
    return checked_span(text, start, end, anchor, f"<{phrase}>", id, place)


def _offset(phrase: str, about: Statements, name: str, place: Place) -> int:
    """An index of a phrase; where it is left out, what the phrase's IRI says."""
    value = _one(about, name)
    if value is None and (match := _PLACE.search(phrase)):
        numbers = match.group(1, 2) if match[1] else match.group(3, 4)
        value = numbers[0 if name == "beginIndex" else 1]
    if not re.fullmatch(r"\s*\+?[0-9]{1,15}\s*", value or ""):
        raise place.error(f"<{phrase}> has no nif:{name} that is a number", "Give it in characters, from 0")
    return int(value or "")


def _score(phrase: str, about: Statements, place: Place) -> float | None:
    value = _one(about, "taConfidence")
    if value is None:
        return None
    try:
        score = float(value)
    except ValueError:
        score = nan
    if not isfinite(score):
        raise place.error(f"<{phrase}>: itsrdf:taConfidence is {value!r}", "Give a number")
    return score


def _entities(about: Statements, subjects: dict[str, Statements]) -> tuple[str, ...]:
    """The entities meant, with what they are the same as; those that are in no knowledge base are none."""
    iris = [iri for iri, _ in about["taIdentRef"]]
    same = [iri for one in iris for iri, _ in subjects.get(one, {}).get("sameAs", [])]
    known = [iri for iri in (*iris, *same) if not iri.lower().startswith(NOT_IN_KB)]
    return tuple(dict.fromkeys(_entity(iri) for iri in known))


def _entity(iri: str) -> str:
    match = WIKIDATA.fullmatch(iri)
    return match[1] if match else _own(iri, OWN_ENTITIES)
