"""Thesauri and ontologies in RDF (Turtle, N-Triples, RDF/XML, JSON-LD), with the words of SKOS and RDFS.

| of a subject with a label | becomes |
|---|---|
| its IRI | id, and `external["url"]` when it is an http address |
| skos:prefLabel, rdfs:label | title: in the language asked for, else English, else untagged, else the first |
| all other labels, skos:altLabel, skos:hiddenLabel | aliases |
| skos:definition, rdfs:comment, dct:description, skos:scopeNote | description, language chosen likewise |
| rdf:type | types: the last part of its IRI, skos:Concept left out |
| skos:exactMatch, owl:sameAs | external: `wikidata`, `dbpedia`, `wikipedia`, or else the host's name |
| dct:created | created |
| foaf:depiction, schema:image | images |

Subjects without a label and blank nodes are no entities and are passed over.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from entlink.documents import Entity
from entlink.errors import FieldError, MissingExtraError, SourceError
from entlink.io.files import broken_stream_errors, open_bytes, plain_name
from entlink.io.lines import cut_off
from entlink.sources.fields import as_date
from entlink.sources.page import Page
from entlink.sources.reading import Reading
from entlink.sources.triples import Staging, Statement
from entlink.sources.xml_entities import WatchedXml
from entlink.text.field_limits import check_text

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_DCT = "http://purl.org/dc/terms/"
_CONCEPT = _SKOS + "Concept"
_NAMES = {
    _SKOS + "prefLabel": "prefLabel",
    _RDFS + "label": "label",
    _SKOS + "altLabel": "altLabel",
    _SKOS + "hiddenLabel": "hiddenLabel",
    _SKOS + "definition": "definition",
    _RDFS + "comment": "comment",
    _DCT + "description": "description",
    _SKOS + "scopeNote": "scopeNote",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#type": "type",
    _SKOS + "exactMatch": "match",
    "http://www.w3.org/2002/07/owl#sameAs": "match",
    _DCT + "created": "created",
    "http://xmlns.com/foaf/0.1/depiction": "image",
    "http://schema.org/image": "image",
    "https://schema.org/image": "image",
}
_LOOK_AHEAD = 1024
_TITLES = ("prefLabel", "label")
_LABELS = (*_TITLES, "altLabel", "hiddenLabel")
_DESCRIPTIONS = ("definition", "comment", "description", "scopeNote")
_SYNTAXES = {".ttl": "TURTLE", ".nt": "N_TRIPLES", ".rdf": "RDF_XML", ".xml": "RDF_XML", ".jsonld": "JSON_LD"}
_KNOWN_HOSTS = (
    (r"(?:www\.)?wikidata\.org", "wikidata"),
    (r"dbpedia\.org", "dbpedia"),
    (r".+\.wikipedia\.org", "wikipedia"),
)


def read(reading: Reading) -> Iterator[Page]:
    """One page a labelled subject, in the order of their IRIs."""
    with Staging() as staging:
        for path in reading.files:
            _stage(path, reading, staging)
        for iri, statements in staging.subjects():
            try:
                page = _page(iri, statements, reading.language)
            except FieldError as error:
                reading.fail(error.at(reading.files[0], f"subject <{iri}>"))
                continue
            if page is not None:
                yield page


def _parser() -> Any:
    """The library that parses RDF, which is an optional part."""
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtraError("Reading RDF", "rdf") from error
    return pyoxigraph


def _stage(path: Path, reading: Reading, staging: Staging) -> None:
    with open_bytes(path, reading.meter) as file:
        try:
            if file.peek(_LOOK_AHEAD).startswith(codecs.BOM_UTF8):
                file.read(len(codecs.BOM_UTF8))
            # Not all syntaxes allow an empty file, and an empty source is no error.
            if file.peek(_LOOK_AHEAD):
                for subject, statement in _statements(file, path, reading):
                    staging.add(subject, statement)
        except broken_stream_errors() as error:
            reading.fail(cut_off(path, error, "", f"{staging.count} statements were read"))
        except SourceError as error:
            reading.fail(error)


def _syntax(path: Path, start: bytes) -> str:
    """The syntax by the file's suffix, or where that says nothing by its first characters."""
    known = _SYNTAXES.get(Path(plain_name(path)).suffix.lower())
    if known is not None:
        return known
    start = start.lstrip()
    if start.startswith((b"<?xml", b"<!", b"<rdf:")):
        return "RDF_XML"
    return "JSON_LD" if start.startswith((b"{", b"[")) else "TURTLE"


def _statements(file: BufferedReader, path: Path, reading: Reading) -> Iterator[tuple[str, Statement]]:
    """What a file says of its named subjects in words we know; after a syntax error the parser goes on."""
    library = _parser()
    syntax = _syntax(path, file.peek(_LOOK_AHEAD))
    watched = WatchedXml(file, path) if syntax == "RDF_XML" else file
    quads = library.parse(watched, format=getattr(library.RdfFormat, syntax))
    while True:
        try:
            quad = next(quads, None)
        except SyntaxError as error:
            position = f"line {error.lineno}" if error.lineno else ""
            reading.fail(SourceError(f"bad RDF: {error.msg}", str(path), position))
            continue
        if quad is None:
            return
        name = _NAMES.get(quad.predicate.value)
        if name is None or not isinstance(quad.subject, library.NamedNode):
            continue
        if isinstance(quad.object, library.Literal):
            yield quad.subject.value, Statement(name, quad.object.value, quad.object.language)
        elif isinstance(quad.object, library.NamedNode):
            yield quad.subject.value, Statement(name, quad.object.value)


def _page(iri: str, statements: list[Statement], language: str | None) -> Page | None:
    title = _best(statements, _TITLES, language)
    if title is None:
        return None
    for statement in statements:
        _check(statement)
    description = _best(statements, _DESCRIPTIONS, language)
    labels = dict.fromkeys(each.value for name in _LABELS for each in statements if each.name == name)
    entity = Entity(
        iri,
        title.value,
        description=description.value if description else "",
        aliases=tuple(label for label in labels if label != title.value and label.strip()),
        types=_unique(_last_part(type) for type in _values(statements, "type") if type != _CONCEPT),
        images=_unique(_values(statements, "image")),
        language=title.language or language,
        created=next(iter(_values(statements, "created")), None),
        external=_external(iri, _values(statements, "match")),
    )
    return Page(entity)


def _check(statement: Statement) -> None:
    try:
        check_text(statement.value)
        if statement.name == "created":
            as_date(statement.value)
    except FieldError as error:
        raise FieldError(f"{statement.name} {error.problem}", error.hint) from None


def _best(statements: list[Statement], names: tuple[str, ...], language: str | None) -> Statement | None:
    """The statement under one of the names whose language is nearest to the one asked for."""
    found = [each for each in statements if each.name in names and each.value.strip()]
    return min(found, key=lambda each: _preference(each, names, language), default=None)


def _preference(statement: Statement, names: tuple[str, ...], language: str | None) -> tuple[int, int, str, str]:
    tag = (statement.language or "").lower()
    asked = (language or "en").lower()
    wanted = [asked, asked.partition("-")[0], "en", ""]
    rank = next((index for index, each in enumerate(wanted) if tag == each), None)
    if rank is None:
        # `en-GB` serves where `en` is asked for, though less well than `en` itself.
        regional = [index for index, each in enumerate(wanted) if each and tag.startswith(f"{each}-")]
        rank = regional[0] if regional else len(wanted)
        return 2 * rank + 1, names.index(statement.name), tag, statement.value
    return 2 * rank, names.index(statement.name), tag, statement.value


def _values(statements: list[Statement], name: str) -> list[str]:
    return [each.value for each in statements if each.name == name]


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


def _last_part(iri: str) -> str:
    return re.split(r"[/#:]", iri.rstrip("/#"))[-1]


def _external(iri: str, matches: list[str]) -> dict[str, str]:
    external = {"url": iri} if iri.startswith(("http://", "https://")) else {}
    for match in sorted(matches):
        scheme, identifier = _identifier(match)
        external.setdefault(scheme, identifier)
    return external


def _identifier(match: str) -> tuple[str, str]:
    """The scheme and identifier that an IRI stands for: `("wikidata", "Q42")`, or its host and all of it."""
    parts = urlsplit(match)
    for host, scheme in _KNOWN_HOSTS:
        if re.fullmatch(host, parts.netloc):
            name = unquote(parts.path.rpartition("/")[2])
            return scheme, name.replace("_", " ") if scheme == "wikipedia" else name
    return parts.netloc or parts.scheme or "match", match
