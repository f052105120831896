"""Ontologies in the OBO format, such as the Gene Ontology or the Disease Ontology: a `[Term]` stanza an entity.

| tag | becomes |
|---|---|
| id, name | id and title |
| def | description |
| synonym of the scope EXACT or RELATED | aliases; BROAD and NARROW ones name something else, so they are left out |
| xref | external: `UMLS:C001` is `C001` of the scheme `UMLS`; a second one of a scheme is of `UMLS 2` |
| alt_id, and ids of obsolete terms that this one replaces | external, as `alt_id` and `replaces` |
| namespace | types |
| is_a, relationship | claims: `is_a`, and the name of each relationship |
| creation_date | created |

Obsolete terms and terms without a name are left out and counted. A date that is
none is left out by itself with `on_error="skip"`. Stanzas of other kinds are passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from entlink.documents import Entity
from entlink.errors import FieldError, SourceError
from entlink.io.ledger import FileLedger
from entlink.io.lines import decoded, read_lines
from entlink.sources.fields import as_date
from entlink.sources.page import Page
from entlink.sources.reading import Reading
from entlink.text.field_limits import check_text

TERM = "[Term]"
_TAG = re.compile(r"([^\s:]+):\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}
# What ends a value: a comment, or modifiers in braces before one. Neither begins within a word, nor in quotes.
_TRAILING = re.compile(r"""(?<!\S)(?:\{(?:[^"{}\\]|\\.|"(?:[^"\\]|\\.)*")*\}\s*)?(?:!.*)?$""")
_OLD_SYNONYMS = {"exact_synonym": "EXACT", "related_synonym": "RELATED", "synonym": "RELATED"}
_QUOTED_TAGS = {"def", "narrow_synonym", "broad_synonym", *_OLD_SYNONYMS}
_NAMES = ("EXACT", "RELATED")
_SCOPES = (*_NAMES, "BROAD", "NARROW")
_REPLACEMENT = ("[", "id:", "is_obsolete:", "replaced_by:")
_NO_NAME, _OBSOLETE = "without a name", "marked obsolete"


class _Line(NamedTuple):
    number: int
    tag: str
    value: str


class _Stanza(NamedTuple):
    """The kind of a stanza, empty for the header, the line it begins at, and its lines."""

    kind: str
    number: int
    lines: list[_Line]

    def values(self, *tags: str) -> list[str]:
        return [line.value for line in self.lines if line.tag in tags]

    def first(self, tag: str) -> str:
        return next(iter(self.values(tag)), "")

    @property
    def is_obsolete(self) -> bool:
        return self.first("is_obsolete").lower() == "true"


def read(reading: Reading) -> Iterator[Page]:
    """One page a term, in the order of the file."""
    (path,) = reading.files
    replaced = _replaced(path)
    namespace = ""
    for stanza in _stanzas(path, reading):
        if not stanza.kind:
            namespace = stanza.first("default-namespace")
        if stanza.kind != TERM:
            continue
        if stanza.is_obsolete:
            reading.leave_out(_OBSOLETE)
        elif not stanza.first("name"):
            reading.leave_out(_NO_NAME)
        else:
            try:
                yield Page(_entity(stanza, namespace, replaced, reading, path))
            except FieldError as error:
                reading.fail(error.at(path, f"line {stanza.number}"))
            except SourceError as error:
                reading.fail(error)


def _replaced(path: Path) -> dict[str, list[str]]:
    """The ids of obsolete terms by the term that replaces them; they may come before it or after it."""
    found: dict[str, list[str]] = {}
    for stanza in _stanzas(path, FileLedger("skip"), _REPLACEMENT):
        if stanza.kind == TERM and stanza.is_obsolete:
            for id in stanza.values("replaced_by"):
                found.setdefault(id, []).append(stanza.first("id"))
    return found


# Lines


def _stanzas(path: Path, ledger: FileLedger, wanted: tuple[str, ...] = ()) -> Iterator[_Stanza]:
    """The header and the stanzas, of them the lines that begin as wanted; one with a bad line is left out whole."""
    stanza, is_bad = _Stanza("", 1, []), False
    for number, text in _logical_lines(path, ledger):
        if isinstance(text, SourceError):
            ledger.fail(text)
            is_bad = stanza.kind == TERM
            continue
        if wanted and not text.startswith(wanted):
            continue
        if text.startswith("["):
            if not is_bad:
                yield stanza
            stanza, is_bad = _Stanza(text.partition("]")[0] + "]", number, []), False
            continue
        try:
            stanza.lines.append(_line(text, path, number))
        except SourceError as error:
            if stanza.kind in (TERM, ""):
                ledger.fail(error)
                is_bad = stanza.kind == TERM
    if not is_bad:
        yield stanza


def _logical_lines(path: Path, ledger: FileLedger) -> Iterator[tuple[int, str | SourceError]]:
    """Lines with something in them, joined where a backslash ends one; the error of one that is no UTF-8."""
    begun, start = "", 0
    for number, line in read_lines(path, ledger):
        try:
            text = decoded(line, path, number).rstrip("\r\n")
        except SourceError as error:
            begun = ""
            yield number, error
            continue
        text, start = begun + text, start if begun else number
        if text.endswith("\\") and not text.endswith("\\\\"):
            begun = text[:-1]
            continue
        begun = ""
        if _says(text):
            yield start, text.strip()
    if _says(begun):
        yield start, begun.strip()


def _says(text: str) -> bool:
    return bool(text.strip()) and not text.lstrip().startswith("!")


def _line(text: str, path: Path, number: int) -> _Line:
    tag = _TAG.match(text)
    if tag is None:
        problem = f"{_shown(text)} is no tag with a value, such as name: apoptosis"
        raise SourceError(problem, str(path), f"line {number}", "Correct the line, or leave it out")
    value = text[tag.end() :]
    is_quoted = tag[1] in _QUOTED_TAGS and value.startswith('"')
    quoted = _QUOTED.match(value) if is_quoted else None
    if is_quoted and quoted is None:
        problem = f"the quoted text of {tag[1]} does not end"
        raise SourceError(problem, str(path), f"line {number}", 'Close it with ", and write \\" within it')
    # What is quoted may hold a ! or braces.
    end = quoted.end() if quoted else 0
    rest = value[end:]
    if "!" in rest or "{" in rest:
        value = value[:end] + _TRAILING.sub("", rest)
    return _Line(number, tag[1], value.rstrip())


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")


def _plain(value: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), value)


def _quoted(value: str) -> str:
    """The text in the quotes that a value begins with; without them all of it."""
    match = _QUOTED.match(value)
    return _plain(match[1] if match else value)


# Terms


def _entity(stanza: _Stanza, default: str, replaced: dict[str, list[str]], reading: Reading, path: Path) -> Entity:
    _check(stanza, path, reading)
    ids = stanza.values("id")
    if len(ids) != 1 or not ids[0]:
        problem = f"the term has {len(ids) or 'no'} ids" if ids else "the term has no id"
        raise SourceError(problem, str(path), f"line {stanza.number}", "Every term needs one")
    id, title = _plain(ids[0]), _plain(stanza.first("name"))
    aliases = dict.fromkeys(name for name in _names(stanza) if name.strip() and name != title)
    return Entity(
        id,
        title,
        description=_quoted(stanza.first("def")),
        aliases=tuple(aliases),
        types=tuple(dict.fromkeys(map(_plain, stanza.values("namespace")))) or ((default,) if default else ()),
        language=reading.language,
        created=stanza.first("creation_date") or None,
        external=_external(stanza, replaced.get(ids[0], ())),
        claims=_claims(stanza),
    )


def _check(stanza: _Stanza, path: Path, reading: Reading) -> None:
    """A bad text makes the term bad, a bad date is left out."""
    for line in tuple(stanza.lines):
        try:
            check_text(line.value)
        except FieldError as error:
            raise _of(error, line, path) from None
        try:
            if line.tag == "creation_date":
                as_date(line.value)
        except FieldError as error:
            stanza.lines.remove(line)
            reading.fail(_of(error, line, path))


def _of(error: FieldError, line: _Line, path: Path) -> SourceError:
    return error.of("tag", line.tag).at(path, f"line {line.number}")


def _names(stanza: _Stanza) -> Iterator[str]:
    for line in stanza.lines:
        scope = _OLD_SYNONYMS.get(line.tag)
        if scope is None:
            continue
        quoted = _QUOTED.match(line.value)
        behind = line.value[quoted.end() :].split() if quoted else []
        if line.tag == "synonym" and behind and behind[0].upper() in _SCOPES:
            scope = behind[0].upper()
        if scope in _NAMES:
            yield _quoted(line.value)


def _external(stanza: _Stanza, replaces: Iterable[str]) -> dict[str, str]:
    identifiers = [(*_scheme(value.split(" ")[0]),) for value in stanza.values("xref") if value]
    identifiers += [("alt_id", _plain(value)) for value in stanza.values("alt_id")]
    identifiers += [("replaces", _plain(value)) for value in replaces]
    seen: Counter[str] = Counter()
    found: dict[str, str] = {}
    for scheme, value in dict.fromkeys(identifiers):
        if value:
            seen[scheme] += 1
            found[scheme if seen[scheme] == 1 else f"{scheme} {seen[scheme]}"] = value
    return found


def _scheme(xref: str) -> tuple[str, str]:
    """`("UMLS", "C001")`; an address is a `url`."""
    xref = _plain(xref)
    scheme, colon, value = xref.partition(":")
    return ("url", xref) if not colon or value.startswith("//") else (scheme, value)


def _claims(stanza: _Stanza) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in stanza.lines:
        words = line.value.split()
        if line.tag == "is_a" and words:
            found.setdefault("is_a", {})[_plain(words[0])] = None
        elif line.tag == "relationship" and len(words) > 1:
            found.setdefault(words[0], {})[_plain(words[1])] = None
    return {name: tuple(values) for name, values in found.items()}
