"""What ELQ predicts: the rows of `biencoder_outs.jsonl`, or the list that its `main_dense.run` returns.

    {"id": 0, "text": "paris is capital of which country?", "scores": [-0.3], "pred_tuples_string": [["Paris", "paris"]], "pred_triples": [["517", 0, 1]], "tokens": [3000, 2003, …]}

ELQ counts the pieces of its tokenizer, not characters, and keeps numbers instead of pieces. So a mention is found in
the text by its letters, as the tokenizer leaves them: in lower case, without accents and spaces. Where they stand
more than once, the numbers tell which place is meant; where they cannot tell, the row is an error.

The entity is the title; the number in `pred_triples` is a line of ELQ's catalogue and is not kept. Scores are
logarithms of probabilities and stay so. What rows have of gold is not read.
"""  # noqa: E501

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import msgspec

from entlink.documents import Document, Link, Mention, Span
from entlink.formats.foreign import id_of, read_items, rows_of
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.folding import is_spaceless
from entlink.text.spans import Place


class ElqPrediction(msgspec.Struct):
    """A text with what ELQ found: the lists run side by side."""

    text: str
    pred_tuples_string: list[tuple[str, str]]
    id: str | int | None = None
    scores: list[float] | None = None
    pred_triples: list[tuple[str | int, int, int]] | None = None
    tokens: list[int] | None = None


_decoder = msgspec.json.Decoder(ElqPrediction)


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a text."""
    return read_items(source, _decoder, _document, on_error, on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Rows with a text and ELQ's tuples."""
    return any("text" in row and "pred_tuples_string" in row for row in rows_of(head)[:1])


def _document(row: ElqPrediction, place: Place) -> Document:
    found = len(row.pred_tuples_string)
    for name, values in (("scores", row.scores), ("pred_triples", row.pred_triples)):
        if values is not None and len(values) != found:
            problem = f"field {name} has {len(values)} values for {found} tuples"
            raise place.error(problem, "Give one for each tuple")
    squeezed = _Squeezed(row.text)
    links = []
    for index, (title, _) in enumerate(row.pred_tuples_string):
        span = _span(row, index, squeezed, place)
        mention = Mention(span, row.text[span.start : span.end])
        score = 1.0 if row.scores is None else row.scores[index]
        links.append(Link(mention, title, score, title=title))
    return Document(id_of(row.id, place), row.text, links=tuple(links))


def _span(row: ElqPrediction, index: int, squeezed: _Squeezed, place: Place) -> Span:
    surface = row.pred_tuples_string[index][1]
    places = squeezed.places(surface)
    if len(places) == 1:
        return places[0]
    field = f"pred_tuples_string[{index}]"
    if not places:
        raise place.error(f"field {field}: the mention {surface!r} is not in the text", "Is it the row's own text?")
    which, count = _which(row, index)
    if count != len(places):
        problem = f"field {field}: the mention {surface!r} stands {len(places)} times in the text"
        raise place.error(problem, "The row's pred_triples and tokens do not tell which is meant")
    return places[which]


def _which(row: ElqPrediction, index: int) -> tuple[int, int]:
    """How often the mention's tokens stand before it, and how often at all."""
    if row.pred_triples is None or row.tokens is None:
        return 0, 0
    _, start, end = row.pred_triples[index]
    wanted = row.tokens[start:end]
    starts = [at for at in range(len(row.tokens)) if row.tokens[at : at + len(wanted)] == wanted]
    return (starts.index(start), len(starts)) if wanted and start in starts else (0, 0)


class _Squeezed:
    """A text as the tokenizer leaves its letters, with where each comes from."""

    def __init__(self, text: str) -> None:
        squeezed = [_squeeze(character) for character in text]
        self._text = text
        self._letters = "".join(squeezed)
        self._origins = [at for at, letters in enumerate(squeezed) for _ in letters]

    def places(self, surface: str) -> list[Span]:
        """Where the surface stands, neither beginning nor ending inside a word."""
        wanted, spans, at = _squeeze(surface), [], -1
        while wanted and (at := self._letters.find(wanted, at + 1)) >= 0:
            start, end = self._origins[at], self._origins[at + len(wanted) - 1] + 1
            while end < len(self._text) and unicodedata.combining(self._text[end]):
                end += 1
            if not (self._is_inside(start) or self._is_inside(end)):
                spans.append(Span(start, end))
        return spans

    def _is_inside(self, at: int) -> bool:
        around = self._text[at - 1 : at + 1] if at else ""
        return len(around) == 2 and all(one.isalnum() and not is_spaceless(one) for one in around)


def _squeeze(text: str) -> str:
    letters = unicodedata.normalize("NFD", text.lower())
    return "".join(one for one in letters if not (one.isspace() or unicodedata.category(one) in ("Mn", "Cc", "Cf")))
