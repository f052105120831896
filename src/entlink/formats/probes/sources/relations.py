"""Relations between two things: triples of a TSV file, and ConceptNet's assertions in both of its forms.

Heron	IsA	Bird
/a/[…]	/r/IsA	/c/en/heron	/c/en/bird/n	{"surfaceText": "A [[heron]] is a [[bird]]", "weight": 2.0}
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from entlink.documents import Leaf
from entlink.formats.probes.lines import read_cells
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place

_TRIPLE, _WITH_SENTENCE, _CONCEPTNET = 3, 4, 5
_COLUMNS = "subject relation object, then perhaps a sentence; or ConceptNet's uri, relation, start, end, JSON"


class Relation(Leaf, frozen=True):
    """Two things and how they are related; `sentence` may say so, with `[[` and `]]` around both."""

    subject: str
    relation: str
    object: str
    sentence: str = ""
    language: str = ""  # of both things, where the source says so and it is one


class _Details(msgspec.Struct):
    surfaceText: str | None = None  # noqa: N815 (ConceptNet's own name)


_details = msgspec.json.Decoder(_Details)


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Relation]:
    """The relations of a file, as it has them: nothing is left out."""
    return read_cells(source, _relation, on_error=on_error, on_problem=on_problem)


def _relation(cells: list[str], place: Place) -> Relation:
    if len(cells) == _CONCEPTNET:
        return _assertion(cells, place)
    if len(cells) not in (_TRIPLE, _WITH_SENTENCE):
        raise place.error(f"the line has {len(cells)} columns between tabs", f"The columns are: {_COLUMNS}")
    if empty := [name for name, cell in zip(_COLUMNS.split()[:3], cells, strict=False) if not cell.strip()]:
        raise place.error(f"the {empty[0].rstrip(',')} is empty", "Leave the line out")
    return Relation(*(cell.strip() for cell in cells))


def _assertion(cells: list[str], place: Place) -> Relation:
    _, relation, start, end, details = cells
    try:
        sentence = _details.decode(details).surfaceText or ""
    except (msgspec.DecodeError, RecursionError) as error:
        raise place.error(f"column 5 is not the JSON that ConceptNet has: {error}", "Fetch the file again") from error
    (subject, one), (object, other) = _concept(start, place), _concept(end, place)
    return Relation(subject, _last(relation, "/r/", place), object, sentence, one if one == other else "")


def _concept(uri: str, place: Place) -> tuple[str, str]:
    """The text and language of `/c/en/hot_dog/n`."""
    language, slash, rest = _last(uri, "/c/", place).partition("/")
    if not slash:
        raise place.error(f"{uri!r} is no concept", "A concept is written like /c/en/heron")
    return rest.partition("/")[0].replace("_", " "), language


def _last(uri: str, prefix: str, place: Place) -> str:
    if not uri.startswith(prefix) or uri == prefix:
        raise place.error(f"{uri!r} does not begin with {prefix}", "Are the columns in ConceptNet's order?")
    return uri.removeprefix(prefix)
