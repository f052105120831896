"""Documents as NIF in Turtle, written without a library for RDF."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, BinaryIO
from urllib.parse import quote

from entlink.documents import Document, GoldLink, Mention, Span
from entlink.formats.writing import as_gold, encoded, text_of
from entlink.text.spans import check_mentions

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITSRDF = "http://www.w3.org/2005/11/its/rdf#"
NOT_IN_WIKI = "http://aksw.org/notInWiki/"
# What has no address of its own; the domain is one that can never be anyone's.
OWN_DOCUMENTS = "http://entlink.invalid/document/"
OWN_ENTITIES = "http://entlink.invalid/entity/"
OWN_TYPES = "http://entlink.invalid/type/"
WIKIDATA = re.compile(r"https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/(Q[1-9][0-9]*)")

_HEADER = f"""@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix itsrdf: <{ITSRDF}> .
@prefix nif: <{NIF}> .
"""
_QID = re.compile(r"Q[1-9][0-9]*")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?#].*)?", re.DOTALL)
# Outside these, a character of an address is written percent-encoded; the ranges are those of RFC 3987.
_SAFE = re.compile(
    "%[0-9A-Fa-f]{2}|[A-Za-z0-9._~:/?@!$&'()*+,;=-]"
    "|[\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U0003fffd]"
)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_ESCAPES = {
    **{code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)},
    **str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}),
}


def write(documents: Iterable[Document], file: BinaryIO) -> None:
    """A context a document, and a phrase a mention with what it means.

    Gold is written if any document has gold, or else links. A span that several point to is one phrase with all
    their entities. Given mentions that mean nothing yet are phrases without `itsrdf:taIdentRef`.
    """
    file.write(_HEADER.encode())
    for document in as_gold(documents):
        check_mentions(document)
        file.write(encoded(_resources(document, text_of(document, "NIF")), document, "NIF"))


def _resources(document: Document, text: str) -> Iterator[str]:
    base, whole = _document_iri(document.id), Span(0, len(text))
    context = f"<{base}#char=0,{len(text)}>"
    tag = f"@{document.language}" if _LANGUAGE.fullmatch(document.language or "") else ""
    yield _resource(context, "nif:RFC5147String , nif:Context", whole, [f"nif:isString {_literal(text)}{tag}"])
    for span, said in _phrases(document).items():
        anchor = f"nif:anchorOf {_literal(text[span.start : span.end])}{tag}"
        place, scheme = f"<{base}#char={span.start},{span.end}>", "nif:RFC5147String"
        if span == whole:  # the context has that IRI already
            place, scheme = f"<{base}#offset_{span.start}_{span.end}>", "nif:OffsetBasedString"
        yield _resource(place, f"{scheme} , nif:Phrase", span, [anchor, f"nif:referenceContext {context}", *said])


def _resource(iri: str, types: str, span: Span, said: list[str]) -> str:
    start = f'nif:beginIndex "{span.start}"^^xsd:nonNegativeInteger'
    end = f'nif:endIndex "{span.end}"^^xsd:nonNegativeInteger'
    return f"\n{iri}\n    " + " ;\n    ".join([f"a nif:String , {types}", start, end, *said]) + " .\n"


def _phrases(document: Document) -> dict[Span, list[str]]:
    """What is said of each span that means something, or that is given."""
    by_span: dict[Span, list[GoldLink]] = {}
    for gold in document.gold:
        by_span.setdefault(gold.span, []).append(gold)
    phrases = {span: _said(several, document.text[span.start : span.end]) for span, several in by_span.items()}
    for mention in document.mentions or ():
        phrases.setdefault(mention.span, _said_of_mention(mention))
    return phrases


def _said(several: list[GoldLink], surface: str) -> list[str]:
    entities = dict.fromkeys(entity for gold in several for entity in gold.entities)
    iris = [_entity_iri(entity) for entity in entities] or [NOT_IN_WIKI + quote(surface.replace(" ", "_"), safe="")]
    types = several[0].meta.get("types") or [several[0].nil_type or several[0].meta.get("type")]
    said = [f"itsrdf:taIdentRef {' , '.join(f'<{iri}>' for iri in iris)}"]
    return said + _classes(types) + _confidence(several[0].meta.get("score"))


def _said_of_mention(mention: Mention) -> list[str]:
    return _classes([mention.type]) + _confidence(mention.score)


def _classes(types: Iterable[str | None]) -> list[str]:
    iris = [f"<{_iri(type, OWN_TYPES)}>" for type in types if type]
    return [f"itsrdf:taClassRef {' , '.join(iris)}"] if iris else []


def _confidence(score: Any) -> list[str]:
    is_number = isinstance(score, int | float) and isfinite(score)
    return [f'itsrdf:taConfidence "{float(score)!r}"^^xsd:double'] if is_number else []


def _literal(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _entity_iri(entity: str) -> str:
    return f"http://www.wikidata.org/entity/{entity}" if _QID.fullmatch(entity) else _iri(entity, OWN_ENTITIES)


def _document_iri(id: str) -> str:
    """What the IRIs of a document's parts begin with: `#` must be free for them."""
    return OWN_DOCUMENTS + quote(id, safe="") if "#" in id else _iri(id, OWN_DOCUMENTS)


def _iri(name: str, prefix: str) -> str:
    """The name as an address: its own if it is one."""
    if not _ADDRESS.fullmatch(name) or name.startswith(prefix):
        return prefix + quote(name, safe="")
    address, sharp, fragment = name.partition("#")
    return _quoted(address) + sharp + _quoted(fragment)


def _quoted(part: str) -> str:
    characters = re.findall("%[0-9A-Fa-f]{2}|.", part, re.DOTALL)
    return "".join(one if _SAFE.fullmatch(one) else quote(one, safe="") for one in characters)
